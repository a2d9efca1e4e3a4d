package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// keyColumn are n values of a type, some NULL, with the ends of its range among them.
func keyColumn(r *rand.Rand, t vector.Type, n int) *vector.Vector {
	v := &vector.Vector{Type: t}
	for i := range n {
		if r.IntN(9) == 0 {
			v.AppendNulls(i, 1)
			continue
		}
		switch t.Kind() {
		case vector.Int64:
			v.Ints = append(v.Ints, []int64{0, -1, math.MinInt64, math.MaxInt64, r.Int64() >> r.IntN(64)}[r.IntN(5)])
		case vector.Uint64:
			v.Uints = append(v.Uints, []uint64{0, math.MaxUint64, r.Uint64() >> r.IntN(64)}[r.IntN(3)])
		case vector.Float64:
			v.Floats = append(v.Floats, []float64{0, math.Inf(-1), -1.5, r.Float64()}[r.IntN(4)])
		case vector.Bool:
			v.PushBool(i, r.IntN(2) == 0)
		default:
			v.PushBytes([]byte([]string{"", "a", "\x00", fmt.Sprint(r.Uint64()), fmt.Sprint(r.IntN(5))}[r.IntN(5)]))
		}
		valued(v, i)
	}
	return v
}

// TestPackedKeys: keys come back from their texts, and rows have equal texts only where all their keys are equal, for
// keys of all types in all numbers, written out and as codes.
func TestPackedKeys(t *testing.T) {
	types := []vector.Type{vector.Int64Type, vector.Uint64Type, vector.FloatType, vector.BoolType,
		vector.StringType, vector.BinaryType}
	r := rand.New(rand.NewPCG(27, 1))
	for count := 2; count <= manyKeys; count += 1 + count/3 {
		for range 20 {
			n := 1 + r.IntN(300)
			var list []vector.Type
			var exprs []expr.Expr
			var keys []*vector.Vector
			for k := range count {
				list = append(list, types[r.IntN(len(types))])
				exprs = append(exprs, &expr.Column{Index: k, T: list[k], Null: true})
				keys = append(keys, keyColumn(r, list[k], n))
			}
			p := newPacking(list, newGroups(exprs))
			for k := range p.forms { // as with many short texts; the last keys of many have no room in the tag
				if list[k].Kind() == vector.Bytes && r.IntN(2) == 0 && k < 8 {
					p = writtenOut(p, k)
				}
			}
			checkPacked(t, p, keys, n)
		}
	}
}

// writtenOut is a packing whose key k is a text that is written out.
func writtenOut(p *packing, k int) *packing {
	q := &packing{types: p.types, lastText: -1}
	tag := 0
	for i, form := range p.forms {
		take := map[packedForm]int{packedNumber: numberTag, packedText: 1}[form]
		if i == k {
			form, take = packedText, 1
		}
		if tag+take > maxTag {
			form, take = packedCode, 0
		}
		q.forms, q.shifts = append(q.forms, form), append(q.shifts, uint(tag))
		if tag += take; form == packedText {
			q.lastText = i
		}
	}
	q.tagBytes = (tag + 7) / 8
	return q
}

func checkPacked(t *testing.T, p *packing, keys []*vector.Vector, n int) {
	t.Helper()
	w := newPacker(p)
	for k := range keys {
		if p.forms[k] == packedCode {
			w.codes[k] = make([]uint32, n)
			expr.NewInterner(p.types[k]).Intern(keys[k], n, w.codes[k])
		}
	}
	texts := w.pack(keys, n)
	got, codes := p.unpack(texts, n)
	byText := map[string]string{}
	for i := range n {
		all := ""
		for k, v := range keys {
			if p.forms[k] == packedCode {
				if codes[k][i] != w.codes[k][i] {
					t.Fatalf("row %d, key %d: code %d, want %d", i, k, codes[k][i], w.codes[k][i])
				}
				all += fmt.Sprint(codes[k][i], ";")
				continue
			}
			if !sameKey(got[k], i, v, i) {
				t.Fatalf("row %d, key %d of %v does not come back", i, k, p.types)
			}
			if v.IsNull(i) {
				all += "NULL;"
			} else {
				all += fmt.Sprintf("%q;", expr.AppendText(nil, v, i))
			}
		}
		if before, ok := byText[texts.Str(i)]; ok != (before == all) {
			t.Fatalf("keys %s and %s have one text", before, all)
		}
		byText[texts.Str(i)] = all
	}
	if len(byText) < 1 {
		t.Error("no texts")
	}
}
