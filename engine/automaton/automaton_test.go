package automaton

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var exprs = []string{
	``, `a`, `abc`, `session|cache`, `(?i)OUT OF memory|lease`, `^GET `, `done$`, `^$`, `^\s*$`, `\bcart\b`, `\Bar`,
	`(?m)^error`, `(?m)ok$`,
	`[0-9]{5} .*storage`, `a.c`, `(?s)a.c`, `[^a-z]+`, `x*`, `(a|b)*c`, `(a+)+$`, `\d+\.\d+\.\d+\.\d+`, `ü|ö`,
	`(?i)straße|ſ|k`, `[\x80-\x{ffff}]`,
	`\pL\pN`, `[[:alpha:]]_`, `\x{fffd}`, `[^\x00-\x7f]`, `a{0}`, `a{2,4}b`, `(?:)`, `\z`, `\A`, `(^a|b$)c?`,
	`(?i)[k-m]\b`, `foo\b|\bbar`,
	`^(GET|POST) /api/v[12]/[a-z]+/\d+( |$)`, `(?U)a.*b`, `(x+x+)+y`, `.{10}`, `[[:^space:]]\n`, `(?m)^$`, `(?i)ǅ`,
	`(ab|cd)(ab|cd)(ab|cd)$`,
}

var texts = []string{
	"", "a", "abc", "xabcx", "session renewed", "no cache", "Out Of Memory", "LEASE held", "leaſe", "GET /", "forGET ",
	"well done", "done\n", "\n", " \t ",
	"cart", "carts", "a cart!", "bar", " bar", "error", "x\nerror y", "ok\nfine", "12345 on storage", "1234 on storage",
	"a\nc", "aéc", "a\xffc", "\xff\xfe", "\xc3",
	"ABC", "bbbbac", "aaaaaaaaaaaaaaaaaaaaaaaab", "10.0.3.44", "10.0.3", "über", "STRASSE", "STRAẞE", "ſ", "K",
	"\u212a", "Ā1", "x_", "\ufffd", "ac", "bc", "aab", "aaaab",
	"foo", "foox", "xfoo bar", "GET /api/v1/cart/12 HTTP", "GET /api/v3/cart/12", "xxxxxxxxxxxxxxxxxxxxy", "0123456789",
	"日本語テキスト", "x\n\ny", "ǆ", "ababcd", "abcdab ", "l", "m1",
}

func compiled(t *testing.T, expr string) *Regexp {
	t.Helper()
	r, err := Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same checks that texts match as package regexp says.
func same(t *testing.T, expr string, texts ...string) {
	t.Helper()
	oracle, err := regexp.Compile(expr)
	r, err2 := Compile(expr)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%q: %v, want %v", expr, err2, err)
	}
	if err != nil {
		return
	}
	a := newAutomaton(r)
	for range 2 { // states made, then known
		for _, s := range texts {
			want := oracle.MatchString(s)
			if got := r.Match([]byte(s), nil); got != want {
				t.Errorf("%q on %q: %v, want %v", expr, s, got, want)
			}
			if got := a.match([]byte(s), nil); got != want {
				t.Errorf("the automaton of %q on %q: %v, want %v", expr, s, got, want)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	for _, expr := range exprs {
		t.Run(expr, func(t *testing.T) {
			same(t, expr, texts...)
			if newAutomaton(compiled(t, expr)).start == unknown {
				t.Error("no automaton is made")
			}
		})
	}
}

// TestRandom draws expressions and texts of few characters, so that they meet.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	atoms := []string{"a", "b", "_", " ", ".", "[ab]", "[^a]", `\b`, `\B`, "^", "$", `\w`, `\W`, "é", "\n", `(?m:^)`,
		`(?m:$)`, "(?i:A)"}
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 || r.IntN(3) == 0 {
			return atoms[r.IntN(len(atoms))]
		}
		switch r.IntN(5) {
		case 0:
			return "(" + expr(depth-1) + "|" + expr(depth-1) + ")"
		case 1:
			return "(?:" + expr(depth-1) + ")" + []string{"*", "+", "?", "{2}", "*?"}[r.IntN(5)]
		}
		return expr(depth-1) + expr(depth-1)
	}
	letters := []string{"a", "b", "A", "_", " ", "\n", "é", "\xff"}
	for range 3000 {
		var list []string
		for range 20 {
			var s strings.Builder
			for range r.IntN(12) {
				s.WriteString(letters[r.IntN(len(letters))])
			}
			list = append(list, s.String())
		}
		same(t, expr(4), list...)
	}
}

// TestTooLarge: where an automaton would grow past its bounds, the answers stay right.
func TestTooLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var list []string
	for range 400 {
		b := make([]byte, 60)
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		list = append(list, string(b))
	}
	same(t, `a[ab]{14}b[ab]{3}a$`, list...) // 2^15 states
	a := newAutomaton(compiled(t, `a[ab]{14}b[ab]{3}a$`))
	for _, s := range list {
		a.match([]byte(s), nil)
	}
	if n := len(a.states); n < maxStates || n > maxStates+firstState {
		t.Errorf("%d states", n)
	}
	same(t, strings.Repeat("(a|bc)", 500), "", strings.Repeat("abc", 500))
	var all strings.Builder // more classes than a byte holds
	for i := range 300 {
		fmt.Fprintf(&all, "%c|", 0x4e00+2*i)
	}
	same(t, all.String()+"x", "x", "一", "丁", "丂y")
}

// TestConcurrent: goroutines that share an automaton see each other's states.
func TestConcurrent(t *testing.T) {
	r, err := Compile(`(?i)[a-f]{3}[0-9]+ .*(done|failed)\b`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(5, uint64(k)))
			for range 2000 {
				s := fmt.Sprintf("%x %x done%d", random.Uint32(), random.Uint32(), random.IntN(2))
				if got, want := r.Match([]byte(s), nil), r.re.MatchString(s); got != want {
					t.Errorf("%q: %v, want %v", s, got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzMatch(f *testing.F) {
	for _, expr := range exprs {
		f.Add(expr, "xabcx 12345 on storage\nok")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) < 200 && len(text) < 1000 {
			same(t, expr, text, text+"a", text+text)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var rows [][]byte
	for i := range 1000 {
		rows = append(rows, fmt.Appendf(nil, "Received block blk_%d of size %d from backend node %d", i*7919*7919,
			i*104729, i%97))
	}
	for _, expr := range []string{`session|cache`, `(?i)OUT OF memory|lease`, `[0-9]{7} .*storage`,
		`^Received block .* node 7$`, `\bnode\b`} {
		r, err := Compile(expr)
		if err != nil {
			b.Fatal(err)
		}
		for name, match := range map[string]func([]byte) bool{"automaton": func(s []byte) bool {
			return r.Match(s, nil)
		}, "regexp": r.re.Match} {
			b.Run(expr+"/"+name, func(b *testing.B) {
				for b.Loop() {
					for _, s := range rows {
						match(s)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
			})
		}
	}
}
