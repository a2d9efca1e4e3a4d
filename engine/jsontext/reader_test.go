package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWalk(t *testing.T) {
	r := Of([]byte(` {"a":"x","b\u00e9":"q\"\n\ud83d\ude00\ud800z","c":[1, -2.5e3 ,true,null],"d":{"e":{}},"f":0} `))
	var out strings.Builder
	for r.Enter(Object); r.Member(); {
		out.WriteString(string(r.Key) + "=")
		switch r.Peek() {
		case String:
			out.WriteString(string(r.String()))
		case Array:
			for r.Enter(Array); r.Element(); {
				text, ok := r.Plain()
				out.WriteString(string(text))
				if !ok {
					out.WriteString("nothing")
				}
				out.WriteString(",")
			}
		default:
			out.Write(r.Raw())
		}
		out.WriteString(";")
	}
	if !r.End() || r.Err() != nil {
		t.Fatal(r.Err())
	}
	if want := "a=x;b\u00e9=q\"\n\U0001F600\uFFFDz;c=1,-2.5e3,true,nothing,;d={\"e\":{}};f=0;"; out.String() != want {
		t.Errorf("got %s\nwant %s", &out, want)
	}
}

func TestRefuse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "at byte 1: the text ends early"},
		{"{", "at byte 2: the text ends early"},
		{`{"a":1,}`, "at byte 8: unexpected character '}'"},
		{`{"a" 1}`, "at byte 6"},
		{`{"a":1 "b":2}`, "at byte 8"},
		{`[1,]`, "at byte 4"},
		{`[1 2]`, "at byte 4"},
		{`01`, "at byte 2"},
		{`1.`, "ends early"},
		{`1e`, "ends early"},
		{`1e999`, "number out of range"},
		{strings.Repeat("9", 400), "number out of range"},
		{`-`, "ends early"},
		{`tru`, "at byte 1"},
		{`"\x"`, "at byte 3"},
		{`"\u12"`, "at byte 6"},
		{"\"a\nb\"", "at byte 3"},
		{`"a`, "ends early"},
		{`"a\`, "ends early"},
		{"1 2", "at byte 3"},
		{strings.Repeat("[", 129), "nesting is deeper than 128"},
		{strings.Repeat(`{"a":`, 1e6), "nesting is deeper than 128"},
	} {
		r := Of([]byte(c.in))
		if r.Skip(); r.End() || r.Err() == nil || !strings.Contains(r.Err().Error(), c.want) {
			t.Errorf("%.40s: %v, want %s", c.in, r.Err(), c.want)
		}
	}
	r := Of([]byte(`{"a":1}`))
	if r.Enter(Array) || r.Err().Error() != "at byte 1: found an object, expected an array" || r.Element() ||
		r.Member() || r.Skip() || r.Peek() != None {
		t.Error(r.Err())
	}
}

// FuzzSkip: what is taken for JSON is what the standard library takes for it, and strings read alike.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u0041\n\ud83d\ude00"],"b":{"c":null,"d":true}}`, `[[],{}]`,
		`"\ud800x"`, `-0.0E+1`, ` 1 `, `{"a":1,}`, `01`, `"`, `[1e999]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !utf8.Valid(in) {
			return
		}
		r := Of(in)
		r.Skip()
		ok := r.End()
		if valid := json.Valid(in); ok != valid &&
			(ok || !strings.Contains(r.Err().Error(), "nesting") &&
				!strings.Contains(r.Err().Error(), "out of range")) {
			t.Fatalf("%q: valid %v, read %v: %v", in, valid, ok, r.Err())
		}
		if r.Reset(in); ok && r.Peek() == String {
			var want string
			if err := json.Unmarshal(in, &want); err != nil {
				t.Fatal(err)
			}
			if got := r.String(); string(got) != want {
				t.Fatalf("%q reads %q, want %q", in, got, want)
			}
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	line := []byte(
		`{"stream":{"app":"web","env":"prod","host":"h1"},"values":[["1700000000000000000","GET /index.html 200 \"agent\" 0.123 something that is as long as lines are"]]},`)
	body := append(bytes.Repeat(line, 1000), '1')
	body = append([]byte("["), append(body, ']')...)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := Of(body)
		if !r.Skip() {
			b.Fatal(r.Err())
		}
	}
}
