package expr

import (
	"testing"

	"varve/engine/vector"
)

// TestDictionaryBesideConstants: what was computed for a dictionary beside one constant is not taken beside another, as
// batches of a join have them.
func TestDictionaryBesideConstants(t *testing.T) {
	values := &vector.Vector{Type: vector.StringType}
	values.PushBytes([]byte("a"))
	values.PushBytes([]byte("b"))
	dict := &vector.Vector{Type: vector.StringType, Form: vector.Dict, Values: values, Codes: []uint32{0, 1, 0}}
	left, right := &Column{Index: 0, T: vector.StringType}, &Column{Index: 1, T: vector.StringType}
	for _, name := range []string{"=", "||", "strpos"} {
		e, err := (&Context{}).Call(name, left, right)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile([]Expr{e})
		if err != nil {
			t.Fatal(err)
		}
		for _, constant := range []string{"a", "b", "a"} {
			out := make([]*vector.Vector, 1)
			in := &vector.Batch{N: 3, Cols: []*vector.Vector{dict, vector.ConstString(constant)}}
			if err := p.Eval(in, out); err != nil {
				t.Fatal(err)
			}
			flat := &vector.Batch{N: 3, Cols: []*vector.Vector{dict.Flatten(3), in.Cols[1].Flatten(3)}}
			want, err := compiled(e, flat)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				got, want := string(AppendText(nil, out[0], i)), string(AppendText(nil, want, i))
				if got != want {
					t.Errorf("%s beside %s: row %d is %s, want %s", name, constant, i, got, want)
				}
			}
		}
	}
}
