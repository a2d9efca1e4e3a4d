//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// flood posts rows to the table app at a rate until it is stopped; stop waits and gives how many there were.
func flood(t *testing.T, s *server, perSecond int) (stop func() int) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan int)
	const batches = 10
	go func() {
		sent := 0
		tick := time.NewTicker(time.Second / batches)
		defer tick.Stop()
		var b strings.Builder
		for {
			select {
			case <-done:
				ended <- sent
				return
			case <-tick.C:
			}
			b.Reset()
			at := time.Now().UnixNano()
			for i := range perSecond / batches {
				fmt.Fprintf(&b,
					`{"ts":%d,"level":"info","service":"web","host":"web-1","status":200,"bytes":%d,"message":"flood %d"}`+"\n", at+int64(i), i, sent)
				sent++
			}
			s.post(t, "/v1/ingest?db=public&pipeline_name=service_identity&custom_time_index=ts;epoch;ns&table=app",
				"application/x-ndjson", []byte(b.String()))
		}
	}()
	return func() int { close(done); return <-ended }
}

// heap is what the page's scripts hold after a collection, bytes.
func (p *page) heap() int64 {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		p.t.Fatal(err)
	}
	use, err := chromedp.Call(p.ctx, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	return int64(use.UsedSize)
}

// TestD11LiveFlood: 20,000 rows a second for ten seconds. The page answers, says what it leaves out, and keeps what it
// said it keeps.
func TestD11LiveFlood(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := openNew(t, browser, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live rows",
		`document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`)
	before := p.heap()
	stop := flood(t, s, 20_000)
	var answers []float64
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		// A click on Pause shows at the button itself; a second one takes it back.
		answers = append(answers, eval[float64](p, `new Promise((resolve) => {
			const button = [...document.querySelectorAll('.live-bar button')].find((b) => b.title === 'Space'), was = button.innerText, began = performance.now();
			setTimeout(() => {
				button.click();
				const look = () => { if (button.innerText === was) return requestAnimationFrame(look); resolve(performance.now() - began); };
				requestAnimationFrame(look);
			});
		})`))
		eval[bool](p,
			`new Promise((resolve) => { [...document.querySelectorAll('.live-bar button')].find((b) => b.title === 'Space').click(); setTimeout(() => resolve(true), 700); })`)
	}
	sent := stop()
	slices.Sort(answers)
	p.wait("the line of what is left out",
		`[...document.querySelectorAll('.grid-row.marker')].some((r) => /^\s*[\d,]+ rows left out/.test(r.innerText)) ||
			(() => { const g = document.querySelector('.grid'); g.scrollTop -= 400; return false; })()`)
	p.wait("no more than is kept",
		`Number(document.querySelector('.grid').getAttribute('aria-rowcount')) <= 10000 + 2000`)
	after := p.heap()
	t.Logf(
		"%d rows posted; a click is answered after %.0f ms in the median, %.0f at worst of %d; scripts hold %d MB, before %d", sent, answers[len(answers)/2], answers[len(answers)-1], len(answers), after>>20, before>>20)
	if median := answers[len(answers)/2]; median > 200 && !slowed() {
		t.Errorf("a click is answered after %.0f ms, at most 200", median)
	}
	if after > 250<<20 {
		t.Errorf("scripts hold %d bytes", after)
	}
}

// TestLogsLiveFailure: rows that came are shown also where the question how many are left out fails first.
func TestLogsLiveFailure(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live rows",
		`document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 5`)
	eval[bool](p, `(() => {
		const real = window.fetch;
		window.failed = 0;
		window.fetch = (address, options) => {
			const asks = decodeURIComponent(String(options?.body ?? '').replaceAll('+', ' '));
			return window.failed === 0 && /sql=SELECT count\(\*\) FROM/.test(asks) ? (window.failed++, Promise.resolve(new Response('{"code":1003,"error":"Internal error: 1003"}', { status: 500, headers: { 'Content-Type': 'application/json' } }))) : real(address, options);
		};
		return true;
	})()`)
	var b strings.Builder
	at := time.Now().UnixNano()
	for i := range 1500 {
		fmt.Fprintf(&b,
			`{"ts":%d,"level":"info","service":"web","host":"web-1","status":200,"bytes":1,"message":"many %d"}`+"\n",
			at+int64(i), i)
	}
	s.post(t, "/v1/ingest?db=public&pipeline_name=service_identity&custom_time_index=ts;epoch;ns&table=app",
		"application/x-ndjson", []byte(b.String()))
	p.wait("the question that fails", `window.failed === 1`)
	p.wait("all rows of the answer",
		`Number(document.querySelector('.grid').getAttribute('aria-rowcount')) >= 20 + 1 + 1000`)
	rows := p.everyRow(".grid")
	if n := len(rows); n != 20+1+1000 || rows[n-1] != "many 1499" || rows[n-1000] != "many 500" {
		t.Errorf("%d rows, from %q to %q", n, rows[max(0, n-1000)], rows[n-1])
	}
}

