package symbol

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestTable holds a table against a map, and a vector of it against what it was when it was taken.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var table Table
	if _, ok := table.Find(nil); ok {
		t.Error("an empty table has a text")
	}
	numbers := map[string]uint32{}
	var early *vector.Vector
	for range 10_000 {
		text := make([]byte, r.IntN(4))
		for i := range text {
			text[i] = byte(r.IntN(20))
		}
		if n, ok := table.Find(text); ok != (func() bool { _, ok := numbers[string(text)]; return ok })() ||
			ok && n != numbers[string(text)] {
			t.Fatalf("%x is found as %d, %t", text, n, ok)
		}
		n, ok := table.Add(text)
		if want, known := numbers[string(text)]; !ok || known && n != want || !known && int(n) != len(numbers) {
			t.Fatalf("%x has number %d of %d", text, n, len(numbers))
		}
		numbers[string(text)] = n
		if len(numbers) == 100 && early == nil {
			early = table.Vector(vector.BinaryType)
		}
	}
	if table.Len() != len(numbers) || early.Len() != 100 {
		t.Fatalf("%d texts, %d early, want %d and 100", table.Len(), early.Len(), len(numbers))
	}
	for text, n := range numbers {
		if !bytes.Equal(table.Bytes(n), []byte(text)) || n < 100 && !bytes.Equal(early.Bytes(int(n)), []byte(text)) {
			t.Fatalf("text %d is %x, want %x", n, table.Bytes(n), text)
		}
	}
}
