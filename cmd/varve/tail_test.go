package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tailed is varve tail as a process of its own.
type tailed struct {
	t       *testing.T
	command *exec.Cmd
	lines   chan string // of its standard output; closed at its end
	ended   chan struct{}

	mu   sync.Mutex
	errs strings.Builder
}

func (p *tailed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.errs.Write(b)
}

// said is what it wrote to standard error.
func (p *tailed) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.errs.String()
}

// startTail begins to follow a table.
func startTail(t *testing.T, args ...string) *tailed {
	t.Helper()
	p := &tailed{t: t, command: program(nil,
		append([]string{"tail", "-f", "--every", "100ms", "--timezone", "UTC"}, args...)...), lines: make(chan string,
		10_000), ended: make(chan struct{})}
	p.command.Stderr = p
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
		p.command.Wait() //nolint:errcheck // its state says how it ended
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.command.Process.Kill() //nolint:errcheck // it may have ended
		<-p.ended
	})
	return p
}

// take waits for so many lines.
func (p *tailed) take(n int) []string {
	p.t.Helper()
	var got []string
	limit := time.After(40 * time.Second)
	for len(got) < n {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("it ended after %d of %d lines: %s", len(got), n, p.said())
			}
			got = append(got, line)
		case <-limit:
			p.t.Fatalf("%d of %d lines came: %.2000q; %s", len(got), n, got, p.said())
		}
	}
	return got
}

// want waits for lines.
func (p *tailed) want(lines ...string) {
	p.t.Helper()
	if got := p.take(len(lines)); !slices.Equal(got, lines) {
		p.t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// interrupt ends it by Ctrl-C; no line more may come.
func (p *tailed) interrupt() {
	p.t.Helper()
	if err := p.command.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("exit code %d: %s", code, p.said())
	}
	for line := range p.lines {
		p.t.Errorf("one line more: %s", line)
	}
}

// TestTailFollows: rows of one instant, equal ones too, and late ones come once each; a lost connection is told once
// and loses none.
func TestTailFollows(t *testing.T) {
	s := serve(t, nil)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	var asked atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); away.Load() {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	defer front.Close()
	now := time.Now().UTC().Truncate(time.Second)
	at := func(d time.Duration) string { return now.Add(d).Format("2006-01-02 15:04:05.000") }
	insert := func(rows ...string) { s.ask("csv", "INSERT INTO app VALUES "+strings.Join(rows, ", ")) }
	row := func(d time.Duration, level, message string) string {
		return fmt.Sprintf("('%s', '%s', 'web 1', %s)", at(d), level, message)
	}
	s.ask("csv",
		"CREATE TABLE app (ts TIMESTAMP TIME INDEX, level STRING, host STRING, message STRING) WITH (append_mode='true')")
	insert(row(-time.Hour, "info", "'old'"), row(-50*time.Second, "info", "'before'"),
		row(-40*time.Second, "info", "'first'"))

	p := startTail(t, "app", "-n", "2", "--url", front.URL, "--where", "level <> 'debug'")
	line := func(d time.Duration, rest string) string { return at(d) + " " + rest }
	p.want(line(-50*time.Second, `info host="web 1" before`), line(-40*time.Second, `info host="web 1" first`))
	insert(row(-40*time.Second, "info", "'first'"), row(-40*time.Second, "info", "'other'"),
		row(-40*time.Second, "debug", "'not this'"))
	got := p.take(2)
	slices.Sort(got)
	if want := []string{line(-40*time.Second, `info host="web 1" first`),
		line(-40*time.Second, `info host="web 1" other`)}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	insert(row(-20*time.Second, "warn", `'new \ line'`))
	p.want(line(-20*time.Second, `warn host="web 1" new \ line`))
	insert(row(-25*time.Second, "error", "'late'"), row(-45*time.Second, "error", "'too late'"))
	p.want(line(-25*time.Second, `error host="web 1" late`))

	away.Store(true)
	for n := asked.Load(); asked.Load() < n+2; {
		insertAway := asked.Load()
		waitFor(t, func() bool { return asked.Load() > insertAway })
	}
	insert(row(-15*time.Second, "info", "'while away'"), row(-15*time.Second, "info", "NULL"))
	away.Store(false)
	got = p.take(2)
	slices.Sort(got)
	if want := []string{line(-15*time.Second, `info host="web 1"`),
		line(-15*time.Second, `info host="web 1" while away`)}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	waitFor(t, func() bool { return strings.Contains(p.said(), "answers again") })
	if said := p.said(); strings.Count(said, "Trying again") != 1 || strings.Count(said, "answers again") != 1 {
		t.Errorf("it said %s", said)
	}
	insert(row(time.Hour, "info", "'of the future'"))
	p.want(line(time.Hour, `info host="web 1" of the future`))
	since := time.Since(now)
	insert(row(since, "info", "'after it'"))
	p.want(line(since, `info host="web 1" after it`))
	p.interrupt()
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(40 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it does not happen")
		}
	}
}

