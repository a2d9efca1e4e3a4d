package flatten

import "testing"

func TestParseTree(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"b":[1,2.0,-3e2,18446744073709551615],"a":{"x":null,"a":true},"b":"\u00e9\ud800"}`,
			`{"a":{"a":true,"x":null},"b":"é�"}`},
		{"7", "7"}, {`""`, `""`}, {`["\\ud800","\\\ud800","\ud83d\ude00\udc00"]`, `["\\ud800","\\�","😀�"]`},
	} {
		v, err := parseTree([]byte(c.in), func(int) error { return nil })
		if got := string(v.appendText(nil)); err != nil || got != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.in, got, err, c.want)
		}
	}
}
