package slowquery

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec"
)

// written is the name of the table.
var written = schema.Name{DB: engine.PrivateDB, Table: engine.SlowQueriesTable}

// openStore opens a store that the test closes.
func openStore(t *testing.T, fs vfs.FS, minFree int64) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: fs, Dir: "data", NoBackground: true, MinFree: minFree})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background(), false) })
	return e
}

// queries are the texts in the table, "" where there is none.
func queries(t *testing.T, e *engine.Engine) string {
	t.Helper()
	table, err := e.Table(written)
	if status.Of(err) == status.TableNotFound {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := e.Scan(t.Context(), engine.Request{Table: table, Time: scan.All,
		Columns: []schema.ColumnID{table.Schema.Columns[table.Schema.Column("query")].ID}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := rows.Each(func(b *vector.Batch) (bool, error) {
		for i := range b.N {
			list = append(list, string(b.Cols[0].Bytes(i)))
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// figure is the value of a counter.
func figure(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all[0].Metric[0].Counter.GetValue()
}

func took(text string, d time.Duration) sqlexec.Ended {
	return sqlexec.Ended{Text: text, Took: d, Began: time.UnixMilli(1_700_000_000_000)}
}

func TestThresholdAndRatio(t *testing.T) {
	numbers := []float64{0.2, 0.5, 0.7, 0.1}
	e := openStore(t, vfs.NewMem(), 1)
	r := New(Options{Store: e, TTL: "forever", Threshold: time.Second, Ratio: 0.5, Random: func() (x float64) {
		x, numbers = numbers[0], numbers[1:]
		return x
	}})
	for _, s := range []sqlexec.Ended{took("fast", time.Second-1), took("first", time.Second),
		took("second", time.Minute), took("third", time.Hour)} {
		r.Ended(s)
	}
	r.Close(t.Context())
	if got := queries(t, e); got != "first" || figure(t, r.slow) != 3 || figure(t, r.dropped) != 0 {
		t.Errorf("recorded %q of %v slow ones, %v dropped", got, figure(t, r.slow), figure(t, r.dropped))
	}
	r.Ended(took("late", time.Minute))
	if figure(t, r.dropped) != 1 {
		t.Error("what comes after the end is not counted")
	}
}

// TestQueueIsBounded: while nothing is written statements and the bytes of their texts have a bound, and a text has
// one.
func TestQueueIsBounded(t *testing.T) {
	e := openStore(t, vfs.NewMem(), 1)
	for _, c := range []struct {
		name, text string
		most       int
	}{
		{"many", "x", maxQueued},
		{"long", strings.Repeat("é", maxText), maxQueuedBytes / (maxText + len("..."))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Options{Store: e, TTL: "30d", Ratio: 1})
			r.writing = make(chan struct{}) // somebody else writes, and does not
			for range c.most + 7 {
				r.Ended(took(c.text, 0))
			}
			if len(r.queue) != c.most || figure(t, r.dropped) != 7 {
				t.Errorf("%d wait and %v were dropped, want %d and 7", len(r.queue), figure(t, r.dropped), c.most)
			}
			if text := r.queue[0].Text; len(text) > maxText+3 || strings.ContainsRune(text, '�') {
				t.Errorf("a text of %d bytes waits", len(text))
			}
		})
	}
}

// TestStoreRefuses: while the disk has no room nothing is written and each statement counts as dropped; the log is told
// once.
func TestStoreRefuses(t *testing.T) {
	e := openStore(t, vfs.NewMem(), 1<<60)
	var log bytes.Buffer
	r := New(Options{Store: e, TTL: "30d", Ratio: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		r.Ended(took("SELECT 1", 0))
		r.mu.Lock()
		writing := r.writing
		r.mu.Unlock()
		if writing != nil {
			<-writing
		}
	}
	r.Close(t.Context())
	if got := queries(t, e); got != "" || figure(t, r.dropped) != 3 || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("recorded %q, %v dropped, logged\n%s", got, figure(t, r.dropped), log.String())
	}
}

// TestCloseEndsWrites: a store that takes nothing does not keep a server whose time to stop in is over.
func TestCloseEndsWrites(t *testing.T) {
	e := openStore(t, vfs.NewMem(), 1)
	r := New(Options{Store: e, TTL: "30d", Ratio: 1})
	r.cancel() // as Close does when its time is over
	r.Ended(took("SELECT 1", 0))
	r.Close(t.Context())
	if got := queries(t, e); got != "" || figure(t, r.dropped) != 1 {
		t.Errorf("recorded %q, %v dropped", got, figure(t, r.dropped))
	}
}

// TestTableOfBefore: what was recorded outlives the server, the table gets the ttl of the configuration and is made
// again when somebody dropped it.
func TestTableOfBefore(t *testing.T) {
	fs := vfs.NewMem()
	for i, want := range []string{"a", "a b"} {
		e, err := engine.Open(engine.Options{FS: fs, Dir: "data", NoBackground: true, MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := New(Options{Store: e, TTL: []string{"forever", "9999d"}[i], Ratio: 1})
		r.Ended(took([]string{"a", "b"}[i], 0))
		r.Close(t.Context())
		table, err := e.Table(written)
		if err != nil {
			t.Fatal(err)
		}
		if got := queries(t, e); got != want || (table.Schema.Options.TTL > 0) != (i == 1) ||
			!table.Schema.Options.AppendMode {
			t.Errorf("start %d: recorded %q, options %v", i, got, table.Schema.Options.All)
		}
		if i == 1 {
			if err := e.DropTables(engine.AsServer(t.Context()), []schema.Name{written}); err != nil {
				t.Fatal(err)
			}
			again := New(Options{Store: e, TTL: "forever", Ratio: 1})
			again.Ended(took("c", 0))
			again.Close(t.Context())
			if got := queries(t, e); got != "c" {
				t.Errorf("recorded in the table that was dropped is %q", got)
			}
		}
		if err := e.Close(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLines(t *testing.T) {
	var log bytes.Buffer
	r := New(Options{Ratio: 1, Threshold: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := took("up", 1500*time.Millisecond)
	s.DB, s.User, s.Client, s.Metrics, s.Grid, s.Rows = "public", "ann", "::1", true,
		&sqlexec.Grid{Start: 1, End: 3, Step: 2}, -1
	s.Err = status.New(status.Cancelled, "Query was killed")
	r.Ended(s)
	r.Close(t.Context())
	const want = `level=WARN msg="slow statement" cost_ms=1500 threshold_ms=1000 began=2023-11-14T22:13:20.000Z db=public user=ann client=::1 is_promql=true query=up promql_start=1 promql_end=3 promql_step=2 error="Query was killed"` + "\n"
	if _, line, _ := strings.Cut(log.String(), " "); line != want {
		t.Errorf("got  %swant %s", line, want)
	}
}