// TestTailOfMany: of more rows than a poll shows, those left out are counted; late rows that the answer does not reach
// back to are found.
func TestTailOfMany(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, n BIGINT) WITH (append_mode='true')")
	insert := func(from, to int, at time.Time, step time.Duration) {
		var rows []string
		for i := from; i < to; i++ {
			rows = append(rows, fmt.Sprintf("(%d, %d)", at.Add(time.Duration(i-from)*step).UnixNano(), i))
		}
		s.ask("csv", "INSERT INTO app VALUES "+strings.Join(rows, ", "))
	}
	now := time.Now()
	insert(0, 1, now.Add(-time.Minute), 0)
	p := startTail(t, "app", "--url", s.url, "--format", "csv", "--columns", "n")
	p.want("n", "0")
	numbers := func(from, to int) (list []string) {
		for i := from; i < to; i++ {
			list = append(list, fmt.Sprint(i))
		}
		return list
	}
	insert(1, 1501, now.Add(-30*time.Second), time.Millisecond)
	p.want(numbers(501, 1501)...)
	waitFor(t, func() bool { return strings.Contains(p.said(), "varve: 500 rows left out\n") })
	// 1,400 rows within the overlap, of which an answer has 1,000.
	insert(1501, 2201, now.Add(-20*time.Second), time.Millisecond)
	p.want(numbers(1501, 2201)...)
	insert(2201, 2901, now.Add(-18*time.Second), time.Millisecond)
	p.want(numbers(2201, 2901)...)
	insert(2901, 2903, now.Add(-20*time.Second), 0)
	got := p.take(2)
	slices.Sort(got)
	if !slices.Equal(got, numbers(2901, 2903)) {
		t.Fatalf("got %q", got)
	}
	p.interrupt()
	if strings.Count(p.said(), "left out") != 1 {
		t.Errorf("it said %s", p.said())
	}
}

// TestTailOfSeconds: where many rows have one instant, those that come to it later are shown once each: to the oldest
// that was shown, within the overlap, and to the newest behind rows that were left out.
func TestTailOfSeconds(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE app (ts TIMESTAMP(0) TIME INDEX, n BIGINT) WITH (append_mode='true')")
	now := time.Now().Unix()
	insert := func(from, to int, at func(n int) int64) {
		var rows []string
		for i := from; i < to; i++ {
			rows = append(rows, fmt.Sprintf("(%d, %d)", at(i), i))
		}
		s.ask("csv", "INSERT INTO app VALUES "+strings.Join(rows, ", "))
	}
	ago := func(seconds int64) func(int) int64 { return func(int) int64 { return now - seconds } }
	insert(0, 3, ago(60))
	p := startTail(t, "app", "-n", "2", "--url", s.url, "--format", "csv", "--columns", "n")
	p.take(3)
	insert(3, 4, ago(60))
	p.want("3")
	insert(4, 5, ago(65))
	p.want("4")
	// 2,500 rows of five seconds, the newest of which has 100: of those shown, no second is cut.
	insert(1000, 3500, func(n int) int64 { return now - 30 + int64(n-1000)/600 })
	p.take(1300)
	waitFor(t, func() bool { return strings.Contains(p.said(), "varve: 1200 rows left out\n") })
	insert(5, 6, ago(26))
	p.want("5")
	insert(6, 7, ago(27))
	p.want("6")
	p.interrupt()
	if strings.Count(p.said(), "left out") != 1 {
		t.Errorf("it said %s", p.said())
	}
}

