package plan

import (
	"reflect"
	"slices"
	"testing"

	"varve/sqlexec/expr"
)

// nodes are one of each kind, with distinct inputs.
func nodes() []Node {
	in := func() Node { return &Values{Cols: []Column{{Name: "a"}}} }
	return []Node{
		&Scan{Never: true}, &Values{Cols: []Column{{Name: "a"}}}, &Series{Count: 2}, &Filter{Input: in()},
		&Project{Input: in(), Cols: []Column{{Name: "b"}}},
		&Aggregate{Input: in(), Cols: []Column{{Name: "b"}}}, &Sort{Input: in(), Limit: 3, Offset: 4},
		&Limit{Input: in(), Limit: 5},
		&Distinct{Input: in()}, &DistinctOn{Input: in()}, &Union{Inputs: []Node{in(), in(), in()}},
		&Join{L: in(), R: in(), Kind: FullJoin, NullEqual: true},
		&AsofJoin{L: in(), R: in(), Op: expr.GreaterEqual}, &Window{Input: in()}, &Expand{Input: in(), Step: 7},
		&Unnest{Input: in(), Outer: true}, &Unpivot{Input: in(), Nulls: true}, &FillSlots{Input: in()},
	}
}

// TestInputs checks that a node tells all the nodes it holds, and that over changes these and nothing else, in a copy.
func TestInputs(t *testing.T) {
	node := reflect.TypeFor[Node]()
	for _, n := range nodes() {
		var held []Node
		v := reflect.ValueOf(n).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); {
			case f.Type() == node:
				held = append(held, f.Interface().(Node))
			case f.Type() == reflect.SliceOf(node):
				held = append(held, f.Interface().([]Node)...)
			}
		}
		before := n.inputs()
		if !slices.Equal(before, held) {
			t.Errorf("%T: inputs are %v, its fields hold %v", n, before, held)
		}
		others := make([]Node, len(before))
		for i := range others {
			others[i] = &Limit{Input: before[i]}
		}
		over := n.over(others)
		if over == n || !slices.Equal(over.inputs(), others) || !slices.Equal(n.inputs(), before) {
			t.Errorf("%T: over: %v became %v", n, before, over.inputs())
		}
		if back := over.over(before); !reflect.DeepEqual(back, n) {
			t.Errorf("%T: %+v came back as %+v", n, n, back)
		}
	}
}
