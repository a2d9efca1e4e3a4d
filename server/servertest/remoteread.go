package servertest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"varve/server/protowire"
)

// ReadQuery is a query of remote read; matchers come as type, name, value.
func ReadQuery(from, to int64, matchers ...any) []byte {
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

// SeriesLine prints a series: of samples, or of chunks.
func SeriesLine(message []byte, chunks bool) string {
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

// ChunkedSeries are the series of a streamed answer, a line each, with the number of their query.
func (h *House) ChunkedSeries(a Answer) []string {
	h.Helper()
	if a.Status != 200 || a.Header.Get("Content-Type") !=
		"application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse" ||
		a.Header.Get("Content-Encoding") != "" {
		h.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	var lines []string
	for rest := []byte(a.Body); len(rest) > 0; {
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
				lines = append(lines, SeriesLine(f.Bytes, true))
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

// RemoteReadAnswer is a sampled answer in the form of the cases: for each query a list of
// {"labels":{..},"samples":[[value,ms],..]}.
func RemoteReadAnswer(a Answer) (any, error) {
	plain, err := s2.Decode(nil, []byte(a.Body))
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
