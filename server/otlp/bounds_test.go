package otlp

import (
	"fmt"
	"strings"
	"testing"

	"varve/server/protowire"
)

// wide is a request of n items in a resource whose one attribute has so many bytes.
func wide(bytes, n int, item []byte) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendMessage(m, 1, func(r []byte) []byte {
			return protowire.AppendMessage(r, 1, func(a []byte) []byte {
				return protowire.AppendMessage(protowire.AppendBytes(a, 1, "service.name"), 2, func(v []byte) []byte {
					return protowire.AppendBytes(v, 1, strings.Repeat("x", bytes))
				})
			})
		})
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			for range n {
				s = protowire.AppendBytes(s, 2, item)
			}
			return s
		})
	})
}

// TestRowsAreCounted: small records that each have all of a large resource are refused before they take memory, and told of as they are read.
func TestRowsAreCounted(t *testing.T) {
	const size, limit = 64 << 10, 4 << 20
	for signal, item := range [][]byte{protowire.AppendBytes(nil, 1, "m"), {}, {}} {
		t.Run([]string{"metrics", "traces", "logs"}[signal], func(t *testing.T) {
			h := handler(t)
			h.o.RowBytes = limit
			body := wide(size, 1000, item)
			if signal == 0 { // a series for each point
				var metric []byte
				metric = protowire.AppendBytes(metric, 1, "m")
				metric = protowire.AppendMessage(metric, 5, func(g []byte) []byte {
					for i := range 1000 {
						g = protowire.AppendMessage(g, 1, func(p []byte) []byte {
							p = protowire.AppendMessage(p, 7, func(a []byte) []byte {
								return protowire.AppendMessage(protowire.AppendBytes(a, 1, "i"), 2, func(v []byte) []byte { return protowire.AppendBytes(v, 1, fmt.Sprint(i)) })
							})
							return protowire.AppendDouble(p, 4, 1)
						})
					}
					return g
				})
				body = wide(size, 1, metric)
			}
			var told int64
			o, _, err := decodeHeld(t, h, signal, body, func(bytes int64) error { told = max(told, bytes); return nil })
			if err == nil || !strings.Contains(err.Error(), "send fewer at a time") {
				t.Fatalf("%v, %v", o, err)
			}
			if told < limit/2 || told > limit+2<<20 {
				t.Errorf("told of %d bytes, the limit is %d", told, limit)
			}
		})
	}
}
