package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/process"
)

const (
	killTables      = 2 // that the writers of the kill test use
	killConnections = 4
	killTimeIndex   = "ts;epoch;ms"
)

// fate is what is known of a batch.
type fate int

const (
	unanswered   fate = iota // sent, the server died: wholly there or not at all
	acknowledged             // answered 200: there, exactly once
	refused                  // answered with an error: not there
)

// batch is one request of the kill test.
type batch struct {
	table string
	rows  int
	sum   int64 // of column v
	fate  fate
}

// ledger is what the writers of the kill test remember. Batches are keyed by their id, which is a column.
type ledger struct {
	mu      sync.Mutex // protects batches
	batches map[string]*batch
}

func (l *ledger) add(id string, b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches[id] = b
}

func (l *ledger) settle(b *batch, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.fate = f
}

// TestKill kills the server in the middle of loads and wants every acknowledged row there exactly once, the rest of
// each batch wholly or not at all, and what was once seen there ever after.
func TestKill(t *testing.T) {
	t.Logf("seed %d, %d rounds", *seed, *rounds)
	random := rand.New(rand.NewPCG(*seed, 1))
	dir := t.TempDir()
	book := &ledger{batches: map[string]*batch{}}
	s := start(t, dir)
	recoveryKills := 0
	for round := range *rounds {
		loadUntilKilled(t, s, book, round, random)
		for random.IntN(3) == 0 {
			killInRecovery(t, dir, time.Duration(random.IntN(60))*time.Millisecond)
			recoveryKills++
		}
		s = start(t, dir)
		verify(t, s, book)
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, *seed)
		}
	}
	stop(t, s)
	s = start(t, dir)
	verify(t, s, book)
	counts := map[fate]int{}
	rows := 0
	for _, b := range book.batches {
		counts[b.fate]++
		if b.fate == acknowledged {
			rows += b.rows
		}
	}
	t.Logf("%d rounds, %d kills in recovery: %d batches (%d rows) there, %d absent", *rounds, recoveryKills,
		counts[acknowledged], rows, counts[unanswered]+counts[refused])
}

