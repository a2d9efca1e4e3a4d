// Package client talks to a running server over HTTP: what all client commands share. It knows nothing of the server's code.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// Flags are the flags of every command that talks to a server.
type Flags struct {
	URL          string        `name:"url" env:"VARVE_URL" default:"http://127.0.0.1:4000" help:"The running server."`
	User         string        `env:"VARVE_USER" help:"Who signs in; the password is in the file or in VARVE_PASSWORD."`
	PasswordFile string        `env:"VARVE_PASSWORD_FILE" placeholder:"FILE" help:"A file with the password."`
	CAFile       string        `name:"ca-file" placeholder:"FILE" help:"Certificates to trust besides those of the system (PEM)."`
	Insecure     bool          `help:"Do not check the certificate of the server."`
	Timeout      time.Duration `placeholder:"DURATION" help:"How long a request may take; default: as long as it takes."`
	Header       []string      `sep:"none" placeholder:"'K: V'" help:"A header of every request; may be repeated."`
}

// Client sends requests to one server.
type Client struct {
	// Base is the address of the server, without a slash at its end.
	Base string

	http           *http.Client
	timeout        time.Duration
	header         http.Header
	user, password string
}

// Connect makes a client of the flags; nothing is sent yet. environ is the environment, notes are written to notes. Errors
// are UsageErrors but for files that cannot be read.
func (f *Flags) Connect(environ []string, notes io.Writer) (*Client, error) {
	base, err := url.Parse(f.URL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, &UsageError{fmt.Errorf("--url %s: an address that begins with http:// or https:// is wanted", f.URL)}
	}
	c := &Client{Base: strings.TrimSuffix(f.URL, "/"), header: http.Header{}, timeout: f.Timeout, user: f.User}
	for _, h := range f.Header {
		key, value, found := strings.Cut(h, ":")
		if !found || strings.TrimSpace(key) == "" {
			return nil, &UsageError{fmt.Errorf("--header %q: KEY: VALUE is wanted", h)}
		}
		c.header.Add(strings.TrimSpace(key), strings.TrimSpace(value))
	}
	if c.user != "" {
		if c.password, err = password(f.PasswordFile, environ); err != nil {
			return nil, err
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true
	if transport.TLSClientConfig, err = f.trust(notes); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport}
	return c, nil
}

// trust says which certificates are taken.
func (f *Flags) trust(notes io.Writer) (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: f.Insecure} //nolint:gosec // asked for, and said below
	if f.Insecure {
		fmt.Fprintln(notes, "varve: --insecure: the certificate of the server is not checked")
	}
	if f.CAFile == "" {
		return t, nil
	}
	text, err := os.ReadFile(f.CAFile)
	if err != nil {
		return nil, err
	}
	if t.RootCAs, err = x509.SystemCertPool(); err != nil {
		t.RootCAs = x509.NewCertPool()
	}
	if !t.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", f.CAFile)
	}
	return t, nil
}

// password finds the password without it ever being an argument, which all users of the machine could read.
func password(file string, environ []string) (string, error) {
	if file != "" {
		text, err := os.ReadFile(file)
		return strings.TrimRight(string(text), "\r\n"), err
	}
	for _, e := range environ {
		if p, ok := strings.CutPrefix(e, "VARVE_PASSWORD="); ok {
			return p, nil
		}
	}
	return "", &UsageError{errors.New("--user needs a password in --password-file or VARVE_PASSWORD")}
}

// Request is one request to the server.
type Request struct {
	Method string // default: GET, or POST with a body
	Path   string // begins with a slash
	Query  url.Values
	Header http.Header
	Body   io.Reader
}

// Do sends a request and gives the answer, whose body is to be closed. An answer other than 2xx is an error: an AnswerError,
// or a RefusedError around one; no answer at all is an UnreachableError.
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
	resp, err := c.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
			return nil, cause
		}
		return nil, &UnreachableError{Base: c.Base, Cause: reason(err)}
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, answerError(resp)
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

// Column is a column of an answer.
type Column struct {
	Name string `json:"name"`
	Type string `json:"data_type"`
}

// Answer is what a statement gave, whole in memory.
type Answer struct {
	Columns  []Column
	Rows     [][]any // numbers are json.Number
	Affected int64   // rows that a statement without rows changed
}

// mostAnswer bounds an answer that is read whole, bytes.
const mostAnswer = 64 << 20

// Query runs one statement whose answer is small.
func (c *Client) Query(ctx context.Context, db, sql string) (*Answer, error) {
	form := url.Values{"sql": {sql}}
	if db != "" {
		form.Set("db", db)
	}
	resp, err := c.Do(ctx, Request{Path: "/v1/sql", Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: strings.NewReader(form.Encode())})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if err != nil {
		return nil, &UnreachableError{Base: c.Base, Cause: err}
	}
	if len(text) > mostAnswer {
		return nil, fmt.Errorf("the answer of %.100q is larger than %d bytes", sql, mostAnswer)
	}
	return c.readAnswer(text)
}

// readAnswer reads the last result of an answer of /v1/sql.
func (c *Client) readAnswer(text []byte) (*Answer, error) {
	var body struct {
		Output []struct {
			AffectedRows int64
			Records      struct {
				Schema struct {
					Columns []Column `json:"column_schemas"`
				}
				Rows [][]any
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || len(body.Output) == 0 {
		return nil, fmt.Errorf("%s answered something else than a result: %.200q", c.Base, text)
	}
	last := body.Output[len(body.Output)-1]
	return &Answer{Columns: last.Records.Schema.Columns, Rows: last.Records.Rows, Affected: last.AffectedRows}, nil
}
