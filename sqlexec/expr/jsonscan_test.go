package expr

import (
	"fmt"
	"reflect"
	"testing"
)

var scanned = []string{
	`{"a": 1}`, `{"a":{"b":{"c":"x"}},"b":2}`, `{"b":1,"a":2,"a":{"b":3}}`, `{"a":{"b":[1,{"c":2}]}}`, `{"a":null}`,
	`{"a":{"b":null}}`, `[]`, `[{"a":1}]`, `1`, `"a"`, `null`,
	` { "a" : [ 1 , -2.5e+3 , true , false , null , "}" ] , "x\"y" : {} } `, `{"a\u0062":1,"a":{"b":"\ud83d\ude00"}}`,
	`{"é":{"b":1},"a":{"é":2}}`, `{"":{"b":0},"a":{"":5}}`,
	``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a":01}`, `{"a":1.}`, `{"a":tru}`,
	`{"a":"x` + "\n" + `"}`, `{"a":1}x`, `{"b":tru,"a":1}`, `{"b":"\x","a":1}`, `{"b":"\u12g4","a":1}`,
	`{"b":"\u12F4\n","a":1}`, `{"b":"\u12","a":1}`, `{"b":"\u12:4","a":1}`, `{"b":"\u12@4","a":1}`,
	`{"b":[1,],"a":1}`, `{"b":{"c"},"a":{"b":1}}`, `{"a":-}`, `{"a":+1}`, `{"a":1e}`, `{"a":"\`, "{\"a\":\"\xff\"}",
	`{"a":{"b":1}`, `{"a":[{"b":1}]}`,
}

var scanPaths = []string{"a", "a.b", "a.b.c", "b", "$", "$.a[0]", "a.b[1].c", "a.é", `a[""]`, "*", "a.*", "x", "[0].a",
	"a[last]", "?(@.a > 0)"}

// sameAsDecoded checks that a path leads where it leads in the decoded document.
func sameAsDecoded(t *testing.T, doc, path string) {
	t.Helper()
	p, ok := parsePath(path)
	if !ok {
		return
	}
	var want any
	x, found := decodeJSON([]byte(doc))
	if found {
		want, found = p.first(x)
	}
	if got, ok := p.find([]byte(doc)); ok != found || !reflect.DeepEqual(got, want) {
		t.Errorf("%s in %s: %v, %v, want %v, %v", path, doc, got, ok, want, found)
	}
}

// TestJSONScan: what is found without decoding is what decoding finds, in documents that are none as well.
func TestJSONScan(t *testing.T) {
	for _, doc := range scanned {
		for _, path := range scanPaths {
			sameAsDecoded(t, doc, path)
		}
	}
}

func FuzzJSONScan(f *testing.F) {
	for _, doc := range scanned {
		f.Add(doc, "a.b")
	}
	f.Fuzz(func(t *testing.T, doc, path string) {
		sameAsDecoded(t, doc, path)
		sameAsDecoded(t, doc, "a.b")
	})
}

func BenchmarkJSONFind(b *testing.B) {
	p, _ := parsePath("user.agent")
	doc := fmt.Appendf(nil, `{"service":"cart","status":200,"user":{"id":8927,"agent":"%0120d"},"latency":13.015}`, 7)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.find(doc); !ok {
			b.Fatal("not found")
		}
	}
}
