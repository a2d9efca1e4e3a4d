package processor

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// scanPatterns have the shape for a scanner.
var scanPatterns = []string{
	`(\d+)`, `^(\S+) (\S+)`, `^(\S+) \[([^\]]+)\] "([^"]*)" (\d+)$`, `a(.*)b`, `a(.*?)b`, `a(.+?)bc`, `(\w+)=(\w+)`,
	`(?i)ab(c+)`, `^(.*)$`,
	`x?(y+)`, `(\d{1,3})\.(\d{1,3})`, `(a{2})b`, `(.*): (.*)`, `^\s*(\w+)\s*$`, `(\S+):(\d+)`, `([a-c]+?)d`, `(é+)`,
	`"(.*)" (.*)`, `(a*)`, `(.*?)$`, `\[(.*)\]`,
	`(\d+|-) (\d+|-)`, `^(\w+)(?:\[(\d+)\])?: (.*)$`, `(a|b|c\d)x`, `a(?:,(b|c+))?$`, `x(1|2)?y`, `(?:a|b(c)?)d`,
	`(1+(?::2)?)`, `a(?:b)?(c*)`, `(?i:ab|cd)+?e`,
	`(?s)a(.*)c`, `^`, `$`, `(a*)b`, `a{2,}(b)`, `([^,]*),([^,]*)`, `(.+)\b`,
}

// TestScanner compares scanners with the general engine on random texts.
func TestScanner(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, pattern := range scanPatterns {
		re := regexp.MustCompile(pattern)
		s := newScanner(re)
		if s == nil {
			if pattern != `(.+)\b` && pattern != `(?i:ab|cd)+?e` {
				t.Errorf("%s has no scanner", pattern)
			}
			continue
		}
		unknown := 0
		for range 3000 {
			text := randomText(rng)
			got, how := scan(s, text)
			if how == scanUnknown {
				unknown++
				continue
			}
			if want := re.FindStringSubmatchIndex(text); !slices.Equal(got, want) {
				t.Fatalf("%s on %q: got %v, want %v", pattern, text, got, want)
			}
		}
		if unknown > 1500 {
			t.Errorf("%s: %d of 3000 are not known", pattern, unknown)
		}
	}
}

func scan(s *scanner, text string) ([]int, scanResult) {
	groups := make([]int, 2*s.groups)
	how := s.match(text, groups)
	if how == scanNone {
		return nil, how
	}
	return groups, how
}

func randomText(rng *rand.Rand) string {
	const letters = `aabbccdxy  ::==..,,""[]127é` + "\n"
	runes := []rune(letters)
	var b strings.Builder
	for range rng.IntN(24) {
		b.WriteRune(runes[rng.IntN(len(runes))])
	}
	return b.String()
}

func TestScannerShapes(t *testing.T) {
	for _, pattern := range []string{`(\w+|a-)b`, `a?|b`, `(ab|a)d`, `(ab)+`, `\w+\d`, `(?m)^a`, `\bx`, `(?:a)?ab`,
		`(?:a$|^b)c`, `(.{1,5})a`} {
		if newScanner(regexp.MustCompile(pattern)) != nil {
			t.Errorf("%s has a scanner", pattern)
		}
	}
}

// TestScannerLinear scans texts that make naive matching quadratic.
func TestScannerLinear(t *testing.T) {
	long := strings.Repeat("a", 1<<16)
	for _, pattern := range []string{`a+b`, `(\w+)=`, `a(.*)b`} {
		re := regexp.MustCompile(pattern)
		if _, how := scan(newScanner(re), long); how == scanFound {
			t.Errorf("%s was found", pattern)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, p := range scanPatterns {
		f.Add(p, "a=b c: 12.3 \"x\" [y]")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 200 || len(text) > 1000 {
			return
		}
		s := newScanner(re)
		if s == nil {
			return
		}
		got, how := scan(s, text)
		if want := re.FindStringSubmatchIndex(text); how != scanUnknown && !slices.Equal(got, want) {
			t.Fatalf("%s on %q: got %v, want %v", pattern, text, got, want)
		}
	})
}

// randomPattern makes a pattern of the parts that scanners know, and some that they do not.
func randomPattern(rng *rand.Rand, depth int) string {
	var b strings.Builder
	classes := []string{`\w`, `\d`, `[^ ]`, `[^"\]]`, `.`, `[ab]`, `[a-c,]`, `é`, `:`, ` `, `(?s:.)`}
	for range rng.IntN(4) + 1 {
		switch k := rng.IntN(10); {
		case k < 3:
			b.WriteString([]string{"a", "b", " ", ": ", ",", "ab", "é", `\[`, `"`}[rng.IntN(9)])
		case k < 7 || depth == 0:
			b.WriteString(classes[rng.IntN(len(classes))] +
				[]string{"", "+", "*", "?", "+?", "*?", "{2}", "{1,2}", "??"}[rng.IntN(9)])
		case k == 7:
			b.WriteString("(" + randomPattern(rng, depth-1) + ")")
		case k == 8:
			b.WriteString("(?:" + randomPattern(rng, depth-1) + ")?")
		default:
			b.WriteString("(" + randomPattern(rng, depth-1) + "|" + randomPattern(rng, depth-1) + ")")
		}
	}
	return b.String()
}

// TestScannerRandomly compares scanners of random patterns with the general engine.
func TestScannerRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	scanners, matches := 0, 0
	for range 20_000 {
		pattern := randomPattern(rng, 2)
		if rng.IntN(2) == 0 {
			pattern = "^" + pattern
		}
		if rng.IntN(3) == 0 {
			pattern += "$"
		}
		re := regexp.MustCompile(pattern)
		s := newScanner(re)
		if s == nil {
			continue
		}
		scanners++
		for range 20 {
			text := randomText(rng)
			got, how := scan(s, text)
			want := re.FindStringSubmatchIndex(text)
			if how != scanUnknown && !slices.Equal(got, want) {
				t.Fatalf("%s on %q: got %v, want %v", pattern, text, got, want)
			}
			if how == scanFound {
				matches++
			}
		}
	}
	if scanners < 2000 || matches < 10_000 {
		t.Errorf("only %d scanners and %d matches", scanners, matches)
	}
}
