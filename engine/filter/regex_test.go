package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The texts an expression requires are a shortcut: with them and without, the same rows match.
func TestRegexParts(t *testing.T) {
	rows := []string{
		"", "/api/v1/orders/77/", "/api/v2/orders/ab77/x", "/api/v3/orders/77/", "x/api/v1/orders/77/",
		"/orders//api/v", "77//orders/",
		"abab", "aba", "ab ab", "ba", "\xff", "a\xffb", "a\ufffdb", "AB", "aab", "aB-kéKÉ", "Ab \u212aÉ", "ab\nab",
	}
	for _, c := range []struct{ expr, parts string }{
		{`^/api/v[12]/orders/[0-9a-f]*77/`, "/api/v|/orders/|77/"},
		{`ab.ab`, "ab|ab"},
		{`(ab){2}`, "ab|ab"},
		{`(ab)+a`, "ab|a"},
		{`(ab)*a`, "a"},
		{`ab|ba`, ""},
		{`(?i)ab`, "ab"},
		{`(?i)AB.*(KÉ)+`, "ab|kÉ"},
		{`(?i:a)b`, "b"},
		{"a\ufffdb", ""},
		{`a\x{fffd}`, ""},
		{`ab`, "ab"},
		{`^$`, ""},
	} {
		t.Run(c.expr, func(t *testing.T) {
			m, err := newRegex(c.expr, nil)
			if err != nil {
				t.Fatal(err)
			}
			if longest := string(m.literal); len(longest) == 0 != (c.parts == "") ||
				!strings.Contains(c.parts, longest) {
				t.Errorf("literal %q, want the longest of %q", longest, c.parts)
			}
			for _, part := range strings.Split(c.parts, "|") {
				if len(part) > len(m.literal) {
					t.Errorf("literal %q, but %q is longer", m.literal, part)
				}
			}
			oracle := regexp.MustCompile(c.expr)
			for _, row := range rows {
				if got, want := m.matches(&textScratch{}, []byte(row)), oracle.MatchString(row); got != want {
					t.Errorf("%q: got %v, want %v", row, got, want)
				}
			}
		})
	}
}

// TestTexts: an expression that is a choice among texts matches where one of them is held; others are none.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ expr, texts string }{
		{`session|cache`, "session,cache"},
		{`storage|session|st`, "storage,session,st"},
		{`api/v[12]/`, "api/v1/,api/v2/"},
		{`colou?r`, "colour,color"},
		{`(a|b)(c|d)`, "ac,ad,bc,bd"},
		{`\.example\.(com|org)`, ".example.com,.example.org"},
		{`plain`, "plain"},
		{`(?i)session|cache`, ""},
		{`^a|b`, ""},
		{`a|`, ""},
		{`a*`, ""},
		{`[a-z]x`, ""},
		{`[éü]x`, ""},
		{"a\ufffd|b", ""},
		{`(a|b|c)(a|b|c)`, ""},
		{`(`, ""},
	} {
		texts, ok := Texts(c.expr)
		if got := string(bytes.Join(texts, []byte(","))); sorted(got) != sorted(c.texts) || ok != (c.texts != "") {
			t.Errorf("%s: %q, %v, want %q", c.expr, got, ok, c.texts)
		}
	}
}

// sorted puts texts between commas in order.
func sorted(list string) string {
	all := strings.Split(list, ",")
	slices.Sort(all)
	return strings.Join(all, ",")
}
