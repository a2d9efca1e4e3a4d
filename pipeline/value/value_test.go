package value

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unsafe"
)

func read(t *testing.T, a *Arena, text string) Value {
	t.Helper()
	v, fault := ReadJSON(a, text, JSONOptions{})
	if fault.Failed() {
		t.Fatalf("ReadJSON(%s): %s", text, fault.In(text))
	}
	return v
}

func TestValueIsThreeWords(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 24 {
		t.Errorf("a value takes %d bytes", n)
	}
}

func TestReadAndAppendJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"scalars", ` [null, true, false, 1, -2, "x"] `, `[null,true,false,1,-2,"x"]`},
		{"keys sorted, last one counts", `{"b":1,"a":2,"b":3,"aa":4,"":5}`, `{"":5,"a":2,"aa":4,"b":3}`},
		{"keys alike in eight bytes", `{"abcdefghz":1,"abcdefgh":2,"abcdefgha":3}`,
			`{"abcdefgh":2,"abcdefgha":3,"abcdefghz":1}`},
		{"integers at the bounds", `[9223372036854775807,-9223372036854775808]`,
			`[9223372036854775807,-9223372036854775808]`},
		{"integers beyond", `[9223372036854775808,-9223372036854775809,18446744073709551615]`,
			`[9.223372036854776e18,-9.223372036854776e18,1.8446744073709552e19]`},
		{"floats", `[1.0,0.5,1e3,1E-7,-0.0,1.5e300,12345678.9,1e16,1e15,0.00001]`,
			`[1.0,0.5,1000.0,1e-7,-0.0,1.5e300,12345678.9,1e16,1000000000000000.0,0.00001]`},
		{"hard float", `[2.2250738585072011e-308,9007199254740993.0]`, `[2.225073858507201e-308,9007199254740992.0]`},
		{"escapes", `"a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00\u0001"`, `"a\"\\/\b\f\n\r\tA😀\u0001"`},
		{"nested", `{"a":[{"b":[]},{}],"c":{"d":{"e":[1]}}}`, `{"a":[{"b":[]},{}],"c":{"d":{"e":[1]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a Arena
			for range 2 {
				if got := string(AppendJSON(nil, read(t, &a, c.in))); got != c.want {
					t.Errorf("got %s\nwant %s", got, c.want)
				}
				a.Reset()
			}
		})
	}
}

func TestReadJSONFaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "EOF while parsing a value at line 1 column 0"},
		{`{ bad }`, "key must be a string at line 1 column 3"},
		{`{"a"`, "EOF while parsing an object at line 1 column 4"},
		{"{\n\"a\" 1}", "expected `:` at line 2 column 5"},
		{`[1 2]`, "expected `,` or `]` at line 1 column 4"},
		{`[1,]`, "trailing comma at line 1 column 4"},
		{`nul`, "EOF while parsing a value at line 1 column 3"},
		{`nope`, "expected ident at line 1 column 2"},
		{`1 1`, "trailing characters at line 1 column 3"},
		{`01`, "invalid number at line 1 column 2"},
		{`1e999`, "number out of range at line 1 column 5"},
		{`"\q"`, "invalid escape at line 1 column 3"},
		{"\"a\nb\"", "control character (\\u0000-\\u001F) found while parsing a string at line 1 column 3"},
	} {
		_, fault := ReadJSON(nil, c.in, JSONOptions{})
		if !fault.Failed() || fault.In(c.in) != c.want {
			t.Errorf("ReadJSON(%s): got %q, want %q", c.in, fault.In(c.in), c.want)
		}
	}
}

func TestReadJSONDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, fault := ReadJSON(nil, nested(MaxDepth), JSONOptions{}); fault.Failed() {
		t.Errorf("%d levels: %s", MaxDepth, fault.In(nested(MaxDepth)))
	}
	if _, fault := ReadJSON(nil, nested(MaxDepth+1), JSONOptions{}); fault.what != tooDeep {
		t.Error("one level too many is read")
	}
	v, _ := ReadJSON(nil, `{"a":{"b": [1]},"c":2}`, JSONOptions{Shallow: 1})
	if got := string(AppendJSON(nil, v)); got != `{"a":"{\"b\": [1]}","c":2}` {
		t.Errorf("one level: got %s", got)
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name, in string
		path     Path
		set, del string // after setting 9, after deleting what was there before
	}{
		{"field", `{"a":1}`, Path{Field("a")}, `{"a":9}`, `{}`},
		{"new field in order", `{"a":1,"c":2}`, Path{Field("b")}, `{"a":1,"b":9,"c":2}`, `{"a":1,"c":2}`},
		{"deep", `{}`, Path{Field("a"), Field("b"), Item(1)}, `{"a":{"b":[null,9]}}`, `{}`},
		{"scalar on the way", `{"a":1}`, Path{Field("a"), Field("b")}, `{"a":{"b":9}}`, `{"a":1}`},
		{"from the end", `[1,2,3]`, Path{Item(-1)}, `[1,2,9]`, `[1,2]`},
		{"past the end", `[1]`, Path{Item(3)}, `[1,null,null,9]`, `[1]`},
		{"before the start", `[1]`, Path{Item(-3)}, `[9,null,1]`, `[1]`},
		{"root", `[1]`, nil, `9`, `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a Arena
			v := read(t, &a, c.in)
			other := v.Share()
			if err := Set(&a, &v, c.path, Int(9)); err != nil {
				t.Fatal(err)
			}
			if got := string(AppendJSON(nil, v)); got != c.set {
				t.Errorf("set: got %s, want %s", got, c.set)
			}
			if got := string(AppendJSON(nil, other)); got != c.in {
				t.Errorf("the other name changed: %s", got)
			}
			v = read(t, &a, c.in).Share()
			Delete(&a, &v, c.path, false)
			if got := string(AppendJSON(nil, v)); got != c.del {
				t.Errorf("delete: got %s, want %s", got, c.del)
			}
		})
	}
	var v Value
	if err := Set(nil, &v, Path{Item(MaxIndex + 1)}, Null); err == nil {
		t.Error("an index beyond the limit is written")
	}
	if err := Set(nil, &v, Path{Item(math.MinInt)}, Null); err == nil {
		t.Error("an index beyond the limit is written")
	}
}

