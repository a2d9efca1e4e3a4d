package expr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/axiomhq/hyperloglog"

	"varve/engine/vector"
)

// holds checks that a sketch estimates what the library's sketch of the same values estimates. Around the number of
// values at which either of them goes over to registers both are only near the truth.
func holds(t *testing.T, what string, s *sketch, k *hyperloglog.Sketch, values int) {
	t.Helper()
	got, err := s.estimate()
	if err != nil {
		t.Fatal(what, err)
	}
	want := k.Estimate()
	if inOneForm := values < 6_000 || values > 12_000; inOneForm && got != want {
		t.Errorf("%s: %d values: got %d, the library %d", what, values, got, want)
	}
	if off := math.Abs(float64(got)-float64(values)) / float64(max(values, 1)); off > 0.03 {
		t.Errorf("%s: %d values: got %d", what, values, got)
	}
}

// TestSketchIsTheLibrarys: sketches filled value by value, merged, written and read again say what the library's say.
func TestSketchIsTheLibrarys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, values := range []int{0, 1, 2, 5, 6, 7, 100, 1000, 5000, 7000, 13_000, 40_000, 200_000} {
		var halves [2]sketch
		whole, k := sketch{}, hyperloglog.New14()
		held := int64(0)
		for i := range values {
			hash := r.Uint64()
			for range 1 + i%3 { // some values come again
				held += whole.insert(hash)
				k.InsertHash(hash)
				halves[i%2].insert(hash)
			}
		}
		if held != whole.bytes() {
			t.Errorf("%d values: grown by %d bytes, holds %d", values, held, whole.bytes())
		}
		holds(t, "inserted", &whole, k, values)
		before := halves[0].bytes()
		grown := halves[0].merge(&halves[1])
		holds(t, "merged", &halves[0], k, values)
		if before+grown != halves[0].bytes() {
			t.Errorf("%d values: a merge grew by %d bytes from %d to %d", values, grown, before, halves[0].bytes())
		}
		state := whole.appendState(nil)
		back, err := readHLL(state)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "read by the library", &whole, back, values)
		written, err := k.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for form, b := range map[string][]byte{"own": state, "library's": written} {
			read, err := readHLL(b)
			if err != nil {
				t.Fatal(err)
			}
			var s sketch
			grown, err := s.mergeState(read)
			if err != nil || grown != s.bytes() {
				t.Fatalf("%s state of %d values: grown by %d of %d bytes, %v", form, values, grown, s.bytes(), err)
			}
			holds(t, form+" state", &s, k, values)
		}
	}
}

// TestSketchKeys: each fine key gives the register and the value that the hash itself gives.
func TestSketchKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		hash := r.Uint64() >> r.IntN(20) << r.IntN(50)
		hash |= r.Uint64() << (64 - sketchBits)
		if r.IntN(3) == 0 {
			hash &^= (1<<belowFine - 1) << (64 - fineBits) // the long form
		}
		key := fineKey(hash)
		if key == 0 {
			t.Fatalf("hash %x has the key of an empty place", hash)
		}
		direct := sketch{regs: make([]uint8, registers)}
		direct.insert(hash)
		if i, value := registerOf(key); direct.regs[i] != value || i != uint32(hash>>(64-sketchBits)) {
			t.Fatalf("hash %x, key %x: register %d is %d, by the key %d", hash, key, i, direct.regs[i], value)
		}
	}
}

// TestSketchOfAnotherSize: a state with another number of registers is refused.
func TestSketchOfAnotherSize(t *testing.T) {
	var s sketch
	if _, err := s.mergeState(hyperloglog.New16()); err == nil {
		t.Error("a sketch of 2^16 registers is taken")
	}
}

// TestApproxDistinctForms: vectors of each form, with NULLs and rows that do not count, give what values one by one do.
func TestApproxDistinctForms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, groups = 2000, 7
	values := &vector.Vector{Type: vector.StringType}
	for i := range 300 {
		values.PushBytes(fmt.Appendf(nil, "value %d", i))
	}
	dict := &vector.Vector{Type: vector.StringType, Form: vector.Dict, Values: values}
	flat := &vector.Vector{Type: vector.StringType}
	valid, keep := vector.MakeBitmap(rows), vector.MakeBitmap(rows)
	of := make([]uint32, rows)
	var want [groups]map[uint32]bool
	for i := range rows {
		code := uint32(r.IntN(300))
		dict.Codes = append(dict.Codes, code)
		flat.PushBytes(values.Bytes(int(code)))
		of[i] = uint32(r.IntN(groups))
		if r.IntN(8) > 0 {
			valid.Set(i)
		}
		if r.IntN(8) > 0 {
			keep.Set(i)
		}
		if want[of[i]] == nil {
			want[of[i]] = map[uint32]bool{}
		}
		if valid.Get(i) && keep.Get(i) {
			want[of[i]][code] = true
		}
	}
	dict.Valid, flat.Valid = valid, valid
	for name, v := range map[string]*vector.Vector{"dictionary": dict, "flat": flat} {
		s := &sketches{}
		s.Grow(groups)
		if err := s.Add(rows, of, []*vector.Vector{v}, keep); err != nil {
			t.Fatal(err)
		}
		out, err := s.Result(groups)
		if err != nil {
			t.Fatal(err)
		}
		for g := range groups {
			if out.Uints[g] != uint64(len(want[g])) {
				t.Errorf("%s: group %d has %d, want %d", name, g, out.Uints[g], len(want[g]))
			}
		}
		if s.Bytes() < s.held || s.held <= 0 {
			t.Errorf("%s: %d bytes held of %d", name, s.held, s.Bytes())
		}
	}
}

// FuzzSketchState: whatever bytes the library takes for a state give a sketch or an error.
func FuzzSketchState(f *testing.F) {
	for _, n := range []int{0, 3, 2000, 50_000} {
		var s sketch
		for i := range n {
			s.insert(uint64(i+1) * 0x9e3779b97f4a7c15)
		}
		f.Add(s.appendState(nil))
	}
	f.Add(binary.BigEndian.AppendUint64(nil, 0x020e000100000000))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := readHLL(b)
		if err != nil {
			return
		}
		var s sketch
		grown, err := s.mergeState(k)
		if err == nil && grown != s.bytes() {
			t.Errorf("grown by %d bytes, holds %d", grown, s.bytes())
		}
	})
}

func BenchmarkSketch(b *testing.B) {
	const groups = 200
	r := rand.New(rand.NewPCG(1, 1))
	hashes, of := make([]uint64, 1<<20), make([]uint32, 1<<20)
	for i := range hashes {
		hashes[i], of[i] = r.Uint64(), uint32(r.IntN(groups))
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			s := make([]sketch, groups)
			for i, h := range hashes {
				s[of[i]].insert(h)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(hashes)), "ns/row")
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			s := make([]hyperloglog.Sketch, groups)
			for i, h := range hashes {
				s[of[i]].InsertHash(h)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(hashes)), "ns/row")
	})
}
