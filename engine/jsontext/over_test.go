package jsontext

import (
	"strings"
	"testing"
)

// TestOver: a value that cannot be read ends where its brackets and quotes say.
func TestOver(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, c := range []struct{ value, behind string }{
		{`{"a":tru}`, `{"b":1}`}, {`{"a":"}\\\"","b":[1,x]}`, ` 1`}, {deep, `{}`}, {`nope`, ` {}`}, {`12.x`, `,{}`},
		{`"te{xt"`, `{}`}, {`5`, `{"a":1}`}, {`-`, ``},
	} {
		if got := Over([]byte(c.value+c.behind), 0); got != len(c.value) {
			t.Errorf("Over(%.40s) = %d, want %d", c.value+c.behind, got, len(c.value))
		}
	}
	for _, open := range []string{`{"a":1`, `"text`, `[[]`, ``, `{"a":"b}`} {
		if got := Over([]byte(open), 0); got != -1 {
			t.Errorf("Over(%s) = %d", open, got)
		}
	}
}

// TestNext: behind a value that is broken, a line that begins as the broken one did is the next value; lines within a
// value are not.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		text       string
		from, want int
	}{
		{`{"a":tru}{"b":1}`, 0, 9}, {"{\"a\":[1\n{\"b\":1}", 0, 8}, {"{\"a\":\"x}\n{\"b\":1}", 0, 9},
		{"{\"a\":\n {\"b\":1}}", 0, 15}, {"{\n\"a\":[\n{\"b\":1}", 0, -1},
		{"[{\"a\":\n{\"b\":1}", 1, -1}, {"{\"a\":{}\n", 0, -1}, {"x\n{\"a\":1]\n{\"b\":1}", 2, 9},
	} {
		if got := Next([]byte(c.text), c.from); got != c.want {
			t.Errorf("%q from %d: %d, want %d", c.text, c.from, got, c.want)
		}
	}
}
