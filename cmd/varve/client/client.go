// Package client is the HTTP client that all client commands share. It imports nothing of the server.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Client sends requests to one server.
type Client struct {
	// Base is the address of the server, without a slash at its end.
	Base string
	// Profile is the one that named Base; empty: none did.
	Profile Profile
	// DB is the database where a command names none.
	DB string
	// Timezone is the zone where a command names none; empty: that of this machine.
	Timezone string

	http           *http.Client
	timeout        time.Duration
	header         http.Header
	user, password string
	notes          *notebook
	verbose        bool
}

// notebook takes lines of several goroutines.
type notebook struct {
	mu sync.Mutex
	w  io.Writer
}

func (n *notebook) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.w.Write(p)
}

// Request is one request to the server.
type Request struct {
	Method string // default: GET, or POST with a body
	Path   string // begins with a slash
	Query  url.Values
	Header http.Header
	Body   io.Reader
}

// Do sends a request and gives the answer, whose body is to be closed. An answer other than 2xx is an error: an
// AnswerError, or a RefusedError around one; no answer at all is an UnreachableError.
func (c *Client) Do(ctx context.Context, r Request) (*http.Response, error) {
	cancel := context.CancelFunc(func() {})
	if c.timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
	}
	resp, err := c.send(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &body{resp.Body, cancel}
	return resp, nil
}

// body ends the time of a request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}

func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
		if r.Body != nil {
			r.Method = http.MethodPost
		}
	}
	address := c.Base + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, r.Body)
	if err != nil {
		return nil, &UsageError{err}
	}
	for _, h := range []http.Header{c.header, r.Header} {
		for key, values := range h {
			req.Header[http.CanonicalHeaderKey(key)] = values
		}
	}
	if c.user != "" {
		req.SetBasicAuth(c.user, c.password)
	}
	begun := time.Now()
	resp, err := c.http.Do(req)
	if c.verbose {
		c.sayRequest(req, resp, err, time.Since(begun))
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
			return nil, cause
		}
		if c.timeout > 0 && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s (--timeout)", c.timeout)
		}
		return nil, &UnreachableError{Base: c.Base, Cause: reason(err)}
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, readError(r.Path, resp)
}

// sayRequest writes one line of a request.
func (c *Client) sayRequest(req *http.Request, resp *http.Response, err error, took time.Duration) {
	outcome := "no answer"
	if err == nil {
		outcome = strconv.Itoa(resp.StatusCode)
	}
	fmt.Fprintf(c.notes, "varve: %s %s %s %s\n", req.Method, req.URL.RequestURI(), outcome,
		took.Round(100*time.Microsecond))
}

// reason is what is behind the failure of a request, without the request.
func reason(err error) error {
	var system syscall.Errno
	var request *url.Error
	switch {
	case errors.As(err, &system):
		return system
	case errors.As(err, &request):
		return request.Err
	}
	return err
}
