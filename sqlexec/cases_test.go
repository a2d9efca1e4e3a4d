package sqlexec

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// step is a statement of a case file with its expected outcome.
type step struct {
	sql    string
	expect []string // the lines of the outcome
	line   int
}

// readCase reads a .result file: comments and statements, each statement followed by its outcome.
func readCase(t *testing.T, file string) []step {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var steps []step
	for i := 0; i < len(lines); {
		if strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], "--") {
			i++
			continue
		}
		s := step{line: i + 1}
		for ; i < len(lines); i++ {
			s.sql += lines[i] + "\n"
			if strings.HasSuffix(strings.TrimSpace(lines[i]), ";") {
				i++
				break
			}
		}
		for i < len(lines) && lines[i] == "" {
			i++
		}
		for ; i < len(lines) && lines[i] != ""; i++ {
			s.expect = append(s.expect, lines[i])
		}
		steps = append(steps, s)
	}
	return steps
}

// openStore opens an engine on an empty memory file system.
func openStore(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "data", NoBackground: true, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	})
	return e
}

// state is where the rows of a case lie when its queries come.
type state string

const (
	inMemory    state = "memory"
	flushed     state = "flushed"   // a part for each INSERT
	halfFlushed state = "half"      // every other INSERT in a part, the rest in memory
	compacted   state = "compacted" // one part, written anew with each INSERT
)

// TestCases runs every case in every state; a short run is content with those that differ most.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.result")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	states := []state{inMemory, halfFlushed, flushed, compacted}
	if testing.Short() {
		states = states[:2]
	}
	for _, st := range states {
		t.Run(string(st), func(t *testing.T) {
			t.Parallel() // each has stores of its own
			passed, total := 0, 0
			var short []string
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), ".result")
				t.Run(name, func(t *testing.T) {
					ok, n := runCase(t, file, st)
					passed, total = passed+ok, total+n
					if ok < n {
						short = append(short, fmt.Sprintf("%s %d/%d", name, ok, n))
					}
				})
			}
			t.Logf("%s: %d of %d statements pass; not whole: %s", st, passed, total, strings.Join(short, ", "))
		})
	}
}

// runCase runs a file on a store of its own and counts the statements that answer as expected.
func runCase(t *testing.T, file string, in state) (passed, total int) {
	x := New(openStore(t), Options{Workers: 2, Version: "test"})
	s := &Session{}
	inserts := map[schema.Name]int{}
	settle := func(n schema.Name) error {
		inserts[n]++
		if in == inMemory || in == halfFlushed && inserts[n]%2 == 0 {
			return nil
		}
		if err := x.e.Flush(context.Background(), n); err != nil || in != compacted {
			return err
		}
		return x.e.Compact(context.Background(), n)
	}
	for _, st := range readCase(t, file) {
		total++
		got, err := answerThen(x, s, st.sql, settle)
		if err == nil {
			err = compareOutcome(st, got)
		}
		if err == nil {
			passed++
			continue
		}
		t.Errorf("%s:%d: %s%v", file, st.line, st.sql, err)
	}
	return passed, total
}

// outcome is what a statement answered.
type outcome struct {
	err      error
	affected int64
	names    []string
	types    []vector.Type
	rows     [][]string
	nulls    [][]bool // cells of rows that are NULL
}

// answer runs one statement; with flush what an INSERT wrote goes into a part.
func answer(x *Executor, s *Session, sql string, flush bool) (outcome, error) {
	return answerThen(x, s, sql, func(n schema.Name) error {
		if !flush {
			return nil
		}
		return x.e.Flush(context.Background(), n)
	})
}

// answerThen runs one statement and settles the table that an INSERT has written to; a panic is an error of its own.
func answerThen(x *Executor, s *Session, sql string, settle func(schema.Name) error) (o outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	list, err := x.Parse(sql)
	if err != nil {
		return outcome{err: err}, nil
	}
	for _, st := range list {
		r, err := x.Execute(context.Background(), s, st)
		if err != nil {
			return outcome{err: err}, nil
		}
		if o, err = read(r); err != nil {
			return outcome{err: err}, nil
		}
		if ins, ok := st.(*parse.Insert); ok {
			name, err := s.tableName(ins.Table)
			if err != nil {
				return o, err
			}
			if err := settle(name); err != nil {
				return o, fmt.Errorf("rows of %s: %w", name, err)
			}
		}
	}
	return o, nil
}

// read drains a result into texts.
func read(r *Result) (outcome, error) {
	o := outcome{affected: r.Affected}
	if r.Rows == nil {
		return o, nil
	}
	defer r.Rows.Close()
	for _, f := range r.Fields {
		o.names, o.types = append(o.names, f.Name), append(o.types, f.Type)
	}
	var b vector.Batch
	for {
		ok, err := r.Rows.Next(&b)
		if err != nil || !ok {
			return o, err
		}
		for i := range b.N {
			row, nulls := make([]string, len(r.Fields)), make([]bool, len(r.Fields))
			for c, f := range r.Fields {
				if got := b.Cols[c].Type; got != f.Type {
					return o, fmt.Errorf("column %s is %s in the batch and %s in the fields", f.Name, got, f.Type)
				}
				row[c], nulls[c] = cell(b.Cols[c], i), b.Cols[c].IsNull(i)
			}
			o.rows, o.nulls = append(o.rows, row), append(o.nulls, nulls)
		}
	}
}