// everyRow scrolls through a list and returns the message of each row, in order.
func (p *page) everyRow(list string) []string {
	p.t.Helper()
	return eval[[]string](p, `(async () => {
		const grid = document.querySelector('`+list+`'), rows = new Map();
		const count = () => Number(grid.getAttribute('aria-rowcount'));
		for (grid.scrollTop = 0; rows.size < count();) {
			await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
			const here = [...grid.querySelectorAll('.grid-row')].filter((r) => r.dataset.row !== '' && r.lastElementChild?.textContent);
			for (const r of here) rows.set(Number(r.dataset.row), r.lastElementChild.textContent);
			let next = 0;
			while (rows.has(next)) next++;
			grid.scrollTop = next * 20;
		}
		return Array.from({ length: rows.size }, (_, i) => rows.get(i));
	})()`)
}

// TestD10Live: 5,000 rows in ten seconds, some with equal times, some late. Each is shown once, and nothing moves under
// who has scrolled up.
func TestD10Live(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1&fold=0")
	p.wait("the live rows",
		`document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`)
	const first = `[...document.querySelectorAll('.grid-row')].filter((r) => r.dataset.row !== '' &&
		r.getBoundingClientRect().top >= document.querySelector('.grid-head').getBoundingClientRect().bottom)
		.sort((a, b) => a.dataset.row - b.dataset.row)[0]?.innerText`
	want := map[string]int{}
	before, n := "", 0
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for piece := 0; piece < 50; piece++ {
		<-tick.C
		var lines []string
		for len(lines) < 100 {
			age, text := time.Duration(100-len(lines))*time.Millisecond, fmt.Sprintf("live %d", n)
			switch n % 10 {
			case 3: // of the instant of the one before
				age += time.Millisecond
			case 4: // late
				age = 5 * time.Second
			case 5: // equal to the one before in all
				lines = append(lines, lines[len(lines)-1])
				want[fmt.Sprintf("live %d", n-1)]++
				n++
				continue
			}
			lines = append(lines,
				logLine(age, fmt.Sprintf(`"level":"info","service":"web","host":"web-1","message":%q`, text)))
			want[text]++
			n++
		}
		s.ingest(t, "app", lines)
		if piece == 25 { // somebody scrolls up: what is seen stays where it is
			eval[bool](p, `(() => { document.querySelector('.grid').scrollTop = 200; return true; })()`)
			p.wait("the scrolled list, painted",
				`document.querySelector('.grid').scrollTop === 200 &&
					document.querySelector('.grid-row[data-row="10"]') && `+first)
			before = eval[string](p, first)
		}
	}
	p.wait("how many came since",
		`[...document.querySelectorAll('.live-bar button')].some((b) => /^[1-9],\d{3} new rows$/.test(b.innerText))`)
	p.wait("all", `document.querySelector('.grid').getAttribute('aria-rowcount') === '5100'`)
	if after := eval[string](p, first); after != before {
		t.Errorf("the first row was %q, now %q", before, after)
	}
	p.shot("logs-live")
	got := map[string]int{}
	for _, text := range p.everyRow(".grid") {
		if strings.HasPrefix(text, "live ") {
			got[text]++
		}
	}
	for text, times := range want {
		if got[text] != times {
			t.Errorf("%s is shown %d times, it was sent %d times", text, got[text], times)
		}
	}
	p.press(kb.End)
	p.wait("the end", `[...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes('live 4999'))`)
	p.wait("the total of now, and until when it is",
		`/^5,100 rows\s+until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(document.querySelector('.logs-status .figures').innerText)`)
	p.press("l")
	p.wait("the rows of now",
		`/^5,100 rows\s+\d+ ms\s+500 loaded/.test(document.querySelector('.logs-status .figures').innerText) && document.querySelector('.grid-row[data-row="0"]')?.innerText.includes('live ')`)
}

