package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"varve/engine/vector"
)

// endingMemory is a memory of a query that ends when it has been asked so often whether it runs.
type endingMemory struct {
	smallMemory
	asks int
}

var errCancelled = errors.New("cancelled")

func (m *endingMemory) Err() error {
	if m.asks--; m.asks < 0 {
		return errCancelled
	}
	return nil
}

// Every function ends with its query within a few texts of the batch, whatever it does with them, and says the same of
// long texts as of each alone.
func TestFunctionsOverLongTextsEnd(t *testing.T) {
	const rows, length = 8, partBytes/2 + 1
	texts := &vector.Vector{Type: str}
	for i := range rows {
		texts.PushBytes([]byte(strings.Repeat(string(rune('a'+i))+" ", length/2+i)))
	}
	b := &vector.Batch{N: rows, Cols: []*vector.Vector{texts}}
	col, called := &Column{T: str}, 0
	for _, name := range Names() {
		f := functions[name]
		for n := max(f.min, 1); n <= max(f.min, 2); n++ {
			args := []Expr{col}
			for len(args) < n {
				args = append(args, Text("1"))
			}
			e, err := (&Context{}).Call(name, args...)
			if err != nil || IsConst(e) {
				continue // not an overload
			}
			// IS NULL looks at no text
			if call, ok := e.(*Call); !ok || call.Fn.volatile || call.Fn != f || strings.HasPrefix(name, "is") {
				continue
			}
			program := func(asks int) *Program {
				p, err := CompileWithin([]Expr{e}, &endingMemory{smallMemory{limit: 1 << 40}, asks})
				if err != nil {
					t.Fatal(name, err)
				}
				return p
			}
			out := make([]*vector.Vector, 1)
			whole := program(1 << 40)
			if whole.Eval(b, out) != nil {
				continue // no function of such texts
			}
			called++
			for asks := range rows / 2 {
				if err := program(asks).Eval(b, make([]*vector.Vector, 1)); !errors.Is(err, errCancelled) {
					t.Errorf("%s of %d arguments asks %d times whether the query runs: %v", name, n, asks, err)
					break
				}
			}
			alone, one := program(1<<40), make([]*vector.Vector, 1)
			for i := range rows {
				if err := alone.Eval(&vector.Batch{N: 1, Cols: []*vector.Vector{texts.Slice(i, i+1)}}, one); err !=
					nil {
					t.Fatal(name, err)
				}
				if got, want := cell(out[0], i), cell(one[0], 0); got != want {
					t.Errorf("%s of %d arguments, row %d: %.40s, alone %.40s", name, n, i, got, want)
				}
			}
		}
	}
	if called < 40 {
		t.Errorf("only %d functions were called", called)
	}
}

// cell is a row of a vector as text.
func cell(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return fmt.Sprint(v.Bool(i))
	case vector.Int64:
		return fmt.Sprint(v.Int(i))
	case vector.Uint64:
		return fmt.Sprint(v.Uint(i))
	case vector.Float64:
		return fmt.Sprint(v.Float(i))
	}
	return v.Str(i)
}

// Validity crosses the parts wherever they end.
func TestNullsAmongLongTexts(t *testing.T) {
	const rows = 200
	texts, long := &vector.Vector{Type: str}, []byte(strings.Repeat("x", partBytes/5))
	var want []string
	for i := range rows {
		switch {
		case i%7 == 3:
			texts.AppendNulls(i, 1)
			want = append(want, "NULL")
			continue
		case i%3 == 0:
			texts.PushBytes(long[:len(long)-i])
			want = append(want, fmt.Sprint(len(long)-i))
		default:
			texts.PushBytes(long[:i])
			want = append(want, fmt.Sprint(i))
		}
		if texts.Valid != nil {
			texts.Valid = texts.Valid.With(i)
		}
	}
	for _, name := range []string{"length", "upper", "concat", "concat_ws", "coalesce"} {
		args := []Expr{&Column{T: str}}
		if name == "concat_ws" {
			args = append([]Expr{Text("")}, args...)
		}
		e, err := (&Context{}).Call(name, args...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := CompileWithin([]Expr{e}, &smallMemory{limit: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]*vector.Vector, 1)
		if err := p.Eval(&vector.Batch{N: rows, Cols: []*vector.Vector{texts}}, out); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			got := cell(out[0], i)
			if name != "length" && got != "NULL" {
				got = fmt.Sprint(len(got))
			}
			if w := want[i]; got != w && !(w == "NULL" && got == "0" && strings.HasPrefix(name, "concat")) {
				t.Fatalf("%s, row %d: %.40s, want %s", name, i, got, w)
			}
		}
	}
}

