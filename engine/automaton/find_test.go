package automaton

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// offsets returns what Each finds.
func offsets(t *testing.T, r *Regexp, text string, n int, groups bool) [][]int {
	t.Helper()
	var all [][]int
	if err := r.Each([]byte(text), n, groups, context.Background().Err, func(m []int) error {
		all = append(all, slices.Clone(m))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEach: matches lie where package regexp says, whether a text is short, long, or so long that its characters are
// counted.
func TestEach(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 2 * len(exprs) {
		expr := exprs[i/2]
		oracle, mine := regexp.MustCompile(expr), compiled(t, expr)
		mine.texts.Store(int32(i % 2 * fewTexts)) // with the second an automaton pays
		for _, length := range []int{0, 1, 30, 400, 3000} {
			var b strings.Builder
			for b.Len() < length {
				b.WriteString(texts[r.IntN(len(texts))] + []string{"", " ", "\n", "\xff"}[r.IntN(4)])
			}
			text := b.String()
			for _, n := range []int{-1, 1, 3} {
				want := oracle.FindAllStringSubmatchIndex(text, n)
				if got := offsets(t, mine, text, n, true); !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("%q in %q, at most %d:\n got %v\nwant %v", expr, text, n, got, want)
				}
				for i := range want {
					want[i] = want[i][:2]
				}
				if got := offsets(t, mine, text, n, false); !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("%q in %q, at most %d, without groups:\n got %v\nwant %v", expr, text, n, got, want)
				}
			}
		}
	}
}

// TestEachAbutting: an empty match right behind another one counts, and none counts twice.
func TestEachAbutting(t *testing.T) {
	for _, c := range []struct{ expr, text, want string }{
		{"a*", "baac", "0-0 1-3 3-3 4-4"}, {"a*", "aab", "0-2 2-2 3-3"}, {"x*", "abc", "0-0 1-1 2-2 3-3"},
		{"x*", "", "0-0"}, {"", "aé", "0-0 1-1 3-3"},
		{"$", "ab", "2-2"}, {"^", "ab", "0-0"}, {`\b`, "ab c", "0-0 2-2 3-3 4-4"}, {"b$|$", "ab", "1-2 2-2"},
		{"a", "aba", "0-1 2-3"}, {"a", "b", ""},
	} {
		var got []string
		err := compiled(t, c.expr).EachAbutting([]byte(c.text), nil, func(m []int) error {
			got = append(got, fmt.Sprintf("%d-%d", m[0], m[1]))
			return nil
		})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q in %q: got %v, %v, want %s", c.expr, c.text, got, err, c.want)
		}
	}
}

// TestSearchBySteps holds each way of searching to package regexp, the one that counts characters too.
func TestSearchBySteps(t *testing.T) {
	for _, expr := range exprs {
		oracle, mine := regexp.MustCompile(expr), compiled(t, expr)
		for _, text := range texts {
			for _, spent := range []int64{0, plainWork} {
				for from := range len(text) + 1 {
					if from > 0 && from < len(text) && text[from]&0xC0 == 0x80 {
						continue // within a character
					}
					s := search{r: mine, text: []byte(text), groups: true, plain: spent,
						reader: reader{text: []byte(text), steps: int64(mine.steps()), most: maxWork}}
					got, err := s.next(from)
					var want []int
					for _, m := range oracle.FindAllStringSubmatchIndex(text, -1) {
						if m[0] >= from {
							want = m
							break
						}
					}
					if from > 0 && (want == nil || got == nil || got[0] != want[0]) {
						continue // a search from here may find what lies across or within a match before it
					}
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%q in %q from %d, work %d: %v %v, want %v", expr, text, from, spent, got, err, want)
					}
				}
			}
		}
	}
}

