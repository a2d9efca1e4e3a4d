package encoding

import (
	"strings"
	"testing"

	"varve/engine/vector"
)

// TestKeepHex holds the search on packed digits against comparing strings.
func TestKeepHex(t *testing.T) {
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
			for _, needle := range []string{first, v.Str(n - 1), v.Str(n / 2), strings.ToUpper(first), first[1:], "", strings.Repeat("0", len(first)), "g" + first[1:]} {
				keep := vector.MakeBitmap(n)
				keep.Fill(n)
				keep.Clear(n / 3)
				if !KeepHex(src, n, []byte(needle), keep) {
					t.Fatal("refused")
				}
				for i := range n {
					if want := i != n/3 && v.Str(i) == needle; keep.Get(i) != want {
						t.Fatalf("%s: row %d of %d with %q: %t", name, i, n, needle, keep.Get(i))
					}
				}
			}
			for cut := range src {
				KeepHex(src[:cut], n, []byte(first), vector.MakeBitmap(n))
			}
		}
	}
	if KeepHex(NewEncoder().Append(nil, shapes[0].build(9, 0, 1), 9, nil), 9, []byte("00"), vector.MakeBitmap(9)) {
		t.Error("a block of integers is taken for digits")
	}
}

func indexOf(name string) int {
	for i := range shapes {
		if shapes[i].name == name {
			return i
		}
	}
	panic("no shape " + name)
}
