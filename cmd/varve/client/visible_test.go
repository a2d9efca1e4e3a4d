package client

import (
	"errors"
	"testing"
)

func TestEscapedJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"größe \u001b"}`: `{"a":"größe \u001b"}`,
		"[1,\n2]":              "[1,\n2]",
		"\"\u009b31m \u202e\u200f\u061c\u2028 \x7f\"": `"\u009b31m \u202e\u200f\u061c\u2028 \u007f"`,
		"\"\x9b\"": "\"\ufffd\"",
	} {
		if got := string(EscapedJSON([]byte(text))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := Line(errors.New(" a\n\x1b]0;x\u009b ")); got != `a; \x1b]0;x\u009b` {
		t.Errorf("got %q", got)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"plain größe 🙂 \\ \"":   "plain größe 🙂 \\ \"",
		"a\nb\tc\rd":            `a\nb\tc\rd`,
		"\x1b]0;x\x07\x00\x7f":  `\x1b]0;x\x07\x00\x7f`,
		"\u009b31m\u0085":       `\u009b31m\u0085`,
		"\u202eabc\u2066\u2028": `\u202eabc\u2066\u2028`,
		"\xff\xc3\ufffd":        `\xff\xc3` + "\ufffd",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
