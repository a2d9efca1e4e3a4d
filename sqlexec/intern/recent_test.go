package intern

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestWorkersRemember: texts that come again get the numbers they had, also when others took their places meanwhile,
// when they differ in their length or zeros alone, and beside NULLs.
func TestWorkersRemember(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	s := NewShared(vector.StringType)
	w := s.Worker(0)
	numbers := map[string]uint32{}
	ids := make([]uint32, vector.Size)
	for range 60 {
		v := &vector.Vector{Type: vector.StringType}
		var texts []string
		for i := range vector.Size {
			text := fmt.Sprintf("%0*d", 1+r.IntN(30), r.IntN(4))
			switch r.IntN(4) {
			case 0:
				text = fmt.Sprint(r.IntN(3 * recentSlots))
			case 1:
				text = string(make([]byte, r.IntN(30)))
			}
			if r.IntN(9) == 0 {
				v.AppendNulls(i, 1)
				text = "NULL"
			} else {
				v.Append(i, vector.ConstString(text), 0, 1)
			}
			texts = append(texts, text)
		}
		w.Intern(v, vector.Size, ids)
		for i, text := range texts {
			id, ok := numbers[text]
			if !ok {
				numbers[text] = ids[i]
			} else if id != ids[i] {
				t.Fatalf("%q has the numbers %d and %d", text, id, ids[i])
			}
		}
	}
	total := 0
	for k := range Shards {
		ids, values := s.Values(k)
		total += len(ids)
		for i, id := range ids {
			text := "NULL"
			if !values.IsNull(i) {
				text = values.Str(i)
			}
			if numbers[text] != id {
				t.Fatalf("%q has the number %d, and %d among the values", text, numbers[text], id)
			}
		}
	}
	if total != len(numbers) {
		t.Errorf("%d values, want %d", total, len(numbers))
	}
}
