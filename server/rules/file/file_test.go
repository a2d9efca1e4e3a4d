package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWrongFiles: what is wrong is told with its line, its group and its rule.
func TestWrongFiles(t *testing.T) {
	rule := func(text string) string {
		return "groups:\n- name: g\n  rules:\n  - " + strings.ReplaceAll(text, "\n", "\n    ")
	}
	for _, c := range []struct{ name, text, want string }{
		{"no YAML", "groups: [", "f:1: did not find"},
		{"another field", "groups: []\nrulez: 1", `f:2: unknown field "rulez"`},
		{"a field of a group", "groups:\n- name: g\n  intervall: 5m", `f:3: group "g": unknown field "intervall"`},
		{"a field of a rule", rule("alert: A\nexpr: up\nfore: 1m"), `f:6: group "g", rule "A": unknown field "fore"`},
		{"two documents", "groups: []\n---\ngroups: []", "f:2: a file has one document"},
		{"no list", "groups: {a: 1}", "f:1: expected a list"},
		{"no mapping", "groups: [a]", "f:1: expected keys with values"},
		{"a key twice", rule("alert: A\nexpr: up\nexpr: down"), `f:6: group "g", rule "A": "expr" stands there twice`},
		{"a group without a name", "groups:\n- rules: []", "f:2: a group has no name"},
		{"a group twice", "groups:\n- name: g\n- name: g", `f:3: the group name "g" is there twice`},
		{"neither kind", rule("expr: up"), `f:4: group "g", rule "#1": one of record or alert must be set`},
		{"both kinds", rule("record: a\nalert: b\nexpr: up"), "only one of record and alert must be set"},
		{"no expression", rule("alert: A"), "field 'expr' must be set"},
		{"a wrong expression", rule("alert: A\nexpr: up ="),
			`f:5: group "g", rule "A": could not parse the expression`},
		{"a recording rule with for", rule("record: a\nexpr: up\nfor: 1m"),
			`f:6: group "g", rule "a": invalid field "for"`},
		{"with keep_firing_for", rule("record: a\nexpr: up\nkeep_firing_for: 1m"), `invalid field "keep_firing_for"`},
		{"with annotations", rule("record: a\nexpr: up\nannotations: {a: b}"), `invalid field "annotations"`},
		{"the label of the metric", rule("record: a\nexpr: up\nlabels:\n  __name__: b"),
			`f:7: group "g", rule "a": invalid label name: "__name__"`},
		{"an empty label", rule("record: a\nexpr: up\nlabels: {'': b}"), `invalid label name: ""`},
		{"an empty annotation", rule("alert: a\nexpr: up\nannotations: {'': b}"), `invalid annotation name: ""`},
		{"a wrong template", rule("alert: A\nexpr: up\nannotations:\n  s: '{{ $x }}'"),
			`f:7: group "g", rule "A": the template of "s":`},
		{"a function that is not there", rule("alert: A\nexpr: up\nlabels:\n  s: '{{ nothing 1 }}'"),
			`function "nothing" not defined`},
		{"an empty duration", rule("alert: A\nexpr: up\nfor: ''"), `"" is not a duration`},
		{"a recording rule with for", rule("record: a\nexpr: up\nfor: 5m"),
			`f:6: group "g", rule "a": invalid field "for"`},
		{"a duration without a unit", rule("alert: A\nexpr: up\nfor: 5"),
			`f:6: group "g", rule "A": "5" is not a duration`},
		{"a negative duration", rule("alert: A\nexpr: up\nfor: -5m"), `"-5m" is not a duration`},
		{"a wrong limit", "groups:\n- name: g\n  limit: many", `"many" is not a whole number`},
		{"another language", rule("alert: A\nlanguage: esperanto\nexpr: up"),
			`f:5: group "g", rule "A": unknown language`},
		{"wrong SQL", rule("alert: A\nlanguage: sql\nexpr: SELEC 1"), "could not parse the statement"},
		{"two statements", rule("alert: A\nlanguage: sql\nexpr: SELECT 1; SELECT 2"),
			"a rule has one statement, here are 2"},
		{"no query", rule("alert: A\nlanguage: sql\nexpr: DROP TABLE x"), "the statement of a rule is a query"},
		{"an unknown field by a merge", "groups:\n- &a {name: g, nome: x}\n- {<<: *a, name: h}",
			`f:2: group "g": unknown field "nome"`},
		{"a merge of a text", "groups:\n- <<: a", "f:2: << takes a mapping or a list of mappings"},
		{"a merge of texts", "groups:\n- <<: [a]", "f:2: << takes a mapping or a list of mappings"},
		{"a merge with itself", "groups:\n- &a {name: g, <<: *a}", "mappings are merged, or one with itself"},
		{"merges that double", "groups:\n- &a {name: g}\n- &b {<<: [*a, *a, *a, *a]}\n- &c {<<: [*b, *b, *b, *b]}\n" +
			"- &d {<<: [*c, *c, *c, *c]}\n- &e {<<: [*d, *d, *d, *d]}\n- {<<: [*e, *e, *e, *e]}", "1000 mappings are merged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse("f", []byte(c.text))
			var list Errors
			if f != nil || !errors.As(err, &list) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %s", err, c.want)
			}
		})
	}
}

