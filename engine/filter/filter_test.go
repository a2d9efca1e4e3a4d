package filter

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"varve/engine/schema"
	"varve/engine/vector"
)

// compareNaive orders two values of one type; NaN is the greatest float.
func compareNaive(a, b any) int {
	switch x := a.(type) {
	case bool:
		y := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case int64:
		return orderNaive(x, b.(int64))
	case uint64:
		return orderNaive(x, b.(uint64))
	case float64:
		y := b.(float64)
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		}
		return orderNaive(x, y)
	}
	return strings.Compare(a.(string), b.(string))
}

func orderNaive[T int64 | uint64 | float64](a, b T) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// passes is what a condition means, on one value; nil is NULL.
func passes(op Op, x any, args []any) bool {
	if op == IsNull || op == IsNotNull {
		return (x == nil) == (op == IsNull)
	}
	if x == nil {
		return false
	}
	switch op {
	case In, NotIn:
		found := false
		for _, a := range args {
			found = found || compareNaive(x, a) == 0
		}
		return found == (op == In)
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
		c := compareNaive(x, args[0])
		return map[Op]bool{Equal: c == 0, NotEqual: c != 0, Less: c < 0, LessEqual: c <= 0, Greater: c > 0,
			GreaterEqual: c >= 0}[op]
	}
	s, arg := x.(string), args[0].(string)
	switch op {
	case Prefix:
		return strings.HasPrefix(s, arg)
	case Contains:
		return strings.Contains(s, arg)
	case ContainsFold:
		return strings.Contains(foldNaive(s), foldNaive(arg))
	case Term:
		return termNaive(s, arg)
	case Regex, NotRegex:
		return regexp.MustCompile(arg).MatchString(s) == (op == Regex)
	case Like, NotLike:
		return likeNaive([]rune(s), []rune(arg)) == (op == Like)
	}
	return likeNaive([]rune(foldNaive(s)), []rune(foldNaive(arg))) == (op == ILike)
}

func foldNaive(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, s)
}

func likeNaive(s, p []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch {
	case p[0] == '%':
		return likeNaive(s, p[1:]) || len(s) > 0 && likeNaive(s[1:], p)
	case p[0] == '_':
		return len(s) > 0 && likeNaive(s[1:], p[1:])
	case p[0] == '\\' && len(p) > 1:
		p = p[1:]
	}
	return len(s) > 0 && s[0] == p[0] && likeNaive(s[1:], p[1:])
}

func termNaive(s, term string) bool {
	if term == "" {
		return s == ""
	}
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	word := func(r rune) bool { return r < 128 && letter(r) }
	for _, r := range term {
		if unicode.Is(unicode.Han, r) {
			return strings.Contains(s, term)
		}
		if r >= 128 {
			word = letter
		}
	}
	t := []rune(term)
	for i := range s {
		if !strings.HasPrefix(s[i:], term) {
			continue
		}
		before, after := []rune(s[:i]), []rune(s[i+len(term):])
		left := len(before) > 0 && word(t[0]) && word(before[len(before)-1])
		right := len(after) > 0 && word(t[len(t)-1]) && word(after[0])
		if !left && !right {
			return true
		}
	}
	return false
}

// domain is a set of values that rows and constants are drawn from.
type domain struct {
	t      vector.Type
	values []any
	ops    []Op
}

var comparisons = []Op{Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn, IsNull, IsNotNull}

