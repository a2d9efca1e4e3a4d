//go:build dashboard && browser

package dashboard

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// shopLines are log lines of a small shop, one every gap before now; the last ones are the newest.
func shopLines(n int, gap time.Duration) []string {
	r := rand.New(rand.NewPCG(7, 7))
	begin := time.Now().Add(-time.Duration(n) * gap).UnixNano()
	lines := make([]string, n)
	services := []string{"web", "web", "cart", "pay", "stock"}
	for i := range lines {
		service := services[r.IntN(len(services))]
		level, status, message := "info", 200,
			fmt.Sprintf("GET /%s/items/%d 200 in %d ms", service, r.IntN(900), 5+r.IntN(90))
		switch k := r.IntN(100); {
		case i > n*6/10 && i < n*64/100 && k < 60:
			level, status, message = "error", 503,
				fmt.Sprintf("timeout after %d ms calling stock-%d, order %d not reserved", 3000+r.IntN(900),
					1+r.IntN(3), r.IntN(90000))
		case k < 2:
			level, status, message = "error", 500,
				fmt.Sprintf("connection reset by peer while reading order %d", r.IntN(90000))
		case k < 6:
			level, status, message = "warn", 404, fmt.Sprintf("slow answer from stock: %d ms", 200+r.IntN(900))
		case k < 20:
			level, status, message = "debug", 200, fmt.Sprintf("cache hit for user %d", r.IntN(5000))
		}
		host := fmt.Sprintf("%s-%d", service, 1+r.IntN(4))
		lines[i] = fmt.Sprintf(
			`{"ts":%d,"level":%q,"service":%q,"host":%q,"status":%d,"bytes":%d,"trace_id":"%016x%016x","ctx":{"user":{"id":%d}},"message":%q}`,
			begin+int64(i)*int64(gap), level, service, host, status, r.IntN(40000), r.Uint64(), r.Uint64(),
			r.IntN(5000), message)
	}
	return lines
}

// rowsThere is true once the list has rows.
const rowsThere = `[...document.querySelectorAll('.grid-row')].some((r) => r.dataset.row !== '' &&
	r.textContent.length > 3)`

// rowsShown waits for the list and gives the text of its rows, once none of a run before are left.
func (p *page) rowsShown() []string {
	p.t.Helper()
	p.wait("rows", rowsThere)
	p.quiet()
	return eval[[]string](p,
		`[...document.querySelectorAll('.grid-row')].filter((r) => r.dataset.row !== '')
			.sort((a, b) => a.dataset.row - b.dataset.row).map((r) => r.innerText)`)
}

// settled waits until nothing is asked any more.
func (p *page) settled() {
	p.t.Helper()
	p.quiet()
	p.wait("quiet",
		`!document.querySelector('.logs-status .figures')?.innerText.includes('…') && !document.querySelector('.bar')`)
}

// sumOfBars walks through the histogram by keyboard and adds up what its bars are read out to have.
func (p *page) sumOfBars() string {
	p.t.Helper()
	return eval[string](p, `(async () => {
		const chart = document.querySelector('.histogram'), said = () => chart.querySelector('.only-read').textContent;
		const press = async (key) => {
			chart.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
			await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
		};
		await press('End');
		const last = said();
		await press('Home');
		for (let sum = 0; ; await press('ArrowRight')) {
			sum += Number(/: ([\d,]+)$/.exec(said())[1].replaceAll(',', ''));
			if (said() === last) {
				chart.dispatchEvent(new FocusEvent('blur'));
				return String(sum);
			}
		}
	})()`)
}

func total(p *page) string {
	p.t.Helper()
	return strings.TrimSuffix(strings.TrimSuffix(
		strings.ReplaceAll(eval[string](p, `document.querySelector('.logs-status .figures b')?.innerText ?? ''`), ",",
			""), " rows"), " row")
}

