package processor

import (
	"strings"
	"testing"

	"varve/engine/timefmt"
)

// FuzzDissect checks that any pattern and text give an answer, and that what is captured is in the text.
func FuzzDissect(f *testing.F) {
	for _, p := range []string{"%{a} %{b}", "[%{a}]%{->}[%{b}]", "%{+n/2} %{+n/1}", "%{*k}=%{&k}", "%{a", "%{a-}",
		"%{+a/}", "%{a}%{b}", "%{?x},%{}", "é%{ü->}é"} {
		f.Add(p, "a b [c]   [d] k=v éé")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := compileDissect(pattern)
		if err != nil {
			return
		}
		spans := make([]span, p.spans)
		if !p.match(text, spans) {
			return
		}
		at := 0
		for _, st := range p.steps {
			if st.span < 0 {
				continue
			}
			s := spans[st.span]
			if s.from < at || s.to < s.from || s.to > len(text) {
				t.Fatalf("%q on %q: span %v behind %d", pattern, text, s, at)
			}
			at = s.to
			if st.split == "" && s.to != len(text) {
				t.Fatalf("%q on %q: the last name does not take the rest", pattern, text)
			}
			if st.split != "" && strings.Contains(text[s.from:s.to], st.split) {
				t.Fatalf("%q on %q: %q holds the split", pattern, text, text[s.from:s.to])
			}
		}
	})
}

// FuzzDate checks that any format and text give an answer.
func FuzzDate(f *testing.F) {
	for _, layout := range append(defaultFormats, "%d/%b/%Y:%H:%M:%S %z", "%s", "%A %j %U", "%", "%%%", "%-d%e") {
		f.Add(layout, "2024-05-17T12:34:56.5+02:00")
	}
	f.Fuzz(func(t *testing.T, layout, text string) {
		l, err := timefmt.Compile(layout)
		if err != nil {
			return
		}
		d := &date{layouts: []*timefmt.Layout{l}}
		if ns, ok := d.parse(text); ok && text == "" && layout != "" && ns != 0 && !strings.Contains(layout, "%") {
			t.Fatalf("%q reads nothing as %d", layout, ns)
		}
	})
}

// FuzzPath checks that any JSON path gives an answer.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"$.a.b", "$..a[0]", "$['a','b']", "$[1:-1:2]", "$[?(@.a > 1 && !(@.b == 'x'))]",
		"$[*]..*", "$[?@.a]"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		p.find(sampleJSON(t))
	})
}