// cell is a value as the case files write it.
func cell(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return ""
	}
	switch v.Type.ID {
	case vector.TypeTimestamp:
		return string(timefmt.AppendTimestamp(nil, v.Int(i), v.Type.Precision))
	case vector.TypeDate:
		return string(timefmt.AppendDate(nil, v.Int(i)))
	case vector.TypeBinary:
		return hex.EncodeToString(v.Bytes(i))
	case vector.TypeDecimal, vector.TypeInterval, vector.TypeTime, vector.TypeDuration:
		return string(expr.AppendText(nil, v, i))
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(i))
	case vector.Int64:
		return strconv.FormatInt(v.Int(i), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(i), 10)
	case vector.Float64:
		return strconv.FormatFloat(v.Float(i), 'g', -1, 64)
	}
	return string(v.Bytes(i))
}

// interchangeable groups the codes that tests do not tell apart.
var interchangeable = map[status.Code]int{1001: 1, 2000: 1, 1004: 2, 3000: 2, 3001: 2, 4002: 2}

func compareOutcome(st step, got outcome) error {
	want := st.expect[0]
	if m := regexp.MustCompile(`^Error: (\d+)`).FindStringSubmatch(want); m != nil {
		code, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		have := status.Of(got.err)
		if got.err == nil {
			return fmt.Errorf("got no error, want %d", code)
		}
		if have != status.Code(code) &&
			(interchangeable[have] == 0 || interchangeable[have] != interchangeable[status.Code(code)]) {
			return fmt.Errorf("got %d %v, want %d", have, got.err, code)
		}
		return nil
	}
	if got.err != nil {
		return fmt.Errorf("got error %d %v, want %s", status.Of(got.err), got.err, want)
	}
	if n, ok := strings.CutPrefix(want, "Affected Rows: "); ok {
		if strconv.FormatInt(got.affected, 10) != n || got.names != nil {
			return fmt.Errorf("got %d affected rows (columns %v), want %s", got.affected, got.names, n)
		}
		return nil
	}
	return compareTable(st, got)
}

// compareTable holds an answer to a drawn table.
func compareTable(st step, got outcome) error {
	names, rows := drawn(st.expect, len(got.rows))
	if strings.HasPrefix(strings.ToUpper(st.sql), "TQL") {
		got = reorder(got, names)
	}
	if !reflect.DeepEqual(names, got.names) {
		return fmt.Errorf("got columns %q, want %q", got.names, names)
	}
	have := got.rows
	upper := strings.ToUpper(strings.TrimSpace(st.sql))
	if !strings.Contains(upper[max(0, strings.LastIndexByte(upper, ')')):], "ORDER BY") &&
		!regexp.MustCompile(`ORDER BY [^)]*;$`).MatchString(upper) &&
		!strings.HasPrefix(upper, "SHOW") && !strings.HasPrefix(upper, "DESC") {
		have = slices.Clone(have)
		sortRows(have)
		sortRows(rows)
	}
	if len(have) != len(rows) {
		return fmt.Errorf("got %d rows %q, want %d %q", len(have), have, len(rows), rows)
	}
	for r := range rows {
		for c := range rows[r] {
			if !sameCell(have[r][c], rows[r][c], got.types[c]) {
				return fmt.Errorf("row %d column %s: got %q, want %q\n got %q\nwant %q", r+1, names[c], have[r][c],
					rows[r][c], have, rows)
			}
		}
	}
	return nil
}

func sortRows(rows [][]string) {
	sort.SliceStable(rows, func(i, j int) bool { return slices.Compare(rows[i], rows[j]) < 0 })
}

// reorder puts the columns of an answer into the order of names.
func reorder(o outcome, names []string) outcome {
	if len(names) != len(o.names) {
		return o
	}
	perm := make([]int, len(names))
	for i, n := range names {
		if perm[i] = slices.Index(o.names, n); perm[i] < 0 {
			return o
		}
	}
	p := outcome{affected: o.affected}
	for _, at := range perm {
		p.names, p.types = append(p.names, o.names[at]), append(p.types, o.types[at])
	}
	for _, row := range o.rows {
		var r []string
		for _, at := range perm {
			r = append(r, row[at])
		}
		p.rows = append(p.rows, r)
	}
	return p
}

func sameCell(got, want string, t vector.Type) bool {
	if got == want {
		return true
	}
	switch {
	case t.Kind() == vector.Float64:
		a, err1 := strconv.ParseFloat(got, 64)
		b, err2 := strconv.ParseFloat(want, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
	case t.ID == vector.TypeJSON:
		var a, b any
		return json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil &&
			reflect.DeepEqual(a, b)
	}
	return false
}

// drawn reads the names and rows of a drawn table. Cells of several lines take several lines of the drawing: then the
// first column is empty in the lines that go on, and there is the one row that the answer has.
func drawn(lines []string, rows int) (names []string, cells [][]string) {
	var bars []int
	for i, c := range lines[0] {
		if c == '+' {
			bars = append(bars, i)
		}
	}
	split := func(line string) []string {
		runes := []rune(line)
		var out []string
		for i := 0; i+1 < len(bars); i++ {
			out = append(out, strings.TrimRight(strings.TrimPrefix(string(runes[bars[i]+1:bars[i+1]]), " "), " "))
		}
		return out
	}
	names = split(lines[1])
	for _, line := range lines[3 : len(lines)-1] {
		row := split(line)
		if n := len(cells); n > 0 && n == rows && row[0] == "" { // a line of the last row
			for c := range row {
				if row[c] != "" || c > 0 {
					cells[n-1][c] += "\n" + row[c]
				}
			}
			continue
		}
		cells = append(cells, row)
	}
	return names, cells
}
