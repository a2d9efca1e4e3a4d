package buckettest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Trouble is what happens to a request.
type Trouble int

// The troubles. Of those that let the request through, the store does what it is asked, whatever the asker hears.
const (
	None      Trouble = iota
	SlowDown          // 503, with the error of a store that is asked too much
	Internal          // 500, without a body
	Refused           // the connection is cut before the store hears of the request
	Lost              // the store hears of it; the connection is cut instead of an answer
	Cut               // half of the answer comes, then the connection is cut
	Hang              // nothing comes until the asker goes
	Longer            // the answer has a byte too much
	Shorter           // the answer has a byte too little, and says so
	Other             // the answer is of the range behind the one that was asked for, and says so
	ErrorBody         // the answer says 200, and its body is an error; the store does not hear of the request
	Flipped           // a byte of what is sent is changed on its way to the store
	Denied            // 403
	troubles
)

// String is the trouble's name in tests.
func (t Trouble) String() string {
	return [troubles]string{"none", "slow down", "internal error", "refused", "lost", "cut", "hang", "longer",
		"shorter", "other", "error body", "flipped", "denied"}[t]
}

// Proxy is a connection to a store that has troubles.
type Proxy struct {
	// URL is the endpoint to ask in place of the store's.
	URL string
	// Requests is the number of requests until now.
	Requests atomic.Int64

	to    string
	via   http.Transport
	mu    sync.Mutex
	ask   func(*http.Request) Trouble
	delay time.Duration
	rate  int // bytes a second of each answer; 0: all at once
}

// NewProxy puts a proxy in front of a store, on 127.0.0.1, until the test ends.
func NewProxy(t testing.TB, endpoint string) *Proxy {
	t.Helper()
	p := &Proxy{to: endpoint}
	p.via.DisableCompression = true
	server := httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	server.Config.ErrorLog = nil
	server.Start()
	p.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		p.via.CloseIdleConnections()
	})
	return p
}

// Set has a function say what happens to each request from now on; nil: nothing.
func (p *Proxy) Set(ask func(*http.Request) Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask = ask
}

// First has a trouble happen to the next n requests of a method, whose URL contains a text.
func (p *Proxy) First(n int, method, text string, what Trouble) {
	var seen atomic.Int64
	p.Set(func(r *http.Request) Trouble {
		if r.Method == method && strings.Contains(r.URL.String(), text) && seen.Add(1) <= int64(n) {
			return what
		}
		return None
	})
}

// Slow makes the store far away: each answer begins after a delay and comes at a rate, in bytes a second; 0: at once.
func (p *Proxy) Slow(delay time.Duration, rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.rate = delay, rate
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.Requests.Add(1)
	p.mu.Lock()
	ask, delay, rate := p.ask, p.delay, p.rate
	p.mu.Unlock()
	trouble := None
	if ask != nil {
		trouble = ask(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !wait(r, delay) {
		return // the asker has gone
	}
	switch trouble {
	case SlowDown:
		refuse(w, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case Denied:
		refuse(w, http.StatusForbidden, "AccessDenied", "Access Denied")
	case Internal:
		w.WriteHeader(http.StatusInternalServerError)
	case ErrorBody:
		refuse(w, http.StatusOK, "InternalError", "We encountered an internal error. Please try again.")
	case Refused:
		hangUp(w)
	case Hang:
		<-r.Context().Done()
	default:
		p.forward(w, r, body, trouble, rate)
	}
}

// wait waits; false: the asker has gone.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>%s</Message></Error>",
		code, message)
}

// hangUp ends the connection.
func hangUp(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// forward asks the store and passes its answer on, as far as the trouble lets it. The name of the host stays that of
// the proxy, which is what the asker has signed.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, body []byte, trouble Trouble, rate int) {
	if trouble == Flipped && len(body) > 0 {
		body[len(body)/2] ^= 1
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	out.Header, out.Host = r.Header.Clone(), r.Host
	if trouble == Other {
		var from, to int64
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err == nil {
			out.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from+1, to+1))
		}
	}
	answer, err := p.via.RoundTrip(out)
	if err != nil {
		hangUp(w)
		return
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil || answer.Body.Close() != nil || trouble == Lost {
		hangUp(w)
		return
	}
	for k, v := range answer.Header {
		w.Header()[k] = v
	}
	switch {
	case trouble == Longer:
		got = append(got, 'x')
	case trouble == Shorter && len(got) > 0:
		got = got[:len(got)-1]
	}
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(got)))
	}
	w.WriteHeader(answer.StatusCode)
	if trouble == Cut {
		_, _ = w.Write(got[:len(got)/2]) // the asker hears no more in any case
		panic(http.ErrAbortHandler)
	}
	for len(got) > 0 {
		n := len(got)
		if rate > 0 {
			n = min(n, max(1, rate/100))
		}
		if _, err := w.Write(got[:n]); err != nil || rate > 0 && !wait(r, 10*time.Millisecond) {
			return
		}
		got = got[n:]
	}
}
