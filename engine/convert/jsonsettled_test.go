package convert

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSettled holds that what settled lets pass is what the decoder gives back, and that the plain cases pass.
func TestSettled(t *testing.T) {
	for _, doc := range []string{`1`, `-0.5e+3`, `"text"`, `""`, `true`, `false`, `null`, `[]`, `{}`, `[1,"a",{"z":2}]`,
		`{"a":1,"b":{"c":[null,-1.25]},"é":"ü"}`} {
		if !settled([]byte(doc)) {
			t.Errorf("%s is settled", doc)
		}
	}
	for _, doc := range []string{``, ` 1`, `1 `, `01`, `1.`, `1e`, `-`, `+1`, `nul`, `"a`, `"\u0041"`, "\"\n\"",
		"\"\u2028\"", "\"\xff\"", `[1,]`, `[1 ,2]`, `[1}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a" :1}`, `{a:1}`,
		`{"a":1,}`, `{"a"}`, `1 2`, `[`, `{"a":`} {
		if settled([]byte(doc)) {
			t.Errorf("%s is not settled", doc)
		}
	}
}

// FuzzSettled holds settled texts to what the decoder makes of them.
func FuzzSettled(f *testing.F) {
	for _, doc := range []string{`[1,"a",{"z":2}]`, `{"a":1,"b":{"c":[null,-1.25]}}`, `-0`, "\"\xe2\x80\xa8\""} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !settled(doc) {
			return
		}
		got, ok := decodedJSON(doc)
		if !ok || !bytes.Equal(got, doc) {
			t.Errorf("settled %q becomes %q %v", doc, got, ok)
		}
	})
}

// TestAppendString: texts are written as the library writes them, whatever is in them, and no longer than was said
// before.
func TestAppendString(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	pieces := []string{"a", " ", `"`, `\`, "\n", "\b", "\x00", "\x7f", "<&>", "é", "日", "\U0001F600", "\u2028",
		"\u2029", "\uFFFD", "\xff", "\xe2\x80", "\xed\xa0\x80"}
	for range 20_000 {
		var text string
		for range r.IntN(5) {
			text += pieces[r.IntN(len(pieces))]
		}
		want, err := MarshalJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendString([]byte("+"), []byte(text)); string(got) != "+"+string(want) {
			t.Fatalf("%q: %s, want +%s", text, got, want)
		}
		if size := StringSize([]byte(text)); size < len(want) || size > 6*len(text)+2 {
			t.Fatalf("%q: the size is at most %d, but %s has %d", text, size, want, len(want))
		}
	}
}
