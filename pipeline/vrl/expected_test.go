package vrl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExpectedTokens puts each kind of token at each place of programs. The list of what is expected there, which the
// error of a token that fits nowhere gives, must name those that the parser takes, and no others.
func TestExpectedTokens(t *testing.T) {
	programs := []string{
		"if (.a == 1; .b) { abort \"x\" } else if !x.y[0] { return null } else { .c, _ = f!(a: 1, b, \"c\", ) -> |k, _| { k } }",
		"_, err = { \"a\": 1, \"b\": [s'x', 1.5, true, false,\n], }", "x = { \"a\" + r'b'\n t'2020-01-01T00:00:00Z'; }",
		"%m.\"q\".if[-1] |= (a | b) ?? f() -> || { . }",
	}
	names, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range names {
		var cases []struct{ Program string }
		if text, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if err = json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range cases {
			programs = append(programs, c.Program)
		}
	}
	seen := map[string]bool{}
	for _, source := range programs {
		tokens, _ := lex(source)
		for i := range tokens {
			if key := formOfTokens(tokens[:i+1]); seen[key] || i > 40 {
				continue
			} else {
				seen[key] = true
			}
			begin := tokens[i].start
			d, at := faultWith(tokens[:i], begin, badToken)
			if d == nil || d.Code != codeUnexpectedToken || at != begin {
				break // the program fails earlier
			}
			listed := listedIn(d.Labels[1].Text)
			for kind := newlineToken; kind < pathToken; kind++ {
				_, at := faultWith(tokens[:i], begin, kind)
				if takes := at > begin; takes != listed.has(kind) &&
					!(takes && listed.has(fieldToken) && otherWordsSet.has(kind)) {
					t.Errorf("%s\nat byte %d: %q is taken: %t, %s", source, begin, tokenNames[kind].want, takes,
						d.Labels[1].Text)
				}
			}
		}
	}
	if len(seen) < 2000 {
		t.Errorf("%d places only", len(seen))
	}
}

// formOfTokens is the tokens but for what they hold.
func formOfTokens(tokens []lexeme) string {
	var b strings.Builder
	for i, t := range tokens {
		b.WriteByte(byte(t.kind))
		if i > 0 && tokens[i-1].end == t.start {
			b.WriteByte('+')
		}
	}
	return b.String()
}

// faultWith parses some tokens, one more of a kind and the end. It gives the first fault and where it is; none lies at
// the end. A dot gets a field, for what lacks one is told at the dot.
func faultWith(tokens []lexeme, begin int, kind tokenKind) (d *Diagnostic, at int) {
	p := parser{tokens: append(slices.Clone(tokens), lexeme{kind: kind, start: begin, end: begin + 1, text: "x"})}
	if kind == dotToken {
		p.tokens = append(p.tokens, lexeme{kind: identToken, start: begin + 1, end: begin + 2, text: "x"})
	}
	p.tokens = append(p.tokens, lexeme{kind: endToken, start: begin + 2, end: begin + 2})
	for _, item := range p.program() {
		if item.fault != nil {
			return item.fault, item.fault.Labels[0].Start
		}
	}
	return nil, begin + 2
}

// listedIn is the set that a text lists. Where a path may begin, both of its roots are listed.
func listedIn(text string) (set tokenSet) {
	names := strings.Split(strings.Trim(strings.TrimPrefix(text, "expected one of: "), `"`), `", "`)
	for kind := range tokenKinds {
		if slices.Contains(names, tokenNames[kind].want) && tokenNames[kind].want != "" {
			set |= 1 << kind
		}
	}
	if set.has(pathToken) {
		set |= rootSet
	}
	return set
}
