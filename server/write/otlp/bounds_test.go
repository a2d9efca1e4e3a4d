package otlp

import (
	"bytes"
	"fmt"
	"slices"
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

// TestRowsAreCounted: small records that each have all of a large resource are refused before they take memory, and
// told of as they are read.
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
								return protowire.AppendMessage(protowire.AppendBytes(a, 1, "i"), 2,
									func(v []byte) []byte { return protowire.AppendBytes(v, 1, fmt.Sprint(i)) })
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

// TestListsAreBounded: what takes two bytes in a message and far more in memory has a bound.
func TestListsAreBounded(t *testing.T) {
	wrap := func(body []byte, numbers ...int) []byte {
		for _, number := range slices.Backward(numbers) {
			body = protowire.AppendBytes(nil, number, body)
		}
		return body
	}
	many := func(number, n int) []byte { return bytes.Repeat(protowire.AppendBytes(nil, number, ""), n) }
	for _, c := range []struct {
		name   string
		signal int
		body   []byte
		want   string
	}{
		{"attributes of a record", 2, wrap(many(6, maxListed+1), 1, 2, 2), errListed.Error()},
		{"attributes of a resource", 2, wrap(many(1, maxListed+1), 1, 1), errListed.Error()},
		{"attributes of an event", 1, wrap(many(3, maxListed+1), 1, 2, 2, 11), errListed.Error()},
		{"attributes of a point", 0,
			wrap(append(wrap([]byte("m"), 1), wrap(protowire.AppendDouble(many(7, maxListed+1), 4, 1), 5, 1)...), 1, 2,
				2), errListed.Error()},
		{"members of a body", 2, wrap(many(1, maxListed+1), 1, 2, 2, 5, 6), errListed.Error()},
		{"values of an array", 2, wrap(many(1, maxValue/2+1), 1, 2, 2, 5, 5), errLong.Error()},
		{"bytes of an attribute", 1, wrap(make([]byte, maxValue+1), 1, 2, 2, 9, 2, 7), errLong.Error()},
		{"events of a span", 1, wrap(many(11, 1_000_000), 1, 2, 2), "send fewer at a time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := handler(t)
			h.o.RowBytes = 64 << 20
			o, _, err := decodeHeld(t, h, c.signal, c.body, func(int64) error { return nil })
			if text := fmt.Sprint(err, o.fault); !strings.Contains(text, c.want) {
				t.Errorf("%.300s, want %s", text, c.want)
			}
		})
	}
}
