package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/workload"
)

// answers gives a digest or an error for each call, one after the other, the last one again and again.
type answers []any

func (a *answers) ask(context.Context, string) (asked, error) {
	next := (*a)[0]
	if len(*a) > 1 {
		*a = (*a)[1:]
	}
	switch x := next.(type) {
	case error:
		return asked{}, x
	case asked:
		return x, nil
	}
	panic("an answer is an error or an asked")
}

func inMillis(wall, cpu int, d digest) asked {
	return asked{time.Duration(wall) * time.Millisecond, time.Duration(cpu) * time.Millisecond, d}
}

// TestStatementsAreTimedInTurn: the first answers are compared and not measured, the best and the median of the others
// are taken, a failure leaves the others alone.
func TestStatementsAreTimedInTurn(t *testing.T) {
	one, other := digest{Rows: 1, Columns: []columnDigest{{Sum: 7, Hash: 1}}}, digest{Rows: 2}
	engines := []engine{
		{"varve", &answers{inMillis(900, 900, one), inMillis(30, 20, one), inMillis(10, 40, one),
			inMillis(20, 60, one)}},
		{"duckdb", &answers{inMillis(900, 900, one), inMillis(40, 10, one), inMillis(50, 10, one),
			inMillis(60, 10, one)}},
		{"chdb", &answers{inMillis(1, 1, other)}},
		{"third", &answers{inMillis(1, 1, one), errors.New("out of memory")}},
	}
	f := timeStatement(t.Context(), &workload.Statement{Name: "s", SQL: "SELECT 1"}, engines, 3)
	if v := f.Engines["varve"]; v.Best != 10*time.Millisecond || v.P50 != 20*time.Millisecond ||
		v.CPU.Round(time.Millisecond) != 40*time.Millisecond || v.Rows != 1 || v.Differs != "" {
		t.Errorf("ours: %+v", v)
	}
	if d := f.Engines["duckdb"]; d.Best != 40*time.Millisecond || d.Differs != "" {
		t.Errorf("equal answers: %+v", d)
	}
	if c := f.Engines["chdb"]; !strings.Contains(c.Differs, "2 rows") {
		t.Errorf("another number of rows: %+v", c)
	}
	if e := f.Engines["third"]; e.Error != "out of memory" {
		t.Errorf("a failure: %+v", e)
	}
}

func TestDigestOfAnAnswer(t *testing.T) {
	answer := client.Rows{Columns: []string{"i", "f", "s", "b", "t", "n"},
		Types: []string{"Int64", "Float64", "String", "Boolean", "TimestampMillisecond", "Int64"},
		Rows: [][]any{
			{json.Number("3"), json.Number("0.5"), "a", true, json.Number("5"), nil},
			{json.Number("4"), json.Number("1.5"), "b", false, json.Number("6"), json.Number("9")}}}
	d, err := digestOf(&answer)
	if err != nil || d.Rows != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	for i, want := range []columnDigest{{Sum: 7}, {Sum: 2, float: true}, {}, {Sum: 1}, {Sum: 11_000},
		{Sum: 9, Nulls: 1}} {
		got := d.Columns[i]
		if got.Hash == 0 {
			t.Errorf("column %d has no hash", i)
		}
		if got.Hash = 0; got != want {
			t.Errorf("column %d: got %+v, want %+v", i, got, want)
		}
	}
	// The sum of the CRC-32 of "a" and of "b".
	if got, want := d.Columns[2].Hash, uint64(0xe8b7be43+0x71beeff9); got != want {
		t.Errorf("hash of texts: got %x, want %x", got, want)
	}
	turned := answer
	turned.Rows = [][]any{answer.Rows[1], answer.Rows[0]}
	again, err := digestOf(&turned)
	if err != nil || d.differs(&again, 0) != "" {
		t.Errorf("another order of rows differs: %s, %v", d.differs(&again, 0), err)
	}
	answer.Rows[0][2] = []any{1}
	if _, err := digestOf(&answer); err == nil {
		t.Error("a list is taken")
	}
}

