package convert

import (
	"bytes"
	"testing"
)

// TestSettled holds that what settled lets pass is what the decoder gives back, and that the plain cases pass.
func TestSettled(t *testing.T) {
	for _, doc := range []string{`1`, `-0.5e+3`, `"text"`, `""`, `true`, `false`, `null`, `[]`, `{}`, `[1,"a",{"z":2}]`, `{"a":1,"b":{"c":[null,-1.25]},"é":"ü"}`} {
		if !settled([]byte(doc)) {
			t.Errorf("%s is settled", doc)
		}
	}
	for _, doc := range []string{``, ` 1`, `1 `, `01`, `1.`, `1e`, `-`, `+1`, `nul`, `"a`, `"\u0041"`, "\"\n\"", "\"\u2028\"", "\"\xff\"", `[1,]`, `[1 ,2]`, `[1}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a" :1}`, `{a:1}`, `{"a":1,}`, `{"a"}`, `1 2`, `[`, `{"a":`} {
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