func TestD01FirstRun(t *testing.T) {
	s := start(t)
	p := open(t, s, "/dashboard/")
	p.wait("three ways to begin", `document.querySelectorAll('.first section').length === 3`)
	ways := eval[[]string](p, `[...document.querySelectorAll('.first section')].map((e) => e.innerText)`)
	for i, part := range []string{s.url + "/v1/ingest?db=public&table=app", "Paste lines", "Create 5,000 demo rows"} {
		if !strings.Contains(strings.ReplaceAll(ways[i], "\n", ""), part) {
			t.Errorf("way %d lacks %q: %q", i+1, part, ways[i])
		}
	}
	p.shot("empty-server")
	began := time.Now()
	p.click(".first button.primary")
	p.wait("rows", rowsThere)
	if took := time.Since(began); took > 5*time.Second && !slowed() {
		t.Errorf("the rows are there after %v, at most 5 s", took)
	}
	if rows := p.rowsShown(); len(rows) < 10 {
		t.Errorf("%d rows", len(rows))
	}
	p.settled()
	if got := total(p); got != "5000" {
		t.Errorf("total %s, want 5000", got)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(20_000, 150*time.Millisecond))
	s.ingest(t, "other", shopLines(10, time.Second))

	t.Run("D02 default", func(t *testing.T) {
		p := open(t, s, "/dashboard/")
		rows := p.rowsShown()
		p.settled()
		want := fmt.Sprint(s.sql(t, "SELECT count(*) FROM app WHERE ts >= now() - INTERVAL '1 hour'")[0][0])
		if got := total(p); got != want {
			t.Errorf("total %s, want %s", got, want)
		}
		newest := fmt.Sprint(s.sql(t, "SELECT message FROM app ORDER BY ts DESC LIMIT 1")[0][0])
		if !strings.Contains(rows[0], newest) {
			t.Errorf("the first row is %q, want %q", rows[0], newest)
		}
		if !slices.IsSortedFunc(rows, func(a, b string) int { return strings.Compare(b[:29], a[:29]) }) {
			t.Errorf("the rows are not newest first: %q", rows)
		}
		if name := p.text(".toolbar .pop-anchor button"); !strings.Contains(name, "app") {
			t.Errorf("the table is %q", name)
		}
		if bars := p.sumOfBars(); bars != want {
			t.Errorf("the bars add up to %s, want %s", bars, want)
		}
		p.shot("logs-light")
		p.theme("dark")
		p.rowsShown()
		p.settled()
		p.shot("logs-dark")
		p.theme("light")
		p.size(380, 760)
		p.do("reload", chromedp.Reload())
		p.rowsShown()
		p.settled()
		p.shot("logs-narrow")
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("the page is %d px wide on a screen of 380", wide)
		}
	})

	t.Run("D08 row drawer", func(t *testing.T) {
		p := open(t, s, "/dashboard/logs#t=app&q=level:error")
		p.rowsShown()
		p.settled()
		p.click(".grid-row[data-row='3']")
		p.wait("drawer", `document.querySelector('table.fields')`)
		text := p.text(".drawer")
		row := s.sql(t, "SELECT ts, message FROM app WHERE level = 'error' ORDER BY ts DESC LIMIT 1 OFFSET 3")[0]
		for _, part := range []string{row[0].(json.Number).String(), row[1].(string)} {
			if !strings.Contains(text, part) {
				t.Errorf("the drawer lacks %q:\n%s", part, text)
			}
		}
		p.shot("logs-row")
	})
}

// TestSearchLine runs the cases that the Go side of the grammar passes as well.
func TestSearchLine(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile("testdata/search.json")
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, start(t), "/dashboard/")
	p.wait("the application", `document.querySelector('#rail')`)
	wrong := eval[[]string](p, `(async () => {
		const { search } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/search.js'));
		const table = `+string(cases)+`;
		const wrong = table.cases.length < 100 ? ['only ' + table.cases.length + ' cases'] : [];
		for (const c of table.cases) {
			const r = search(c.line, { message: c.no_message ? null : table.message, fields: table.columns, anyCase: c.any_case });
			const got = r.problem ? [r.problem.message, [...c.line.slice(0, r.problem.from)].length, [...c.line.slice(r.problem.from, r.problem.to)].length, r.problem.near ?? []] : [r.sql];
			const want = c.error ? [c.error, c.at, c.length, c.near ?? []] : [c.where];
			if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push(c.name + ': got ' + JSON.stringify(got) + ', want ' + JSON.stringify(want));
		}
		return wrong;
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestLogsUnread: a link with a search that cannot be read shows no rows, and why.
func TestLogsUnread(t *testing.T) {
	t.Parallel()
	s := shop(t)
	p := open(t, s, "/dashboard/logs#t=app&q=levle:error")
	p.wait("the reason", `document.querySelector('.state[role=alert]')?.innerText.includes('no column "levle"')`)
	p.quiet()
	if got := eval[string](p,
		`document.querySelector('.grid-row, .logs-histogram, .logs-status')?.outerHTML ?? ''`); got != "" {
		t.Errorf("a search that cannot be read shows %s", got)
	}
	eval[bool](p,
		`[...document.querySelectorAll('.state button')].find((b) => b.innerText === 'level').click() ?? true`)
	p.rowsShown()
	p.wait("the search, mended",
		`document.querySelector('#logs-search').value === 'level:error' &&
			document.querySelector('.logs-where .sql').innerText.includes('"level" = \'error\'')`)
	p.afresh("/dashboard/traces#q=http.roote:/cart")
	p.wait("the reason", `document.querySelector('.state[role=alert]')?.innerText.includes('http.roote')`)
}
