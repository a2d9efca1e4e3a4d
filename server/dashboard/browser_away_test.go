//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// leaving is a server that goes away in the middle of an answer: what is asked from then on finds no connection, until
// it is back.
type leaving struct {
	*server
	mu   sync.Mutex
	at   string // what the request says whose answer is cut; empty: none
	away bool
	lost int // requests that found no connection
}

func leavingServer(t *testing.T, s *server) *leaving {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	l := &leaving{}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = to.Host
		r.Out.Header.Del("Origin")
	}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		away, cut := l.fate(r.URL.Path + " " + string(body))
		if cut {
			answer := httptest.NewRecorder()
			r.Header.Del("Accept-Encoding")
			forward.ServeHTTP(answer, r)
			w.WriteHeader(answer.Code)
			w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
			w.(http.Flusher).Flush()
		}
		if away || cut {
			panic(http.ErrAbortHandler) // ends the connection
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	l.server = &server{url: h.URL}
	return l
}

// fate tells what becomes of a request: it finds nobody, or its answer is cut.
func (l *leaving) fate(says string) (away, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		l.lost++
		return true, false
	}
	if l.at == "" || !strings.Contains(says, l.at) {
		return false, false
	}
	l.at, l.away = "", true
	return false, true
}

// leaves lets the server go with the answer to a request that says so.
func (l *leaving) leaves(at string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
}

func (l *leaving) comesBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.away = "", false
}

// allowLost takes for expected what the browser says of connections that end.
func (p *page) allowLost() {
	for _, text := range []string{"ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION",
		"Failed to fetch"} {
		p.allow(text)
	}
}

const noConnection = `document.querySelector('.banner')?.innerText.includes('No connection to the server')`

// TestServerGoesAway: whatever a page waits for when the server goes away in the middle of its answer, the page says
// so, keeps what it had, and gives the answer when the server is back.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.ingest(t, "many", shopLines(30_000, 100*time.Millisecond))
	l := leavingServer(t, s)
	p := open(t, l.server, "/dashboard/status")
	p.allowLost()
	for _, one := range []struct {
		path, at, ask string // ask is what somebody does then: a button, keys, or nothing where the page asks by itself
		had, got      string // what was there before and stays, and what is there at last
	}{
		{"logs#t=app&from=all", "LIMIT+500", "Run", `document.querySelectorAll('.grid-row:not(.hidden)').length > 10`,
			`/^500 rows/.test(document.querySelector('.logs-status .figures')?.innerText)`},
		{"logs#t=many&from=all", "date_bin", "Run", `document.querySelectorAll('.grid-row:not(.hidden)').length > 10`,
			`/^30,000 rows/.test(document.querySelector('.logs-status .figures')?.innerText)`},
		{"logs#t=app&live=1", "LIMIT+1000", "",
			`document.querySelector('.live-bar') && document.querySelectorAll('.grid-row:not(.hidden)').length > 10`,
			`document.querySelector('.live-dot:not(.paused)')`},
		{"sql#sql=SELECT%20*%20FROM%20many&lim=100000", "SELECT+*+FROM+many", "Run", sqlText + `?.includes('many')`,
			`document.querySelector('.result-bar')?.innerText.includes('30,000 rows')`},
		{"metrics#q=http_requests_total", "query=http_requests_total", "Run", `document.querySelector('.chart canvas')`,
			`document.querySelector('.chart canvas')`},
		{"metrics#view=table&q=last_over_time(http_requests_total%5B1h%5D)", "query=last_over_time", "Run",
			`document.querySelector('.metrics-results tbody tr')`,
			`document.querySelector('.metrics-results tbody tr')`},
		{"traces", "SELECT+trace_id", "Run", `document.querySelector('.traces-list tbody tr')`,
			`document.querySelector('.traces-list tbody tr')`},
		{"traces", traceID(0), "shop", `document.querySelector('.traces-list tbody tr')`,
			`document.querySelector('.waterfall .operation')`},
		{"pipelines#name=shop&s=info%20hello", "/dryrun", "\x00textarea[aria-label=Samples]",
			`document.querySelectorAll('.dry tbody tr').length === 1`,
			`document.querySelectorAll('.dry tbody tr').length === 2`},
		{"ingest#t=app", "/dryrun", "Dry run", `document.querySelector('.try textarea')?.value.includes('hello')`,
			`document.querySelectorAll('.dry tbody tr').length === 1`},
		{"status", "/metrics", "", `document.querySelectorAll('.figure').length > 15`,
			`document.querySelectorAll('.figure').length > 15`},
	} {
		t.Run(one.path+" "+one.at, func(t *testing.T) {
			p.anew(t, "/dashboard/"+one.path)
			if strings.HasPrefix(one.path, "ingest") {
				p.wait("the box", `document.querySelector('.try textarea')`)
				p.fill(".try textarea", `{"message":"hello"}`)
			}
			p.wait("the page", one.had)
			l.leaves(one.at)
			switch {
			case one.ask == "shop":
				p.click(".traces-list tbody tr button")
			case strings.HasPrefix(one.ask, "\x00"):
				p.fill(one.ask[1:], "info hello\ninfo again\n")
			case one.ask != "":
				p.button(one.ask)
			}
			p.wait("that it says so", noConnection)
			if one.ask != "shop" && !eval[bool](p, fmt.Sprintf(`Boolean(%s)`, one.had)) {
				t.Error("what was there is gone:", p.describe())
			}
			if text := p.text(".error[role=alert]"); text != "" {
				t.Errorf("it gives up: %s", text)
			}
			l.comesBack()
			p.wait("the answer", `!document.querySelector('.banner') && `+one.got)
			if text := p.text(".error[role=alert]"); text != "" {
				t.Errorf("it says at last: %s", text)
			}
		})
	}
}