// TestTailOfPiles: of an instant with more rows than a poll has each is shown once: of the one that is the newest at
// the start, of one that comes and grows, and of one that late rows come to. Of more than can be shown at all, those
// left out are told.
func TestTailOfPiles(t *testing.T) {
	for _, digits := range []int64{0, 9} {
		t.Run(fmt.Sprint(digits), func(t *testing.T) {
			s := serve(t, nil)
			s.ask("csv", fmt.Sprintf(
				"CREATE TABLE app (ts TIMESTAMP(%d) TIME INDEX, n BIGINT) WITH (append_mode='true')", digits))
			unit := map[int64]int64{0: 1, 9: 1e9}[digits]
			now := time.Now().Unix()
			insert := func(from, to int, ago int64) {
				var rows []string
				for n := from; n < to; n++ {
					rows = append(rows, fmt.Sprintf("(%d, %d)", (now-ago)*unit, n))
				}
				s.ask("csv", "INSERT INTO app VALUES "+strings.Join(rows, ", "))
			}
			var p *tailed
			want := func(from, to int) {
				t.Helper()
				got := p.take(to - from)
				slices.Sort(got)
				if got = slices.Compact(got); len(got) != to-from || got[0] != fmt.Sprint(from) ||
					got[to-from-1] != fmt.Sprint(to-1) {
					t.Fatalf("got %d rows from %s to %s, want %d to %d", len(got), got[0], got[len(got)-1], from, to)
				}
			}
			insert(10_000, 13_000, 60)
			p = startTail(t, "app", "-n", "0", "--url", s.url, "--format", "csv", "--columns", "n")
			p.want("n")
			insert(13_000, 13_500, 60)
			want(13_000, 13_500)
			insert(14_000, 15_200, 40)
			want(14_000, 15_200)
			insert(15_200, 18_200, 40)
			want(15_200, 18_200)
			insert(18_200, 18_201, 39)
			want(18_200, 18_201)
			insert(18_201, 19_000, 40)
			want(18_201, 19_000)
			if p.said() != "" {
				t.Errorf("it said %s", p.said())
			}
			insert(20_000, 32_000, 20)
			p.take(10_000)
			waitFor(t, func() bool { return strings.Contains(p.said(), "varve: 2000 rows left out\n") })
			insert(32_000, 32_010, 20)
			waitFor(t, func() bool { return strings.Contains(p.said(), "varve: 10 rows left out\n") })
			insert(33_000, 33_001, 19)
			want(33_000, 33_001)
			p.interrupt()
		})
	}
}

// TestTailOfHead: a reader that has enough ends the command at once and silently, although no row comes.
func TestTailOfHead(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE app (ts TIMESTAMP TIME INDEX, n BIGINT)")
	s.ask("csv", "INSERT INTO app VALUES (1, 1), (2, 2)")
	c := program(nil, "tail", "-f", "app", "--url", s.url, "--every", "1h")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "n=1") {
		t.Errorf("got %q %v", line, err)
	}
	out.Close()
	if err := c.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("got %v %s", err, errs.String())
	}
}

