package encoding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
)

// TestKeepHex holds the search on packed digits against comparing strings.
func TestKeepHex(t *testing.T) {
	var d Decoder
	for _, name := range []string{"trace ids", "uuids", "spans"} {
		s := shape{name: "spans", t: vector.StringType}
		for _, x := range shapes {
			if x.name == name {
				s = x
			}
		}
		for _, n := range []int{2, 63, 64, 65, 200} {
			var v *vector.Vector
			if s.set == nil {
				long := shapes[indexOf("trace ids")].build(n, 0, 1)
				for i := range long.Views {
					long.Views[i].Len = 16
				}
				v = long
			} else {
				v = s.build(n, 0, 1)
			}
			src := NewEncoder().Append(nil, v, n, nil)
			if ID(src[0]) != Hex {
				t.Fatalf("%s is %s", name, ID(src[0]))
			}
			first := v.Str(0)
			for _, needle := range []string{first, v.Str(n - 1), v.Str(n / 2), strings.ToUpper(first), first[1:], "",
				strings.Repeat("0", len(first)), "g" + first[1:]} {
				keep := vector.MakeBitmap(n)
				keep.Fill(n)
				keep.Clear(n / 3)
				if ok, err := d.compare(src, n, &filter.Comparison{Equal: []byte(needle)}, keep); !ok || err != nil {
					t.Fatalf("refused: %v", err)
				}
				for i := range n {
					if want := i != n/3 && v.Str(i) == needle; keep.Get(i) != want {
						t.Fatalf("%s: row %d of %d with %q: %t", name, i, n, needle, keep.Get(i))
					}
				}
			}
			for _, list := range [][]string{{first}, {v.Str(n - 1), first, v.Str(n / 2)},
				{strings.ToUpper(first), first[1:], ""},
				{first, "g" + first[1:], strings.Repeat("0", len(first)), first}} {
				keep := vector.MakeBitmap(n)
				keep.Fill(n)
				keep.Clear(n / 3)
				ok, err := d.compare(src, n, oneOf(t, list), keep)
				if err != nil || ok != (len(first) >= 32) { // shorter ones are decoded
					t.Fatalf("%s: %t, %v", name, ok, err)
				}
				for i := range n {
					if want := i != n/3 && (!ok || slices.Contains(list, v.Str(i))); keep.Get(i) != want {
						t.Fatalf("%s: row %d of %d with %q: %t", name, i, n, list, keep.Get(i))
					}
				}
			}
			for cut := range src {
				if ok, err := d.compare(src[:cut], n, oneOf(t, []string{first}), vector.MakeBitmap(n)); ok ||
					err != nil {
					t.Fatalf("%d bytes of %d: %t, %v", cut, len(src), ok, err)
				}
				if ok, err := d.compare(src[:cut], n, &filter.Comparison{Equal: []byte(first)},
					vector.MakeBitmap(n)); ok || err != nil {
					t.Fatalf("%d bytes of %d: %t, %v", cut, len(src), ok, err)
				}
			}
		}
	}
	ints := NewEncoder().Append(nil, shapes[indexOf("small ints")].build(9, 0, 1), 9, nil)
	if ok, err := d.compare(ints, 9, &filter.Comparison{Equal: []byte("00")}, vector.MakeBitmap(9)); ok || err != nil {
		t.Errorf("a block of integers is taken for digits: %t, %v", ok, err)
	}
}

// oneOf asks for one of some texts.
func oneOf(t testing.TB, list []string) *filter.Comparison {
	args := &vector.Vector{Type: vector.StringType}
	for i, s := range list {
		args.Append(i, vector.ConstString(s), 0, 1)
	}
	test, err := filter.NewTest(&filter.Cond{Op: filter.In, Args: args, NArgs: len(list)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return test.Packed()
}

func indexOf(name string) int {
	for i := range shapes {
		if shapes[i].name == name {
			return i
		}
	}
	panic("no shape " + name)
}

func BenchmarkKeepHex(b *testing.B) {
	const n = 8192
	v := shapes[indexOf("trace ids")].build(n, 0, 1)
	src := NewEncoder().Append(nil, v, n, nil)
	for _, listed := range []int{1, 20, 64} {
		var list []string
		for i := range listed {
			list = append(list, v.Str(i*100))
		}
		c := oneOf(b, list)
		b.Run(fmt.Sprintf("listed=%d", listed), func(b *testing.B) {
			keep := vector.MakeBitmap(n)
			var d Decoder
			for b.Loop() {
				keep.Fill(n)
				if ok, err := d.compare(src, n, c, keep); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
