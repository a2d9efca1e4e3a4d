package flatten

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestShownEntries shows what a body holds as text, over windows of every size.
func TestShownEntries(t *testing.T) {
	for _, c := range []struct {
		name, body string
		framing    Framing
		ignore     bool
		want       []string
		err        string
	}{
		{"stream", ` {"a":1} [{"b":[2]},3,"x",[4],null] {"c":"}"}`, JSONStream, false,
			[]string{`{"a":1}`, `{"b":[2]}`, `3`, `"x"`, `[4]`, `null`, `{"c":"}"}`}, ""},
		{"stream with a scalar", `{"a":1} 7 {"b":1}`, JSONStream, false, []string{`{"a":1}`}, "json format error"},
		{"stream with a scalar, ignored", `{"a":1} 7 {"b":1}`, JSONStream, true, []string{`{"a":1}`, `{"b":1}`}, ""},
		{"stream that breaks", `{"a":1} {"b"`, JSONStream, false, []string{`{"a":1}`},
			"Failed to parse payload as json"},
		{"lines of JSON", "{\"a\":1}\r\n\n 2 \n[3]", NDJSON, false, []string{`{"a":1}`, `2`, `[3]`}, ""},
		{"a bad line", "{\"a\":1}\nx\n{}", NDJSON, false, []string{`{"a":1}`}, "invalid JSON at index: 1"},
		{"a bad line, ignored", "{\"a\":1}\nx\n{}", NDJSON, true, []string{`{"a":1}`, `{}`}, ""},
		{"text", "one\r\n\n two \n\xff\nlast", Lines, false, []string{"one", " two ", "last"}, ""},
		{"nothing", "", Lines, false, nil, ""},
	} {
		for window := 16; window < 80; window += 7 {
			d := NewDecoder()
			d.window = window
			var got []string
			n, err := d.Entries(strings.NewReader(c.body), c.framing, Options{IgnoreErrors: c.ignore},
				func(text []byte) error {
					got = append(got, string(text))
					return nil
				})
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
			if err == nil && n != len(got) {
				t.Errorf("%s: %d entries are said to be %d", c.name, len(got), n)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, window %d: got %q, want %q", c.name, window, got, c.want)
			}
		}
	}
}

// TestShownEntriesError stops at the first error, but lets the body's own errors go first.
func TestShownEntriesError(t *testing.T) {
	stop := errors.New("stop")
	for body, want := range map[string]string{"1\n2\n3": "stop", "1\n2\nx": "invalid JSON at index: 2"} {
		shown := 0
		_, err := NewDecoder().Entries(strings.NewReader(body), NDJSON, Options{}, func([]byte) error {
			shown++
			return stop
		})
		if err == nil || !strings.Contains(err.Error(), want) || shown != 1 {
			t.Errorf("%q: %v after %d entries", body, err, shown)
		}
	}
}
