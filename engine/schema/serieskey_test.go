package schema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTagOf holds TagOf against ParseSeriesKey on keys with zeros in their values and with absent and empty tags.
func TestTagOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	cols := []ColumnID{1, 2, 256, 1 << 24}
	for range 2000 {
		tags := make([][]byte, len(cols))
		for i := range tags {
			if r.IntN(4) == 0 {
				continue
			}
			tags[i] = make([]byte, r.IntN(6))
			for k := range tags[i] {
				tags[i][k] = []byte{0, 1, 0xFF, 'a'}[r.IntN(4)]
			}
		}
		key := AppendSeriesKey(nil, 7, cols, tags)
		for i, id := range append(cols, 99) {
			var want []byte
			if i < len(tags) {
				want = tags[i]
			}
			got, present, err := TagOf(key, id, nil)
			if err != nil || present != (want != nil) || !bytes.Equal(got, want) {
				t.Fatalf("key %x, column %d: %x, %v, %v, want %x", key, id, got, present, err, want)
			}
		}
	}
}

// FuzzTagOf reads damaged keys: an error or what ParseSeriesKey says, never a panic.
func FuzzTagOf(f *testing.F) {
	f.Add(AppendSeriesKey(nil, 7, []ColumnID{1, 2}, [][]byte{[]byte("a\x00b"), {}}), uint32(1))
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 1, 0}, uint32(1))
	f.Fuzz(func(t *testing.T, key []byte, id uint32) {
		var want []byte
		found := false
		_, bad := ParseSeriesKey(key, func(c ColumnID, val []byte) {
			if c == ColumnID(id) && !found {
				want, found = bytes.Clone(val), true
			}
		})
		got, present, err := TagOf(key, ColumnID(id), nil)
		if bad == nil && (err != nil || present != found || !bytes.Equal(got, want)) {
			t.Fatalf("%x, %v, %v, want %x, %v", got, present, err, want, found)
		}
	})
}

// TestNamedNull holds that a tag that is NULL is told from one that the key does not name, and from an empty one.
func TestNamedNull(t *testing.T) {
	key := AppendKeyTag(KeyPrefix(7), 1, nil)
	key = AppendKeyNull(key, 2)
	key = AppendKeyTag(key, 3, []byte("\x00\x02"))
	for id, want := range map[ColumnID]string{1: `[] true`, 2: `nil true`, 3: `[0 2] true`, 4: `nil false`} {
		val, named, err := TagOf(key, id, nil)
		got := fmt.Sprint(val, named)
		if val == nil {
			got = fmt.Sprint("nil ", named)
		}
		if err != nil || got != want {
			t.Errorf("tag %d: got %s, want %s: %v", id, got, want, err)
		}
	}
	var parsed string
	if _, err := ParseSeriesKey(key, func(c ColumnID, val []byte) {
		parsed += fmt.Sprint(c, val == nil, val, " ")
	}); err != nil || parsed != "1 false [] 2 true [] 3 false [0 2] " {
		t.Errorf("parsed %q: %v", parsed, err)
	}
}
