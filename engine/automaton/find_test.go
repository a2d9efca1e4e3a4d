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

// TestEach: matches lie where package regexp says, whether a text is short, long, or so long that its characters are counted.
func TestEach(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, expr := range exprs {
		oracle, mine := regexp.MustCompile(expr), compiled(t, expr)
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
		{"a*", "baac", "0-0 1-3 3-3 4-4"}, {"a*", "aab", "0-2 2-2 3-3"}, {"x*", "abc", "0-0 1-1 2-2 3-3"}, {"x*", "", "0-0"}, {"", "aé", "0-0 1-1 3-3"},
		{"$", "ab", "2-2"}, {"^", "ab", "0-0"}, {`\b`, "ab c", "0-0 2-2 3-3 4-4"}, {"b$|$", "ab", "1-2 2-2"}, {"a", "aba", "0-1 2-3"}, {"a", "b", ""},
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
					s := search{r: mine, text: []byte(text), groups: true, plain: spent, reader: reader{text: []byte(text), steps: int64(mine.steps()), most: maxWork}}
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

// TestSearchesEnd: a search ends soon after it is told to, wherever it is: in one that goes through a long text, between those
// that each go to its end, in an automaton that becomes too large.
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
	if err := r.Each([]byte(strings.Repeat("abcz\n", 1<<14)), -1, true, nil, func([]int) error { return nil }); err != nil {
		t.Error("a text of which each search reads one line:", err)
	}
}
