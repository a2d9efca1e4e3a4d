package jsontext

import (
	"strings"
	"testing"
)

// TestOver: a value that cannot be read ends where its brackets and quotes say.
func TestOver(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, c := range []struct{ value, behind string }{
		{`{"a":tru}`, `{"b":1}`}, {`{"a":"}\\\"","b":[1,x]}`, ` 1`}, {deep, `{}`}, {`nope`, ` {}`}, {`12.x`, `,{}`}, {`"te{xt"`, `{}`}, {`5`, `{"a":1}`}, {`-`, ``},
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