// TestServerGoesAwayWhileSending: what changes data is not sent again by itself. What was to be sent stays, and can be
// sent when the server is back.
func TestServerGoesAwayWhileSending(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := leavingServer(t, s)
	p := open(t, l.server, "/dashboard/ingest#t=sent")
	p.allowLost()
	p.wait("the box", `document.querySelector('.try textarea')`)
	p.fill(".try textarea", `{"message":"hello"}`)
	l.leaves("/v1/ingest")
	p.button("Send")
	p.wait("that it says so",
		`document.querySelector('.try .error')?.innerText.includes('ended in the middle of its answer')`)
	p.button("Send")
	p.wait("that nobody is there",
		`document.querySelector('.try .error')?.innerText.includes('The server cannot be reached')`)
	if text := eval[string](p, `document.querySelector('.try textarea').value`); text != `{"message":"hello"}` {
		t.Errorf("the box has %q", text)
	}
	l.comesBack()
	p.button("Send")
	p.wait("the row", `document.querySelector('.sent')?.innerText.startsWith('1 row')`)
	// the first was stored, of which the page knows nothing
	if got := fmt.Sprint(s.sql(t, "SELECT count(*) FROM sent")); got != "[[2]]" {
		t.Errorf("%s rows are stored", got)
	}
}

// TestPartsComeLate: a page, and a part of one, that is opened while the server is away is there when it is back.
func TestPartsComeLate(t *testing.T) {
	t.Parallel()
	s := shop(t)
	l := leavingServer(t, s)
	p := open(t, l.server, "/dashboard/logs#t=app")
	p.allowLost()
	p.shown("logs")
	goes := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.away = true
	}
	goes()
	p.press("f")
	p.press("f")
	p.click(".field .name")
	p.wait("that it says so", noConnection)
	l.comesBack()
	p.wait("the values", `!document.querySelector('.banner') && document.querySelectorAll('.values .value').length > 0`)
	goes()
	p.click("#rail a[href$='/dashboard/sql']")
	p.wait("that it says so", noConnection)
	if text := p.text("#page"); strings.Contains(text, "A new version") {
		t.Errorf("a server that is away is taken for a new one: %s", text)
	}
	l.comesBack()
	p.wait("the page", `!document.querySelector('.banner') && document.querySelector('.sql-actions') && `+sqlText+
		` !== undefined`)
}

// TestCancelWhileAway: who cancels what waits for the server is not told any more that it is tried again.
func TestCancelWhileAway(t *testing.T) {
	t.Parallel()
	s := shop(t)
	l := leavingServer(t, s)
	p := open(t, l.server, "/dashboard/metrics#q=http_requests_total")
	p.allowLost()
	p.wait("the chart", `document.querySelector('.chart canvas')`)
	p.quiet()
	l.leaves("query=http_requests_total")
	p.button("Run")
	p.wait("that it says so", noConnection)
	p.button("Cancel")
	p.wait("that it was cancelled, and no more",
		`document.querySelector('.error[role=alert]')?.innerText.includes('Cancelled.') &&
			!document.querySelector('.banner')`)
	l.comesBack()
	p.button("Run")
	p.wait("the chart", `document.querySelector('.chart canvas') && !document.querySelector('.error')`)
}
