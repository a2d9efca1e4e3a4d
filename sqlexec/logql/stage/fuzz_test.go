package stage

import (
	"bytes"
	"strings"
	"testing"

	"varve/sqlexec/logql/syntax"
)

// FuzzStage holds, for any pipeline over any line: no panic; the same result for the same line again; labels within the
// bound, with names no two of which are equal; and what passes holds the texts of the hints.
func FuzzStage(f *testing.F) {
	for _, s := range []struct{ pipeline, line string }{
		{`| json`, `{"a":{"b":"\u0041"},"c":[1],"app":null}`}, {`| json x="a[0].b"`, `{"a":[{"b":1}]}`},
		{`| logfmt --strict | a > 5`, `a=6 b="x\"y" c`}, {"| pattern `<a> <_> <b>`", "1 2 3"},
		{"| regexp `(?P<a>\\d+)` | unpack | a<1MB", `{"_entry":"5"}`},
		{"| line_format `{{.a}}{{__line__}}` | label_format a=b, c=`{{.a | upper}}`", "x"},
		{`|= "x" or ip("1.2.3.0/24") | decolorize | drop a | keep b="c"`, "\x1b[1mx 1.2.3.4"},
		{`|~ "a.c" !> "<_>b" | json | d="e" and f>1s`, `{"d":"e","f":"2s"}abc`},
		{"| line_format `{{range fromJson __line__}}{{.}}{{end}}`", `[1,[2]]`},
		{`| logfmt | a="x y" | b=~"zz q+"`, "a=\"x\xffy\" b=\"zz\uFFFDqq\""},
		{`| json | a=~"x y.*"`, "{\"a\":\"x\xffyz\"}"},
	} {
		f.Add(s.pipeline, []byte(s.line))
	}
	f.Fuzz(func(t *testing.T, pipeline string, line []byte) {
		q, err := syntax.ParseLog(`{x="y"} ` + pipeline)
		if err != nil || len(line) > 4096 || len(pipeline) > 256 || strings.Contains(pipeline, "now") {
			return
		}
		p, err := Compile(q.Stages, nil, everything)
		if err != nil {
			if _, ok := err.(*syntax.Error); !ok {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop"))
		meta := labelsOf("trace", "7", "app", "no")
		var first string
		passed := p.Run(e, 1, line, meta)
		if passed {
			checkEntry(t, e)
			first = describe(e, "")
			checkHints(t, p, q, e, line)
		}
		if again := p.Run(e, 1, line, meta); again != passed || again && describe(e, "") != first {
			t.Fatalf("%s on %q: first %v %s, then %v %s", pipeline, line, passed, first, again, describe(e, ""))
		}
	})
}

// checkEntry holds what is so of each entry.
func checkEntry(t *testing.T, e *Entry) {
	t.Helper()
	if len(e.Labels) > maxLabels {
		t.Fatalf("%d labels", len(e.Labels))
	}
	seen := map[string]bool{}
	for _, l := range e.Labels {
		if seen[l.Name] || l.Kind > Parsed || !syntax.IsName(l.Name) {
			t.Fatalf("label %q of kind %d, seen before: %v", l.Name, l.Kind, seen[l.Name])
		}
		seen[l.Name] = true
	}
}

// checkHints holds that a line which passed has the texts of the hints.
func checkHints(t *testing.T, p *Pipeline, q *syntax.LogQuery, e *Entry, line []byte) {
	t.Helper()
	for _, h := range p.Hints() {
		if strings.HasPrefix(h.Label, "app") || strings.HasPrefix(h.Label, "trace") || h.Escaped &&
			bytes.IndexByte(line, '\\') >= 0 {
			continue
		}
		found := false
		for _, text := range h.Texts {
			found = found || bytes.Contains(line, []byte(text))
		}
		if !found {
			t.Fatalf("%s passes %q, which has none of %q of label %q", q, line, h.Texts, h.Label)
		}
	}
}
