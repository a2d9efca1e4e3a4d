package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/bench/client"
	"varve/bench/gen"
)

const (
	// requestLimit is how long a write may take before the load is given up.
	requestLimit = 2 * time.Minute
	// busyWait is the pause before a write that the server refused for want of room is sent again.
	busyWait = 50 * time.Millisecond
)

// load says what is written where.
type load struct {
	base        string // of the server
	wire        *wire
	set         *gen.Set
	rows, batch int64
	connections int
	until       time.Time // the end of a load by time; zero: all rows
	progress    func(rows int)
}

// loadFigure is what a load took, seen from the client.
type loadFigure struct {
	rows, bytes int64 // acknowledged
	took        time.Duration
	retries     int64           // writes refused with 429 or 503 and sent again
	requests    []time.Duration // sorted
}

// run writes the rows over all connections and waits for the last answer. Each connection makes its own batches, and
// takes the next one that nobody has. The first failure ends the load.
func (l *load) run(ctx context.Context) (f loadFigure, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next atomic.Int64
		mu   sync.Mutex // protects f
		wg   sync.WaitGroup
	)
	start := time.Now()
	for range l.connections {
		wg.Go(func() {
			mine, err := l.write(ctx, &next)
			if err != nil {
				cancel(err)
			}
			mu.Lock()
			defer mu.Unlock()
			f.rows += mine.rows
			f.bytes += mine.bytes
			f.retries += mine.retries
			f.requests = append(f.requests, mine.requests...)
		})
	}
	wg.Wait()
	f.took = time.Since(start)
	slices.Sort(f.requests)
	if err = context.Cause(ctx); err == nil && len(f.requests) == 0 {
		err = errors.New("no rows were written: there are none, or the time was over before the first")
	}
	return f, err
}

// write is the work of one connection.
func (l *load) write(ctx context.Context, next *atomic.Int64) (f loadFigure, err error) {
	c, err := client.Dial(l.base)
	if err != nil {
		return f, err
	}
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	var body, packed []byte
	for {
		from := next.Add(l.batch) - l.batch
		if l.until.IsZero() && from >= l.rows || !l.until.IsZero() && time.Now().After(l.until) || ctx.Err() != nil {
			return f, nil
		}
		to := from + l.batch
		if l.until.IsZero() {
			to = min(to, l.rows)
		}
		if l.wire.body != nil {
			body = l.wire.body(body[:0], from, to)
		} else {
			body = l.set.Append(body[:0], from, to)
		}
		send := body
		if l.wire.wrap != nil {
			packed = l.wire.wrap(packed[:0], body)
			send = packed
		}
		if err := l.post(ctx, c, send, to-from, &f); err != nil {
			return f, fmt.Errorf("rows %d to %d: %w", from, to, err)
		}
		l.progress(int(to - from))
	}
}

// post sends one batch until it is taken.
func (l *load) post(ctx context.Context, c *client.Conn, body []byte, rows int64, f *loadFigure) error {
	for {
		start := time.Now()
		status, answer, err := c.Post(l.wire.path, l.wire.contentType, l.wire.header, body, start.Add(requestLimit))
		switch {
		case err != nil:
			return err
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			f.retries++
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(busyWait):
			}
			continue
		case status != l.wire.status:
			return client.AnswerError(status, answer)
		}
		f.requests = append(f.requests, time.Since(start))
		n, err := l.wire.count(answer, rows)
		if err != nil {
			return err
		}
		if n != rows {
			return fmt.Errorf("%d rows acknowledged, %d sent", n, rows)
		}
		f.rows += rows
		f.bytes += int64(len(body))
		return nil
	}
}