// TestTailForms: what rows look like, and that none steers the terminal.
func TestTailForms(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv",
		`CREATE TABLE app (ts TIMESTAMP(6) TIME INDEX, "log.level" STRING, severity STRING, "Message" STRING, n BIGINT UNSIGNED, bin BINARY, j JSON, da DATE, f DOUBLE)`)
	s.ask("csv",
		`INSERT INTO app VALUES ('2026-11-21T03:46:26.5Z', 'x', 'ERROR', 'timeout: Timeout', 18446744073709551615, X'00ff', '{"a":"<b>"}', '2026-11-21', 1.0)`)
	s.ingest("raw", "ts;epoch;s", "application/x-ndjson",
		`{"ts":1,"message":"a\u001b[2J\nb\u0085\u202ec\u007f","k\u001b":"\u0007"}`)
	const text = "2026-11-21 03:46:26.500000 ERROR log.level=x n=18446744073709551615 bin=00ff j=\"{\\\"a\\\":\\\"<b>\\\"}\" da=2026-11-21 f=1.0 timeout: Timeout\n"
	const hit = "\x1b[1;30;43m"
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"text", []string{"app"}, text},
		{"zone", []string{"app", "--timezone", "Asia/Kathmandu", "--columns", "Message"},
			"2026-11-21 09:31:26.500000 timeout: Timeout\n"},
		{"columns in their order", []string{"app", "--columns", "Message,n,severity"},
			"2026-11-21 03:46:26.500000 timeout: Timeout n=18446744073709551615 ERROR\n"},
		{"search", []string{"app", "--search", "timeout severity:ERROR n:>5", "--columns", "Message"},
			"2026-11-21 03:46:26.500000 timeout: Timeout\n"},
		{"search without a hit", []string{"app", "--search=-timeout"}, ""},
		{"colours and hits", []string{"app", "--search", "timeout", "--columns", "severity,Message", "--color",
			"always"},
			"\x1b[90m2026-11-21 03:46:26.500000\x1b[0m \x1b[31mERROR\x1b[0m " + hit + "timeout\x1b[0m: " + hit +
				"Timeout\x1b[0m\n"},
		{"ndjson", []string{"app", "--format", "ndjson"},
			`{"ts":"2026-11-21T03:46:26.500000Z","log.level":"x","severity":"ERROR","Message":"timeout: Timeout","n":18446744073709551615,"bin":"00ff","j":{"a":"<b>"},"da":"2026-11-21","f":1.0}` + "\n"},
		{"csv", []string{"app", "--format", "csv", "--columns", "ts,n,j"},
			"ts,n,j\n2026-11-21T03:46:26.500000Z,18446744073709551615,\"{\"\"a\"\":\"\"<b>\"\"}\"\n"},
		{"template", []string{"app", "--template", "{{.time}} [{{.level}}] {{ .log.level }}: {{.message}} {n}"},
			"2026-11-21 03:46:26.500000 [ERROR] x: timeout: Timeout {n}\n"},
		{"control characters", []string{"raw"}, `1970-01-01 00:00:01 k\x1b=\x07 a\x1b[2J\nb\u0085\u202ec\x7f` + "\n"},
		{"control characters raw", []string{"raw", "--raw", "--columns", "message"},
			"1970-01-01 00:00:01 a\x1b[2J\nb\u0085\u202ec\x7f\n"},
		{"control characters by template", []string{"raw", "--template", "{{.message}}"},
			`a\x1b[2J\nb\u0085\u202ec\x7f` + "\n"},
		{"control characters as ndjson", []string{"raw", "--format", "ndjson", "--columns", "message"},
			`{"message":"a\u001b[2J\nb\u0085\u202ec\u007f"}` + "\n"},
		{"no row", []string{"app", "-n", "0"}, ""},
		{"since", []string{"app", "--since", "10m"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append([]string{"tail", "--url", s.url, "--timezone", "UTC"}, c.args...)...)
			if c.name == "zone" {
				code, out, errs = command(append([]string{"tail", "--url", s.url}, c.args...)...)
			}
			if code != 0 || out != c.want || errs != "" {
				t.Errorf("got %d %q %s\nwant %q", code, out, errs, c.want)
			}
		})
	}
}

// TestTailRefusals: wrong usage and failures in one sentence.
func TestTailRefusals(t *testing.T) {
	s := serve(t, nil)
	s.ask("csv", "CREATE TABLE app (ts TIMESTAMP TIME INDEX, level STRING)")
	s.ask("csv", "CREATE VIEW v AS SELECT * FROM app")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no table", []string{"ap"}, exitFailed, "Did you mean 'app'?"},
		{"view", []string{"v"}, exitUsage, "no time index"},
		{"too many rows", []string{"app", "-n", "10001"}, exitUsage, "varve export"},
		{"no column", []string{"app", "--columns", "levle"}, exitUsage, "Did you mean 'level'?"},
		{"template", []string{"app", "--template", "{{.levle}}"}, exitUsage, "Did you mean 'level'?"},
		{"template without a name", []string{"app", "--template", "level"}, exitUsage, "names no column"},
		{"template and format", []string{"app", "--template", "{{.level}}", "--format", "csv"}, exitUsage, "--format"},
		{"search", []string{"app", "--search", "timeout ("}, exitUsage, "--search"},
		{"too often", []string{"app", "-f", "--every", "1ms"}, exitUsage, "100ms"},
		{"too late", []string{"app", "-f", "--overlap", "1h"}, exitUsage, "5m"},
		{"no server", []string{"app", "-f", "--url", "http://127.0.0.1:1"}, exitUnreachable, "cannot reach"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append([]string{"tail", "--url", s.url}, c.args...)...)
			if code != c.code || !strings.Contains(errs, c.want) ||
				!regexp.MustCompile(`^varve: [^\n]+\n$`).MatchString(errs) || out != "" {
				t.Errorf("got %d %s %s, want %d %s", code, out, errs, c.code, c.want)
			}
		})
	}
	p := startTail(t, "app", "--url", s.url)
	s.ask("csv", "INSERT INTO app VALUES (now(), 'x')")
	p.take(1)
	s.ask("csv", "DROP TABLE app")
	<-p.ended
	if code := p.command.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(p.said(), "Table not found") {
		t.Errorf("the table is gone: %d %s", code, p.said())
	}
}
