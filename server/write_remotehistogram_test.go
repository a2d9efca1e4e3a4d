package server

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"varve/server/protowire"
)

// histogramMessage is a histogram on the wire: fields are appended by the given functions.
func histogramMessage(number int, fields ...func(m []byte) []byte) []byte {
	return protowire.AppendMessage(nil, number, func(m []byte) []byte {
		for _, f := range fields {
			m = f(m)
		}
		return m
	})
}

func zig(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

func num(field int, x uint64) func([]byte) []byte {
	return func(m []byte) []byte { return protowire.AppendVarint(m, field, x) }
}

func real64(field int, x float64) func([]byte) []byte {
	return func(m []byte) []byte { return protowire.AppendDouble(m, field, x) }
}

func spans(field int, pairs ...int64) func([]byte) []byte {
	return func(m []byte) []byte {
		for i := 0; i < len(pairs); i += 2 {
			m = protowire.AppendMessage(m, field, func(s []byte) []byte {
				return protowire.AppendVarint(protowire.AppendVarint(s, 1, zig(pairs[i])), 2, uint64(pairs[i+1]))
			})
		}
		return m
	}
}

func deltas(field int, list ...int64) func([]byte) []byte {
	return func(m []byte) []byte {
		var packed []byte
		for _, x := range list {
			packed = binary.AppendUvarint(packed, zig(x))
		}
		return protowire.AppendBytes(m, field, packed)
	}
}

func doubles(field int, list ...float64) func([]byte) []byte {
	return func(m []byte) []byte {
		var packed []byte
		for _, x := range list {
			packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(x))
		}
		return protowire.AppendBytes(m, field, packed)
	}
}

