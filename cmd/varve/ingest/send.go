package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// firstWait is the first between attempts. Tests shorten it.
var firstWait = progress.FirstWait

// longestAsked bounds the waits that the server may ask for.
const longestAsked = time.Minute

// hopeless is after how many rejects without a single stored entry the fault is not one of entries.
const hopeless = 1000

// sender sends batches with several workers.
type sender struct {
	r       *running
	ctx     context.Context // of requests
	gate    gate
	pace    pacer
	rejects *rejects
}

func newSender(r *running, ctx context.Context) *sender {
	s := &sender{r: r, ctx: ctx}
	s.gate.open(r.o.Connections)
	s.rejects = &rejects{file: r.o.Rejects, most: r.o.MaxRejects}
	return s
}

// databaseNotFound is the server's code for that.
const databaseNotFound = 4004

// check sends a request without entries, so that what is wrong with all of them is told before anything is read.
func (s *sender) check(ctx context.Context) error {
	if s.r.o.DB != "public" {
		// No write makes a database, and only with the first entry would it be missed.
		_, err := s.r.c.Query(ctx, s.r.o.DB, "SELECT 1")
		var answer *client.AnswerError
		if errors.As(err, &answer) && answer.Code == databaseNotFound {
			return err
		}
	}
	return s.r.patiently(ctx, func() error {
		_, err := s.r.c.Do(ctx, s.r.o.trial(s.r.inputs))
		return err
	})
}

// start starts the workers.
func (s *sender) start() *sync.WaitGroup {
	workers := &sync.WaitGroup{}
	for range s.r.o.Connections {
		workers.Go(func() {
			w := &worker{sender: s}
			for b := range s.r.work {
				if err := w.take(b); err != nil && !errors.Is(err, errStopped) {
					s.r.end(err)
				}
				s.r.buffers <- b.buffer
			}
		})
	}
	return workers
}

// worker is one connection.
type worker struct {
	*sender
	encoder      *zstd.Encoder
	body, packed []byte
}

