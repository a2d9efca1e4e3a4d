//go:build dashboard && browser

package dashboard

import (
	"strings"
	"testing"
	"time"
)

// visited opens a page that was never visited and gives the bytes that this brought over the wire, heads of answers
// included.
func visited(t *testing.T, s *server, path string) (p *page, bytes int) {
	t.Helper()
	p = openNew(t, browser, s, path)
	p.wait("the page",
		`document.querySelector('.grid-row') ||
			document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.wait("all files", `performance.getEntriesByType('resource').every((e) => e.responseEnd > 0)`)
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.files {
		bytes += p.received[id]
	}
	return p, bytes
}

// TestFirstVisit holds the bounds of what a first visit brings over the wire.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(100, time.Second))
	for path, most := range map[string]int{"/dashboard/logs#t=app": 150_000, "/dashboard/sql": 400_000} {
		p, bytes := visited(t, s, path)
		p.mu.Lock()
		for id, file := range p.files {
			t.Logf("%7d %s", p.received[id], file[strings.LastIndex(file, "/a/")+1:])
		}
		p.mu.Unlock()
		t.Logf("%s: %d bytes in %d answers", path, bytes, len(p.files))
		if bytes > most || bytes < 20_000 {
			t.Errorf("%s: %d bytes over the wire, at most %d", path, bytes, most)
		}
	}
}