func TestDeleteCompact(t *testing.T) {
	var a Arena
	v := read(t, &a, `{"a":{"b":[{"c":1}]},"k":1}`)
	Delete(&a, &v, Path{Field("a"), Field("b"), Item(0), Field("c")}, true)
	if got := string(AppendJSON(nil, v)); got != `{"k":1}` {
		t.Errorf("got %s", got)
	}
}

// TestSharedContainersAreCopied reads a container below a shared one and changes it through the other name.
func TestSharedContainersAreCopied(t *testing.T) {
	var a Arena
	event := read(t, &a, `{"a":{"b":{"c":1}}}`)
	x, _ := Get(event.Share(), Path{Field("a"), Field("b")})
	if err := Set(&a, &x, Path{Field("c")}, Int(2)); err != nil {
		t.Fatal(err)
	}
	if got := string(AppendJSON(nil, event)); got != `{"a":{"b":{"c":1}}}` {
		t.Errorf("the event changed: %s", got)
	}
}

func TestBuildersNest(t *testing.T) {
	var a Arena
	for range 3 {
		outer := append(a.Begin(), "outer "...)
		inner := a.End(append(a.Begin(), "inner"...))
		big := a.Copy(strings.Repeat("x", 10_000))
		outer = append(outer, inner.Str()...)
		if s := a.End(outer).Str(); s != "outer inner" || inner.Str() != "inner" ||
			big.Str() != strings.Repeat("x", 10_000) {
			t.Errorf("got %q, %q", s, inner.Str())
		}
		a.Reset()
	}
}