func domains() []domain {
	texts := []any{"", "a", "ab", "abc", "b", "ba", "error", "error: x", "an error", "errors", "critical_error",
		"Error", "ERROR 7", "错误error日志", "café", "CAFÉ", "le café noir",
		"cafés", "50%", "a_b", "axb", "\u212Aelvin", "kelvin", "Straße", "ſpecial", "日志系统", "日志", "русский язык",
		"русские", "long " + strings.Repeat("xyz ", 20), "end\x00zero"}
	numbers := func(f func(i int) any) (all []any) {
		for i := range 12 {
			all = append(all, f(i))
		}
		return all
	}
	return []domain{
		{vector.BoolType, []any{false, true}, comparisons},
		{vector.Int64Type, append(numbers(func(i int) any { return int64(i - 6) }), int64(math.MinInt64),
			int64(math.MaxInt64)), comparisons},
		{vector.Uint64Type, append(numbers(func(i int) any { return uint64(i) }), uint64(math.MaxUint64),
			uint64(1<<63)), comparisons},
		{vector.FloatType, append(numbers(func(i int) any { return float64(i) / 2 }), math.NaN(), math.Inf(1),
			math.Inf(-1), math.Copysign(0, -1)), comparisons},
		{vector.StringType, texts,
			append([]Op{Prefix, Contains, ContainsFold, Term, Like, NotLike, ILike, NotILike, Regex, NotRegex},
				comparisons...)},
	}
}

var patterns = []any{"%error%", "error%", "%error", "er%or", "_rror", "%r_r%", "a\\_b", "50\\%", "%", "", "a%b%c",
	"%x%y%z%", "_", "__", "%café%", "%K%", "%日_", "c_f_", "%_s", "%\x00%", "%or: _"}

var expressions = []any{"error", "^error", "err(or|s)+", "[a-c]+b", "(?i)ERROR", "^$", "x{3}|日", "café.*", "a.b", ".",
	"(abc)+", "no+such"}

func (d *domain) args(op Op, r *rand.Rand) []any {
	from := d.values
	switch op {
	case IsNull, IsNotNull:
		return nil
	case Like, NotLike, ILike, NotILike:
		from = patterns
	case Regex, NotRegex:
		from = expressions
	case In, NotIn:
		var args []any
		for range r.IntN(14) {
			args = append(args, from[r.IntN(len(from))])
		}
		return args
	}
	return []any{from[r.IntN(len(from))]}
}

// vectorOf makes a Flat vector of values; nil is NULL.
func vectorOf(t vector.Type, values []any) *vector.Vector {
	b := vector.NewBuilder()
	c, err := b.Column("c", t)
	if err != nil {
		panic(err)
	}
	for _, x := range values {
		switch x := x.(type) {
		case bool:
			c.SetBool(x)
		case int64:
			c.SetInt(x)
		case uint64:
			c.SetUint(x)
		case float64:
			c.SetFloat(x)
		case string:
			c.SetString(x)
		}
		b.EndRow()
	}
	_, batch := b.Finish()
	return batch.Cols[0]
}

// dictOf makes a Dict vector of values that are no booleans.
func dictOf(t vector.Type, values []any) *vector.Vector {
	var distinct []any
	v := &vector.Vector{Type: t, Form: vector.Dict, Valid: vector.MakeBitmap(len(values)),
		Codes: make([]uint32, len(values))}
	for i, x := range values {
		if x == nil {
			continue
		}
		v.Valid.Set(i)
		at := -1
		for k, y := range distinct {
			if compareNaive(x, y) == 0 && fmt.Sprint(x) == fmt.Sprint(y) {
				at = k
			}
		}
		if at < 0 {
			at = len(distinct)
			distinct = append(distinct, x)
		}
		v.Codes[i] = uint32(at)
	}
	v.Values = vectorOf(t, distinct)
	return v
}