// Patterns that would take minutes a text are refused, wherever they come from.
func TestPatternsAreBounded(t *testing.T) {
	col, c := &Column{T: str}, &Context{}
	long := strings.Repeat("%a_", 30_000)
	for _, name := range []string{"like", "not like", "ilike", "not ilike", "~", "!~", "~*", "!~*", "similar to"} {
		if _, err := c.Call(name, col, Text(long)); err == nil ||
			!strings.Contains(err.Error(), "the limit of 65536 bytes") {
			t.Errorf("%s: %.100v", name, err)
		}
	}
	if _, err := c.Call("~", col, Text(strings.Repeat("(a|b)*c?", 5000))); err == nil ||
		!strings.Contains(err.Error(), "the limit is 10000") {
		t.Errorf("steps: %.100v", err)
	}
	texts := &vector.Vector{Type: str}
	texts.PushBytes([]byte(strings.Repeat("x", 4<<20)))
	for name, args := range map[string][]Expr{
		"regexp_replace": {col, Text("(x{0,30}){0,30}Z"), Text("")}, "regexp_match": {col, Text("(x{0,30}){0,30}Z")},
		"regexp_count":   {col, Text("(x{0,30}){0,30}Z")},
		"regexp_extract": {col, Text("(x{0,30}){0,30}Z")}, "regexp_split_to_array": {col, Text("(x{0,30}){0,30}Z")},
		"regexp_instr": {col, Text("(x{0,30}){0,30}Z")},
	} {
		e, err := c.Call(name, args...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile([]Expr{e})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Eval(&vector.Batch{N: 1, Cols: []*vector.Vector{texts}}, make([]*vector.Vector, 1)); err == nil ||
			!strings.Contains(err.Error(), "found one of 4194304") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The characters of a set may be many: a text is gone through once whatever their number. One by one this takes hours.
func TestSetsOfManyCharacters(t *testing.T) {
	set := &strings.Builder{}
	for r := range rune(20_000) {
		set.WriteRune(0x4e00 + r)
	}
	many := strings.Repeat(set.String(), 4)
	text := strings.Repeat("\u9c1f", 1<<20) // the last of the set
	for _, c := range []struct {
		name string
		args []Expr
		want string
	}{
		{"translate", []Expr{Text(text + "x"), Text(many), Text("")}, "x"},
		{"translate", []Expr{Text("\u4e00\u4e01\u4e03x"), Text(many), Text("ab")}, "abx"},
		{"trim", []Expr{Text(text + "x" + text), Text(many)}, "x"},
		{"ltrim", []Expr{Text(text + "x"), Text(many)}, "x"},
		{"rtrim", []Expr{Text("x" + text), Text(many)}, "x"},
	} {
		e, err := (&Context{}).Call(c.name, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.(*Const).Value.Str(0); got != c.want {
			t.Errorf("%s gives %.20q, want %q", c.name, got, c.want)
		}
	}
}

// A chain of functions ends with its query between two of them, however short the texts of each are.
func TestChainsOfFunctionsEnd(t *testing.T) {
	texts := &vector.Vector{Type: str}
	for range vector.Size {
		texts.PushBytes([]byte(strings.Repeat("x", 100)))
	}
	var e Expr = &Column{T: str}
	for range 40 {
		var err error
		if e, err = (&Context{}).Call("concat", e, &Column{T: str}); err != nil {
			t.Fatal(err)
		}
	}
	b := &vector.Batch{N: vector.Size, Cols: []*vector.Vector{texts}}
	for asks := range 20 {
		p, err := CompileWithin([]Expr{e}, &endingMemory{smallMemory{limit: 1 << 40}, asks})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Eval(b, make([]*vector.Vector, 1)); !errors.Is(err, errCancelled) {
			t.Errorf("asked %d times: %v", asks, err)
		}
	}
}
