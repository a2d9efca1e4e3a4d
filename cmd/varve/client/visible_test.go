package client

import "testing"

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
