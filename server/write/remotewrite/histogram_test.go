package remotewrite_test

import (
	"fmt"
	"math"
	"testing"

	"varve/server/protowire"
	"varve/server/servertest"
)

// TestRemoteHistograms: native histograms of both kinds of counts and of bounds, by both versions, and what is refused.
func TestRemoteHistograms(t *testing.T) {
	at := servertest.Varint(15, 1000)
	whole := []func([]byte) []byte{servertest.Varint(1, 9), servertest.Double(3, 12.5),
		servertest.Varint(4, servertest.ZigZag(1)), servertest.Double(5, 0.001), servertest.Varint(6,
			1), servertest.Spans(8, 0, 1), servertest.Deltas(9, 2), servertest.Spans(
			11, -1, 2, 1, 1), servertest.Deltas(12, 1, 2, -1), servertest.Varint(14, 3), at}
	floats := []func([]byte) []byte{servertest.Double(2, 4.5), servertest.Double(3, 1),
		servertest.Varint(4, servertest.ZigZag(0)), servertest.Spans(11, 0, 2), servertest.Doubles(13, 1.5, 3), at}
	custom := []func([]byte) []byte{servertest.Varint(1, 3), servertest.Double(3, 4),
		servertest.Varint(4, servertest.ZigZag(-53)), servertest.Spans(11, 0, 3), servertest.Deltas(12, 1, 0,
			0), servertest.Doubles(16, 1, 2.5), at}
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
		{"a finer schema", []func([]byte) []byte{servertest.Varint(1, 10), servertest.Varint(4, servertest.ZigZag(10)),
			servertest.Double(5, 0.001), servertest.Varint(6, 1), servertest.Spans(8, 0, 1), servertest.Deltas(9,
				2), servertest.Spans(11, -4, 5), servertest.Deltas(12, 1, 0, 1, -1, 1), servertest.Varint(14, 3), at},
			`{"count":"10","sum":"0","buckets":[[1,"-1","-0.9972960560854698","2"],[3,"-0.001","0.001","1"],[0,"0.9945994234836328","0.9972960560854698","1"],[0,"0.9972960560854698","1","6"]]}`},
		{"the finest schema", []func([]byte) []byte{servertest.Varint(1, 2),
			servertest.Varint(4, servertest.ZigZag(52)), servertest.Spans(11, 0, 2), servertest.Deltas(12, 1, 0), at}, `{"count":"2","sum":"0","buckets":[[0,"0.9972960560854698","1","1"],[0,"1","1.0027112750502025","1"]]}`},
		{"a hint of a later version", append([]func([]byte) []byte{servertest.Varint(14, 9)}, floats...),
			`{"count":"4.5","sum":"1","buckets":[[0,"0.5","1","1.5"],[0,"1","2","3"]]}`},
		{"nothing", []func([]byte) []byte{at}, `{"count":"0","sum":"0"}`},
		{"too few counts", []func([]byte) []byte{servertest.Varint(1, 1), servertest.Spans(11, 0, 3),
			servertest.Deltas(12, 1), at}, ""},
		{"a span that lies", []func([]byte) []byte{servertest.Varint(1, 1), servertest.Spans(11, 0, 1<<40),
			servertest.Deltas(12, 1), at}, ""},
		{"negative count", []func([]byte) []byte{servertest.Varint(1, 1), servertest.Spans(11, 0, 1),
			servertest.Deltas(12, -1), at}, ""},
		{"spans go back", []func([]byte) []byte{servertest.Varint(1, 2), servertest.Spans(11, 0, 1, -1, 1),
			servertest.Deltas(12, 1, 0), at}, ""},
		{"count below its buckets", append([]func([]byte) []byte{servertest.Varint(1, 8)}, whole[1:]...), ""},
		{"count above its buckets", append([]func([]byte) []byte{servertest.Varint(1, 10)}, whole[1:]...), ""},
		{"no count", whole[1:], ""},
		{"some were NaN", append([]func([]byte) []byte{servertest.Varint(1, 10), servertest.Double(3, math.NaN())},
			whole[2:]...), `{"count":"10","sum":"NaN","buckets":[[1,"-1","-0.7071067811865475","2"],[3,"-0.001","0.001","1"],[0,"0.5","0.7071067811865475","1"],[0,"0.7071067811865475","1","3"],[0,"1.414213562373095","2","2"]]}`},
		{"count below its buckets, some were NaN",
			append([]func([]byte) []byte{servertest.Varint(1, 8), servertest.Double(3, math.NaN())}, whole[2:]...), ""},
		{"bounds are not numbers", []func([]byte) []byte{servertest.Varint(4, servertest.ZigZag(-53)),
			servertest.Doubles(16, 1, math.NaN()), at}, ""},
		{"infinite bound", []func([]byte) []byte{servertest.Varint(4, servertest.ZigZag(-53)),
			servertest.Doubles(16, 1, math.Inf(1)), at}, ""},
		{"custom buckets and a zero bucket",
			[]func([]byte) []byte{servertest.Varint(1, 1), servertest.Varint(6, 1),
				servertest.Varint(4, servertest.ZigZag(-53)), servertest.Doubles(16, 1), at}, ""},
		{"more buckets than bounds", []func([]byte) []byte{servertest.Varint(1, 3),
			servertest.Varint(4, servertest.ZigZag(-53)), servertest.Spans(11, 0, 3), servertest.Deltas(12, 1, 0,
				0), servertest.Doubles(16, 1), at}, ""},
		{"bounds of exponential buckets", []func([]byte) []byte{servertest.Doubles(16, 1), at}, ""},
		{"schema too fine", []func([]byte) []byte{servertest.Varint(4, servertest.ZigZag(53)), at}, ""},
		{"schema too coarse", []func([]byte) []byte{servertest.Varint(4, servertest.ZigZag(-5)), at}, ""},
		{"sum of another kind", append([]func([]byte) []byte{servertest.Varint(3, 12)}, whole...), ""},
		{"count of another kind", append([]func([]byte) []byte{servertest.Double(1, 9)}, whole...), ""},
		{"spans of another kind", append([]func([]byte) []byte{servertest.Varint(11, 9)}, whole...), ""},
		{"time of another kind", append([]func([]byte) []byte{servertest.Double(15, 9)}, whole...), ""},
		{"bounds fall", []func([]byte) []byte{servertest.Varint(1, 1), servertest.Varint(4, servertest.ZigZag(-53)),
			servertest.Doubles(16, 2, 1), at}, ""},
		{"time", []func([]byte) []byte{servertest.Varint(1, 1), servertest.Varint(15, 1<<62)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			labels := servertest.Message1([]string{"__name__", "lat", "l", "v"})[2:]
			one := protowire.AppendMessage(nil, 1,
				func(m []byte) []byte {
					return append(append(m, labels...), servertest.HistogramMessage(4, c.fields...)...)
				})
			two := servertest.Request2([]string{"", "__name__", "lat", "l", "v"}, func(m []byte) []byte {
				m = append(servertest.Refs(m, 1, 2, 3, 4),
					servertest.HistogramMessage(3, append(c.fields, servertest.Varint(17, 500))...)...)
				return m
			})
			status, written := 204, "1"
			if c.want == "" {
				status, written = 400, "0"
			}
			h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(one)), status, "")
			a := h.Do("POST", servertest.WritePath, two, "Content-Type",
				"application/x-protobuf;proto=io.prometheus.write.v2.Request")
			h.Want(a, status, "")
			if got := a.Header.Get("X-Prometheus-Remote-Write-Histograms-Written"); got != written {
				t.Errorf("%s histograms written, want %s", got, written)
			}
			if c.want == "" { // nothing of it is stored, not even a table
				h.Want(h.Do("GET", "/v1/metricsapi/api/v1/label/__name__/values", ""), 200, `"data":[]`)
				return
			}
			h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query?query=lat&time=1", ""), 200,
				`"result":[{"metric":{"__name__":"lat","l":"v"},"histogram":[1,`+c.want+`]}]`)
			if got := fmt.Sprint(h.Selected("SELECT service_start_timestamp, service_value FROM lat")); got !=
				"[[500 <nil>]]" {
				t.Errorf("stored %s", got)
			}
		})
	}
}
