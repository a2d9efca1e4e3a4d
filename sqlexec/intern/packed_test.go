package intern

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestPack: the key of a text says what the text is, and texts of other lengths or characters have none.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const characters = "-./0123456789:;<"
	for range 100_000 {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = characters[r.IntN(len(characters))]
		}
		has := len(b) >= 1 && len(b) <= 15
		if len(b) > 0 && r.IntN(3) == 0 {
			b[r.IntN(len(b))] = []byte{0, ',', '=', '@', 'a', 0x80, 0x80 | '-', 0xFF}[r.IntN(8)]
			has = false
		}
		heap := append(append([]byte("9"), b...), "99999999999999999999999999"[:r.IntN(26)]...)
		w := wordsOf(heap, 1, uint32(len(b)))
		key, hash := w.keyAndHash(uint32(len(b)))
		if !has {
			if key != 0 {
				t.Fatalf("%q has the key %x", b, key)
			}
			continue
		}
		text := make([]byte, key>>60)
		for i := range text {
			text[i] = characters[key>>(4*i)&15]
		}
		if string(text) != string(b) || hash != mix(key) {
			t.Fatalf("%q has the key %x, which is %q", b, key, text)
		}
	}
}

// TestKeysBesideTexts: a text has one number whether it comes among texts that all have keys, among others, or alone.
func TestKeysBesideTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	own, worker := New(vector.StringType, nil), NewShared(vector.StringType).Worker(1)
	numbers := [2]map[string]uint32{{}, {}}
	for round := range 90 {
		v := &vector.Vector{Type: vector.StringType}
		var texts []string
		n := 1 + r.IntN(vector.Size)
		for i := range n {
			text := fmt.Sprintf("10.%d.%d.1", r.IntN(40), r.IntN(200))
			switch {
			case round%3 == 1 && r.IntN(2) == 0:
				text = fmt.Sprintf("host-%d", r.IntN(5000))
			case round%3 == 1 && r.IntN(9) == 0:
				text = ""
			}
			if r.IntN(9) == 0 {
				v.AppendNulls(i, 1)
				text = "NULL"
			} else {
				v.Append(i, vector.ConstString(text), 0, 1)
			}
			texts = append(texts, text)
		}
		if round%3 == 2 && texts[0] != "NULL" {
			n = 1
			v = vector.ConstString(texts[0])
		}
		ids := make([]uint32, n)
		for k, intern := range []func(*vector.Vector, int, []uint32){own.Intern, worker.Intern} {
			intern(v, n, ids)
			for i, id := range ids {
				want, seen := numbers[k][texts[i]]
				if !seen {
					numbers[k][texts[i]] = id
				} else if want != id {
					t.Fatalf("round %d: %q has the numbers %d and %d", round, texts[i], want, id)
				}
			}
		}
	}
	for text, id := range numbers[0] {
		if _, null := own.Null(); null && text == "NULL" {
			continue
		}
		if got := own.Values.Str(int(id)); got != text {
			t.Fatalf("number %d of %q is of %q", id, text, got)
		}
	}
	if own.Len() != len(numbers[0]) {
		t.Fatalf("%d values, want %d", own.Len(), len(numbers[0]))
	}
	distinct := map[uint32]bool{}
	for _, id := range numbers[1] {
		distinct[id] = true
	}
	if len(distinct) != len(numbers[1]) {
		t.Fatalf("%d shared numbers for %d texts", len(distinct), len(numbers[1]))
	}
}
