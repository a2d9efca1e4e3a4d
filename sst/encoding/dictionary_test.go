package encoding

import (
	"math/rand"
	"testing"

	"varve/engine/vector"
)

// TestLongTextsAreNotCopiedToBeCompared: a block of a few long texts, none of which comes again, is not copied to find
// that out.
func TestLongTextsAreNotCopiedToBeCompared(t *testing.T) {
	const count, size = 16, 256 << 10
	random := rand.New(rand.NewSource(1))
	b := vector.NewBuilder()
	c, err := b.Column("s", vector.StringType)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, size)
	for range count {
		for i := range text {
			text[i] = byte('!' + random.Intn(90))
		}
		c.SetBytes(text)
		b.EndRow()
	}
	_, batch := b.Finish()
	e := NewEncoder()
	e.Append(nil, batch.Cols[0], batch.N, NewShared(MaxShared))
	if got, want := e.local.Bytes64(), int64(count*size/2); got > want {
		t.Errorf("the encoder keeps %d bytes of the texts that it compared, want at most %d", got, want)
	}
}

// TestFewValuesOfADictionaryAreShort: of blocks of few rows a part's dictionary takes new values only as long as they
// are short.
func TestFewValuesOfADictionaryAreShort(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		ok   bool
	}{{"short", 100, true}, {"long", 300, false}} {
		d := NewShared(MaxShared)
		var heap []byte
		var views []vector.View
		for i := range fewValues {
			views = append(views, vector.View{Off: uint32(len(heap)), Len: uint32(c.size)})
			heap = append(heap, make([]byte, c.size)...)
			heap[len(heap)-1] = byte(i)
		}
		if _, ok := d.Codes(nil, views, heap); ok != c.ok || !ok && d.Len() > 0 {
			t.Errorf("%s: %d new values of %d bytes in as many rows are taken: %t, want %t", c.name, fewValues, c.size,
				ok, c.ok)
		}
	}
}