// TestLogsLiveFold: in the live list, too, rows that differ in time alone are one with their number; the key shows
// each.
func TestLogsLiveFold(t *testing.T) {
	t.Parallel()
	s := start(t)
	line := func(text string) string { return logLine(0, fmt.Sprintf(`"level":"info","message":%q`, text)) }
	s.ingest(t, "app", []string{line("started"), line("retrying"), line("retrying"), line("retrying")})
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	badges := func(want string) {
		t.Helper()
		p.wait("the numbers "+want,
			fmt.Sprintf(`[...document.querySelectorAll('.badge.repeats')].map((e) => e.innerText).join(' ') === %q`,
				want))
	}
	badges("×3")
	s.ingest(t, "app", []string{line("retrying"), line("retrying")})
	badges("×5")
	p.press("m")
	p.wait("the mark", `document.querySelector('.grid-row.marker')`)
	s.ingest(t, "app", []string{line("retrying"), line("retrying"), line("done")})
	badges("×5 ×2")
	p.wait("the rows that are kept", `document.querySelector('.live-bar').innerText.includes('9 kept')`)
	p.press("d")
	p.wait("each by itself",
		`document.querySelector('.grid').getAttribute('aria-rowcount') === '10' &&
			!document.querySelector('.badge.repeats')`)
	p.press("d")
	badges("×5 ×2")
	p.press("o")
	p.wait("rows as JSON",
		`[...document.querySelectorAll('.grid-row')].some((r) => r.innerText.includes('{"level":"info"'))`)
}

// TestLogsLiveAhead: rows ahead of their time, of a host whose clock is wrong, hide none of those that come at their
// time: nor do they when they alone fill an answer. Each row is shown once, in the list that was there and in what
// comes.
func TestLogsLiveAhead(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int{1, 1500} {
		t.Run(fmt.Sprintf("%d rows ahead", ahead), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			line := func(age time.Duration, format string, of ...any) string {
				return logLine(age, fmt.Sprintf(`"level":"info","message":%q`, fmt.Sprintf(format, of...)))
			}
			future := func(from, to int) (lines []string) {
				for i := from; i < to; i++ {
					lines = append(lines, line(-time.Hour-time.Duration(i)*time.Millisecond, "ahead %d", i))
				}
				return lines
			}
			s.ingest(t, "app", append(future(0, ahead), line(time.Minute, "before")))
			p := open(t, s, "/dashboard/logs#t=app&live=1&fold=0")
			shown := func(what string) {
				t.Helper()
				p.wait(what,
					fmt.Sprintf(
						`[...document.querySelectorAll('.grid-row')]
							.some((r) => r.lastElementChild?.textContent === %q)`, what))
			}
			shown("before")
			s.ingest(t, "app", []string{line(0, "now")})
			shown("now")
			s.ingest(t, "app", append(future(ahead, ahead+1), line(5*time.Second, "late")))
			shown(fmt.Sprintf("ahead %d", ahead))
			shown("late")
			s.ingest(t, "app", []string{line(0, "last")})
			shown("last")
			var once []string
			for _, text := range p.everyRow(".grid") {
				if slices.Contains(once, text) {
					t.Errorf("%q is shown twice", text)
				}
				once = append(once, text)
			}
			if want := min(ahead, 200) + 1 + len([]string{"before", "now", "late", "last"}); len(once) != want {
				t.Errorf("%d rows are shown, want %d: %q", len(once), want, once)
			}
		})
	}
}