// TestEval holds every operator on every form of vector, with all tails, against the naive meaning.
func TestEval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range domains() {
		for _, op := range d.ops {
			for round := range 60 {
				n := []int{1, 2, 63, 64, 65, 130, 300, 1 + r.IntN(200)}[round%8]
				args := d.args(op, r)
				values := make([]any, n)
				for i := range values {
					if round%3 == 0 || r.IntN(5) > 0 {
						values[i] = d.values[r.IntN(len(d.values))]
					}
				}
				p, err := Compile(And{{Column: 1, Op: op, Args: vectorOf(d.t, args), NArgs: len(args)}})
				if err != nil {
					t.Fatal(err)
				}
				before := vector.MakeBitmap(n)
				before.Fill(n)
				if round%4 == 1 { // few rows in question
					for i := range n {
						if r.IntN(20) > 0 {
							before.Clear(i)
						}
					}
				}
				vectors := []*vector.Vector{vectorOf(d.t, values)}
				if d.t != vector.BoolType {
					vectors = append(vectors, dictOf(d.t, values))
				}
				for _, v := range vectors {
					keep := append(vector.Bitmap(nil), before...)
					p.Eval(n, func(schema.ColumnID) *vector.Vector { return v }, keep)
					for i, x := range values {
						if want := before.Get(i) && passes(op, x, args); keep.Get(i) != want {
							t.Fatalf("op %d, form %d, %d rows: %#v with %q gives %t, want %t", op, v.Form, n, x, args,
								keep.Get(i), want)
						}
					}
					if keep.Count() > n || n&63 != 0 && keep[len(keep)-1]>>(n&63) != 0 {
						t.Fatalf("op %d: tail bits are set", op)
					}
				}
				c := vectorOf(d.t, values[:1])
				c.Form = vector.Const
				keep := append(vector.Bitmap(nil), before...)
				p.Conds[0].Leaf.Eval(n, c, keep)
				for i := range n {
					if want := before.Get(i) && passes(op, values[0], args); keep.Get(i) != want {
						t.Fatalf("op %d on constant %#v with %q gives %t", op, values[0], args, keep.Get(i))
					}
				}
			}
		}
	}
}

// TestJudge holds that a verdict is never wrong, with bounds that are cut too.
func TestJudge(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	decided := 0
	for _, d := range domains() {
		for _, op := range d.ops {
			for range 300 {
				args := d.args(op, r)
				values := make([]any, 1+r.IntN(4))
				s := Stat{Rows: len(values)}
				var lo, hi any
				for i := range values {
					if r.IntN(6) == 0 {
						s.Nulls++
						continue
					}
					x := d.values[r.IntN(len(d.values))]
					values[i] = x
					if lo == nil || compareNaive(x, lo) < 0 {
						lo = x
					}
					if hi == nil || compareNaive(x, hi) > 0 {
						hi = x
					}
				}
				if text, ok := hi.(string); ok && r.IntN(2) == 0 {
					const cut = 2
					if low := lo.(string); len(low) > cut {
						lo = low[:cut]
					}
					if len(text) > cut {
						hi, s.MaxCut = text[:cut], true
					}
				}
				s.Min, s.Max = vectorOf(d.t, []any{lo}), vectorOf(d.t, []any{hi})
				p, err := Compile(And{{Column: 1, Op: op, Args: vectorOf(d.t, args), NArgs: len(args)}})
				if err != nil {
					t.Fatal(err)
				}
				got := p.Conds[0].Leaf.Judge(&s)
				count := 0
				for _, x := range values {
					if passes(op, x, args) {
						count++
					}
				}
				if got == None && count > 0 || got == All && count < len(values) {
					t.Fatalf("op %d with %q on %q (bounds %q to %q, cut %t): verdict %d, %d pass", op, args, values, lo,
						hi, s.MaxCut, got, count)
				}
				if got != Some {
					decided++
				}
			}
		}
	}
	if decided < 1000 {
		t.Errorf("only %d verdicts", decided)
	}
}

