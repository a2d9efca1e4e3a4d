package metricsapi_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"varve/server/protowire"
	"varve/server/servertest"
)

const readPath = "/v1/metricsapi/read"

// sampledSeries are the series of a sampled answer, a line each, the results of queries apart.
func sampledSeries(h *servertest.House, a servertest.Answer) []string {
	h.Helper()
	if a.Status != 200 || a.Header.Get("Content-Type") != "application/x-protobuf" ||
		a.Header.Get("Content-Encoding") != "snappy" {
		h.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	plain, err := s2.Decode(nil, []byte(a.Body))
	if err != nil {
		h.Fatal(err)
	}
	var lines []string
	for f := protowire.Of(plain); f.Next(); {
		lines = append(lines, "result")
		for series := protowire.Of(f.Bytes); series.Next(); {
			lines = append(lines, servertest.SeriesLine(series.Bytes, false))
		}
	}
	return lines
}

// TestRemoteRead: both forms of answers, matchers of every kind, both ends of the time.
func TestRemoteRead(t *testing.T) {
	h := servertest.Real(t, nil)
	stale := math.Float64frombits(0x7ff0000000000002)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1([]string{"__name__", "up", "job",
		"b"}, 1, stale, 3), servertest.Message1(servertest.Up, 4), servertest.Message1(
		[]string{"__name__", "down", "job", "b", "a", "first"}, 5))), 204, "")
	ask := func(parts ...[]byte) servertest.Answer { return h.Do("POST", readPath, servertest.Snappy(parts...)) }
	kinds := func(list ...uint64) []byte {
		var packed []byte
		for _, k := range list {
			packed = binary.AppendUvarint(packed, k)
		}
		return protowire.AppendBytes(nil, 2, packed)
	}
	upB, upX, down := "__name__=up job=b 1000:3ff0000000000000 2000:7ff0000000000002 3000:4008000000000000",
		"__name__=up job=x 1000:4010000000000000", "__name__=down a=first job=b 1000:4014000000000000"
	for _, c := range []struct {
		name  string
		query []byte
		want  []string
	}{
		{"by name", servertest.ReadQuery(0, 5000, 0, "__name__", "up"), []string{upB, upX}},
		{"both ends count", servertest.ReadQuery(2000, 3000, 0, "__name__", "up"),
			[]string{"__name__=up job=b 2000:7ff0000000000002 3000:4008000000000000"}},
		{"unlike", servertest.ReadQuery(0, 5000, 0, "__name__", "up", 1, "job", "b"), []string{upX}},
		{"pattern", servertest.ReadQuery(0, 5000, 2, "__name__", "u.|nothing", 3, "job", "[^b]"), []string{upB}},
		{"any name", servertest.ReadQuery(0, 5000, 0, "job", "b"), []string{down, upB}},
		{"a pattern of names", servertest.ReadQuery(0, 5000, 3, "__name__", "up"), []string{down}},
		{"unknown", servertest.ReadQuery(0, 5000, 0, "__name__", "nothing"), nil},
		{"backwards", servertest.ReadQuery(5000, 0, 0, "__name__", "up"), nil},
	} {
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		got := sampledSeries(h, ask(c.query))
		if len(got) != len(want)+1 {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, g := range got[1:] {
			if !want[g] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		streamed := h.ChunkedSeries(ask(c.query, kinds(1, 0)))
		if len(streamed) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, streamed, c.want)
		}
		for i := range streamed {
			if i < len(c.want) && streamed[i] != "0 "+c.want[i] {
				t.Errorf("%s: series %d streamed is %q, want %q", c.name, i, streamed[i], c.want[i])
			}
		}
	}
	two := h.ChunkedSeries(ask(servertest.ReadQuery(0, 5000, 0, "__name__", "down"),
		servertest.ReadQuery(0, 1000, 0, "__name__", "up"), kinds(9, 1)))
	if fmt.Sprintf("%q", two) != fmt.Sprintf("%q",
		[]string{"0 " + down, "1 __name__=up job=b 1000:3ff0000000000000", "1 " + upX}) {
		t.Errorf("two queries: %q", two)
	}
	if got := sampledSeries(h, ask(servertest.ReadQuery(0, 5000, 0, "__name__", "down"),
		servertest.ReadQuery(0, 5000, 0, "__name__", "nothing"), kinds(0, 1))); len(got) != 3 {
		t.Errorf("a result for each query: %q", got)
	}
	h.Want(ask(servertest.ReadQuery(0, 1, 0, "__name__", "up"), kinds(7)), 400, "any of the requested response types")
	h.Want(ask(servertest.ReadQuery(0, 1, 2, "__name__", "(")), 400, "Invalid prometheus remote request")
	h.Want(ask(servertest.ReadQuery(0, 1, 9, "__name__", "x")), 400, "matcher of type 9")
	h.Want(h.Do("POST", readPath, "nonsense"), 400, "Failed to decompress snappy")

	// What is a histogram goes as one, in samples and in chunks.
	lat := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return append(append(m, servertest.Message1([]string{"__name__", "lat"})[2:]...),
			servertest.HistogramMessage(4, servertest.Varint(1, 1), servertest.Varint(6, 1),
				servertest.Varint(15, 1000))...)
	})
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(lat)), 204, "")
	if got := sampledSeries(h, ask(servertest.ReadQuery(0, 5000, 0, "__name__", "lat"), kinds(0, 1))); len(got) != 2 ||
		got[1] != "__name__=lat histogram" {
		t.Errorf("a histogram: %q", got)
	}
	if got := h.ChunkedSeries(ask(servertest.ReadQuery(0, 5000, 0, "__name__", "lat"), kinds(1, 0))); len(got) != 1 ||
		!strings.Contains(got[0], "__name__=lat 1000:histogram of 1") {
		t.Errorf("a histogram in chunks: %q", got)
	}
}

// TestRemoteReadOfClients: requests of a real server for what it wrote.
func TestRemoteReadOfClients(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, name := range []string{"remotewrite-prometheus.bin", "remoteread-prometheus-1.bin",
		"remoteread-prometheus-2.bin"} {
		body := servertest.Payload(t, name)
		if strings.HasPrefix(name, "remotewrite") {
			h.Want(h.Do("POST", servertest.WritePath, string(body), "Content-Type", "application/x-protobuf",
				"Content-Encoding", "snappy"), 204, "")
			continue
		}
		a := h.Do("POST", readPath, string(body), "Content-Type", "application/x-protobuf", "Content-Encoding",
			"snappy")
		if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/x-") {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
}

// TestLongSeriesIsReadInFrames: a series of more than a frame comes in several.
func TestLongSeriesIsReadInFrames(t *testing.T) {
	h := servertest.Real(t, nil)
	const n = 200_000
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Sqrt(float64(i))
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, values...))), 204,
		"")
	got := h.ChunkedSeries(h.Do("POST", readPath,
		servertest.Snappy(servertest.ReadQuery(0, math.MaxInt64/2, 0, "__name__", "up"),
			protowire.AppendVarint(nil, 2, 1))))
	samples := 0
	for _, line := range got {
		samples += strings.Count(line, ":")
	}
	if len(got) < 2 || samples != n {
		t.Errorf("%d frames with %d samples, want %d", len(got), samples, n)
	}
}