// TestLogsLiveBeginsAhead: a list that is live already when the first row ahead of its time comes goes on with those
// that are not.
func TestLogsLiveBeginsAhead(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(300, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1&fold=0")
	count := func(n int) {
		t.Helper()
		p.wait(fmt.Sprint(n, " rows"),
			fmt.Sprintf(
				`document.querySelector('.live-bar') &&
					document.querySelector('.grid')?.getAttribute('aria-rowcount') === '%d'`, n))
	}
	count(200)
	for i := range 3 {
		s.ingest(t, "app", []string{logLine(0, fmt.Sprintf(`"level":"info","message":"now %d"`, i)),
			logLine(-time.Hour, fmt.Sprintf(`"level":"info","message":"ahead %d"`, i))})
		count(200 + 2*(i+1))
	}
}

// wrappedList reads a list of wrapped rows: whether it stands at its end with its last row wholly in view, and the
// first row that begins in view, with its place.
const wrappedList = `(() => {
	const grid = document.querySelector('.grid'), view = grid.getBoundingClientRect(), top = grid.querySelector('.grid-head').getBoundingClientRect().bottom;
	const rows = [...grid.querySelectorAll('.grid-row')].filter((r) => r.dataset.row !== '' && r.lastElementChild?.textContent).map((r) => ({ row: Number(r.dataset.row), text: r.lastElementChild.textContent.split(':')[0], at: r.getBoundingClientRect() })).sort((a, b) => a.row - b.row);
	const first = rows.find((r) => r.at.top >= top), last = rows.at(-1);
	return { first: first && first.text + ' at ' + Math.round(first.at.top), last: last?.text, high: rows.filter((r) => r.at.height > 60).length,
		atEnd: grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 4 && last?.row === Number(grid.getAttribute('aria-rowcount')) - 1 && last.at.bottom <= view.bottom + 1 };
})()`

// TestLogsLiveWrapped: a live list whose rows are wrapped stays at its end, whatever heights the rows turn out to have,
// and nothing moves under who has scrolled up.
func TestLogsLiveWrapped(t *testing.T) {
	t.Parallel()
	s := start(t)
	sent := 0
	send := func(n int) string {
		t.Helper()
		var lines []string
		for range n {
			sent++
			lines = append(lines, logLine(time.Duration(n-len(lines))*time.Millisecond,
				fmt.Sprintf(`"level":"info","message":"live %d:%s"`, sent,
					strings.Repeat(" some words", 1+sent*37%200))))
		}
		s.ingest(t, "app", lines)
		return fmt.Sprintf("live %d", sent)
	}
	last := send(100)
	p := open(t, s, "/dashboard/logs#t=app&live=1&wrap=1&fold=0")
	follows := func(last string) {
		t.Helper()
		p.wait("the end of the list, "+last,
			fmt.Sprintf(
				`document.querySelector('.grid') && (() => { const l = %s; return l.atEnd && l.last === %q &&
					l.high > 1; })()`, wrappedList, last))
	}
	follows(last)
	for range 5 {
		follows(send(20))
	}

	eval[bool](p, `(() => { document.querySelector('.grid').scrollTop -= 3000; return true; })()`)
	stands := fmt.Sprintf(
		`(() => { const now = %s.first, before = window.stood; window.stood = now; return now && now === before; })()`,
		wrappedList)
	p.wait("the rows further up, measured",
		fmt.Sprintf(`(() => { const l = %s; return !l.atEnd && l.high > 1; })()`, wrappedList)+" && "+stands)
	before := eval[string](p, wrappedList+".first")
	for i := range 5 {
		last = send(20)
		p.wait("how many came since",
			fmt.Sprintf(`[...document.querySelectorAll('.live-bar button')].some((b) => b.innerText === '%d new rows')`,
				20*(i+1)))
		p.wait("a place that stands", stands)
		if after := eval[string](p, wrappedList+".first"); after != before {
			t.Errorf("the first row was %s, after %d more rows it is %s", before, 20*(i+1), after)
		}
	}
	p.press(kb.End)
	follows(last)
	follows(send(20))
}

// TestLogsLiveRate: the rate of a live list and its number of new rows are the server's, though a poll brings 1,000
// rows at most.
func TestLogsLiveRate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live rows",
		`document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`)
	eval[bool](p, `(() => { document.querySelector('.grid').scrollTop = 100; return true; })()`)
	p.wait("the list held still", `document.querySelector('.grid').scrollTop === 100`)
	began := time.Now()
	stop := flood(t, s, 4000)
	const rate = `number(document.querySelector('.live-bar .num').innerText)`
	eval[bool](p, `(window.number = (text) => Number(/[\d,]+/.exec(text)[0].replaceAll(',', ''))) !== null`)
	p.wait("the rate of more than a poll brings", rate+` > 1500`)
	sent := stop()
	most := float64(sent) / time.Since(began).Seconds()
	if got := eval[float64](p, rate); math.IsNaN(got) || got > 2*most+1000 {
		t.Errorf("the rate is %.0f rows/s, %.0f a second were sent", got, most)
	}
	p.wait("the number of all that came",
		fmt.Sprintf(
			`[...document.querySelectorAll('.live-bar button')]
				.some((b) => b.innerText.replaceAll(',', '') === '%d new rows')`, sent))
}
