package server

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"varve/server/protowire"
)

const readPath = "/v1/metricsapi/read"

// readQuery is a query of remote read; matchers come as type, name, value.
func readQuery(from, to int64, matchers ...any) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendVarint(protowire.AppendVarint(m, 1, uint64(from)), 2, uint64(to))
		for i := 0; i < len(matchers); i += 3 {
			m = protowire.AppendMessage(m, 3, func(s []byte) []byte {
				s = protowire.AppendVarint(s, 1, uint64(matchers[i].(int)))
				return protowire.AppendBytes(protowire.AppendBytes(s, 2, matchers[i+1].(string)), 3,
					matchers[i+2].(string))
			})
		}
		return m
	})
}

// sampledSeries are the series of a sampled answer, a line each, the results of queries apart.
func (h *house) sampledSeries(a answer) []string {
	h.Helper()
	if a.status != 200 || a.header.Get("Content-Type") != "application/x-protobuf" ||
		a.header.Get("Content-Encoding") != "snappy" {
		h.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	plain, err := s2.Decode(nil, []byte(a.body))
	if err != nil {
		h.Fatal(err)
	}
	var lines []string
	for f := protowire.Of(plain); f.Next(); {
		lines = append(lines, "result")
		for series := protowire.Of(f.Bytes); series.Next(); {
			lines = append(lines, seriesLine(series.Bytes, false))
		}
	}
	return lines
}

// seriesLine prints a series: of samples, or of chunks.
func seriesLine(message []byte, chunks bool) string {
	var b strings.Builder
	for f := protowire.Of(message); f.Next(); {
		in := protowire.Of(f.Bytes)
		switch {
		case f.Number == 1:
			for in.Next() {
				b.Write(in.Bytes)
				b.WriteString(map[int]string{1: "=", 2: " "}[in.Number])
			}
		case f.Number == 2 && chunks:
			encoding := uint64(0)
			for in.Next() {
				if in.Number == 3 {
					encoding = in.Value
				}
				if in.Number != 4 {
					continue
				}
				c, err := chunkenc.FromData(chunkenc.Encoding(encoding), in.Bytes)
				if err != nil {
					return err.Error()
				}
				for it := c.Iterator(nil); ; {
					kind := it.Next()
					if kind == chunkenc.ValNone {
						break
					}
					if kind != chunkenc.ValFloat {
						at, h := it.AtFloatHistogram(nil)
						fmt.Fprintf(&b, "%d:histogram of %v ", at, h.Count)
						continue
					}
					at, v := it.At()
					fmt.Fprintf(&b, "%d:%x ", at, math.Float64bits(v))
				}
			}
		case f.Number == 2:
			var v, at uint64
			for in.Next() {
				if in.Number == 1 {
					v = in.Value
				} else {
					at = in.Value
				}
			}
			fmt.Fprintf(&b, "%d:%x ", int64(at), v)
		case f.Number == 4:
			b.WriteString("histogram ")
		}
	}
	return strings.TrimSpace(b.String())
}

// chunkedSeries are the series of a streamed answer, a line each, with the number of their query.
func (h *house) chunkedSeries(a answer) []string {
	h.Helper()
	if a.status != 200 || a.header.Get("Content-Type") !=
		"application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse" ||
		a.header.Get("Content-Encoding") != "" {
		h.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	var lines []string
	for rest := []byte(a.body); len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || uint64(len(rest)) < size+4+uint64(n) {
			h.Fatalf("a frame of %d bytes, %d are left", size, len(rest))
		}
		sum, frame := binary.BigEndian.Uint32(rest[n:]), rest[n+4:n+4+int(size)]
		if crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)) != sum {
			h.Fatal("a frame's checksum is wrong")
		}
		rest = rest[n+4+int(size):]
		query, from := uint64(0), len(lines)
		for f := protowire.Of(frame); f.Next(); {
			if f.Number == 1 {
				lines = append(lines, seriesLine(f.Bytes, true))
			} else {
				query = f.Value
			}
		}
		if len(lines) != from+1 {
			h.Fatalf("a frame has %d series: clients read the first only", len(lines)-from)
		}
		for i := from; i < len(lines); i++ {
			lines[i] = fmt.Sprint(query, " ", lines[i])
		}
	}
	return lines
}

