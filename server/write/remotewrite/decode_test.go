package remotewrite

import (
	"bytes"
	"testing"

	"varve/server/protowire"
	"varve/server/write/rows/samples"
)

// TestManyLabels: a label takes two bytes in a message and far more in memory.
func TestManyLabels(t *testing.T) {
	var w request
	list, err := w.labels1(bytes.Repeat([]byte{1<<3 | 2, 0}, 1<<20))
	if err != nil || len(list) != samples.MaxLabels+1 {
		t.Errorf("%d labels, %v", len(list), err)
	}
}

// FuzzWrite: any bytes are a request or an error, of each version.
func FuzzWrite(f *testing.F) {
	f.Add(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(l, 1, "__name__"), 2, "up")
		})
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(protowire.AppendDouble(s, 1, 1), 2, 1000)
		})
	}))
	f.Fuzz(func(t *testing.T, body []byte) {
		tables := samples.New(samples.Options{CacheBytes: 1 << 20})
		for _, version := range []int{1, 2} {
			w := &request{h: &Handler{tables: tables}, db: "public", version: version,
				hold: func(int64) error { return nil }}
			if err := w.search(body); err == nil && len(w.series) > len(body) {
				t.Errorf("%d series in %d bytes", len(w.series), len(body))
			}
		}
	})
}
