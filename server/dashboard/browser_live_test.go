//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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
				fmt.Fprintf(&b, `{"ts":%d,"level":"info","service":"web","host":"web-1","status":200,"bytes":%d,"message":"flood %d"}`+"\n", at+int64(i), i, sent)
				sent++
			}
			s.post(t, "/v1/ingest?db=public&pipeline_name=service_identity&custom_time_index=ts;epoch;ns&table=app", "application/x-ndjson", []byte(b.String()))
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

// TestD11LiveFlood: 20,000 rows a second for ten seconds. The page answers, says what it leaves out, and keeps what it said it keeps.
func TestD11LiveFlood(t *testing.T) {
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	p := open(t, s, "/dashboard/logs#t=app&live=1")
	p.wait("the live rows", `document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`)
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
		eval[bool](p, `new Promise((resolve) => { [...document.querySelectorAll('.live-bar button')].find((b) => b.title === 'Space').click(); setTimeout(() => resolve(true), 700); })`)
	}
	sent := stop()
	slices.Sort(answers)
	p.wait("the line of what is left out", `[...document.querySelectorAll('.grid-row.marker')].some((r) => /^\s*[\d,]+ rows left out/.test(r.innerText)) || (() => { const g = document.querySelector('.grid'); g.scrollTop -= 400; return false; })()`)
	p.wait("no more than is kept", `Number(document.querySelector('.grid').getAttribute('aria-rowcount')) <= 10000 + 2000`)
	after := p.heap()
	t.Logf("%d rows posted; a click is answered after %.0f ms in the median, %.0f at worst of %d; scripts hold %d MB, before %d", sent, answers[len(answers)/2], answers[len(answers)-1], len(answers), after>>20, before>>20)
	if median := answers[len(answers)/2]; median > 200 {
		t.Errorf("a click is answered after %.0f ms, at most 200", median)
	}
	if after > 250<<20 {
		t.Errorf("scripts hold %d bytes", after)
	}
}