// TestRemoteRead: both forms of answers, matchers of every kind, both ends of the time.
func TestRemoteRead(t *testing.T) {
	h := real(t, nil)
	stale := math.Float64frombits(0x7ff0000000000002)
	h.want(h.do("POST", writePath, snap(message1([]string{"__name__", "up", "job", "b"}, 1, stale, 3), message1(up, 4),
		message1([]string{"__name__", "down", "job", "b", "a", "first"}, 5))), 204, "")
	ask := func(parts ...[]byte) answer { return h.do("POST", readPath, snap(parts...)) }
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
		{"by name", readQuery(0, 5000, 0, "__name__", "up"), []string{upB, upX}},
		{"both ends count", readQuery(2000, 3000, 0, "__name__", "up"),
			[]string{"__name__=up job=b 2000:7ff0000000000002 3000:4008000000000000"}},
		{"unlike", readQuery(0, 5000, 0, "__name__", "up", 1, "job", "b"), []string{upX}},
		{"pattern", readQuery(0, 5000, 2, "__name__", "u.|nothing", 3, "job", "[^b]"), []string{upB}},
		{"any name", readQuery(0, 5000, 0, "job", "b"), []string{down, upB}},
		{"a pattern of names", readQuery(0, 5000, 3, "__name__", "up"), []string{down}},
		{"unknown", readQuery(0, 5000, 0, "__name__", "nothing"), nil},
		{"backwards", readQuery(5000, 0, 0, "__name__", "up"), nil},
	} {
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		got := h.sampledSeries(ask(c.query))
		if len(got) != len(want)+1 {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, g := range got[1:] {
			if !want[g] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		streamed := h.chunkedSeries(ask(c.query, kinds(1, 0)))
		if len(streamed) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, streamed, c.want)
		}
		for i := range streamed {
			if i < len(c.want) && streamed[i] != "0 "+c.want[i] {
				t.Errorf("%s: series %d streamed is %q, want %q", c.name, i, streamed[i], c.want[i])
			}
		}
	}
	two := h.chunkedSeries(ask(readQuery(0, 5000, 0, "__name__", "down"), readQuery(0, 1000, 0, "__name__", "up"),
		kinds(9, 1)))
	if fmt.Sprintf("%q", two) != fmt.Sprintf("%q",
		[]string{"0 " + down, "1 __name__=up job=b 1000:3ff0000000000000", "1 " + upX}) {
		t.Errorf("two queries: %q", two)
	}
	if got := h.sampledSeries(ask(readQuery(0, 5000, 0, "__name__", "down"),
		readQuery(0, 5000, 0, "__name__", "nothing"), kinds(0, 1))); len(got) != 3 {
		t.Errorf("a result for each query: %q", got)
	}
	h.want(ask(readQuery(0, 1, 0, "__name__", "up"), kinds(7)), 400, "any of the requested response types")
	h.want(ask(readQuery(0, 1, 2, "__name__", "(")), 400, "Invalid prometheus remote request")
	h.want(ask(readQuery(0, 1, 9, "__name__", "x")), 400, "matcher of type 9")
	h.want(h.do("POST", readPath, "nonsense"), 400, "Failed to decompress snappy")

	// What is a histogram goes as one, in samples and in chunks.
	lat := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return append(append(m, message1([]string{"__name__", "lat"})[2:]...),
			histogramMessage(4, num(1, 1), num(6, 1), num(15, 1000))...)
	})
	h.want(h.do("POST", writePath, snap(lat)), 204, "")
	if got := h.sampledSeries(ask(readQuery(0, 5000, 0, "__name__", "lat"), kinds(0, 1))); len(got) != 2 ||
		got[1] != "__name__=lat histogram" {
		t.Errorf("a histogram: %q", got)
	}
	if got := h.chunkedSeries(ask(readQuery(0, 5000, 0, "__name__", "lat"), kinds(1, 0))); len(got) != 1 ||
		!strings.Contains(got[0], "__name__=lat 1000:histogram of 1") {
		t.Errorf("a histogram in chunks: %q", got)
	}
}

// TestRemoteReadOfClients: requests of a real server for what it wrote.
func TestRemoteReadOfClients(t *testing.T) {
	h := real(t, nil)
	for _, name := range []string{"remotewrite-prometheus.bin", "remoteread-prometheus-1.bin",
		"remoteread-prometheus-2.bin"} {
		body, err := os.ReadFile("testdata/payloads/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "remotewrite") {
			h.want(h.do("POST", writePath, string(body), "Content-Type", "application/x-protobuf", "Content-Encoding",
				"snappy"), 204, "")
			continue
		}
		a := h.do("POST", readPath, string(body), "Content-Type", "application/x-protobuf", "Content-Encoding",
			"snappy")
		if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "application/x-") {
			t.Errorf("%s: %d %v %s", name, a.status, a.header, a.body)
		}
	}
}

// TestLongSeriesIsReadInFrames: a series of more than a frame comes in several.
func TestLongSeriesIsReadInFrames(t *testing.T) {
	h := real(t, nil)
	const n = 200_000
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Sqrt(float64(i))
	}
	h.want(h.do("POST", writePath, snap(message1(up, values...))), 204, "")
	got := h.chunkedSeries(h.do("POST", readPath,
		snap(readQuery(0, math.MaxInt64/2, 0, "__name__", "up"), protowire.AppendVarint(nil, 2, 1))))
	samples := 0
	for _, line := range got {
		samples += strings.Count(line, ":")
	}
	if len(got) < 2 || samples != n {
		t.Errorf("%d frames with %d samples, want %d", len(got), samples, n)
	}
}

// remoteReadAnswer is a sampled answer in the form of the cases: for each query a list of
// {"labels":{..},"samples":[[value,ms],..]}.
func remoteReadAnswer(a answer) (any, error) {
	plain, err := s2.Decode(nil, []byte(a.body))
	if err != nil {
		return nil, err
	}
	var results []any
	for f := protowire.Of(plain); f.Next(); {
		list := []any{}
		for in := protowire.Of(f.Bytes); in.Next(); {
			list = append(list, remoteReadSeries(in.Bytes))
		}
		results = append(results, list)
	}
	return results, nil
}

func remoteReadSeries(message []byte) any {
	labels, samples := map[string]any{}, []any{}
	for f := protowire.Of(message); f.Next(); {
		var texts [3]string
		var value float64
		var at int64
		for in := protowire.Of(f.Bytes); in.Next(); {
			switch {
			case f.Number == 1:
				texts[in.Number] = string(in.Bytes)
			case in.Number == 1:
				value = in.Double()
			default:
				at = in.Int()
			}
		}
		if f.Number == 1 {
			labels[texts[1]] = texts[2]
		} else {
			samples = append(samples, []any{value, float64(at)})
		}
	}
	return map[string]any{"labels": labels, "samples": samples}
}
