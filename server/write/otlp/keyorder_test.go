package otlp

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestKeyOrder: attributes one after the other are written as each alone, whatever the lists before.
func TestKeyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	keys := []string{"b", "a", "host.name", "é", "\"", "A", "", "\xff"}
	var w writer
	var list []attribute
	for range 20_000 {
		if r.IntN(3) == 0 || len(list) == 0 {
			list = list[:0]
			for range r.IntN(5) {
				list = append(list, attribute{key: []byte(keys[min(r.IntN(len(keys)), r.IntN(len(keys)))])})
			}
		}
		for i := range list {
			list[i].wireValue = wireValue{kind: intValue, bits: uint64(r.IntN(100))}
			if r.IntN(50) == 0 {
				list[i].wireValue = wireValue{kind: textValue, bytes: []byte("\xff")}
			}
		}
		alone := append([]attribute(nil), list...)
		want, wantErr := new(writer).object(nil, alone, 1)
		got, err := w.attributes(nil, append([]attribute(nil), list...))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && string(got) != string(want) {
			t.Fatalf("%v: %s, %v; want %s, %v", alone, got, err, want, wantErr)
		}
	}
}
