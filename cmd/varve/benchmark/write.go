package benchmark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

const (
	// busyPause is how long a write waits that the server has no room for and that says no time.
	busyPause = 50 * time.Millisecond
	// usageEvery is how often the server is asked what memory it has.
	usageEvery = 250 * time.Millisecond
	// mostAnswer bounds an answer that is read, bytes.
	mostAnswer = 256 << 20
)

// sender sends a body with so many rows, until it is taken.
type sender func(r client.Request, body []byte, rows int64) error

// write measures a load, whose rows then lie in a table.
func (b *bench) write(ctx context.Context, table string, load func(sender) error) (*Written, error) {
	var (
		mu   sync.Mutex
		took []time.Duration
		w    Written
	)
	before, _, err := b.usage(ctx)
	if err != nil {
		return nil, err
	}
	onDisk, err := b.bytes(ctx)
	if err != nil {
		return nil, err
	}
	watched, stop := context.WithCancel(ctx)
	peak := make(chan int64)
	go func() { peak <- b.watch(watched) }()
	begun := time.Now()
	err = load(func(r client.Request, body []byte, rows int64) error {
		start, retries := time.Now(), 0
		for {
			err := b.post(ctx, r, body)
			if err == nil {
				break
			}
			if err := pause(ctx, err); err != nil {
				return err
			}
			start, retries = time.Now(), retries+1
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(start))
		w.Rows, w.Bytes, w.Retries = w.Rows+rows, w.Bytes+int64(len(body)), w.Retries+retries
		return nil
	})
	w.Seconds = time.Since(begun).Seconds()
	if err == nil {
		_, err = b.server.Query(ctx, b.db, "ADMIN flush_table('"+table+"')")
	}
	stop()
	w.PeakRSS = <-peak
	if err != nil {
		return nil, err
	}
	bytes, err := b.bytes(ctx)
	if err != nil {
		return nil, err
	}
	w.BytesPerRow = (bytes - onDisk) / float64(w.Rows)
	return &w, b.figures(ctx, &w, before, took)
}

// bytes is what the tables take on disk.
func (b *bench) bytes(ctx context.Context) (float64, error) {
	answer, err := b.server.Query(ctx, "",
		"SELECT CAST(coalesce(sum(data_length + index_length), 0) AS DOUBLE) FROM information_schema.tables WHERE "+
			"table_schema = '"+b.db+"'")
	if err != nil {
		return 0, err
	}
	n, ok := answer.Rows[0][0].(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s does not report the size of its tables on disk", b.server.Base)
	}
	return n.Float64()
}

// figures works out what the counts come to.
func (b *bench) figures(ctx context.Context, w *Written, cpuBefore float64, took []time.Duration) error {
	cpu, _, err := b.usage(ctx)
	if err != nil {
		return err
	}
	w.RowsPerSecond, w.MBPerSecond = float64(w.Rows)/w.Seconds, float64(w.Bytes)/1e6/w.Seconds
	w.CPUPerGB = (cpu - cpuBefore) / float64(w.Bytes) * 1e9
	w.P50MS, w.P99MS = quantiles(took)
	return nil
}

// post sends a body once.
func (b *bench) post(ctx context.Context, r client.Request, body []byte) error {
	r.Body = bytes.NewReader(body)
	_, err := b.fetch(ctx, r)
	return err
}

// fetch gives the body of an answer.
func (b *bench) fetch(ctx context.Context, r client.Request) ([]byte, error) {
	resp, err := b.server.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	return body, errors.Join(err, resp.Body.Close())
}

// pause waits before a write is sent again that the server had no room for; other errors stay.
func pause(ctx context.Context, err error) error {
	var answer *client.AnswerError
	if !errors.As(err, &answer) || answer.Status != http.StatusTooManyRequests &&
		answer.Status != http.StatusServiceUnavailable {
		return err
	}
	return progress.Sleep(ctx, max(answer.RetryAfter, busyPause))
}

// watch asks for the server's memory until ctx ends, and gives the most that it saw.
func (b *bench) watch(ctx context.Context) (peak int64) {
	for {
		if _, rss, err := b.usage(ctx); err == nil {
			peak = max(peak, rss)
		}
		select {
		case <-ctx.Done():
			return peak
		case <-time.After(usageEvery):
		}
	}
}

// usage is what the process of the server tells of itself: processor time in seconds, and resident memory.
func (b *bench) usage(ctx context.Context) (cpu float64, rss int64, err error) {
	text, err := b.fetch(ctx, client.Request{Path: "/metrics"})
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "process_cpu_seconds_total" && name != "process_resident_memory_bytes" {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("figures of the server: %w", err)
		}
		if name == "process_cpu_seconds_total" {
			cpu = n
		} else {
			rss = int64(n)
		}
	}
	return cpu, rss, nil
}

// rowsOfSQL is the number of rows of an answer of /v1/sql.
func rowsOfSQL(body []byte) (n int) {
	var answer struct {
		Output []struct {
			Records struct{ Rows []json.RawMessage }
		}
	}
	if json.Unmarshal(body, &answer) == nil {
		for _, o := range answer.Output {
			n += len(o.Records.Rows)
		}
	}
	return n
}
