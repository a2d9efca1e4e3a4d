package stage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/sqlexec/logql/syntax"
)

// TestJSONTextEnd: the end of a text that nobody wants is that of a text that somebody wants.
func TestJSONTextEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 81))
	for range 20_000 {
		text := make([]byte, r.IntN(12))
		for i := range text {
			text[i] = `\\"ab`[r.IntN(5)]
		}
		want, _ := jsonString(text, 0)
		if got := jsonTextEnd(text, 0); got != want {
			t.Fatalf("%s ends at %d, want %d", text, got, want)
		}
	}
}

// TestJSONKeysInTurn: lines whose keys come in the order of the line before, in another one, or are nearly the same,
// give the labels that they give as the first line.
func TestJSONKeysInTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 81))
	keys := []string{`a`, `ab`, `a\"b`, `a\\`, ``, `b`, `b\u0061`, `ba`}
	compile := func() *Pipeline {
		p, err := Compile([]syntax.Stage{&syntax.JSON{}}, nil, Need{Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	labels := func(p *Pipeline, e *Entry, line string) string {
		kept := p.Run(e, 0, []byte(line), nil)
		var b strings.Builder
		fmt.Fprint(&b, kept, e.Err)
		for _, l := range e.Labels {
			fmt.Fprintf(&b, " %s=%s", l.Name, l.Value)
		}
		return b.String()
	}
	p := compile()
	e := p.NewEntry()
	for range 5000 {
		var parts []string
		for range r.IntN(5) {
			parts = append(parts, fmt.Sprintf(`"%s":%s`, keys[r.IntN(len(keys))],
				[]string{`1`, `"x"`, `"\""`, `{"a":2}`, `[3]`}[r.IntN(5)]))
		}
		line := "{" + strings.Join(parts, ",") + "}"
		if r.IntN(10) == 0 {
			line = line[:r.IntN(len(line))]
		}
		fresh := compile()
		if got, want := labels(p, e, line), labels(fresh, fresh.NewEntry(), line); got != want {
			t.Fatalf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}