// TestHeapSearch searches needles that lie across rows, at ends and many times in one row.
func TestHeapSearch(t *testing.T) {
	values := []any{}
	for i := range 200 {
		values = append(values, []any{"ab", "c", "", "abc", "xabcabc", "bca", "a"}[i%7])
	}
	v := vectorOf(vector.StringType, values)
	for _, needle := range []string{"abc", "a", "ca", "bcabc", "cc", "abca"} {
		p, err := Compile(And{{Column: 1, Op: Contains, Args: vectorOf(vector.StringType, []any{needle}), NArgs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		keep := vector.MakeBitmap(len(values))
		keep.Fill(len(values))
		p.Conds[0].Leaf.Eval(len(values), v, keep)
		for i, x := range values {
			if keep.Get(i) != strings.Contains(x.(string), needle) {
				t.Errorf("%q in %q: %t", needle, x, keep.Get(i))
			}
		}
	}
}

func TestDecimalOrder(t *testing.T) {
	dec := func(hi int64, lo uint64) []byte {
		b := make([]byte, 16)
		for i := range 8 {
			b[i], b[8+i] = byte(lo>>(8*i)), byte(uint64(hi)>>(8*i))
		}
		return b
	}
	rising := [][]byte{dec(math.MinInt64, 0), dec(-1, 5), dec(-1, math.MaxUint64), dec(0, 0), dec(0, 1), dec(0, 1<<63),
		dec(1, 0)}
	for i := range rising {
		for j := range rising {
			if got, want := compareDecimals(rising[i], rising[j]), orderNaive(int64(i), int64(j)); got != want {
				t.Errorf("%d with %d: %d, want %d", i, j, got, want)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	one := vectorOf(vector.StringType, []any{"("})
	for _, c := range []Cond{
		{Column: 1, Op: Regex, Args: one, NArgs: 1},
		{Column: 1, Op: Equal},
		{Column: 1, Op: 99, Args: one, NArgs: 1},
		{Column: 1, Op: Contains, Args: vectorOf(vector.Int64Type, []any{int64(1)}), NArgs: 1},
	} {
		if _, err := Compile(And{c}); err == nil {
			t.Errorf("op %d compiles", c.Op)
		}
	}
}

func TestAppendLower(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 100 {
		s := make([]byte, n)
		for i := range s {
			s[i] = byte(r.Uint32())
		}
		want := bytes.Map(func(r rune) rune { return r }, nil)
		for _, c := range s {
			want = append(want, lower[c])
		}
		if got := appendLower(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	}
}

// TestEvalAllocations holds that a warm program allocates nothing.
func TestEvalAllocations(t *testing.T) {
	n := vector.Size
	values := make([]any, n)
	for i := range values {
		values[i] = fmt.Sprintf("Message %d of many", i)
	}
	v := vectorOf(vector.StringType, values)
	keep := vector.MakeBitmap(n)
	for _, op := range []Op{Equal, Contains, ContainsFold, Term, Like, ILike, Prefix, Regex, In} {
		p, err := Compile(And{{Column: 1, Op: op, Args: vectorOf(vector.StringType, []any{"77"}), NArgs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		eval := func() {
			keep.Fill(n)
			p.Conds[0].Leaf.Eval(n, v, keep)
		}
		eval()
		if a := testing.AllocsPerRun(20, eval); a > 0 {
			t.Errorf("op %d: %.0f allocations", op, a)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	const n = 8192
	r := rand.New(rand.NewPCG(1, 1))
	texts, ints := make([]any, n), make([]any, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("request completed in %d.%03d ms for user %d, cache %d", r.IntN(100), r.IntN(1000),
			r.IntN(1e6), r.IntN(3))
		ints[i] = r.Int64N(1000)
	}
	text, number := vectorOf(vector.StringType, texts), vectorOf(vector.Int64Type, ints)
	for _, c := range []struct {
		name string
		op   Op
		arg  any
		v    *vector.Vector
		size int64
	}{
		{"ints/less", Less, int64(500), number, 8 * n},
		{"ints/equal", Equal, int64(500), number, 8 * n},
		{"text/equal", Equal, "request", text, int64(len(text.Heap))},
		{"text/contains", Contains, "deadline", text, int64(len(text.Heap))},
		{"text/contains=common", Contains, "completed in 77", text, int64(len(text.Heap))},
		{"text/fold", ContainsFold, "deadline", text, int64(len(text.Heap))},
		{"text/term", Term, "deadline", text, int64(len(text.Heap))},
		{"text/regex", Regex, "user 77[0-9]+,", text, int64(len(text.Heap))},
		{"text/like", Like, "%user 77%cache 2", text, int64(len(text.Heap))},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile(And{{Column: 1, Op: c.op, Args: vectorOf(c.v.Type, []any{c.arg}), NArgs: 1}})
			if err != nil {
				b.Fatal(err)
			}
			keep := vector.MakeBitmap(n)
			b.SetBytes(c.size)
			b.ReportAllocs()
			for b.Loop() {
				keep.Fill(n)
				p.Conds[0].Leaf.Eval(n, c.v, keep)
			}
		})
	}
}