// TestRemoteHistograms: native histograms of both kinds of counts and of bounds, by both versions, and what is refused.
func TestRemoteHistograms(t *testing.T) {
	at := num(15, 1000)
	whole := []func([]byte) []byte{num(1, 9), real64(3, 12.5), num(4, zig(1)), real64(5, 0.001), num(6, 1),
		spans(8, 0, 1), deltas(9, 2), spans(11, -1, 2, 1, 1), deltas(12, 1, 2, -1), num(14, 3), at}
	floats := []func([]byte) []byte{real64(2, 4.5), real64(3, 1), num(4, zig(0)), spans(11, 0, 2), doubles(13, 1.5, 3),
		at}
	custom := []func([]byte) []byte{num(1, 3), real64(3, 4), num(4, zig(-53)), spans(11, 0, 3), deltas(12, 1, 0, 0),
		doubles(16, 1, 2.5), at}
	for _, c := range []struct {
		name   string
		fields []func([]byte) []byte
		want   string // empty: refused
	}{
		{"integers", whole,
			`{"count":"9","sum":"12.5","buckets":[[1,"-1","-0.7071067811865475","2"],[3,"-0.001","0.001","1"],[0,"0.5","0.7071067811865475","1"],[0,"0.7071067811865475","1","3"],[0,"1.414213562373095","2","2"]]}`},
		{"floats", floats, `{"count":"4.5","sum":"1","buckets":[[0,"0.5","1","1.5"],[0,"1","2","3"]]}`},
		{"custom bounds", custom,
			`{"count":"3","sum":"4","buckets":[[3,"-Inf","1","1"],[0,"1","2.5","1"],[0,"2.5","+Inf","1"]]}`},
		{"a finer schema", []func([]byte) []byte{num(1, 10), num(4, zig(10)), real64(5, 0.001), num(6, 1),
			spans(8, 0, 1), deltas(9, 2), spans(11, -4, 5), deltas(12, 1, 0, 1, -1, 1), num(14, 3), at},
			`{"count":"10","sum":"0","buckets":[[1,"-1","-0.9972960560854698","2"],[3,"-0.001","0.001","1"],[0,"0.9945994234836328","0.9972960560854698","1"],[0,"0.9972960560854698","1","6"]]}`},
		{"the finest schema", []func([]byte) []byte{num(1, 2), num(4, zig(52)), spans(11, 0, 2), deltas(12, 1, 0), at},
			`{"count":"2","sum":"0","buckets":[[0,"0.9972960560854698","1","1"],[0,"1","1.0027112750502025","1"]]}`},
		{"a hint of a later version", append([]func([]byte) []byte{num(14, 9)}, floats...),
			`{"count":"4.5","sum":"1","buckets":[[0,"0.5","1","1.5"],[0,"1","2","3"]]}`},
		{"nothing", []func([]byte) []byte{at}, `{"count":"0","sum":"0"}`},
		{"too few counts", []func([]byte) []byte{num(1, 1), spans(11, 0, 3), deltas(12, 1), at}, ""},
		{"a span that lies", []func([]byte) []byte{num(1, 1), spans(11, 0, 1<<40), deltas(12, 1), at}, ""},
		{"negative count", []func([]byte) []byte{num(1, 1), spans(11, 0, 1), deltas(12, -1), at}, ""},
		{"spans go back", []func([]byte) []byte{num(1, 2), spans(11, 0, 1, -1, 1), deltas(12, 1, 0), at}, ""},
		{"count below its buckets", append([]func([]byte) []byte{num(1, 8)}, whole[1:]...), ""},
		{"count above its buckets", append([]func([]byte) []byte{num(1, 10)}, whole[1:]...), ""},
		{"no count", whole[1:], ""},
		{"some were NaN", append([]func([]byte) []byte{num(1, 10), real64(3, math.NaN())}, whole[2:]...),
			`{"count":"10","sum":"NaN","buckets":[[1,"-1","-0.7071067811865475","2"],[3,"-0.001","0.001","1"],[0,"0.5","0.7071067811865475","1"],[0,"0.7071067811865475","1","3"],[0,"1.414213562373095","2","2"]]}`},
		{"count below its buckets, some were NaN",
			append([]func([]byte) []byte{num(1, 8), real64(3, math.NaN())}, whole[2:]...), ""},
		{"bounds are not numbers", []func([]byte) []byte{num(4, zig(-53)), doubles(16, 1, math.NaN()), at}, ""},
		{"infinite bound", []func([]byte) []byte{num(4, zig(-53)), doubles(16, 1, math.Inf(1)), at}, ""},
		{"custom buckets and a zero bucket",
			[]func([]byte) []byte{num(1, 1), num(6, 1), num(4, zig(-53)), doubles(16, 1), at}, ""},
		{"more buckets than bounds", []func([]byte) []byte{num(1, 3), num(4, zig(-53)), spans(11, 0, 3),
			deltas(12, 1, 0, 0), doubles(16, 1), at}, ""},
		{"bounds of exponential buckets", []func([]byte) []byte{doubles(16, 1), at}, ""},
		{"schema too fine", []func([]byte) []byte{num(4, zig(53)), at}, ""},
		{"schema too coarse", []func([]byte) []byte{num(4, zig(-5)), at}, ""},
		{"sum of another kind", append([]func([]byte) []byte{num(3, 12)}, whole...), ""},
		{"count of another kind", append([]func([]byte) []byte{real64(1, 9)}, whole...), ""},
		{"spans of another kind", append([]func([]byte) []byte{num(11, 9)}, whole...), ""},
		{"time of another kind", append([]func([]byte) []byte{real64(15, 9)}, whole...), ""},
		{"bounds fall", []func([]byte) []byte{num(1, 1), num(4, zig(-53)), doubles(16, 2, 1), at}, ""},
		{"time", []func([]byte) []byte{num(1, 1), num(15, 1<<62)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, nil)
			labels := message1([]string{"__name__", "lat", "l", "v"})[2:]
			one := protowire.AppendMessage(nil, 1,
				func(m []byte) []byte { return append(append(m, labels...), histogramMessage(4, c.fields...)...) })
			two := request2([]string{"", "__name__", "lat", "l", "v"}, func(m []byte) []byte {
				m = append(refs(m, 1, 2, 3, 4), histogramMessage(3, append(c.fields, num(17, 500))...)...)
				return m
			})
			status, written := 204, "1"
			if c.want == "" {
				status, written = 400, "0"
			}
			h.want(h.do("POST", writePath, snap(one)), status, "")
			a := h.do("POST", writePath, two, "Content-Type",
				"application/x-protobuf;proto=io.prometheus.write.v2.Request")
			h.want(a, status, "")
			if got := a.header.Get("X-Prometheus-Remote-Write-Histograms-Written"); got != written {
				t.Errorf("%s histograms written, want %s", got, written)
			}
			if c.want == "" { // nothing of it is stored, not even a table
				h.want(h.do("GET", "/v1/metricsapi/api/v1/label/__name__/values", ""), 200, `"data":[]`)
				return
			}
			h.want(h.do("GET", "/v1/metricsapi/api/v1/query?query=lat&time=1", ""), 200,
				`"result":[{"metric":{"__name__":"lat","l":"v"},"histogram":[1,`+c.want+`]}]`)
			if got := fmt.Sprint(h.selected("SELECT service_start_timestamp, service_value FROM lat")); got !=
				"[[500 <nil>]]" {
				t.Errorf("stored %s", got)
			}
		})
	}
}
