package automaton

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGroupsOfTheFirstMatch: an automaton finds the groups that package regexp finds, in expressions and texts drawn by
// lot.
func TestGroupsOfTheFirstMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 11))
	atoms := []string{"a", "b", "[ab]", "[^a]", ".", "\\b", "^", "$", "(?m:^)", "(?m:$)", "\\n", "é", "\\w", "", "()"}
	var draw func(depth int) string
	draw = func(depth int) string {
		switch n := r.IntN(9); {
		case depth == 0 || n < 1:
			return atoms[r.IntN(len(atoms))]
		case n < 4:
			return draw(depth-1) + draw(depth-1)
		case n < 5:
			return "(?:" + draw(depth-1) + "|" + draw(depth-1) + ")"
		case n < 6:
			return "(" + draw(depth-1) + "|" + draw(depth-1) + ")"
		default:
			return "(" + draw(depth-1) + ")" + []string{"", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}"}[r.IntN(9)]
		}
	}
	letters := []string{"a", "b", "A", " ", "\n", "é", "\xff", "_"}
	known := 0
	for range 20_000 {
		expr := []string{"", "^"}[r.IntN(2)] + draw(4)
		oracle, err := regexp.Compile(expr)
		if err != nil {
			continue
		}
		mine := compiled(t, expr)
		mine.texts.Store(fewTexts)
		for range 3 {
			var b strings.Builder
			for range r.IntN(12) {
				b.WriteString(letters[r.IntN(len(letters))])
			}
			text := b.String()
			want := oracle.FindAllStringSubmatchIndex(text, 1)
			if got := offsets(t, mine, text, 1, true); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%q in %q:\n got %v\nwant %v", expr, text, got, want)
			}
		}
		if mine.places != nil && mine.places.groups {
			known++
		}
	}
	if known < 10_000 {
		t.Errorf("%d expressions have an automaton that knows groups", known)
	}
}

// TestManyGroups: expressions of more groups than an automaton knows are left to package regexp.
func TestManyGroups(t *testing.T) {
	for _, n := range []int{maxGroups, maxGroups + 1} {
		expr, text := "x"+strings.Repeat("(a|b)?", n), strings.Repeat("ab", n)
		r := compiled(t, expr)
		r.texts.Store(fewTexts)
		want := regexp.MustCompile(expr).FindAllStringSubmatchIndex("yyx"+text, 1)
		if got := offsets(t, r, "yyx"+text, 1, true); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%d groups:\n got %v\nwant %v", n, got, want)
		}
		if r.places.groups != (n <= maxGroups) {
			t.Errorf("%d groups: the automaton knows groups: %v", n, r.places.groups)
		}
	}
}

// BenchmarkFirstGroups finds the domain of an address, as regexp_replace does.
func BenchmarkFirstGroups(b *testing.B) {
	r, err := Compile(`^https?://(?:www\.)?([^/]+)/.*$`)
	if err != nil {
		b.Fatal(err)
	}
	text := []byte("https://www.garden-supplies.example/reviews/1234")
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Each(text, 1, true, nil, func([]int) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
