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
	`(\d+)`, `^(\S+) (\S+)`, `^(\S+) \[([^\]]+)\] "([^"]*)" (\d+)$`, `a(.*)b`, `a(.*?)b`, `a(.+?)bc`, `(\w+)=(\w+)`, `(?i)ab(c+)`, `^(.*)$`,
	`x?(y+)`, `(\d{1,3})\.(\d{1,3})`, `(a{2})b`, `(.*): (.*)`, `^\s*(\w+)\s*$`, `(\S+):(\d+)`, `([a-c]+?)d`, `(é+)`, `"(.*)" (.*)`, `(a*)`, `(.*?)$`, `\[(.*)\]`,
	`(?s)a(.*)c`, `^`, `$`, `(a*)b`, `a{2,}(b)`, `([^,]*),([^,]*)`, `(.+)\b`,
}

// TestScanner compares scanners with the general engine on random texts.
func TestScanner(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, pattern := range scanPatterns {
		re := regexp.MustCompile(pattern)
		s := newScanner(re)
		if s == nil {
			if pattern != `(.+)\b` {
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
	for _, pattern := range []string{`a|bc`, `(a|bc)d`, `(ab)+`, `\w+\d`, `(?m)^a`, `\bx`, `a(b?c)?`, `(.{1,5})a`} {
		if newScanner(regexp.MustCompile(pattern)) != nil {
			t.Errorf("%s has a scanner", pattern)
		}
	}
}

// TestScannerLinear gives texts that make naive matching quadratic.
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