func TestReadJSONAllocatesNothing(t *testing.T) {
	const text = `{"time":"2024-01-01T00:00:00Z","level":"info","n":12,"f":0.25,"tags":["a","b\n"],"o":{"x":null,"a":true}}`
	var a Arena
	if n := testing.AllocsPerRun(100, func() {
		a.Reset()
		if _, fault := ReadJSON(&a, text, JSONOptions{}); fault.Failed() {
			t.Fatal(fault.In(text))
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x\u0041",null,true]}`, `[1e5,-0,01,"\ud800"]`, `{"b":1,"a":{"b":[]}}`,
		"\"\x00\"", `[0.1e-3]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a Arena
		v, fault := ReadJSON(&a, text, JSONOptions{})
		if fault.Failed() {
			fault.In(text)
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is read as %s", text, AppendJSON(nil, v))
		}
		out := string(AppendJSON(nil, v))
		again, fault := ReadJSON(&a, out, JSONOptions{})
		if fault.Failed() {
			t.Fatalf("%q gives %q: %s", text, out, fault.In(out))
		}
		if string(AppendJSON(nil, again)) != out {
			t.Fatalf("%q is not stable", out)
		}
	})
}

// TestTooLarge doubles a value by sharing it, which costs nothing, until it would be too large written out.
func TestTooLarge(t *testing.T) {
	double := map[string]func(a *Arena, v Value) (Value, error){
		"array": func(a *Arena, v Value) (Value, error) {
			l := a.Array(2)
			l.Push(a, v.Share())
			l.Push(a, v)
			return l.Of(), nil
		},
		"paths": func(a *Arena, v Value) (Value, error) {
			old := v.Share()
			if err := Set(a, &v, Path{Field("a")}, old); err != nil {
				return v, err
			}
			return v, Set(a, &v, Path{Field("b"), Item(1)}, old)
		},
		"merge": func(a *Arena, v Value) (Value, error) {
			o := a.Object(2)
			o.Set(a, "x", v.Share())
			o.Set(a, "y", v)
			return Merge(a, v.Object(), o).Of(), nil
		},
	}
	for name, step := range double {
		t.Run(name, func(t *testing.T) {
			var a Arena
			v := a.Object(1).Of()
			for i := range 100 {
				next, err := step(&a, v)
				if err != nil || next.TooLarge() {
					if i < 20 {
						t.Errorf("too large after %d steps", i)
					}
					return
				}
				v = next
			}
			t.Error("never too large")
		})
	}
	t.Run("replaced values do not count", func(t *testing.T) {
		var a Arena
		v, big := a.Object(1).Of(), read(t, &a, "["+strings.Repeat("1,", 1<<20)+"1]")
		for range 100 {
			if err := Set(&a, &v, Path{Field("a"), Field("b")}, big); err != nil {
				t.Fatal(err)
			}
			Delete(&a, &v, Path{Field("a"), Field("b")}, true)
		}
		if n := v.Nodes(); n != 0 {
			t.Errorf("%d values in an empty object", n)
		}
	})
	t.Run("levels", func(t *testing.T) {
		var a Arena
		v := Int(1)
		for range MaxNesting + 1 {
			l := a.Array(1)
			l.Push(&a, v)
			v = l.Of()
		}
		if !v.TooLarge() {
			t.Error("nests without end")
		}
	})
}

func TestPercent(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"a b", "a b"}, {"%41%7a", "Az"}, {"%4", "%4"}, {"%", "%"}, {"%4g%g4%%41", "%4g%g4%A"},
		{"x%e4%BD", "x\xe4\xbd"},
	} {
		if got := string(AppendPercentDecoded(nil, c.in)); got != c.want {
			t.Errorf("%q is %q, want %q", c.in, got, c.want)
		}
	}
	for c := range 256 {
		text := string(AppendPercentEncoded(nil, byte(c)))
		if got := AppendPercentDecoded(nil, text); len(text) != 3 || len(got) != 1 || got[0] != byte(c) {
			t.Errorf("%d: %q is %q", c, text, got)
		}
	}
}