// TestSearchesEnd: a search ends soon after it is told to, wherever it is: in one that goes through a long text,
// between those that each go to its end, in an automaton that becomes too large.
func TestSearchesEnd(t *testing.T) {
	gone := errors.New("gone")
	long := strings.Repeat("abcdefgh", 1<<15)
	large := strings.Repeat("(a|bc)", 900) + "x"
	for _, expr := range []string{`(x+x+)+y`, `a.*z|[a-h]`, `[a-h]*z|b`, large, `[ab].{300}z`, `\b[a-h]+z`} {
		for _, way := range []string{"each", "match", "match by package regexp"} {
			t.Run(fmt.Sprintf("%.20q %s", expr, way), func(t *testing.T) {
				r := compiled(t, expr)
				asked, over := 0, time.Time{}
				cancelled := func() error {
					if asked++; asked < 20 {
						return nil
					}
					if over.IsZero() {
						over = time.Now()
					}
					return gone
				}
				switch way {
				case "each":
					err := r.Each([]byte(long), -1, true, cancelled, func([]int) error { return nil })
					if asked >= 20 && !errors.Is(err, gone) {
						t.Errorf("ends with %v", err)
					}
				case "match":
					r.Match([]byte(long), cancelled)
				default:
					r.look([]byte(long), cancelled)
				}
				if took := time.Since(over); !over.IsZero() && took > 5*time.Second { // hours without the question
					t.Errorf("goes on for %v", took)
				}
			})
		}
	}
}

// TestWorkIsBounded: searches that each go to the end of a text end with an error instead of taking hours.
func TestWorkIsBounded(t *testing.T) {
	r, found := compiled(t, `a.*z|a|`+strings.Repeat("[bcd]{100}|", 20)+"x"), 0
	err := r.Each([]byte(strings.Repeat("a", 1<<17)), -1, true, nil, func([]int) error {
		found++
		return nil
	})
	if work := (*WorkError)(nil); !errors.As(err, &work) || found < 1 {
		t.Errorf("%v after %d matches", err, found)
	}
	if err := r.Each([]byte(strings.Repeat("abcz\n", 1<<14)), -1, true, nil, func([]int) error { return nil }); err !=
		nil {
		t.Error("a text of which each search reads one line:", err)
	}
}

// TestPlaces: an automaton finds what package regexp prefers, in expressions and texts drawn by lot.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 25))
	atoms := []string{"a", "b", "[ab]", "[^a]", ".", "\\b", "\\B", "^", "$", "(?m:^)", "(?m:$)", "\\n", "é", "\\w",
		"(?i:A)", ""}
	var draw func(depth int) string
	draw = func(depth int) string {
		switch n := r.IntN(8); {
		case depth == 0 || n < 2:
			return atoms[r.IntN(len(atoms))]
		case n < 4:
			return draw(depth-1) + draw(depth-1)
		case n < 6:
			return "(?:" + draw(depth-1) + "|" + draw(depth-1) + ")"
		default:
			return "(?:" + draw(depth-1) + ")" + []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}"}[r.IntN(8)]
		}
	}
	letters := []string{"a", "b", "A", " ", "\n", "é", "\xff", "_"}
	known := 0
	for range 20_000 {
		expr := draw(4)
		oracle, err := regexp.Compile(expr)
		if err != nil {
			continue
		}
		mine := compiled(t, expr)
		mine.texts.Store(fewTexts)
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		text := b.String()
		want := oracle.FindAllStringIndex(text, -1)
		if got := offsets(t, mine, text, -1, false); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q in %q:\n got %v\nwant %v", expr, text, got, want)
		}
		if mine.places != nil {
			known++
		}
	}
	if known < 10_000 {
		t.Errorf("%d expressions have an automaton", known)
	}
}

// TestPlacesAreBounded: an automaton that begins anew too often, or grows too large, leaves its text to package regexp.
func TestPlacesAreBounded(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		matches    int
	}{{`a.*z|b`, strings.Repeat("a", 4000) + "b", 1}, {`[ab].{12}c`, strings.Repeat("abbabaaabbbb", 2000) + "c", 1},
		{`x[^"]*"|"`, strings.Repeat("xy", 3000) + `""`, 2}} {
		r := compiled(t, c.expr)
		r.texts.Store(fewTexts)
		if got := offsets(t, r, c.text, -1, false); len(got) != c.matches {
			t.Errorf("%s: %d matches, want %d", c.expr, len(got), c.matches)
		}
	}
}

// BenchmarkEach looks for the parts of messages that vary.
func BenchmarkEach(b *testing.B) {
	expr := `[0-9a-f]{8}-[0-9a-f]{4}|"[^"]*"|'[^']*'|0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b|[0-9]+([.:,][0-9]+)*`
	text := []byte(
		"081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 for block blk_38865049064139660 terminating at 10.0.3.44:50010")
	r, err := Compile(expr)
	if err != nil {
		b.Fatal(err)
	}
	for _, groups := range []bool{false, true} {
		b.Run(fmt.Sprintf("groups=%v", groups), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Each(text, -1, groups, nil, func([]int) error { return nil })
			}
		})
	}
}
