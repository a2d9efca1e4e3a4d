package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/process"
)

var (
	rounds   = flag.Int("rounds", 4, "rounds of the kill test")
	seed     = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of random choices; failures name it")
	existing = flag.String("varve", "", "path of a built program; empty: build it")
)

const (
	startLimit = 30 * time.Second // for a server to serve
	stopLimit  = 10 * time.Second // for it to end after SIGTERM, whatever its connections do
	askLimit   = 60 * time.Second // for an answer
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	if *existing != "" {
		var err error
		if binary, err = filepath.Abs(*existing); err != nil {
			return 1, err
		}
		return m.Run(), nil
	}
	if err := lookAtSources(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "varve-e2e-")
	if err != nil {
		return 1, err
	}
	binary = filepath.Join(dir, "varve")
	if out, err := exec.Command("go", "build", "-o", binary, "varve/cmd/varve").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building varve: %w\n%s", err, out)
	}
	code := m.Run()
	return code, os.RemoveAll(dir)
}

// lookAtSources opens every source file: the go command keeps the result of a test until a file that the test opened
// has changed, and does not know that these make the program.
func lookAtSources() error {
	return filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && e.Name() != "..":
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") && e.Name() != "go.mod":
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}

// launch starts a server on dir, waits until it serves its tables, and kills it when the test ends. A failed test shows
// its output.
func launch(t *testing.T, o process.Options) *process.Server {
	t.Helper()
	o.Binary = binary
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	s, err := process.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("output of the server:\n%s", s.Output())
		}
	})
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		if starting, err := recovering(ctx, s); err != nil {
			t.Fatal(err)
		} else if !starting {
			tick.Stop()
			return s
		}
	}
}

// recovering reports whether a server answers already while its tables are not served: it does so where opening them
// takes a second or more. One that cannot write, because its disk is full, is not recovering.
func recovering(ctx context.Context, s *process.Server) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/ready", nil)
	if err != nil {
		return false, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode != http.StatusOK && strings.Contains(string(body), "is starting"),
		errors.Join(err, resp.Body.Close())
}

// start is launch with nothing but a directory.
func start(t *testing.T, dir string) *process.Server {
	t.Helper()
	return launch(t, process.Options{Dir: dir})
}

// stop ends a server by SIGTERM and wants exit code 0 within the limit.
func stop(t *testing.T, s *process.Server) {
	t.Helper()
	if err := s.Stop(stopLimit); err != nil {
		t.Error(err)
	}
}

// write is one request to /v1/ingest.
type write struct {
	table, timeIndex, contentType string
	body                          []byte
}

// post sends one write over a connection of its own and gives status and body of the answer.
func post(t *testing.T, s *process.Server, w write) (int, []byte) {
	t.Helper()
	c, err := client.Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	status, answer, err := c.Post(client.IngestPath("public", w.table, w.timeIndex), w.contentType, "", w.body,
		time.Now().Add(askLimit))
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// mustPost sends one write and wants all its rows acknowledged.
func mustPost(t *testing.T, s *process.Server, w write, rows int64) {
	t.Helper()
	status, answer := post(t, s, w)
	if status != http.StatusOK {
		t.Fatalf("table %s: %v", w.table, client.AnswerError(status, answer))
	}
	n, err := client.Affected(answer)
	if err != nil {
		t.Fatal(err)
	}
	if n != rows {
		t.Fatalf("table %s: %d rows acknowledged, want %d", w.table, n, rows)
	}
}

// query runs one statement that gives rows.
func query(t *testing.T, s *process.Server, sql string) *client.Rows {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	r, err := client.One(ctx, s.URL, "public", sql)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantRows checks the rows of a statement, each printed like [a 1].
func wantRows(t *testing.T, s *process.Server, sql string, want ...string) {
	t.Helper()
	var got []string
	for _, r := range query(t, s, sql).Rows {
		got = append(got, fmt.Sprint(r))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", sql, got, want)
	}
}

// wantInt checks a statement that gives one number.
func wantInt(t *testing.T, s *process.Server, sql string, want int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	got, err := client.Int(ctx, s.URL, "public", sql)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s: got %d, want %d", sql, got, want)
	}
}

// wantSQLError checks that a statement is refused with a code and status.
func wantSQLError(t *testing.T, s *process.Server, sql string, status, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	_, err := client.SQL(ctx, s.URL, "public", sql)
	e, ok := err.(*client.Error)
	if !ok || e.Status != status || e.Code != code {
		t.Errorf("%s: got %v, want HTTP %d, code %d", sql, err, status, code)
	}
}
