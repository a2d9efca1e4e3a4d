package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"varve/cmd/varve/arrowrows"
	"varve/cmd/varve/client"
)

// mostBroken is how often the answer to one statement may break off: the server ends one so whose query fails on its
// way.
const mostBroken = 5

// brokenError: an answer did not come to its end.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return "the answer broke off: " + e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

// fetch runs a statement and hands its rows over, batch after batch: first the schema alone, with a nil batch.
func fetch(ctx context.Context, c *client.Client, db, sql string,
	take func(*arrow.Schema, arrow.RecordBatch) error) error {
	form := url.Values{"sql": {sql}, "db": {db}, "format": {"arrow"}}
	resp, err := c.Do(ctx, client.Statement(form))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/arrow") {
		return fmt.Errorf("%s did not answer with rows: %s", c.Base, kind)
	}
	err = readArrow(resp.Body, take)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// errNoRows is the answer to a statement that has none.
var errNoRows = errors.New("the statement answers with no rows")

// readArrow hands the batches of a stream over. An error of the stream, which has to come to its end, is a brokenError.
func readArrow(from io.Reader, take func(*arrow.Schema, arrow.RecordBatch) error) error {
	body := &watched{r: from}
	// Only a reader of messages heeds the limits, a reader of streams forgets them.
	messages := ipc.NewMessageReader(body, ipc.WithMetadataSizeLimit(arrowrows.MaxMetadata),
		ipc.WithBodySizeLimit(arrowrows.MaxBody))
	r, err := ipc.NewReaderFromMessageReader(messages)
	switch {
	case err != nil && body.read == 0 && errors.Is(body.err, io.EOF):
		return errNoRows
	case err != nil:
		return &brokenError{body.cause(err)}
	}
	defer r.Release()
	if err := take(r.Schema(), nil); err != nil {
		return err
	}
	for r.Next() {
		if err := take(r.Schema(), r.RecordBatch()); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return &brokenError{body.cause(err)}
	}
	// The mark at the end of the stream is not the end of the answer: that is cut where something failed.
	if n, err := io.Copy(io.Discard, body); err != nil || n > 0 || body.tail() != endMark {
		return &brokenError{body.cause(io.ErrUnexpectedEOF)}
	}
	return nil
}

// endMark is what a stream ends with.
const endMark = "\xff\xff\xff\xff\x00\x00\x00\x00"

// watched remembers how reading went, which the reader of Arrow tells in words of its own.
type watched struct {
	r    io.Reader
	read int64
	last [len(endMark)]byte
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.read += int64(n)
	if n >= len(w.last) {
		copy(w.last[:], p[n-len(w.last):n])
	} else {
		copy(w.last[:], w.last[n:])
		copy(w.last[len(w.last)-n:], p[:n])
	}
	if err != nil {
		w.err = err
	}
	return n, err
}

// tail is what was read last.
func (w *watched) tail() string { return string(w.last[:]) }

// cause is why reading ended, or else what the reader makes of it.
func (w *watched) cause(err error) error {
	if w.err != nil && !errors.Is(w.err, io.EOF) {
		return w.err
	}
	return err
}

// patiently runs what may be tried again, up to an error that trying again does not mend.
func (r *running) patiently(ctx context.Context, do func() error) error {
	broken := 0
	return r.tries.Run(ctx, func() error {
		err := do()
		if is := (*brokenError)(nil); errors.As(err, &is) {
			if broken++; broken == mostBroken {
				return finalError{fmt.Errorf("%w, %d times; the log of the server says why", err, broken)}
			}
		}
		return err
	})
}

// sayAgain tells of an error that is borne.
func (r *running) sayAgain(err error, pause time.Duration) {
	r.retries++
	r.notes.Say("%s. Trying again in %s", client.Line(err), pause.Round(10*time.Millisecond))
}

// mends tells whether an error may be gone when the same is tried again, and how long the server asks to wait before.
func mends(err error) (again bool, wait time.Duration) {
	var broken *brokenError
	var final finalError
	switch {
	case errors.As(err, &final):
		return false, 0
	case errors.As(err, &broken):
		return true, 0
	}
	return client.Temporary(err)
}
