package server

import "testing"

// TestTextsOfCallsAreReadable: what a call ends with is escaped as far as the protocol asks and no further.
func TestTextsOfCallsAreReadable(t *testing.T) {
	for text, want := range map[string]string{
		"Database not found: a/b, \"c\"": "Database not found: a/b, \"c\"", "100 %\n": "100 %25%0A",
		"\u00e9\x7f": "%C3%A9%7F", "": "",
	} {
		if got := rpcMessage(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
