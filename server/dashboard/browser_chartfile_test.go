//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// other opens one of the other forms of a chart.
func (p *page) other(form string) {
	p.t.Helper()
	p.click(".chart-menu")
	p.button(form)
}

// TestD30ChartForms: what a graph shows can be read as a table, walked by the keyboard, and saved as values and as a
// picture.
func TestD30ChartForms(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	end := time.Now().UTC().Truncate(time.Minute)
	begin := end.Add(-30 * time.Minute)
	const query = "sum by (method) (rate(http_requests_total[5m]))"
	p := openMetrics(t, s, query, "&from="+begin.Format(time.RFC3339)+"&to="+end.Format(time.RFC3339))
	p.wait("the legend",
		`document.querySelector('.chart canvas')?.width > 0 &&
			document.querySelectorAll('.chart-legend tbody tr').length === 2`)
	eval[bool](p, caught)
	points := s.evaluate(t, "query_range",
		url.Values{"query": {query}, "start": {strconv.FormatInt(begin.Unix(), 10)},
			"end": {strconv.FormatInt(end.Unix(), 10)}, "step": {"10"}})

	p.other("Save values as CSV")
	p.wait("the file", `window.named === 'metrics.csv'`)
	lines := strings.Split(strings.TrimSpace(eval[string](p, `window.blob.text()`)), "\n")
	if len(lines) != 1+len(points[0].Values) {
		t.Fatalf("%d lines of CSV, %d points:\n%.300s", len(lines), len(points[0].Values), lines)
	}
	heads := lines[0]
	last := strings.Split(lines[len(lines)-1], ",")
	for _, one := range points {
		name := fmt.Sprintf(`"{method=""%s""}"`, one.Metric["method"])
		at := 1
		if !strings.HasPrefix(heads, "time,"+name) {
			at = 2
		}
		want, _ := strconv.ParseFloat(one.Values[len(one.Values)-1][1].(string), 64)
		if got, _ := strconv.ParseFloat(last[at], 64); got != want || !strings.Contains(heads, name) {
			t.Errorf("%s ends with %v, the API with %v; heads %s", name, got, want, heads)
		}
	}
	if got, want := last[0], end.Format("2006-01-02T15:04:05Z"); !strings.HasPrefix(got, want[:19]) {
		t.Errorf("the last line is of %s, want %s", got, want)
	}

	p.other("Save a picture (PNG)")
	p.wait("the picture", `window.named === 'metrics.png'`)
	size := eval[[]int](p,
		`createImageBitmap(window.blob).then((b) => [b.width, b.height, document.querySelector('.chart canvas').width, document.querySelector('.chart canvas').height])`)
	if size[0] != size[2] || size[1] < size[3]+60 {
		t.Errorf("a picture of %d x %d of a drawing of %d x %d, with a title and two lines of a legend", size[0],
			size[1], size[2], size[3])
	}

	p.other("Values as a table")
	p.wait("the table", fmt.Sprintf(`document.querySelectorAll('.chart-values tbody tr').length === %d`,
		len(points[0].Values)))
	p.shot("metrics-values")
	p.press(kb.Escape)
	p.wait("that it closes", `!document.querySelector('.chart-values')`)

	eval[bool](p, `document.querySelector('.chart').focus() ?? true`)
	p.press(kb.Home)
	first := begin.Format("15:04:05")
	p.wait("the first point read out",
		fmt.Sprintf(`document.querySelector('.chart .tip[role=status]')?.innerText.includes(%q)`, first))
	p.press(kb.ArrowRight)
	p.wait("the next one", fmt.Sprintf(`document.querySelector('.chart .tip')?.innerText.includes(%q)`,
		begin.Add(10*time.Second).Format("15:04:05")))
	eval[bool](p, `document.activeElement.blur() ?? true`)
	p.wait("nothing to read", `!document.querySelector('.chart .tip')`)
}
