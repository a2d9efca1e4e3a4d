package flatten

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
)

// events writes down what a walk shows.
type events struct {
	s    strings.Builder
	fail string // the key at which to fail
}

var errEnough = errors.New("enough")

func (e *events) put(format string, args ...any) error {
	fmt.Fprintf(&e.s, format+" ", args...)
	return nil
}

func (e *events) Null() error           { return e.put("null") }
func (e *events) Bool(v bool) error     { return e.put("%t", v) }
func (e *events) Int(v int64) error     { return e.put("%d", v) }
func (e *events) Float(v float64) error { return e.put("%g!", v) }
func (e *events) String(v string) error { return e.put("%q", v) }
func (e *events) BeginObject() error    { return e.put("{") }
func (e *events) EndObject() error      { return e.put("}") }
func (e *events) BeginArray() error     { return e.put("[") }
func (e *events) EndArray() error       { return e.put("]") }
func (e *events) Key(v string) error {
	if v == e.fail {
		return errEnough
	}
	return e.put("%s:", v)
}

func TestWalk(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` {"b":[1,2.0,-3e2,18446744073709551615],"a":{"x":null,"a":true},"b":"\u00e9\ud800"} `, `{ b: [ 1 2! -300! 1.8446744073709552e+19! ] a: { x: null a: true } b: "é�" } `},
		{"7", "7 "}, {`""`, `"" `}, {`["\\ud800","\\\ud800","\ud83d\ude00\udc00"]`, `[ "\\ud800" "\\�" "😀�" ] `},
	} {
		var e events
		if err := Walk([]byte(c.in), &e); err != nil || e.s.String() != c.want {
			t.Errorf("Walk(%s)\n got %s, %v\nwant %s", c.in, e.s.String(), err, c.want)
		}
	}
	for in, want := range map[string]string{
		"": "unexpected character at byte 0", "{} x": "unexpected character at byte 3", "\"\xff\"": "invalid UTF-8", `[1e999]`: "number out of range at byte 6",
		strings.Repeat("[", 1e6): "nesting is deeper than 128 at byte 128",
	} {
		var e events
		if err := Walk([]byte(in), &e); err == nil || err.Error() != want || status.Of(err) != status.InvalidArguments || e.s.Len() > 0 {
			t.Errorf("Walk(%.20q): %v after %q, want %s", in, err, e.s.String(), want)
		}
	}
	if err := Walk([]byte(`{"a":1,"b":2}`), &events{fail: "b"}); !errors.Is(err, errEnough) {
		t.Errorf("a visitor's error comes back as %v", err)
	}
}
