package dashboard

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast measures the pairs of colours that meet in both themes: 4.5:1 for what is read, 3:1 for lines and marks.
func TestContrast(t *testing.T) {
	sheet, err := os.ReadFile("web/theme.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(sheet), `:root[data-theme="dark"]`)
	if !found {
		t.Fatal("the sheet has no dark theme")
	}
	for name, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([\w-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		checked := 0
		meet := func(a, b string, least float64) {
			t.Helper()
			checked++
			if got := contrast(t, colours[a], colours[b]); got < least {
				t.Errorf("%s: %s on %s has %.2f:1, at least %v:1", name, a, b, got, least)
			}
		}
		for c := range colours {
			for _, ground := range []string{"bg", "panel", "hover", "selected"} {
				switch {
				case regexp.MustCompile(
					`^(text|text-soft|text-faint|accent|good|bad|warn|level-.*|code-.*)$`).MatchString(c):
					meet(c, ground, 4.5)
				case regexp.MustCompile(`^(bar-.*|series-.*|line-strong|focus)$`).MatchString(c) &&
					(ground == "bg" || ground == "panel"):
					meet(c, ground, 3)
				}
			}
		}
		for _, pair := range [][2]string{{"accent-text", "accent"}, {"mark-text", "mark"}, {"text", "bad-soft"},
			{"bad", "bad-soft"}, {"text", "warn-soft"}, {"warn", "warn-soft"}, {"text", "accent-soft"},
			{"accent", "accent-soft"}, {"text", "raised"}, {"text-soft", "raised"}} {
			meet(pair[0], pair[1], 4.5)
		}
		if checked < 120 {
			t.Errorf("%s: only %d pairs", name, checked)
		}
	}
}

// contrast is that of two colours as WCAG 2.2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			if len(colour) != 6 {
				t.Fatalf("colour %q", colour)
			}
			v, err := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(v) / 255
			if c <= 0.04045 {
				sum += weight * c / 12.92
			} else {
				sum += weight * math.Pow((c+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
