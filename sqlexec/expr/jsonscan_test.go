package expr

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"varve/engine/convert"
	"varve/engine/vector"
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
	`{"a":{"b":1}`, `{"a":[{"b":1}]}`, `{"a":{"b":1},"a":2}`, `{"a":{"b":1},"a":{"c":2}}`, `{"a":{"b":1,"b":{}}}`,
	`{"a":-0,"b":-0.0}`, `{"a":123456789012345678,"b":-123456789012345678}`, `{"a":1234567890123456789}`,
	`{"a":9223372036854775808}`, `{"a":0.1234567890123456789}`, `{"a":1e5,"b":2E-3}`, `{"a":1.5,"b":-2.25}`,
	`{"a":"1","b":"x\"y"}`, `{"a":[],"b":{}}`, `{"a":[1,[2,{"c":[]}]],"b":[{}]}`, `{"a":1,"b":nul}`, `{"a":1,"b":[1}`,
	`{"a":1,"b":[1 2]}`, `{"a":1,,"b":2}`, `{"a" 1}`, `{a:1}`, `{"a":00}`, `{"a":.5}`, `{}`, `{} {}`, `{"a":1}}`,
	`{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
	`{"b":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 41),
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
	m, there, sure := p.written([]byte(doc))
	if !sure {
		return
	}
	text, err := convert.MarshalJSON(want)
	if err != nil {
		t.Fatal(err)
	}
	if there != found || found && string(m) != string(text) {
		t.Errorf("%s in %s is written %s, %v, want %s, %v", path, doc, m, there, text, found)
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

// sameAsCast checks that functions of a text that is cast to JSON give what they give of the JSON, or the cast's error.
func sameAsCast(t *testing.T, docs []string, path string) {
	t.Helper()
	texts := &vector.Vector{Type: vector.StringType}
	for _, doc := range docs {
		texts.PushBytes([]byte(doc))
	}
	in := &vector.Batch{N: len(docs), Cols: []*vector.Vector{texts}}
	c := &Context{}
	text := &Column{T: vector.StringType}
	cast, err := c.Cast(text, vector.JSONType, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"json_get", "json_get_int", "json_get_float", "json_get_bool", "json_get_string",
		"json_get_object", "->", "->>"} {
		got, err := c.Call(name, cast, Text(path))
		if err != nil {
			t.Fatal(name, err)
		}
		if _, ok := got.(*Call).Args[0].(*Column); !ok {
			t.Fatalf("%s still casts: %v", name, got)
		}
		want, err := c.Call(name, &Column{T: vector.JSONType}, Text(path))
		if err != nil {
			t.Fatal(name, err)
		}
		a, aerr := textsOf(got, in)
		json, berr := compiled(cast, in)
		var b []string
		if berr == nil {
			b, berr = textsOf(want, &vector.Batch{N: in.N, Cols: []*vector.Vector{json}})
		}
		if fmt.Sprint(aerr) != fmt.Sprint(berr) || berr == nil && !reflect.DeepEqual(a, b) {
			t.Errorf("%s(%q, %q): %q, %v; of the cast %q, %v", name, docs, path, a, aerr, b, berr)
		}
	}
}

// compiled computes an expression.
func compiled(e Expr, in *vector.Batch) (*vector.Vector, error) {
	p, err := Compile([]Expr{e})
	if err != nil {
		return nil, err
	}
	out := make([]*vector.Vector, 1)
	err = p.Eval(in, out)
	return out[0], err
}

// textsOf computes an expression and writes its values.
func textsOf(e Expr, in *vector.Batch) (list []string, err error) {
	v, err := compiled(e, in)
	if err != nil {
		return nil, err
	}
	for i := range in.N {
		if v.IsNull(i) {
			list = append(list, "NULL")
		} else {
			list = append(list, string(AppendText(nil, v, i)))
		}
	}
	return list, nil
}

// TestJSONOfTexts: functions look into texts without the cast that is written, with the same answers and errors.
func TestJSONOfTexts(t *testing.T) {
	var valid []string
	for _, doc := range scanned {
		if _, ok := convert.CompactJSON([]byte(doc)); ok {
			valid = append(valid, doc)
		}
	}
	for _, path := range append([]string{"a..", "$.", ""}, scanPaths...) {
		sameAsCast(t, valid, path)
		for _, doc := range scanned {
			sameAsCast(t, []string{doc}, path)
		}
	}
}

func FuzzJSONOfTexts(f *testing.F) {
	for _, doc := range scanned {
		f.Add(doc, "a.b")
	}
	f.Fuzz(func(t *testing.T, doc, path string) { sameAsCast(t, []string{doc}, path) })
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

// BenchmarkJSONOfTexts looks into texts whose keys are not sorted.
func BenchmarkJSONOfTexts(b *testing.B) {
	texts := &vector.Vector{Type: vector.StringType}
	for i := range vector.Size {
		texts.PushBytes(fmt.Appendf(nil,
			`{"service":"cart","status":%d,"user":{"id":8927,"agent":"%080d"},"latency":1.5}`, 200+i%300, i))
	}
	in := &vector.Batch{N: vector.Size, Cols: []*vector.Vector{texts}}
	cast, err := (&Context{}).Cast(&Column{T: vector.StringType}, vector.JSONType, false)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"json_get_int", "->>"} {
		one, err := (&Context{}).Call(name, cast, Text("status"))
		if err != nil {
			b.Fatal(err)
		}
		of, err := (&Context{}).Call(name, &Column{T: vector.JSONType}, Text("status"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/text", func(b *testing.B) {
			for b.Loop() {
				if _, err := compiled(one, in); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/cast first", func(b *testing.B) {
			for b.Loop() {
				json, err := compiled(cast, in)
				if err == nil {
					_, err = compiled(of, &vector.Batch{N: in.N, Cols: []*vector.Vector{json}})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
