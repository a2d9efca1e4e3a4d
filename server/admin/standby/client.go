package standby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"varve/engine"
	"varve/engine/parts"
	"varve/wal"
)

// Client asks a primary over HTTP: it is an engine.Source. Safe for concurrent use.
type Client struct {
	HTTP           *http.Client
	Base           string // of the primary, such as https://primary:4000
	User, Password string // of an administrator there; empty: it has no users
	Address        string // where this server listens
}

// maxState bounds the manifest of a primary, in bytes.
const maxState = 1 << 30

// afterWait is how much longer an answer may take than the primary waits for news.
const afterWait = 30 * time.Second

// State is engine.Source.State.
func (c *Client) State(ctx context.Context, edit uint64, wait time.Duration) (engine.SourceState, error) {
	resp, body, err := c.wait(ctx, pathState, wait, url.Values{"edit": {number(edit)}}, maxState)
	if err != nil {
		return engine.SourceState{}, err
	}
	to, err := headerNumber(resp, headerEdit)
	return engine.SourceState{Edit: to, Frames: body}, err
}

// Part is engine.Source.Part.
func (c *Client) Part(ctx context.Context, e parts.Entry, off int64, most int) ([]byte, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, afterWait)
	defer cancel()
	resp, body, err := c.get(ctx, pathPart, url.Values{"file": {number(e.File)}, "cold": {strconv.FormatBool(e.Cold)},
		"offset": {number(uint64(off))}, "bytes": {number(uint64(most))}}, maxStretch)
	if err != nil {
		return nil, 0, err
	}
	size, err := headerNumber(resp, headerSize)
	return body, int64(size), errors.Join(err, verifySum(resp, body))
}

// Log is engine.Source.Log.
func (c *Client) Log(ctx context.Context, at wal.LSN, most int, wait time.Duration, p engine.Progress) (
	l engine.SourceLog, err error) {
	resp, body, err := c.wait(ctx, pathLog, wait, url.Values{
		"at": {number(uint64(at))}, "bytes": {number(uint64(most))}, "has": {number(uint64(p.At))},
		"edit": {number(p.Edit)}, "address": {hostless(p.Address)}}, maxStretch)
	if err != nil {
		return l, err
	}
	var n [8]uint64
	for i, name := range [...]string{headerSegment, headerOffset, headerNext, headerFirst, headerEnd, headerRedefined,
		headerWaited, headerUnsynced} {
		if n[i], err = headerNumber(resp, name); err != nil {
			return l, err
		}
	}
	l = engine.SourceLog{Stretch: wal.Stretch{At: wal.Beginning(n[0]) + wal.LSN(n[1]), Bytes: body, Next: n[2],
		First: n[3]}, End: wal.LSN(n[4]), Redefined: n[5], Waited: time.Duration(n[6]) * time.Microsecond,
		Unsynced: time.Duration(n[7]) * time.Microsecond}
	if l.At != at {
		return l, fmt.Errorf("the log was asked for at %s, the answer is at %s", at, l.At)
	}
	return l, verifySum(resp, body)
}

// Promote asks the server at Base, a standby, to take over.
func (c *Client) Promote(ctx context.Context) error {
	_, _, err := c.ask(ctx, http.MethodPost, pathPromote, nil, maxAnswer)
	return err
}

// Epoch is what a server says of its store.
type Epoch struct {
	Store   string
	Epoch   uint64
	Standby bool // it follows another
}

// maxAnswer bounds other answers, in bytes.
const maxAnswer = 64 << 10

// Epoch asks the server at Base which store it has.
func (c *Client) Epoch(ctx context.Context) (e Epoch, err error) {
	_, body, err := c.get(ctx, pathEpoch, nil, maxAnswer)
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	return e, err
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// headerNumber is the number in a header of an answer.
func headerNumber(resp *http.Response, name string) (uint64, error) {
	n, err := strconv.ParseUint(resp.Header.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s answers without %s: it is no server that can be followed", resp.Request.URL.Host, name)
	}
	return n, nil
}

// verifySum holds the body of an answer against its checksum.
func verifySum(resp *http.Response, body []byte) error {
	if got, want := sumOf(body), resp.Header.Get(headerSum); got != want {
		return fmt.Errorf("%s: checksum %s, want %s: the answer was garbled on the way", resp.Request.URL.Path, got, want)
	}
	return nil
}

// wait asks for an answer that may wait for news.
func (c *Client) wait(ctx context.Context, path string, wait time.Duration, form url.Values, most int64) (
	*http.Response, []byte, error) {
	form.Set("wait_ms", number(uint64(wait.Milliseconds())))
	ctx, cancel := context.WithTimeout(ctx, wait+afterWait)
	defer cancel()
	return c.get(ctx, path, form, most)
}

func (c *Client) get(ctx context.Context, path string, form url.Values, most int64) (*http.Response, []byte, error) {
	return c.ask(ctx, http.MethodGet, path, form, most)
}

// ask sends a request and reads the answer, of at most so many bytes.
func (c *Client) ask(ctx context.Context, method, path string, form url.Values, most int64) (
	*http.Response, []byte, error) {
	address := c.Base + path
	if len(form) > 0 {
		address += "?" + form.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, nil, err
	}
	if c.User != "" {
		r.SetBasicAuth(c.User, c.Password)
	}
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, nil, err
	}
	switch {
	case int64(len(body)) > most:
		return nil, nil, fmt.Errorf("%s answers with more than %d bytes", path, most)
	case resp.StatusCode == http.StatusNotFound && path == pathPart:
		return nil, nil, fmt.Errorf("%s: %w", resp.Request.URL.Host, engine.ErrNoPart)
	case resp.StatusCode >= 300:
		return nil, nil, fmt.Errorf("%s answers %s: %s", resp.Request.URL.Host, resp.Status, reason(body))
	}
	return resp, body, nil
}

// reason is the text of an answer that is an error.
func reason(body []byte) string {
	var answer struct{ Error string }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error == "" {
		return fmt.Sprintf("%.200q", body)
	}
	return answer.Error
}
