package metricsapi

import (
	"testing"

	"varve/server/protowire"
)

// FuzzRead: any bytes are a request of remote read or an error.
func FuzzRead(f *testing.F) {
	f.Add(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendVarint(protowire.AppendVarint(m, 1, 1), 2, 9)
		return protowire.AppendMessage(m, 3, func(l []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(l, 1, 2), 2, "job"), 3, "a.*")
		})
	}))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := decodeRead(body); err == nil && len(r.queries) > len(body) {
			t.Errorf("%d queries in %d bytes", len(r.queries), len(body))
		}
	})
}
