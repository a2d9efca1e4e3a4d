package vector

import (
	"fmt"
	"testing"
)

func TestBuilderAbandonRow(t *testing.T) {
	b := NewBuilder()
	column(t, b, "ts", Int64Type).SetInt(1)
	b.Pin()
	column(t, b, "a", Int64Type).SetInt(1)
	b.EndRow()
	column(t, b, "ts", Int64Type).SetInt(2)
	column(t, b, "b", StringType).SetString("x")
	if got := b.AbandonRow(b.Lookup("ts"), b.Lookup("b")); got != 1 {
		t.Errorf("%d columns removed, want 1", got)
	}
	column(t, b, "a", Int64Type).SetInt(7)
	b.DropRow(b.Lookup("a"))
	if b.Lookup("b") != nil {
		t.Error("the column is still there")
	}
	column(t, b, "ts", Int64Type).SetInt(3)
	column(t, b, "b", BoolType).SetBool(true) // its type was given up as well
	b.EndRow()
	if got, want := describe(b.Finish()), "ts:Int64=[1 3] a:Int64=[1 <nil>] b:Boolean=[<nil> true] "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBuilderReset: buffers go to the column of the same name, and nothing of a former round shows.
func TestBuilderReset(t *testing.T) {
	b := NewBuilder()
	round := func() {
		b.Reset()
		s, err := b.Column("s", StringType)
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.Column("n", Int64Type)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			if i > 100 {
				s.SetString("text")
			}
			if i%3 == 0 {
				n.SetInt(int64(i))
			}
			b.EndRow()
		}
		b.Finish()
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	b.Reset()
	if b.Lookup("s") != nil || b.Columns() != 0 || b.Rows() != 0 {
		t.Error("a reset builder is not empty")
	}
	column(t, b, "s", Int64Type).SetInt(5)
	b.EndRow()
	if got, want := describe(b.Finish()), "s:Int64=[5] "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestResetForgetsLargeRows: nothing that outlives a round, the column builders that decoders remember and the batch,
// keeps the rows of a large one in memory.
func TestResetForgetsLargeRows(t *testing.T) {
	b := NewBuilder()
	c, err := b.Column("a", Int64Type)
	if err != nil {
		t.Fatal(err)
	}
	for range maxSpareBytes/8 + 1 {
		c.SetInt(1)
		b.EndRow()
	}
	b.Finish()
	cols, batch := b.cols[:1], b.batch.Cols[:1]
	b.Reset()
	if c.held() != 0 || b.Held() != 0 {
		t.Errorf("after Reset the column holds %d bytes, the builder %d", c.held(), b.Held())
	}
	if cols[0] != nil || batch[0] != nil {
		t.Error("the builder still knows columns of the round before")
	}
}

// TestExpectedTextIsCopiedLittle: a column whose text is known to become long is not copied over and over as it grows.
func TestExpectedTextIsCopiedLittle(t *testing.T) {
	const size, count = 256 << 10, 256
	b := NewBuilder()
	b.Expect(size * count)
	c, err := b.Column("s", StringType)
	if err != nil {
		t.Fatal(err)
	}
	text, copied, room := make([]byte, size), 0, 0
	for range count {
		before := len(c.vec.Heap)
		c.SetBytes(text)
		b.EndRow()
		if cap(c.vec.Heap) != room {
			copied, room = copied+before, cap(c.vec.Heap)
		}
	}
	if copied > size*count/2 || room > size*count*5/4 {
		t.Errorf("%d bytes of %d are copied, there is room for %d", copied, size*count, room)
	}
}

// TestColumnsAreHeld: thousands of columns of few values are memory too.
func TestColumnsAreHeld(t *testing.T) {
	b := NewBuilder()
	for i := range 1000 {
		c, err := b.Column(fmt.Sprint("c", i), Int64Type)
		if err != nil {
			t.Fatal(err)
		}
		c.SetInt(1)
	}
	b.EndRow()
	if got, want := b.Held(), int64(1000*columnBytes); got < want {
		t.Errorf("the builder holds %d bytes, want at least %d", got, want)
	}
}
