package regex

import (
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct{ name, source, text, want string }{
		{"leftmost first", `a|ab`, "ab", "a"},
		{"intersection", `[a-z&&[^x]]+`, "xabcx", "abc"},
		{"difference", `[\w--\d]+`, "12ab3", "ab"},
		{"symmetric difference", `[a-c~~b-d]+`, "bcdab", "da"},
		{"nested class", `[[a-c][x-z]]+`, "mazn", "az"},
		{"nested negation", `[^[a-c]d]+`, "abefd", "ef"},
		{"operators take unions", `[a-cx&&b-z]+`, "abcxy", "bcx"},
		{"ascii class", `[[:digit:]]+`, "ab12", "12"},
		{"ascii class in an intersection", `[[:alpha:]&&[^a]]+`, "aabc", "bc"},
		{"bracket first", `[]a]+`, "x]a", "]a"},
		{"hyphen last", `[a-]+`, "x-a-", "-a-"},
		{"hyphen first", `[-a]+`, "x-a-", "-a-"},
		{"empty intersection", `x[a&&b]|y`, "xay", "y"},
		{"negated perl class inside", `[\D]+`, "12ab", "ab"},
		{"verbose", "(?x) a b  # letters\n [ 0-9 ] \\ c", "ab1 c", "ab1 c"},
		{"verbose in a group", `(?x: a b )c d`, "abc d", "abc d"},
		{"verbose off", `(?x)a (?-x: b)`, "ab", ""},
		{"verbose off matches", `(?x)a (?-x: b)`, "ab a b", "a b"},
		{"flags together", `(?isx) A . b`, "a\nB", "a\nB"},
		{"ungreedy", `(?U)a+`, "aaa", "a"},
		{"unicode flag alone", `(?u)é`, "é", "é"},
		{"ascii classes on request", `(?-u:\w)+`, "éa", "a"},
		{"words are Unicode", `\w+`, "-straße-", "straße"},
		{"words in a class", `[\w-]+`, ".a-é.", "a-é"},
		{"not a word", `\W+`, "é—a", "—"},
		{"digits are Unicode", `\d+`, "a٣٤b", "٣٤"},
		{"space is Unicode", `a\sb`, "a\u00a0b", "a\u00a0b"},
		{"vertical tab is space", `a\sb`, "a\vb", "a\vb"},
		{"hex escapes", `\x41\u{42}\u0043\U00000044\x{45}`, "ABCDE", "ABCDE"},
		{"escaped punctuation", `\-\/\"\%\&\~\#\!`, `-/"%&~#!`, `-/"%&~#!`},
		{"escaped backslash and brackets", `[\\\[\]]+\\\{`, `a\[]\{`, `\[]\{`},
		{"property", `\p{Lu}\p{Greek}+`, "Aαβ", "Aαβ"},
		{"property with a key", `\p{Script=Greek}+`, "aαβ", "αβ"},
		{"property by long name", `\p{Uppercase_Letter}+`, "aAB", "AB"},
		{"repeated repetition", `(?:a{2})*+?b`, "aaaab", "aaaab"},
		{"repetition twice", `a**b`, "aab", "aab"},
		{"counted without a start", `a{,2}`, "aaa", "aa"},
		{"end is the end", `a$`, "a\n", ""},
		{"end of line", `(?m)a$`, "a\n", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile(c.source)
			if err != nil {
				t.Fatal(err)
			}
			re := p.On(nil, c.text)
			if got := re.FindString(c.text); got != c.want {
				t.Errorf("%s in %q: got %q, want %q (as %s)", c.source, c.text, got, c.want, re)
			}
		})
	}
}

func TestNames(t *testing.T) {
	p, err := Compile(`(?P<a>x)(y)(?<b.c[0]>z)(?:w)`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Names, ","); got != ",a,,b.c[0]" {
		t.Errorf("names %q", got)
	}
	if got := p.NumSubexp() + 1; got != len(p.Names) {
		t.Errorf("%d groups, %d names", got, len(p.Names))
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`(a`, "unclosed group"}, {`a)`, "unopened group"}, {`[a`, "unclosed character class"},
		{`*a`, "repetition operator missing expression"},
		{`a|*`, "repetition operator missing expression"}, {`(?=a)`, "look-around"}, {`(?<!a)`, "look-around"},
		{`(a)\1`, "backreferences"},
		{`\q`, "unrecognized escape"}, {`\`, "incomplete escape"}, {`(?P<1>a)`, "invalid capture group name"},
		{`(?P<a>x)(?P<a>y)`, "duplicate capture group name"},
		{`(?z)`, "unrecognized flag"}, {`a{x}`, "valid decimal"}, {`a{2`, "unclosed counted"},
		{`[z-a]`, "invalid character class range"},
		{`\p{Nope}`, "invalid"}, {`\x{110000}`, "invalid hexadecimal"}, {`[[z-a]]`, "invalid character class range"},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300), "nest deeper"},
		{strings.Repeat("a", MaxSource+1), "at most"},
	} {
		if _, err := Compile(c.source); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: got %v, want %q", c.source, err, c.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`[a-z&&[^x]]`, `(?x) a # b`, `(?P<n>\w+)`, `\p{Greek}`, `[\W--[:alpha:]]`, `a{1,2}?`,
		`(?-u:\d)`, `[]--a]`, `[^-~~x]`} {
		f.Add(s, "aé1 ")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := Compile(source)
		if err != nil {
			return
		}
		if n := p.NumSubexp() + 1; n != len(p.Names) || p.Unicode != nil && p.Unicode.NumSubexp()+1 != n {
			t.Fatalf("%q: %d groups, %d names", source, n, len(p.Names))
		}
		p.FindString(text)
	})
}

func TestCertain(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`(a)(b)?(c)`, "1 3"}, {`(a)|(b)`, ""}, {`(?:x(a))+(b){2}(c){0,2}`, "1 2"}, {`((a)|(b))`, "1"},
		{`(a)*((b)(c)?)`, "2 3"}, {`^(?P<d>\S+) \[(?P<t>[^\]]+)\]$`, "1 2"}, {`(?:(a)|)`, ""},
		{`(a){0}`, ""}, {`(?i)(a)(?:b(c))??`, "1"},
	} {
		re, err := Compile(c.source)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, sure := range Certain(re) {
			if sure && i > 0 {
				got += " " + string(rune('0'+i))
			}
		}
		if strings.TrimPrefix(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", c.source, got, c.want)
		}
	}
}