// TestAllErrorsAreTold: one reading tells all that is wrong, in the order of lines.
func TestAllErrorsAreTold(t *testing.T) {
	_, err := Parse("f", []byte("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: '('\n  - record: b\n- name: g"))
	var list Errors
	if !errors.As(err, &list) || len(list) != 3 || list[0].Line != 5 || list[1].Line != 6 || list[2].Line != 7 {
		t.Errorf("got %v", err)
	}
}

// TestGoodFile: what a file says is what is read.
func TestGoodFile(t *testing.T) {
	f, err := Parse("f", []byte(`
groups:
- name: g
  interval: 1m30s
  query_offset: 10s
  limit: 7
  labels: {team: a, level: low}
  rules:
  - {record: "a:b", expr: 1, labels: {level: high}, for: 0s}
  - alert: A
    language: sql
    expr: SELECT 1 AS value
    for: 1h
    keep_firing_for: 2d
    labels: {code: 5}
    annotations: {s: "{{ $value }}"}
- name: empty
`))
	if err != nil {
		t.Fatal(err)
	}
	g := &f.Groups[0]
	if g.Interval != 90*time.Second || g.QueryOffset != 10*time.Second || g.Limit != 7 || f.Rules() != 2 {
		t.Errorf("the group is %+v", g)
	}
	a, b := g.Rules[0], g.Rules[1]
	if a.Expr != "1" || a.Language != PromQL || a.Labels["level"] != "high" || a.Labels["team"] != "a" {
		t.Errorf("the first rule is %+v", a)
	}
	if b.Language != SQL || b.For != time.Hour || b.KeepFiringFor != 48*time.Hour || b.Labels["code"] != "5" ||
		b.Labels["level"] != "low" || b.Annotations["s"] != "{{ $value }}" || b.Line != 10 {
		t.Errorf("the second rule is %+v", b)
	}
}

// TestBounds: a file that is too large, in bytes or in what it stands for, is refused.
func TestBounds(t *testing.T) {
	many := "groups:\n- name: g\n  labels:\n"
	for i := range maxLabels + 1 {
		many += "    l" + strings.Repeat("x", i+1) + ": y\n"
	}
	for _, text := range []string{strings.Repeat("#", MaxBytes+1), many,
		"groups:\n- name: g\n  rules:\n  - {record: a, expr: '" + strings.Repeat("1+", maxText) + "1'}"} {
		if _, err := Parse("f", []byte(text)); err == nil {
			t.Errorf("%.60q... is read", text)
		}
	}
}

