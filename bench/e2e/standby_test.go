package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/process"
)

var standbyRounds = flag.Int("standby-rounds", 2, "rounds of the test of a standby")

// promoteLimit is how long a standby may take to take over.
const promoteLimit = 30 * time.Second

// badLine is a proxy that delays what it carries, and cuts connections at random.
type badLine struct {
	url   string
	to    string
	ln    net.Listener
	mu    sync.Mutex // protects what follows
	rand  *rand.Rand
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup
}

func newBadLine(t *testing.T, to string, random *rand.Rand) *badLine {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &badLine{url: "http://" + ln.Addr().String(), to: strings.TrimPrefix(to, "http://"), ln: ln, rand: random,
		conns: map[net.Conn]struct{}{}}
	l.wg.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

func (l *badLine) close() {
	l.ln.Close() //nolint:errcheck // it may be closed already
	l.mu.Lock()
	for c := range l.conns {
		c.Close() //nolint:errcheck // its other end sees it
	}
	l.mu.Unlock()
	l.wg.Wait()
}

func (l *badLine) accept() {
	for {
		c, err := l.ln.Accept()
		if err != nil {
			return
		}
		d, err := net.Dial("tcp", l.to)
		if err != nil {
			c.Close() //nolint:errcheck // the server is gone
			continue
		}
		l.mu.Lock()
		l.conns[c], l.conns[d] = struct{}{}, struct{}{}
		l.mu.Unlock()
		l.wg.Go(func() { l.carry(c, d) })
		l.wg.Go(func() { l.carry(d, c) })
	}
}

// carry copies one direction, until an end is closed or chance cuts the connection.
func (l *badLine) carry(from, to net.Conn) {
	defer to.Close()   //nolint:errcheck // the other direction may have closed it
	defer from.Close() //nolint:errcheck // as above
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		l.mu.Lock()
		cut, delay := l.rand.IntN(100) == 0, time.Duration(l.rand.IntN(4000))*time.Microsecond
		l.mu.Unlock()
		if cut {
			n = n / 2 // and the rest is lost
		}
		<-time.After(delay)
		if _, err := to.Write(buf[:n]); err != nil || cut {
			return
		}
	}
}

// TestStandby kills a primary, and now and then its standby too, in the middle of loads over a bad line. The standby
// takes over within promoteLimit. With wal.sync = standby every acknowledged row is there exactly once; otherwise all
// that were acknowledged before the stated lag. The former primary takes no writes when it comes back.
func TestStandby(t *testing.T) {
	t.Logf("seed %d, %d rounds", *seed, *standbyRounds)
	var slowest time.Duration
	var most float64
	for round := range *standbyRounds {
		random := rand.New(rand.NewPCG(*seed, uint64(round)))
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			took, lag := standbyRound(t, random, round%2 == 0)
			slowest, most = max(slowest, took), max(most, lag)
		})
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, *seed)
		}
	}
	t.Logf("the slowest standby took over in %v, the largest lag was %.3f s", slowest, most)
}

// acknowledgements are when batches were acknowledged.
type acknowledgements struct {
	mu sync.Mutex // protects at
	at map[*batch]time.Time
}

