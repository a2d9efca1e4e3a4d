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
	// perMinute bounds the entries that are kept of a minute; further ones are counted alone.
	perMinute = 10_000
)

// Entry is an entry that could not be stored.
type Entry struct {
	Protocol string
	Table    string // that it was meant for; empty: it names none
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
	kept   int // in it

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
		l.lost(kept, err)
		kept = nil
	}
	l.count(list, len(kept))
	return nil
}

// AddBeside is Add for entries of a request whose other rows are stored. It gives no error, because a refused sender
// would send the stored rows again. If the store takes nothing, the entries are lost: it counts and logs them.
func (l *Log) AddBeside(ctx context.Context, list []Entry) {
	if err := l.Add(ctx, list); err != nil {
		l.lost(list, err)
		l.count(list, 0)
	}
}

// lost logs that entries are nowhere.
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

// readable is a text without what is no UTF-8, as the end of one that is cut.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