// loadUntilKilled writes from several connections and kills the server after a random number of answers and a random
// moment more.
func loadUntilKilled(t *testing.T, s *process.Server, book *ledger, round int, random *rand.Rand) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answers atomic.Int64
	killAt := 5 + random.Int64N(120)
	delay := time.Duration(random.IntN(8000)) * time.Microsecond
	var killed atomic.Bool
	onAnswer := func() {
		if answers.Add(1) == killAt {
			time.AfterFunc(delay, func() {
				killed.Store(true)
				if err := s.Kill(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	var wg sync.WaitGroup
	for c := range killConnections {
		mine := rand.New(rand.NewPCG(random.Uint64(), uint64(c)))
		wg.Go(func() {
			if err := writeUntilDead(s, book, fmt.Sprintf("r%d-c%d", round, c), mine, onAnswer); err != nil &&
				!killed.Load() {
				t.Errorf("connection %d: %v", c, err)
				cancel()
			}
		})
	}
	wg.Go(func() { flushUntilDead(ctx, s) })
	select {
	case <-s.Done():
	case <-ctx.Done():
	case <-time.After(askLimit):
		t.Errorf("%d answers in %v, want %d", answers.Load(), askLimit, killAt)
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// writeUntilDead sends batches until the connection breaks; that error is returned.
func writeUntilDead(s *process.Server, book *ledger, name string, random *rand.Rand, onAnswer func()) (err error) {
	c, err := client.Dial(s.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var body []byte
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		b := &batch{table: fmt.Sprintf("kill_%d", random.IntN(killTables)), rows: 1 + random.IntN(1<<random.IntN(12))}
		body = b.appendBody(body[:0], id, random)
		book.add(id, b)
		status, answer, err := c.Post(client.IngestPath("public", b.table, killTimeIndex), "application/x-ndjson", "",
			body, time.Now().Add(askLimit))
		if err != nil {
			return err
		}
		switch status {
		case http.StatusOK:
			n, err := client.Affected(answer)
			if err != nil || n != int64(b.rows) {
				return fmt.Errorf("batch %s: %d rows acknowledged, want %d: %w", id, n, b.rows, err)
			}
			book.settle(b, acknowledged)
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			book.settle(b, refused)
		default:
			return fmt.Errorf("batch %s: %w", id, client.AnswerError(status, answer))
		}
		onAnswer()
	}
}

// appendBody appends the lines of a batch: a row number, a value to add up, some text, times all over a day, and now
// and then a column that no batch had before.
func (b *batch) appendBody(dst []byte, id string, random *rand.Rand) []byte {
	extra := ""
	if random.IntN(20) == 0 {
		extra = fmt.Sprintf(`,"extra_%d":%d`, random.IntN(30), random.IntN(100))
	}
	for k := range b.rows {
		v := random.Int64N(1_000_000)
		b.sum += v
		dst = fmt.Appendf(dst, `{"ts":%d,"batch":"%s","k":%d,"v":%d,"text":"line %d of \"%s\" %x"%s}`+"\n",
			1_793_491_200_000+random.Int64N(86_400_000), id, k, v, k, id, random.Uint64(), extra)
	}
	return dst
}

// flushUntilDead flushes tables while the load goes on, so that the kill meets parts and manifest edits as well.
func flushUntilDead(ctx context.Context, s *process.Server) {
	for i := 0; ; i++ {
		_, err := client.SQL(ctx, s.URL, "public", fmt.Sprintf("ADMIN flush_table('kill_%d')", i%killTables))
		var answered *client.Error
		// a table that does not exist yet is an answer; a dead server is none
		if err != nil && !errors.As(err, &answered) {
			return
		}
	}
}

// killInRecovery starts a server and kills it after a moment, wherever its recovery is.
func killInRecovery(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	s, err := process.Launch(process.Options{Binary: binary, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-time.After(after):
	case <-s.Done():
		t.Errorf("the server ended by itself, code %d\n%s", s.ExitCode(), s.Output())
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
}

// verify compares the tables with the ledger, then writes what it saw into the ledger: an unanswered batch that is
// there has to stay, one that is not must never appear.
func verify(t *testing.T, s *process.Server, book *ledger) {
	t.Helper()
	seen := map[string]bool{}
	for i := range killTables {
		table := fmt.Sprintf("kill_%d", i)
		ctx, cancel := context.WithTimeout(t.Context(), askLimit)
		r, err := client.One(ctx, s.URL, "public",
			"SELECT batch, count(*), count(DISTINCT k), min(k), max(k), sum(v), count(text) FROM "+table+
				" GROUP BY batch")
		cancel()
		var answered *client.Error
		if errors.As(err, &answered) && answered.Code == 4001 {
			continue // no write to it came through yet: its batches are found missing below
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			id := fmt.Sprint(row[0])
			b := book.batches[id]
			if b == nil || b.table != table {
				t.Errorf("table %s holds batch %q, which was not sent there", table, id)
				continue
			}
			seen[id] = true
			got := fmt.Sprint(row[1:])
			want := fmt.Sprintf("[%d %d 0 %d %d %d]", b.rows, b.rows, b.rows-1, b.sum, b.rows)
			if got != want {
				t.Errorf("batch %s (%v): rows, distinct, min, max, sum, texts: got %s, want %s", id, b.fate, got, want)
			}
		}
	}
	for id, b := range book.batches {
		switch {
		case b.fate == acknowledged && !seen[id]:
			t.Errorf("batch %s of %d rows was acknowledged and is gone", id, b.rows)
		case b.fate == refused && seen[id]:
			t.Errorf("batch %s was refused and is there", id)
		case b.fate == unanswered && seen[id]:
			b.fate = acknowledged
		case b.fate == unanswered:
			b.fate = refused
		}
	}
}