// take deals with a batch: everything in it is stored, among the rejects, or the error says why not.
func (w *worker) take(b *batch) (err error) {
	if b.long != nil {
		defer func() { err = errors.Join(err, b.long.Close()) }()
	}
	if w.r.stopped() {
		return errStopped
	}
	if b.refused != "" {
		return w.reject(b, &b.part, errors.New(b.refused))
	}
	if !w.pace.wait(&b.part, b.bytes, w.r.o.Rate, w.r.stop) {
		return errStopped
	}
	for todo := []part{b.part}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w.r.stopped() {
			return errStopped
		}
		err := w.deliver(b, &p)
		switch {
		case err == nil:
			b.in.ledger.done(p.from, p.to)
		case !isRefused(err):
			return fmt.Errorf("%s, line %d: %w", b.in.name, p.line(), err)
		default:
			if left, right, ok := p.halve(); ok && b.long == nil {
				todo = append(todo, right, left)
			} else if err := w.reject(b, &p, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRefused reports whether an error is that these entries, or this statement, will never be taken.
func isRefused(err error) bool {
	var answer *client.AnswerError
	var row *rowError
	return errors.As(err, &answer) && isRefusal(answer.Status) || errors.As(err, &row)
}

// isRefusal: the server does not want these entries, and others may be well.
func isRefusal(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		status == http.StatusUnprocessableEntity
}

// isLost: who answered may not be who stores.
func isLost(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// deliver sends a part until it is taken or refused for good.
func (w *worker) deliver(b *batch, p *part) (err error) {
	if b.long == nil && p.isBlank() {
		return nil
	}
	id, err := b.id(p)
	if err != nil {
		return err
	}
	if err := w.r.state.sends(b.in, p); err != nil {
		w.r.state.fail(err)
	}
	begun, doubtful := time.Now(), false
	defer func() {
		if err != nil && doubtful {
			w.r.report.lost(p)
		}
	}()
	for waits := progress.Backoff(firstWait); ; {
		if !w.gate.enter(w.r.stop) {
			return errStopped
		}
		took, sent, err := w.attempt(b, p, id)
		w.gate.leave(err)
		if err == nil {
			w.r.report.stored(took, p, b.bytes, doubtful && !w.r.targets[b.in.table].known())
			return nil
		}
		var answer *client.AnswerError
		var unreachable *client.UnreachableError
		again, after := client.Temporary(err)
		switch {
		case again && errors.As(err, &answer):
			doubtful = doubtful || isLost(answer.Status)
		case errors.As(err, &unreachable):
			doubtful = doubtful || sent
		case answer != nil && isRefusal(answer.Status): // as an attempt before was, whose answer was lost
			doubtful = false
			return err
		default: // the request was given up, or nobody will take it
			doubtful = doubtful || sent && w.ctx.Err() != nil
			return err
		}
		wait := max(waits.Next(), min(after, longestAsked))
		if time.Since(begun)+wait > w.r.o.RetryFor || w.ctx.Err() != nil || w.r.stopped() {
			return err
		}
		w.r.report.retry(err)
		if !w.r.sleep(w.ctx, wait) {
			return errStopped
		}
	}
}

// attempt sends a part once, under its id. sent: the server may have got it.
func (w *worker) attempt(b *batch, p *part, id string) (t taken, sent bool, err error) {
	var wrote atomic.Bool // a request that was given up may still be written
	ctx := httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	req := w.r.o.request(b.in)
	req.Header.Set("X-Service-Batch-Id", id)
	if req.Body, err = w.bodyOf(b, p, req.Header); err != nil {
		return t, false, err
	}
	w.r.report.request()
	resp, err := w.r.c.Do(ctx, req)
	if err != nil {
		return t, wrote.Load(), err
	}
	defer resp.Body.Close()
	return readAnswer(resp, b.in.format, p), true, nil
}

// bodyOf is what is sent for a part of a batch; it holds until the next one.
func (w *worker) bodyOf(b *batch, p *part, header http.Header) (io.Reader, error) {
	switch {
	case b.long != nil && b.in.format == insert: // it is written anew
		line, err := io.ReadAll(io.NewSectionReader(b.long, 0, b.bytes))
		if err != nil {
			return nil, err
		}
		w.body, err = insertBody(b.in, w.body, line)
		return bytes.NewReader(w.body), err
	case b.long != nil:
		return io.NewSectionReader(b.long, 0, b.bytes), nil
	}
	body, err := b.in.format.body(b.in, &w.body, p)
	if w.r.o.Compress == "zstd" && b.in.format != insert { // forms are read as they are
		body = w.pack(body)
		header.Set("Content-Encoding", "zstd")
	}
	return bytes.NewReader(body), err
}

// pack compresses a body; it holds until the next one.
func (w *worker) pack(body []byte) []byte {
	if w.encoder == nil {
		var err error
		if w.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(512<<10)); err != nil {
			panic(fmt.Sprintf("the options of zstd are wrong: %v", err))
		}
	}
	w.packed = w.encoder.EncodeAll(body, w.packed[:0])
	return w.packed
}

// reject puts the one entry of a part among the rejects, or ends the run.
func (w *worker) reject(b *batch, p *part, cause error) error {
	n := w.r.report.reject()
	if err := w.rejects.add(b.in.name, p.line(), p.text(), cause, n); err != nil {
		return err
	}
	if w.r.o.Rejects == "" {
		w.r.report.note("%s, line %d was refused: %v", b.in.name, p.line(), cause)
	}
	if w.r.o.MaxRejects < 0 && n >= hopeless && w.r.report.nothingStored() {
		return fmt.Errorf(
			"the first %d entries were all refused, so nothing further is sent; the last: %s, line %d: %w", n,
			b.in.name, p.line(), cause)
	}
	b.in.ledger.done(p.from, p.to)
	return nil
}

// stopped reports whether nothing further is to be sent.
func (r *running) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return r.ended() != nil
	}
}

// sleep waits; false: nothing further is to be sent.
func (r *running) sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-r.stop:
	}
	return false
}
