package protowire

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	m := AppendVarint(nil, 1, 300)
	m = AppendDouble(m, 2, -0.5)
	m = AppendBytes(m, 3, "text")
	m = append(m, 4<<3|5, 1, 2, 3, 4)
	m = AppendVarint(m, 5000, math.MaxUint64)
	m = AppendMessage(m, 6, func(dst []byte) []byte { return AppendBytes(dst, 1, strings.Repeat("x", 300)) })
	m = AppendBytes(m, 7, []byte{1, 0xac, 2})
	m = AppendVarint(m, 7, 9)
	f := Of(m)
	next := func(number int, kind Kind) {
		t.Helper()
		if !f.Next() || !f.Is(number, kind) {
			t.Fatalf("field %d of kind %d, want %d of %d: %v", f.Number, f.Kind, number, kind, f.Err())
		}
	}
	if next(1, Varint); f.Value != 300 || f.Zigzag() != 150 {
		t.Errorf("varint %d", f.Value)
	}
	if next(2, Fixed64); f.Double() != -0.5 {
		t.Errorf("double %g", f.Double())
	}
	if next(3, Bytes); string(f.Bytes) != "text" || string(m[f.Offset()-4:f.Offset()]) != "text" {
		t.Errorf("bytes %q", f.Bytes)
	}
	if next(4, Fixed32); f.Value != 0x04030201 {
		t.Errorf("fixed32 %x", f.Value)
	}
	if next(5000, Varint); f.Int() != -1 {
		t.Errorf("int %d", f.Int())
	}
	next(6, Bytes)
	if in := Of(f.Bytes); !in.Next() || len(in.Bytes) != 300 || in.Next() || in.Err() != nil {
		t.Errorf("a message of %d bytes: %v", len(in.Bytes), in.Err())
	}
	var list []uint64
	for range 2 {
		var err error
		next(7, []Kind{Bytes, Varint}[len(list)/2])
		if list, err = f.AppendUints(list, 2); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(list, []uint64{1, 300, 9}) {
		t.Errorf("numbers %d", list)
	}
	if f.Next() || f.Err() != nil {
		t.Errorf("behind the last field: %d, %v", f.Number, f.Err())
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct{ name, message, why string }{
		{"number 0", "\x00\x01", "field number 0"},
		{"a group", "\x0b", "wire type 3"},
		{"unknown kind", "\x0f", "wire type 7"},
		{"key that does not end", "\x80", "does not end"},
		{"varint that does not end", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "does not end"},
		{"length lie", "\x0a\x05ab", "5 bytes, 2 are left"},
		{"huge length", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "bytes, 0 are left"},
		{"double cut off", "\x09abc", "cut off"},
		{"fixed32 cut off", "\x0dabc", "cut off"},
	} {
		f := Of([]byte(c.message))
		for f.Next() {
		}
		if f.Err() == nil || !strings.Contains(f.Err().Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, f.Err(), c.why)
		}
	}
}

func FuzzFields(f *testing.F) {
	f.Add(AppendMessage(AppendVarint(nil, 1, 300), 2, func(dst []byte) []byte { return AppendDouble(dst, 1, 1) }))
	f.Fuzz(func(t *testing.T, message []byte) {
		at := 0
		f := Of(message)
		for f.Next() {
			if f.Offset() <= at || f.Offset() > len(message) || f.Number < 1 {
				t.Fatalf("field %d ends at %d, the one before at %d", f.Number, f.Offset(), at)
			}
			at = f.Offset()
			if list, err := f.AppendUints(nil, 3); err == nil && len(list) > min(len(message), 4) {
				t.Fatalf("%d numbers in %d bytes", len(list), len(message))
			}
			if _, err := f.AppendDoubles(nil); err != nil && f.Kind == Fixed64 {
				t.Fatal(err)
			}
		}
		if f.Err() == nil && at != len(message) {
			t.Fatalf("ended at %d of %d", at, len(message))
		}
	})
}