func TestDifferences(t *testing.T) {
	ours := digest{Rows: 3, Columns: []columnDigest{{Sum: 100, Hash: 5}, {Sum: 1e9, Hash: 6, float: true}}}
	for _, c := range []struct {
		name      string
		column    int
		theirs    columnDigest
		tolerance float64
		differs   bool
	}{
		{"equal", 0, columnDigest{Sum: 100, Hash: 5}, 0, false},
		{"other values of the same sum", 0, columnDigest{Sum: 100, Hash: 7}, 0, true},
		{"another sum", 0, columnDigest{Sum: 101, Hash: 5}, 0, true},
		{"near enough", 0, columnDigest{Sum: 101, Hash: 7}, 0.05, false},
		{"not near enough", 0, columnDigest{Sum: 110, Hash: 7}, 0.05, true},
		{"NULLs", 0, columnDigest{Sum: 100, Hash: 5, Nulls: 1}, 0, true},
		{"floats, rounded otherwise", 1, columnDigest{Sum: 1e9 + 1, Hash: 8}, 0, false},
		{"floats, another sum", 1, columnDigest{Sum: 1e9 + 1e4, Hash: 6}, 0, true},
	} {
		theirs := digest{Rows: 3, Columns: []columnDigest{ours.Columns[0], ours.Columns[1]}}
		theirs.Columns[c.column] = c.theirs
		if got := ours.differs(&theirs, c.tolerance); (got != "") != c.differs {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

func TestAnalyticsReport(t *testing.T) {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	r := AnalyticsReport{Commit: "abc", Rows: 1000, Runs: 3,
		Peers: []PeerFigure{{Name: "duckdb", Version: "2.0"}, {Name: "chdb", Version: "4.4"}},
		Statements: []AnalyticsFigure{
			{Name: "one", Engines: map[string]*EngineFigure{"varve": {Best: ms(1), CPU: ms(2)},
				"duckdb": {Best: ms(4), CPU: ms(4)}, "chdb": {Best: ms(2), CPU: ms(1)}}},
			{Name: "two", Engines: map[string]*EngineFigure{"varve": {Best: ms(8), CPU: ms(8)},
				"duckdb": {Best: ms(2), CPU: ms(4)}, "chdb": {Error: "not supported"}}},
		}}
	var b strings.Builder
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"duckdb 2.0", "| one | 1.00 | 4.00 | 2.00 | 0.50 | 2.00 | 4.00 | 1.00 | 2.00 |",
		"| two | 8.00 | 2.00 | failed | 4.00 | 8.00 | 4.00 | failed | 2.00 |",
		// sqrt(1/4 * 4), sqrt(2/4 * 2); 1/2 and 2; sqrt(1/2 * 4), sqrt(2 * 2)
		"duckdb 1.00 (1.00); chdb 0.50 (2.00); the better one 1.41 (2.00); 1 of 2 statements above 1.5",
		"- two, chdb: not supported"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err := r.failed(); err != nil {
		t.Errorf("what a peer cannot do is a failure: %v", err)
	}
	name := filepath.Join(t.TempDir(), "out.json")
	if err := writeJSON(name, r); err != nil {
		t.Fatal(err)
	}
	var back AnalyticsReport
	if data, err := os.ReadFile(name); err != nil || json.Unmarshal(data, &back) != nil || len(back.Statements) != 2 ||
		back.Statements[1].Engines["varve"].Best != ms(8) {
		t.Errorf("%+v, %v", back, err)
	}
	r.Statements[0].Engines["duckdb"].Differs = "2 rows"
	if r.failed() == nil {
		t.Error("a difference is no failure")
	}
}

// interpreter is a program that stands for Python: a shell script.
func interpreter(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPeerThatIsNotThere(t *testing.T) {
	for name, program := range map[string]string{
		"no interpreter": filepath.Join(t.TempDir(), "nothing"),
		"no package":     interpreter(t, `echo '{"missing": "No module named duckdb"}'`),
	} {
		p, err := startPython(t.Context(), program, "duckdb", t.TempDir())
		var missing *missingError
		if !errors.As(err, &missing) || p != nil || !strings.Contains(err.Error(), "duckdb is not there") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPeerAnswers: a peer is given the rows of a file, answers statements, and its errors are those of a statement.
func TestPeerAnswers(t *testing.T) {
	program := interpreter(t, `echo '{"engine": "duckdb", "version": "2.0"}'
while read -r line; do
  case "$line" in
  *load*) f=${line##*\"file\":\"}; echo "{\"rows\": $(wc -l < "${f%%\"*}")}" ;;
  *bad*) echo '{"error": "no such column"}' ;;
  *) echo '{"wall_ns": 5000000, "cpu_ns": 7000000, "rows": 1, "columns": [{"nulls": 0, "sum": 3, "hash": 9}]}' ;;
  esac
done`)
	o := &options{rows: 250, batch: 100, seed: 1, table: "t", python: program, peerData: t.TempDir()}
	tables, err := analyticsTables(o)
	if err != nil {
		t.Fatal(err)
	}
	tables = append(tables[:1:1], tables[2:]...) // a million users take a while
	var r AnalyticsReport
	peers, end, err := startAnalyticsPeers(t.Context(), o, tables, &r)
	if err != nil || len(peers) != 2 || len(r.Peers) != 2 || r.Peers[0].Version != "2.0" {
		t.Fatalf("%d peers, %+v, %v", len(peers), r.Peers, err)
	}
	a, err := peers[0].ask(t.Context(), "SELECT good")
	want := digest{Rows: 1, Columns: []columnDigest{{Sum: 3, Hash: 9}}}
	if err != nil || a.wall != 5*time.Millisecond || a.cpu != 7*time.Millisecond || a.answer.differs(&want, 0) != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := peers[0].ask(t.Context(), "SELECT bad"); err == nil || err.Error() != "no such column" {
		t.Errorf("an error of a statement: %v", err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if mark, err := os.ReadFile(filepath.Join(o.peerData, "chdb", "t.loaded")); err != nil ||
		string(mark) != "t: 250 rows of seed 1\n" {
		t.Errorf("%q, %v", mark, err)
	}
	if left, err := filepath.Glob(filepath.Join(o.peerData, "*.ndjson")); err != nil || len(left) != 0 {
		t.Errorf("files of rows are left: %v, %v", left, err)
	}
}

// TestPeerThatEnds: a peer that ends or is too slow is an error, and takes nothing with it.
func TestPeerThatEnds(t *testing.T) {
	hello := "echo '{\"engine\": \"duckdb\", \"version\": \"2.0\"}'\n"
	p, err := startPython(t.Context(), interpreter(t, hello+"read -r line\n"), "duckdb", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ask(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("got %v", err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	p, err = startPython(t.Context(), interpreter(t, hello+"exec tail -f /dev/null\n"), "duckdb", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ask(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.close(); err == nil {
		t.Error("a killed peer has ended well")
	}
}

// TestVarveEngine: our server is asked over HTTP, and its errors are those of a statement.
func TestVarveEngine(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := `{"output":[{"records":{"schema":{"column_schemas":[{"name":"n","data_type":"Int64"}]},"rows":[[7],[8]],"total_rows":2}}],"execution_time_ms":1}`
		if err := r.ParseForm(); err != nil || strings.Contains(r.Form.Get("sql"), "bad") {
			w.WriteHeader(http.StatusBadRequest)
			body = `{"code":3000,"error":"no such column"}`
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	v := &varveEngine{&measured{url: s.URL, pid: os.Getpid()}, "public"}
	a, err := v.ask(t.Context(), "SELECT n FROM t")
	if err != nil || a.answer.Rows != 2 || a.answer.Columns[0].Sum != 15 || a.wall <= 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := v.ask(t.Context(), "SELECT bad"); err == nil || !strings.Contains(fmt.Sprint(err), "no such column") {
		t.Errorf("got %v", err)
	}
}
