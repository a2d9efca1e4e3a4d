package e2e

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
)

// command is a run of the program as a client.
type command struct {
	*exec.Cmd
	out, notes bytes.Buffer
}

// clientOf makes a command that asks a server. Its state is in a directory of the test.
func clientOf(url, state string, args ...string) *command {
	c := &command{Cmd: exec.Command(binary, args...)}
	c.Stdout, c.Stderr = &c.out, &c.notes
	c.Env = append(os.Environ(), "VARVE_URL="+url, "XDG_STATE_HOME="+state)
	return c
}

// end waits for the end of a command and gives its exit code.
func (c *command) end(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// mustRun runs a command and wants an exit code.
func (c *command) mustRun(t *testing.T, code int) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if got := c.end(t); got != code {
		t.Fatalf("%q: exit code %d, want %d\n%s%s", c.Args[1:], got, code, &c.out, &c.notes)
	}
}

// logs writes a file of JSON lines.
func logs(t *testing.T, rows int64) (path string, text []byte) {
	t.Helper()
	set, err := gen.New("access", gen.Options{Rows: rows, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	path, text = filepath.Join(t.TempDir(), "access.ndjson"), set.Append(nil, 0, rows)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, text
}

// TestIngestFiles: plain, packed and piped, all rows are there, and the client's memory keeps its bound: connections x
// 2 x batch + 64 MiB. Of the 64, half are for what it puts into memory, and half for the program's own pages, of which
// the system maps as many as lie together in its cache: 29 MiB of a program that has been there for long, 40 of one
// just written.
func TestIngestFiles(t *testing.T) {
	const rows = 100_000
	path, text := logs(t, rows)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".gz", packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	packed.Reset()
	z, err := zstd.NewWriter(&packed, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".zst", packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, state := start(t, t.TempDir()), t.TempDir()
	for table, args := range map[string][]string{
		"plain": {path}, "gz": {path + ".gz"}, "piped": {"-"}, "zstd": {path, "--compress", "zstd"},
		"json": {path + ".zst", "--format", "json"},
	} {
		c := clientOf(s.URL, state, append([]string{"ingest", "-t", table, "--time", "auto"}, args...)...)
		if table == "piped" {
			c.Stdin = bytes.NewReader(text)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		peak := make(chan int64)
		go func() { peak <- watchMemory(c.Process.Pid) }()
		if code := c.end(t); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", table, code, &c.notes)
		}
		wantInt(t, s, "SELECT count(*) FROM "+table, rows)
		wantInt(t, s, "SELECT count(DISTINCT ts) FROM "+table, rows)
		used := <-peak
		if most := int64(2*2*4+32) << 20; used > most {
			t.Errorf("%s: %d MiB of memory, at most %d are allowed", table, used>>20, most>>20)
		}
		t.Logf("%s: %d MiB, %s", table, used>>20, strings.TrimSpace(c.out.String()))
	}
}

// watchMemory gives the most memory outside of files that a process had, as far as that was seen until its end.
func watchMemory(pid int) (peak int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		now, err := process.AnonRSS(pid)
		if err != nil || now == 0 {
			return peak
		}
		peak = max(peak, now)
	}
	return peak
}

// TestIngestFormats: what a server makes of each format.
func TestIngestFormats(t *testing.T) {
	s, state, dir := start(t, t.TempDir()), t.TempDir(), t.TempDir()
	for _, c := range []struct {
		name, content, args string
		sql, want           string
	}{
		{"a.log", "one\ntwo\n", "-t texts", "SELECT message FROM texts ORDER BY message", "[one] [two]"},
		{"a.csv", "host,n,f\na,1,1\nb,,2.5\n\"c\nd\",3,\n", "-t cells", "SELECT host, n, f FROM cells ORDER BY host",
			"[a 1 1.0] [b <nil> 2.5] [c\nd 3 <nil>]"},
		{"a.json", "[{\"ts\": 1700000000123, \"a\":\n {\"b\": 1}}]", "-t objects --time auto",
			`SELECT CAST(ts AS BIGINT), "a.b" FROM objects`, "[1700000000123 1]"},
		{"b.json", `{"time":"2026-11-21T10:00:00.123456789+01:00"}`, "-t texttimes --time auto",
			"SELECT CAST(time AS BIGINT) FROM texttimes", "[1795251600123456789]"},
		{"c.ndjson", `{"at":"21/Nov/2026:10:00:00 +0100","n":7}`, "-t access --time auto",
			"SELECT CAST(at AS BIGINT) FROM access", "[1795251600000000000]"},
		{"a.lp", "cpu,host=a v=1 1700000000000000000\ncpu,host=b v=2 1700000000000000000\n", "-t unused",
			"SELECT host, v FROM cpu ORDER BY host", "[a 1.0] [b 2.0]"},
		{"d.json", `[{"metric":"load","timestamp":1700000000,"value":0.5,"tags":{"host":"a"}}]`, "--format jsonput",
			"SELECT host, service_value FROM load", "[a 0.5]"},
		{"e.json",
			`{"streams":[{"stream":{"app":"x"},"values":[["1700000000000000000","a"],["1700000000000000001","b"]]}]}`,
			"-t pushed", "SELECT app, line FROM pushed ORDER BY line", "[x a] [x b]"},
		{"f.log", "INFO started\nWARN slow\n", "-t parsed --pipeline-file " + dir + "/p.yaml",
			"SELECT level, rest FROM parsed ORDER BY level", "[INFO started] [WARN slow]"},
	} {
		for name, content := range map[string]string{c.name: c.content, "p.yaml": dissectLevel} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		clientOf(s.URL, state, append([]string{"ingest", filepath.Join(dir, c.name)},
			strings.Fields(c.args)...)...).mustRun(t, 0)
		var got []string
		for _, r := range query(t, s, c.sql).Rows {
			got = append(got, fmt.Sprint(r))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %s", c.name, got, c.want)
		}
	}
	wantInt(t, s, "SELECT count(*) FROM service_private.pipelines", 0)
	c := clientOf(s.URL, state, "ingest", "-t", "dry", "--dry-run", "15", filepath.Join(dir, "a.csv"))
	c.mustRun(t, 0)
	if want := "dry: 3 rows\n"; !strings.HasPrefix(c.out.String(), want) || !strings.Contains(c.out.String(), "host") ||
		!strings.Contains(c.out.String(), `"a"`) {
		t.Errorf("the dry run says %s", &c.out)
	}
	wantSQLError(t, s, "SELECT * FROM dry", 400, 4001)
}

const dissectLevel = `
processors:
  - dissect:
      fields: [message]
      patterns: ["%{level} %{rest}"]
transform:
  - fields: [level, rest]
    type: string
`

// doubled reads how many rows a client says may be stored twice.
func doubled(t *testing.T, c *command) int64 {
	t.Helper()
	found := regexp.MustCompile(`([\d,]+) rows may be stored twice`).FindStringSubmatch(c.out.String())
	if found == nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// reached waits until a table holds so many rows.
func reached(t *testing.T, s *process.Server, table string, rows int64) {
	t.Helper()
	for end := time.Now().Add(askLimit); ; {
		n, err := client.Int(t.Context(), s.URL, "public", "SELECT count(*) FROM "+table)
		if err == nil && n >= rows {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d rows after %v, want %d: %v", n, askLimit, rows, err)
		}
	}
}

// TestIngestServerKilled: the server is killed and started again in the middle; every row is there, and no more are
// there twice than the client says.
func TestIngestServerKilled(t *testing.T) {
	const rows = 100_000
	path, _ := logs(t, rows)
	dir := t.TempDir()
	s := start(t, dir)
	c := clientOf(s.URL, t.TempDir(), "ingest", "-t", "t", "--time", "auto", "--batch", "256KiB", path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{rows / 10, rows / 2} {
		reached(t, s, "t", at)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		s = launch(t, process.Options{Dir: dir, Addr: strings.TrimPrefix(s.URL, "http://")})
	}
	if code := c.end(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &c.notes)
	}
	twice := doubled(t, c)
	wantInt(t, s, "SELECT count(DISTINCT ts) FROM t", rows)
	if n, err := client.Int(t.Context(), s.URL, "public", "SELECT count(*) FROM t"); err != nil || n < rows ||
		n > rows+twice {
		t.Errorf("%d rows, want %d and at most %d twice: %v", n, rows, twice, err)
	}
	t.Logf("%s", &c.out)
}

// TestIngestResumed: the client is ended at random moments and resumed; every row is there once.
func TestIngestResumed(t *testing.T) {
	const rows = 100_000
	t.Logf("seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 2))
	path, _ := logs(t, rows)
	s, state := start(t, t.TempDir()), t.TempDir()
	at := int64(0)
	// a machine that is busy elsewhere looks late, when more is there
	for round := 0; round < 10 && at < rows; round++ {
		c := clientOf(s.URL, state, "ingest", "-t", "t", "--time", "auto", "--batch", "64KiB", "--resume", path)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		at = min(rows, at+1+random.Int64N(rows/12)) // one more at least: by then the client has heard of signals
		reached(t, s, "t", at)
		if err := c.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[round%2]); err != nil &&
			!errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		code := c.end(t)
		if want := []int{130, 143}[round%2]; code != want && code != 0 { // 0: it was done before
			t.Fatalf("round %d: exit code %d, want %d\n%s", round, code, want, &c.notes)
		}
		n, err := client.Int(t.Context(), s.URL, "public", "SELECT count(*) FROM t")
		if err != nil {
			t.Fatal(err)
		}
		at = n
	}
	clientOf(s.URL, state, "ingest", "-t", "t", "--time", "auto", "--resume", path).mustRun(t, 0)
	wantInt(t, s, "SELECT count(*) FROM t", rows)
	wantInt(t, s, "SELECT count(DISTINCT ts) FROM t", rows)
}
