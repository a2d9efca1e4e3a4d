//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// openIngest opens the Ingest page with a table chosen.
func openIngest(t *testing.T, s *server, fragment string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/ingest"+fragment)
	p.wait("the box", `document.querySelector('.try textarea')`)
	return p
}

func TestIngest(t *testing.T) {
	t.Parallel()
	s := start(t)

	t.Run("D60 try", func(t *testing.T) {
		p := openIngest(t, s, "#t=lines")
		sent := func(text string, rows int, shown string) {
			t.Helper()
			p.fill(".try textarea", text)
			p.button("Send")
			p.wait("the answer to "+shown,
				fmt.Sprintf(`document.querySelector('.sent')?.innerText.startsWith('%d row')`, rows))
		}
		p.fill(".try textarea", `{"ts":"2026-11-21T03:46:00Z","level":"info","user":{"id":7}}`+"\n"+
			`{"ts":"2026-11-21T03:46:01Z","level":"warn"}`)
		p.wait("the time that was found",
			`document.querySelector('.try .facts')?.innerText.includes('2026-11-21T03:46:01Z')`)
		p.button("Dry run")
		p.wait("the dry run", `document.querySelectorAll('.dry tbody tr').length === 2`)
		if head := p.text(".dry thead"); !strings.Contains(head, "time index") || !strings.Contains(head, "user.id") {
			t.Errorf("the columns are %q", head)
		}
		if name := p.text(".dry h3"); name != "lines 2 rows" {
			t.Errorf("the trial is said to be of %q", name)
		}
		if got := s.sql(t,
			"SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'lines'"); fmt.Sprint(got) != "[[0]]" {
			t.Errorf("a dry run makes a table: %v", got)
		}
		p.shot("ingest")
		p.button("Send")
		p.wait("two rows", `document.querySelector('.sent')?.innerText.startsWith('2 rows')`)
		sent(`[{"ts":"2026-11-21T03:46:02Z","level":"error"}]`, 1, "an array")
		if got := s.sql(t, "SELECT count(*), max(ts) FROM lines"); fmt.Sprint(got) != "[[3 1795232762000000000]]" {
			t.Errorf("in the table: %v", got)
		}
		p.fill(".try input[list]", "texts")
		sent("one line\nand another\n", 2, "text")
		if got := s.sql(t, "SELECT message FROM texts ORDER BY message"); fmt.Sprint(got) !=
			"[[and another] [one line]]" {
			t.Errorf("in the table of texts: %v", got)
		}

		// A bad line is named and shown, before and after it is sent.
		p.allow("status of 400")
		p.fill(".try textarea", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":broken}\n")
		p.wait("the bad line",
			`document.querySelector('.try .warn')?.innerText.startsWith('Line 4 is not a JSON object: {"a":broken}')`)
		p.button("Send")
		p.wait("the refusal", `document.querySelector('.bad-line')?.innerText.startsWith('Line 4: {"a":broken}')`)

		p.fill(".try input[list]", "lines")
		sent(`{"ts":"2026-11-21T03:46:03Z","level":"info"}`, 1, "one more")
		p.button("See them in Logs")
		p.wait("the page of logs", `location.pathname.endsWith('/logs') && location.hash.includes('t=lines')`)
		if rows := p.rowsShown(); len(rows) != 1 || !strings.HasPrefix(rows[0], "2026-11-21 03:46:03") {
			t.Errorf("rows in Logs: %q", rows)
		}
		p.click("#rail a[href$='/dashboard/ingest']")
		p.wait("the box", `document.querySelector('.try textarea')`)

		// Nanoseconds are read to the digit, in what is shown, tried and stored, also of more entries than a trial
		// takes.
		p.fill(".try input[list]", "exact")
		var list []string
		for i := range 12 {
			list = append(list, fmt.Sprintf(`{"ts":%d,"n":%d}`, 1795232762123456701+int64(i), i))
		}
		p.fill(".try textarea", "["+strings.Join(list, ",\n")+"]")
		p.wait("the time as it is read",
			`document.querySelector('.try .facts')?.innerText.includes('2026-11-21T03:46:02.123456702Z')`)
		p.button("Dry run")
		p.wait("the dry run",
			`[...document.querySelectorAll('.dry tbody tr')].length === 10 &&
				document.querySelector('.dry tbody').innerText.includes('2026-11-21 03:46:02.123456710')`)
		p.button("Send")
		p.wait("twelve rows", `document.querySelector('.sent')?.innerText.startsWith('12 rows')`)
		if got := s.sql(t, "SELECT max(ts) FROM exact"); fmt.Sprint(got) != "[[1795232762123456712]]" {
			t.Errorf("in the table: %v", got)
		}
		p.button("See them in Logs")
		p.wait("all of them", `document.querySelector('.logs-status .figures b')?.innerText === '12 rows'`)
	})

	t.Run("D61 snippets", func(t *testing.T) {
		p := openIngest(t, s, "")
		ways := eval[int](p, `document.querySelectorAll('.ways button').length`)
		if ways < 5 {
			t.Errorf("there are %d ways to send", ways)
		}
		ran := 0
		for way := range ways {
			eval[bool](p,
				fmt.Sprintf(`(() => { document.querySelectorAll('.ways button')[%d].click(); return true; })()`, way))
			p.wait("the way", fmt.Sprintf(`document.querySelectorAll('.ways button')[%d].ariaPressed === 'true'`, way))
			snippets := eval[int](p, `document.querySelectorAll('.how .tabs button').length`)
			for i := range snippets {
				eval[bool](p, fmt.Sprintf(
					`(() => { document.querySelectorAll('.how .tabs button')[%d].click(); return true; })()`, i))
				p.wait("the snippet",
					fmt.Sprintf(`document.querySelectorAll('.how .tabs button')[%d].ariaSelected === 'true'`, i))
				if eval[string](p, `document.querySelector('.snippet pre').dataset.run`) != "1" {
					continue
				}
				title := p.text(".how h2") + ", " + p.text(".how .tabs [aria-selected=true]")
				text := eval[string](p, `document.querySelector('.snippet pre').textContent`)
				before := s.figure(t, "varve_rows_written_total")
				out, err := exec.Command("sh", "-ec", text).CombinedOutput()
				// some ways keep a row of their own beside
				if after := s.figure(t, "varve_rows_written_total"); err != nil || after <= before {
					t.Errorf("%s: %v, %v rows stored\n%s\n%s", title, err, after-before, text, out)
				}
				ran++
			}
		}
		if ran < 5 {
			t.Errorf("only %d snippets are commands", ran)
		}
		eval[bool](p, `(() => { document.querySelectorAll('.ways button')[1].click(); return true; })()`)
		p.wait("that requests were seen",
			`document.querySelector('.seen')?.innerText.includes('since the server started')`)
		p.shot("ingest-snippets")
		p.afresh("/dashboard/ingest")
		p.wait("the first look", `document.querySelector('.seen')?.innerText.includes('since the server started')`)
		s.ingest(t, "arrived", shopLines(123, time.Second))
		p.wait("the rows", `/^123 rows by 1 request in the last /.test(document.querySelector('.seen').innerText)`)
	})

	t.Run("narrow and dark", func(t *testing.T) {
		p := openIngest(t, s, "#t=lines")
		p.theme("dark")
		p.wait("the box", `document.querySelector('.try textarea')`)
		p.fill(".try textarea", `{"ts":"2026-11-21T03:46:00Z","level":"info"}`)
		p.shot("ingest-dark")
		p.size(380, 760)
		p.do("reload", chromedp.Reload())
		p.wait("the box", `document.querySelector('.try textarea')`)
		p.shot("ingest-narrow")
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("the page is %d px wide on a screen of 380", wide)
		}
	})
}

