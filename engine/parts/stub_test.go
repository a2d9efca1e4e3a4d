package parts

import (
	"bytes"
	"errors"
	"testing"

	"varve/engine/vfs"
	"varve/sst"
)

// stubBytes is a stub of a part of 100 bytes that lacks 20 to 49 and 60 to 69.
func stubBytes() []byte {
	s := Stub{Object: "parts/store/00000007-0123456789ab.part", Checksum: 0x12345678, Size: 100,
		kept: complement([]sst.Extent{{Off: 20, Length: 30}, {Off: 60, Length: 10}}, 100)}
	return append(s.encode(), bytes.Repeat([]byte{1}, 60)...)
}

// TestStub finds in a stub what it keeps of its part, and nothing else.
func TestStub(t *testing.T) {
	b := stubBytes()
	s, err := readStub(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if s.Object != "parts/store/00000007-0123456789ab.part" || s.Checksum != 0x12345678 || s.Size != 100 {
		t.Errorf("stub %+v", s)
	}
	head := int64(len(b) - 60)
	for _, c := range []struct {
		off, n, at int64
		here       bool
	}{
		{0, 20, head, true}, {19, 1, head + 19, true}, {19, 2, 0, false}, {20, 1, 0, false}, {49, 2, 0, false},
		{50, 10, head + 20, true}, {60, 10, 0, false}, {70, 30, head + 30, true}, {70, 31, 0, false},
	} {
		at, ok := s.find(c.off, c.n)
		if ok != c.here || ok && (at != c.at || s.place(at) != c.off) {
			t.Errorf("%d bytes at %d: %d %v, want %d %v", c.n, c.off, at, ok, c.at, c.here)
		}
	}
}

// TestStubDamaged changes and cuts each byte of the head: it is an error, damage or an unknown version.
func TestStubDamaged(t *testing.T) {
	b := stubBytes()
	for i := range len(b) - 60 {
		changed := bytes.Clone(b)
		changed[i] ^= 0x40
		_, err := readStub(bytes.NewReader(changed), int64(len(b)))
		if !errors.Is(err, sst.ErrCorrupt) && !errors.Is(err, vfs.ErrNewer) {
			t.Errorf("byte %d is changed: %v", i, err)
		}
		if _, err := readStub(bytes.NewReader(b[:i]), int64(i)); !errors.Is(err, sst.ErrCorrupt) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
}

// FuzzStub reads any bytes: a stub or an error, never more memory than the bytes justify.
func FuzzStub(f *testing.F) {
	f.Add(stubBytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := readStub(bytes.NewReader(b), int64(len(b)))
		if err == nil && (s.Size < 0 || s.Length != int64(len(b))) {
			t.Errorf("%d bytes are %+v", len(b), s)
		}
		if len(b) > 0 { // the checksum is right by chance never
			if s, err := decodeStub(b, 30, int64(len(b))); err == nil && len(s.kept)*16 > len(b) {
				t.Errorf("%d ranges of %d bytes", len(s.kept), len(b))
			}
		}
	})
}
