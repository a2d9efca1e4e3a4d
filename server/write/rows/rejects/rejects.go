// Package rejects keeps entries that could not be stored and whose senders get no error, because their protocol
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
	"varve/engine/private"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
)

// table keeps the entries.
var table = private.Table{TTL: "7d", Comment: "entries that could not be stored, and whose senders cannot be told",
	OwnTable: engine.OwnTable{
		Name: engine.RejectedTable, Time: "time", AppendMode: true,
		Columns: []vector.Field{
			{Name: "time", Type: vector.Timestamp(9)}, {Name: "entry", Type: vector.StringType},
			{Name: "protocol", Type: vector.StringType},
			{Name: "reason", Type: vector.StringType}, {Name: "table", Type: vector.StringType},
		},
	}}

const (
	// maxText bounds the text of an entry that is kept.
	maxText = 2 << 10
	// perMinute bounds the entries that are kept in a minute; further ones are only counted.
	perMinute = 10_000
)

// Entry is an entry that could not be stored.
type Entry struct {
	Protocol string
	Table    string // the table that it was meant for; empty: it names none
	Why      error
	Text     []byte
}

// Log writes entries to the table. Safe for concurrent use.
type Log struct {
	store  private.Writer
	now    func() time.Time
	logger *slog.Logger

	mu     sync.Mutex // protects what follows
	minute time.Time
	kept   int // entries in this minute

	rejected *prometheus.CounterVec
	dropped  prometheus.Counter
}

// New makes a log into a store; logger may be nil.
func New(s private.Writer, logger *slog.Logger) *Log {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Log{store: s, now: time.Now, logger: logger,
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_rejected_entries_total",
			Help: "Entries that could not be stored, and whose senders cannot be told."}, []string{"protocol"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_rejected_dropped_total",
			Help: "Entries of those that are not in the table of rejects either: they were too many, or it could not " +
				"be written."}),
	}
}

// Collectors are the figures of the log.
func (l *Log) Collectors() []prometheus.Collector {
	return []prometheus.Collector{l.rejected, l.dropped}
}

// Add writes entries to the table, as durably as rows. Entries beyond perMinute, or that the table refuses, are only
// counted. If the store takes nothing for a while, Add returns its error and counts nothing: the sender must not
// believe that the entries are kept. A nil Log does nothing.
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
		l.lost(kept, err)
		kept = nil
	}
	l.count(list, len(kept))
	return nil
}

// AddBeside is Add for entries of a request whose other rows are stored. It returns no error: after an error the sender
// would send the stored rows again. If the store takes nothing, the entries are lost: AddBeside counts and logs them.
func (l *Log) AddBeside(ctx context.Context, list []Entry) {
	if err := l.Add(ctx, list); err != nil {
		l.lost(list, err)
		l.count(list, 0)
	}
}

// lost logs that entries are lost.
func (l *Log) lost(list []Entry, why error) {
	l.logger.Error("entries that could not be stored are lost: the table of rejects takes nothing", "entries",
		len(list), "error", why)
}

// count counts entries, of which some are in the table.
func (l *Log) count(list []Entry, kept int) {
	for i := range list {
		l.rejected.WithLabelValues(list[i].Protocol).Inc()
	}
	l.dropped.Add(float64(len(list) - kept))
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
	now := l.now().UnixNano()
	rows := make([][]any, len(list))
	for i := range list {
		e := &list[i]
		text := readable(string(e.Text[:min(len(e.Text), maxText)]))
		rows[i] = []any{now + int64(i), text, readable(e.Protocol), readable(e.Why.Error()), readable(e.Table)}
	}
	return table.Put(ctx, l.store, rows...)
}

// readable is a text with U+FFFD in place of bytes that are not UTF-8, such as at the end of a text that was cut.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