// figure reads one of /metrics, its samples added up; counters follow the answer to a write, which this waits for.
func (s *server) figure(t *testing.T, name string) (sum float64) {
	t.Helper()
	out, err := exec.Command("curl", "-sS", s.url+"/metrics").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok &&
			(strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "{")) {
			var v float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			sum += v
		}
	}
	return sum
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20_000, 150*time.Millisecond))

	t.Run("D70 figures", func(t *testing.T) {
		p := open(t, s, "/dashboard/status")
		p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
		want := s.sql(t, "SELECT count(*) FROM app")[0][0]
		p.wait("the rows since the start",
			`[...document.querySelectorAll('.figure')].some((f) => f.innerText.startsWith('Rows in') &&
				f.innerText.includes('20k since'))`)
		if fmt.Sprint(want) != "20000" {
			t.Errorf("%v rows are stored", want)
		}
		p.wait("the queues",
			`[...document.querySelectorAll('.figure')]
				.filter((f) => /^(Flushes|Merges|Writes|Queries|Bodies|Messages)\n0\n(for|of|\d+ under)/.test(f.innerText.replace(/\n+/g, '\n'))).length === 6`)
		p.wait("the shares of the memory",
			`[...document.querySelectorAll('.figure')]
				.filter((f) => /\nof [\d.]+ [KMG]i?B$/.test(f.innerText.trim())).length >= 6`)
		waitFor(t, "as many parts as /metrics says", func() bool { // they come and go
			return eval[bool](p,
				fmt.Sprintf(
					`[...document.querySelectorAll('.figure')].some((f) => f.innerText.startsWith('Parts') &&
						f.innerText.includes('%.0f files'))`, s.figure(t, "varve_parts")))
		})
		p.wait("lines of two readings", `document.querySelectorAll('.spark path:nth-child(2)').length > 3`)
		if text := p.text(".about"); !strings.Contains(text, "UTC") ||
			!strings.Contains(text, "agrees with this browser") {
			t.Errorf("about the server: %q", text)
		}
		p.wait("the findings", `document.querySelector('.findings')?.innerText.includes('Nothing needs a look.')`)
		p.wait("the requests by path",
			`[...document.querySelectorAll('.requests tbody tr')].some((r) => r.cells[0].innerText === '/v1/sql' &&
				Number(r.cells[2].innerText.replaceAll(',', '')) > 0 && r.cells[4].innerText === '0')`)
		eval[bool](p, `fetch('../v1/sql?sql=SELEC').then(() => true)`)
		p.allow("400 (Bad Request)")
		p.wait("the refused one",
			`[...document.querySelectorAll('.requests tbody tr')].some((r) => r.cells[0].innerText === '/v1/sql' &&
				r.cells[3].innerText === '1')`)
		p.shot("status")
		p.theme("dark")
		p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
		p.shot("status-dark")
		p.size(380, 760)
		p.shot("status-narrow")
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("the page is %d px wide on a screen of 380", wide)
		}
	})

	t.Run("D70 findings", func(t *testing.T) {
		lax := start(t, "--set", "wal.sync=never")
		p := open(t, lax, "/dashboard/status")
		p.wait("the finding", `document.querySelector('.findings li')?.innerText.includes('wal.sync is never')`)
		p.button("Configuration")
		p.wait("the mark of what was set",
			`[...document.querySelectorAll('tr.differs')].some((r) => r.innerText.includes('wal.sync') &&
				r.innerText.includes('always'))`)
		if bad := eval[[]string](p,
			`[...document.querySelectorAll('table.config tbody tr')].filter((r) => r.cells[3].innerText === '' || /`+
				"`"+`|\]\(/.test(r.cells[2].innerText + r.cells[3].innerText)).map((r) => r.innerText)`); len(bad) > 0 {
			t.Errorf("keys that are not explained, or with the marks of a document: %q", bad)
		}
	})

	t.Run("D70 tables", func(t *testing.T) {
		shopMetrics(t, s)
		p := open(t, s, "/dashboard/status#tab=tables")
		p.wait("the table with its span",
			`[...document.querySelectorAll('table.tables tbody tr')].some((r) => r.cells[0].innerText === 'app' &&
				r.cells[1].innerText === '20,000' && r.cells[6].innerText.length === 19)`)
		p.wait("where the rows of a metric lie",
			`[...document.querySelectorAll('table.tables tbody tr')]
				.some((r) => r.cells[0].innerText === 'room_temperature' &&
				r.cells[2].innerText === 'in service_physical_table' && r.cells[3].innerText === '–')`)
		p.shot("status-tables")
		s.ingest(t, "gone", []string{`{"ts":1795232760000000000}`})
		p.do("reload", chromedp.Reload())
		p.wait("the other table",
			`[...document.querySelectorAll('table.tables button.link')].some((b) => b.innerText === 'gone')`)
		p.quiet() // the span of a table that is gone cannot be asked for
		eval[bool](p,
			`(() => { [...document.querySelectorAll('table.tables tbody tr')]
				.find((r) => r.cells[0].innerText === 'gone').querySelector('.pop-anchor > button').click();
				return true; })()`)
		p.button("Drop the table …")
		p.wait("the question", `document.querySelector('dialog input')`)
		p.fill("dialog input", "gone")
		p.button("Drop the table")
		p.wait("that it is gone",
			`![...document.querySelectorAll('table.tables button.link')].some((b) => b.innerText === 'gone')`)
	})

	t.Run("D70 kill", func(t *testing.T) {
		p := open(t, s, "/dashboard/status#tab=queries")
		ended := make(chan string, 1)
		go func() {
			out, err := exec.Command("curl", "-sS", s.url+"/v1/sql", "--data-urlencode",
				"sql=SELECT count(*) FROM generate_series(1, 1000000) AS a(x) CROSS JOIN generate_series(1, 1000000) AS b(y) WHERE x * y % 7 = 3").CombinedOutput()
			ended <- fmt.Sprint(string(out), err)
		}()
		p.wait("the statement in the list",
			`[...document.querySelectorAll('table.queries tr')].some((r) => r.innerText.includes('CROSS JOIN'))`)
		p.shot("status-statements")
		p.button("Kill")
		select {
		case answer := <-ended:
			if !strings.Contains(answer, "error") {
				t.Errorf("the killed statement answers %q", answer)
			}
		case <-time.After(patience):
			t.Fatal("the statement goes on")
		}
		p.wait("an empty list", `document.querySelector('.status').innerText.includes('None runs now.')`)
	})

	t.Run("D70 log level and profiles", func(t *testing.T) {
		p := open(t, s, "/dashboard/status#tab=inside")
		p.wait("the form", `document.querySelector('.card form')`)
		p.button("Set")
		p.wait("the answer",
			`document.querySelector('.card [role=status]')?.innerText.startsWith('Log Level changed from info to debug')`)
		p.wait("when it comes back",
			`document.querySelector('.card [role=status]')?.innerText.includes('Back to info at')`)
		eval[bool](p,
			`(() => { const e = document.querySelectorAll('.card')[1].querySelector('select'); e.value = '1';
				e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
		p.button("Processors")
		p.wait("the flame graph",
			`document.querySelector('.flame img')?.naturalWidth > 500 &&
				document.querySelector('.flame').innerText.includes('Processors, 1 s')`)
		p.button("Memory")
		p.wait("the other one",
			`document.querySelector('.flame img')?.naturalWidth > 500 &&
				document.querySelector('.flame').innerText.includes('Memory in use')`)
		p.shot("status-profile")
	})
}