func standbyRound(t *testing.T, random *rand.Rand, waits bool) (took time.Duration, lag float64) {
	dir := t.TempDir()
	mode := "always"
	if waits {
		mode = "standby"
	}
	primaryAt := process.Options{Binary: binary, Dir: filepath.Join(dir, "primary"),
		Args: []string{"--set", "wal.sync=" + mode, "--set", "wal.file_size=1MiB"}}
	primary := launch(t, primaryAt)
	primaryAt.Addr = strings.TrimPrefix(primary.URL, "http://")
	line := newBadLine(t, primary.URL, rand.New(rand.NewPCG(random.Uint64(), 1)))
	standbyAt := process.Options{Binary: binary, Dir: filepath.Join(dir, "standby"),
		Args: []string{"--follow", line.url}}
	standby := launch(t, standbyAt)
	standbyAt.Addr = strings.TrimPrefix(standby.URL, "http://")

	book, acks := &ledger{batches: map[string]*batch{}}, &acknowledgements{at: map[*batch]time.Time{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var answers atomic.Int64
	var wg sync.WaitGroup
	for c := range killConnections {
		mine := rand.New(rand.NewPCG(random.Uint64(), uint64(c)))
		wg.Go(func() { writeToPrimary(ctx, primary, book, acks, fmt.Sprintf("c%d", c), mine, &answers) })
	}
	wg.Go(func() { flushUntilDead(ctx, primary) })
	killStandby, killPrimary := int64(0), 20+random.Int64N(100)
	if random.IntN(2) == 0 {
		killStandby = 1 + random.Int64N(killPrimary)
	}
	awaitAnswers(t, &answers, killStandby)
	if killStandby > 0 {
		if err := standby.Kill(); err != nil {
			t.Fatal(err)
		}
		standby = launch(t, standbyAt)
	}
	awaitAnswers(t, &answers, killPrimary)
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	stop()
	wg.Wait()

	asked := time.Now()
	lag, known := statedLag(t, standby)
	sure := asked.Add(-time.Duration(lag*float64(time.Second)) - time.Millisecond) // the lag is stated in milliseconds
	for b, at := range acks.at {
		if !waits && (!known || at.After(sure)) {
			b.fate = unanswered
		}
	}
	took = promote(t, standby)
	verify(t, standby, book)
	wantReplaced(t, primaryAt, primary)
	return took, lag
}

// awaitAnswers waits until so many batches were answered.
func awaitAnswers(t *testing.T, answers *atomic.Int64, n int64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(askLimit); answers.Load() < n; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d answers in %v, want %d", answers.Load(), askLimit, n)
		}
	}
}

// writeToPrimary sends batches until ctx is over. A batch whose answer is an error may be there or not.
func writeToPrimary(ctx context.Context, s *process.Server, book *ledger, acks *acknowledgements, name string,
	random *rand.Rand, answers *atomic.Int64) {
	c, err := client.Dial(s.URL)
	if err != nil {
		return
	}
	defer c.Close() //nolint:errcheck // the server was killed
	var body []byte
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		b := &batch{table: fmt.Sprintf("kill_%d", random.IntN(killTables)), rows: 1 + random.IntN(1<<random.IntN(10))}
		body = b.appendBody(body[:0], id, random)
		book.add(id, b)
		status, _, err := c.Post(client.IngestPath("public", b.table, killTimeIndex), "application/x-ndjson", "", body,
			time.Now().Add(askLimit))
		if err != nil {
			return
		}
		if status == http.StatusOK {
			acks.mu.Lock()
			acks.at[b] = time.Now()
			acks.mu.Unlock()
			book.settle(b, acknowledged)
			answers.Add(1)
		}
	}
}

// statedLag is what a standby says that may be lost; false: it does not know, as after a start.
func statedLag(t *testing.T, s *process.Server) (seconds float64, known bool) {
	t.Helper()
	body := pageOf(t, s, "/status")
	var status struct {
		Standby struct {
			Role string
			Lag  *float64 `json:"disk_lag_seconds"`
		}
	}
	if err := json.Unmarshal(body, &status); err != nil || status.Standby.Role != "standby" {
		t.Fatalf("/status: %s: %v", body, err)
	}
	if status.Standby.Lag == nil {
		return 0, false
	}
	return *status.Standby.Lag, true
}

func pageOf(t *testing.T, s *process.Server, path string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return body
}

// promote makes a standby the primary, as varve promote does, and says how long that took.
func promote(t *testing.T, s *process.Server) time.Duration {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), promoteLimit)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "promote", "--url", s.URL, "--wait", promoteLimit.String())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("varve promote: %v\n%s", err, out)
	}
	return time.Since(began)
}

// wantReplaced starts the former primary and wants it to refuse writes and to say why.
func wantReplaced(t *testing.T, at process.Options, former *process.Server) {
	t.Helper()
	select {
	case <-former.Done():
	case <-time.After(askLimit):
		t.Fatal("the former primary has not ended")
	}
	s := launch(t, at)
	status, answer := post(t, s, write{table: "kill_0", timeIndex: killTimeIndex, contentType: "application/x-ndjson",
		body: []byte(`{"ts":1793491200000,"batch":"late","k":0,"v":0,"text":"x"}` + "\n")})
	if status == http.StatusOK || !strings.Contains(string(answer), "took over (epoch 1, this server has epoch 0)") {
		t.Errorf("the former primary answers a write with %d %s", status, answer)
	}
	if body := pageOf(t, s, "/status"); !strings.Contains(string(body), `"role":"replaced"`) {
		t.Errorf("/status of the former primary: %s", body)
	}
	stop(t, s)
}
