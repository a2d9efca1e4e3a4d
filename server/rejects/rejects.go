// Package rejects keeps entries that could not be stored and whose senders cannot be told, because their protocol
// acknowledges all of a message or nothing. It writes them, with the reason, to a table of the server's own.
package rejects

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
)

// Name is the table of the entries. It is made with the first of them.
var Name = schema.Name{DB: engine.PrivateDB, Table: "rejected"}

const (
	// maxText bounds the text of an entry that is kept.
	maxText = 2 << 10
	// perMinute bounds the entries that are kept of a minute; further ones are counted alone.
	perMinute = 10_000
	// ttl is how long entries are kept.
	ttl = "7d"
)

// Entry is an entry that could not be stored.
type Entry struct {
	Protocol string
	Table    string // that it was meant for; empty: it names none
	Why      error
	Text     []byte
}

// Store takes rows; engine.Engine does.
type Store interface {
	Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error)
}

// Log writes entries to the table. Safe for concurrent use.
type Log struct {
	store  Store
	now    func() time.Time
	logger *slog.Logger

	mu     sync.Mutex // protects what follows
	minute time.Time
	kept   int // in it

	rejected *prometheus.CounterVec
	dropped  prometheus.Counter
}

// New makes a log into a store; logger may be nil.
func New(s Store, logger *slog.Logger) *Log {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Log{store: s, now: time.Now, logger: logger,
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_rejected_entries_total", Help: "Entries that could not be stored, and whose senders cannot be told."}, []string{"protocol"}),
		dropped:  prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_rejected_dropped_total", Help: "Entries of those that are not in the table of rejects either: they were too many, or it could not be written."}),
	}
}

// Collectors are the figures of the log.
func (l *Log) Collectors() []prometheus.Collector {
	return []prometheus.Collector{l.rejected, l.dropped}
}

// Add writes entries to the table, as durably as rows are. What its table has no place for is counted and in the
// server's log. Where the store takes nothing, for a time say, its error comes back, and nothing is counted: who sent
// the entries is not to believe that they are kept. A nil Log does nothing.
func (l *Log) Add(ctx context.Context, list []Entry) error {
	if l == nil || len(list) == 0 {
		return nil
	}
	kept := list[:l.room(len(list))]
	if err := l.write(ctx, kept); err != nil {
		if code := web.HTTPStatus(status.Of(err)); code >= 500 || code == 408 || code == 429 {
			l.giveBack(len(kept))
			return err
		}
		l.logger.Error("entries that could not be stored are lost: the table of rejects takes nothing", "entries", len(kept), "error", err)
		kept = nil
	}
	for i := range list {
		l.rejected.WithLabelValues(list[i].Protocol).Inc()
	}
	l.dropped.Add(float64(len(list) - len(kept)))
	return nil
}

// giveBack gives n places of this minute back.
func (l *Log) giveBack(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = max(l.kept-n, 0)
}

// room takes places of n entries, as many as are left in this minute.
func (l *Log) room(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.Sub(l.minute) >= time.Minute || now.Before(l.minute) {
		l.minute, l.kept = now, 0
	}
	n = min(n, perMinute-l.kept)
	l.kept += n
	return n
}

func (l *Log) write(ctx context.Context, list []Entry) error {
	if len(list) == 0 {
		return nil
	}
	options, err := schema.ParseOptions(map[string]string{"append_mode": "true", "ttl": ttl})
	if err != nil {
		return err
	}
	var set engine.WriteSet
	b := set.Rows(Name, engine.Hint{AutoCreate: true, TimeIndex: "time", Options: options, Comment: "entries that could not be stored, and whose senders cannot be told"})
	at, err := b.Column("time", vector.Timestamp(9))
	if err != nil {
		return err
	}
	b.Pin()
	now := l.now().UnixNano()
	for i := range list {
		e := &list[i]
		at.SetInt(now + int64(i))
		for _, cell := range [...]struct{ name, text string }{
			{"protocol", e.Protocol}, {"table", e.Table}, {"reason", e.Why.Error()}, {"entry", string(e.Text[:min(len(e.Text), maxText)])},
		} {
			c, err := b.Column(cell.name, vector.StringType)
			if err != nil {
				return err
			}
			c.SetString(readable(cell.text))
		}
		b.EndRow()
	}
	_, err = l.store.Write(engine.AsServer(ctx), &set)
	return err
}

// readable is a text without what is no UTF-8, as the end of one that is cut.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