// TestBind: the range stands where a statement says so, and nowhere else.
func TestBind(t *testing.T) {
	const at = "'1970-01-01T00:00:01.000Z'::TIMESTAMP(3)"
	for _, c := range []struct{ text, want string }{
		{"a >= :from", "a >= " + at},
		{"a<:from", "a<" + at},
		{"':from' \":from\" `:from` -- :from\n/* :from */ a::from :fromage",
			"':from' \":from\" `:from` -- :from\n/* :from */ a::from :fromage"},
		{"'it''s :from' :from", "'it''s :from' " + at},
		{`E'it\'s :from' :from e'\\' :from`, `E'it\'s :from' ` + at + ` e'\\' ` + at},
		{"$$ :from $$ :from $a$ $$ :from $a$", "$$ :from $$ " + at + " $a$ $$ :from $a$"},
		{"$1 :from $", "$1 " + at + " $"}, {"name':from'", "name':from'"}, {"$$ :from", "$$ :from"},
		{"E'\\", "E'\\"},
		{"':from", "':from"}, {"/* :from", "/* :from"}, {"-- :from", "-- :from"}, {":", ":"}, {"x[1:2]", "x[1:2]"},
	} {
		if got := Bind(c.text, 1000, 2000); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	if got := Bind("ts < :to", 0, 2500); got != "ts < '1970-01-01T00:00:02.500Z'::TIMESTAMP(3)" {
		t.Errorf("the end is %s", got)
	}
}

func TestMatch(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yml", "a.yml", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Match([]string{filepath.Join(dir, "*.yml"), filepath.Join(dir, "a*"), filepath.Join(dir, "none")})
	if err != nil || !slices.Equal(got, []string{filepath.Join(dir, "a.yml"), filepath.Join(dir, "b.yml")}) {
		t.Errorf("got %q, %v", got, err)
	}
	for pattern, want := range map[string]int{dir + "/none/*.yml": 0, dir + "/c.txt/*": 0, dir + "/a.yml/b": 0,
		dir[:len(dir)-1] + "?/[ab].yml": 2, filepath.Dir(dir) + "/*/a.yml": 1, dir + "/a.yml": 1, dir + `/\a.yml`: 1} {
		if got, err := Match([]string{pattern}); err != nil || len(got) != want {
			t.Errorf("%s: %q, %v; want %d", pattern, got, err, want)
		}
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"/loop/*.yml", "/*p/*.yml", "/loop/a.yml", "/" + strings.Repeat("n", 300) + "/*"} {
		got, err := Match([]string{dir + "/*.yml", dir + pattern})
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s cannot be read: %q, %v", pattern, got, err)
		}
	}
	if _, err := Match([]string{"["}); err == nil {
		t.Error("a wrong pattern is taken")
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestMerge: << brings the keys that a mapping has not itself, those of earlier mappings of a list before later ones.
func TestMerge(t *testing.T) {
	f, err := Parse("f", []byte(`groups:
- name: g
  rules:
  - &a
    alert: A
    expr: up == 0
    for: 1m
    labels: &l {severity: page, team: x}
  - {<<: *a, alert: B, labels: {<<: *l, team: y}}
  - alert: C
    <<: [{expr: up == 1}, *a, {keep_firing_for: 2m}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.Groups[0].Rules {
		got = append(got, fmt.Sprint(r.Alert, "|", r.Expr, "|", r.For, "|", r.KeepFiringFor, "|", r.Labels))
	}
	want := []string{"A|up == 0|1m0s|0s|map[severity:page team:x]", "B|up == 0|1m0s|0s|map[severity:page team:y]",
		"C|up == 1|1m0s|2m0s|map[severity:page team:x]"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzParse: any text gives a file or errors.
func FuzzParse(f *testing.F) {
	f.Add([]byte("groups:\n- name: g\n  rules:\n  - {alert: A, expr: up, for: 1m, labels: {a: '{{ $value }}'}}"))
	f.Add([]byte("groups: &a [*a]"))
	f.Add([]byte("a: &a {b: *a}\ngroups: *a"))
	f.Add([]byte("groups:\n- &a {name: g, <<: *a}\n- {<<: [*a, {rules: []}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse("f", text)
		if (got == nil) == (err == nil) {
			t.Errorf("got %v and %v", got, err)
		}
	})
}
