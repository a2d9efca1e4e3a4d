package encoding

import (
	"testing"

	"varve/engine/vector"
)

// BenchmarkEncode and BenchmarkDecode measure the values as they lie in memory: 8 bytes a number, strings with their
// views, 4 bytes a dictionary code.
func BenchmarkEncode(b *testing.B) {
	const n = 8192
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			e := NewEncoder()
			v := s.build(n, 0, 1)
			var buf []byte
			b.SetBytes(v.Bytes64(n))
			b.ReportAllocs()
			for b.Loop() {
				buf = e.Append(buf[:0], v, n, nil)
			}
			b.ReportMetric(float64(len(buf))/n, "bytes/row")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	const n = 8192
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			buf := NewEncoder().Append(nil, s.build(n, 0, 1), n, nil)
			var d Decoder
			v := &vector.Vector{}
			if err := d.Decode(v, buf, s.t, n, nil); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(v.Bytes64(n))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Decode(v, buf, s.t, n, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDecodeAllocations holds that a warm decoder allocates nothing but the dictionaries of blocks, which are given
// out.
func TestDecodeAllocations(t *testing.T) {
	const n = 2048
	for _, s := range shapes {
		buf := NewEncoder().Append(nil, s.build(n, 0, 1), n, nil)
		if id := ID(buf[0]); id == Local || s.t.Kind() == vector.Bool {
			continue
		}
		var d Decoder
		v := &vector.Vector{}
		decode := func() {
			if err := d.Decode(v, buf, s.t, n, nil); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		if a := testing.AllocsPerRun(50, decode); a > 0 {
			t.Errorf("%s: %.0f allocations", s.name, a)
		}
	}
}
