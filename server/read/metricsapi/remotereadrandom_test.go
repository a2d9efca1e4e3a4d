package metricsapi_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"varve/server/protowire"
	"varve/server/servertest"
)

// readSample is a sample as it was sent and as it is to come back: its time, its message, and what is in it as text.
type readSample struct {
	at      int64
	message []byte // as a field of a series
	text    string
}

// readSeries is a series that a random test wrote.
type readSeries struct {
	labels  labels.Labels
	samples []readSample
}

// randomFloat is a float sample: often a plain number, else one whose bits are easily lost.
func randomFloat(r *rand.Rand, at int64) readSample {
	v := float64(r.IntN(1000)) / 8
	switch r.IntN(20) {
	case 0:
		v = math.Float64frombits(0x7ff0000000000002) // the staleness marker
	case 1:
		v = math.Float64frombits(0x7ff8000000000abc)
	case 2:
		v = []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, 5e-324}[r.IntN(5)]
	case 3, 4:
		v = r.NormFloat64() * 1e10
	}
	message := protowire.AppendMessage(nil, 2, func(s []byte) []byte {
		return protowire.AppendVarint(protowire.AppendDouble(s, 1, v), 2, uint64(at))
	})
	return readSample{at, message, fmt.Sprintf("%d:%x", at, math.Float64bits(v))}
}

// The kinds of histograms.
const (
	integerBuckets = iota
	floatBuckets
	customBuckets
	staleHistogram
	histogramKinds
)

// randomHistogram is a histogram sample of a kind.
func randomHistogram(r *rand.Rand, at int64, kind int) readSample {
	fields := []func([]byte) []byte{servertest.Varint(15, uint64(at)), servertest.Varint(14, uint64(r.IntN(4)))}
	if kind == staleHistogram {
		stale := servertest.Double(3, math.Float64frombits(0x7ff0000000000002))
		return readSample{at, servertest.HistogramMessage(4, append(fields, stale)...), fmt.Sprintf("%d:stale", at)}
	}
	schema, threshold, zero, sum := int64(r.IntN(13)-4), []float64{0, 0.001, 0.5, 1e-128, 3}[r.IntN(5)],
		float64(r.IntN(5)), r.NormFloat64()
	var bounds []float64
	if kind == customBuckets {
		schema, threshold, zero = -53, 0, 0
		width := []float64{0.001, 0.1, math.Pi, 1.1}[r.IntN(4)]
		for i := range 20 {
			bounds = append(bounds, float64(i)*width)
		}
		fields = append(fields, servertest.Doubles(16, bounds...))
	}
	count, text := zero, ""
	side := func(first int) { // the number of the field with its spans
		index, before := int64(0), int64(0)
		var list []int64
		var given []float64
		for i := range r.IntN(4) {
			offset, length := int64(r.IntN(4)), int64(r.IntN(3))
			if i == 0 && kind != customBuckets {
				offset -= 2
			}
			fields = append(fields, servertest.Spans(first, offset, length))
			index += offset
			for range length {
				n := int64(r.IntN(50))
				list, given = append(list, n-before), append(given, float64(n))
				text += fmt.Sprintf(" %d:%d=%v", first, index, float64(n))
				count += float64(n)
				before = n
				index++
			}
		}
		if kind == floatBuckets {
			fields = append(fields, servertest.Doubles(first+2, given...))
		} else {
			fields = append(fields, servertest.Deltas(first+1, list...))
		}
	}
	side(11)
	if kind != customBuckets {
		side(8)
	}
	if kind == floatBuckets {
		count += 0.5
		fields = append(fields, servertest.Double(2, count), servertest.Double(7, zero))
	} else {
		fields = append(fields, servertest.Varint(1, uint64(count)), servertest.Varint(6, uint64(zero)))
	}
	fields = append(fields, servertest.Double(3, sum), servertest.Varint(4, servertest.ZigZag(schema)),
		servertest.Double(5, threshold))
	return readSample{at, servertest.HistogramMessage(4, fields...),
		fmt.Sprintf("%d:%s", at, histogramText(kind == floatBuckets, schema, threshold, zero, count, sum, bounds,
			text))}
}

func histogramText(floats bool, schema int64, threshold, zero, count, sum float64, bounds []float64,
	buckets string) string {
	return fmt.Sprintf("floats=%v schema=%d threshold=%v zero=%v count=%v sum=%x bounds=%v%s", floats, schema,
		threshold, zero, count, math.Float64bits(sum), bounds, buckets)
}

// randomSeries are series of all kinds, with gaps, some longer than a chunk.
func randomSeries(r *rand.Rand) (list []readSeries) {
	for i := range 30 {
		ls := []string{"__name__", fmt.Sprint("m", i%4), "i", fmt.Sprint(i), "job", fmt.Sprint("j", i%3)}
		if i%4 == 0 {
			ls = append(ls, "zone", `a/é"b`)
		}
		one := readSeries{labels: labels.FromStrings(ls...)}
		at := int64(r.IntN(100_000))
		for range []int{1, 2, 119, 120, 121, 300}[r.IntN(6)] {
			at += []int64{1, 15_000, 15_000, 14_999, 60_000, 7_000_000}[r.IntN(6)]
			if i%5 < 2 && r.IntN(8) > 0 {
				one.samples = append(one.samples, randomHistogram(r, at, r.IntN(histogramKinds)))
			} else {
				one.samples = append(one.samples, randomFloat(r, at))
			}
		}
		list = append(list, one)
	}
	return list
}

// writeSeries writes series in two requests, the later samples first.
func writeSeries(h *servertest.House, list []readSeries) {
	h.Helper()
	for half := range 2 {
		var body [][]byte
		for _, s := range list {
			cut := len(s.samples) / 2
			part := s.samples[cut:]
			if half == 1 {
				part = s.samples[:cut]
			}
			body = append(body, protowire.AppendMessage(nil, 1, func(m []byte) []byte {
				var ls []string
				s.labels.Range(func(l labels.Label) { ls = append(ls, l.Name, l.Value) })
				m = append(m, servertest.Message1(ls)[fieldHead(servertest.Message1(ls)):]...)
				for _, x := range part {
					m = append(m, x.message...)
				}
				return m
			}))
		}
		h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(body...)), 204, "")
	}
}

// fieldHead is the length of the key and the size of a message that is a field.
func fieldHead(field []byte) int {
	_, n := binary.Uvarint(field[1:])
	return 1 + n
}

// sampledText are the series of a sampled answer by query: labels and samples.
func sampledText(h *servertest.House, a servertest.Answer) (out [][]string) {
	h.Helper()
	plain, err := s2.Decode(nil, []byte(a.Body))
	if a.Status != 200 || err != nil {
		h.Fatalf("%d %s %v", a.Status, a.Body, err)
	}
	for f := protowire.Of(plain); f.Next(); {
		lines := []string{}
		for series := protowire.Of(f.Bytes); series.Next(); {
			lines = append(lines, sampledLine(series.Bytes))
		}
		slices.Sort(lines)
		out = append(out, lines)
	}
	return out
}

func sampledLine(message []byte) string {
	var names, samples []string
	for f := protowire.Of(message); f.Next(); {
		var first, second, at uint64
		in := protowire.Of(f.Bytes)
		switch f.Number {
		case 1:
			var l [3]string
			for in.Next() {
				l[in.Number] = string(in.Bytes)
			}
			names = append(names, l[1]+"="+l[2])
		case 2:
			for in.Next() {
				if in.Number == 1 {
					first = in.Value
				} else {
					second = in.Value
				}
			}
			samples = append(samples, fmt.Sprintf("%d:%x", second, first))
		case 4:
			text := sentHistogram(&in, &at)
			samples = append(samples, fmt.Sprintf("%d:%s", at, text))
		}
	}
	// Floats and histograms lie apart.
	slices.SortFunc(samples, func(x, y string) int { return timeOf(x) - timeOf(y) })
	return strings.Join(names, ",") + "|" + strings.Join(samples, " ")
}

func timeOf(sample string) (at int) {
	fmt.Sscan(strings.SplitN(sample, ":", 2)[0], &at)
	return at
}

// sentHistogram is the text of a histogram on the wire.
func sentHistogram(f *protowire.Fields, at *uint64) string {
	var schema int64
	var threshold, zero, count, sum float64
	var floats bool
	var bounds []float64
	indexes, counts := map[int][]int64{}, map[int][]float64{}
	for f.Next() {
		switch n := f.Number; n {
		case 1:
			count = float64(f.Value)
		case 2:
			count, floats = f.Double(), true
		case 3:
			sum = f.Double()
		case 4:
			schema = f.Zigzag()
		case 5:
			threshold = f.Double()
		case 6:
			zero = float64(f.Value)
		case 7:
			zero = f.Double()
		case 8, 11:
			var offset, length int64
			for in := protowire.Of(f.Bytes); in.Next(); {
				if in.Number == 1 {
					offset = in.Zigzag()
				} else {
					length = in.Int()
				}
			}
			next := offset
			if k := len(indexes[n]); k > 0 {
				next += indexes[n][k-1] + 1
			}
			for range length {
				indexes[n] = append(indexes[n], next)
				next++
			}
		case 9, 12:
			list, _ := f.AppendUints(nil, 1000)
			total := int64(0)
			for _, d := range list {
				total += int64(d>>1) ^ -int64(d&1)
				counts[n-1] = append(counts[n-1], float64(total))
			}
		case 10, 13:
			counts[n-2], _ = f.AppendDoubles(nil)
		case 15:
			*at = f.Value
		case 16:
			bounds, _ = f.AppendDoubles(nil)
		}
	}
	if math.Float64bits(sum) == 0x7ff0000000000002 {
		return "stale"
	}
	text := ""
	for _, side := range []int{11, 8} {
		for i, index := range indexes[side] {
			text += fmt.Sprintf(" %d:%d=%v", side, index, counts[side][i])
		}
	}
	return histogramText(floats, schema, threshold, zero, count, sum, bounds, text)
}

// chunkedText are the series of a streamed answer by query, decoded by the reference.
func chunkedText(h *servertest.House, a servertest.Answer, queries int) [][]string {
	h.Helper()
	out := make([][]string, queries)
	if a.Status != 200 {
		h.Fatalf("%d %s", a.Status, a.Body)
	}
	for rest := []byte(a.Body); len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		frame := protowire.Of(rest[n+4 : n+4+int(size)])
		rest = rest[n+4+int(size):]
		query, lines := 0, []string(nil)
		for frame.Next() {
			if frame.Number == 1 {
				lines = append(lines, chunkedLine(h, frame.Bytes))
			} else {
				query = int(frame.Value)
			}
		}
		if list := append(slices.Clone(out[query]), lines...); !slices.IsSortedFunc(list,
			func(x, y string) int { return strings.Compare(x[:strings.Index(x, "|")], y[:strings.Index(y, "|")]) }) {
			h.Errorf("series are not sorted by labels: %q", list)
		}
		out[query] = append(out[query], lines...)
	}
	for _, lines := range out {
		slices.Sort(lines)
	}
	return out
}

func chunkedLine(h *servertest.House, series []byte) string {
	h.Helper()
	var names, samples []string
	for f := protowire.Of(series); f.Next(); {
		in := protowire.Of(f.Bytes)
		if f.Number == 1 {
			var l [3]string
			for in.Next() {
				l[in.Number] = string(in.Bytes)
			}
			names = append(names, l[1]+"="+l[2])
			continue
		}
		var times [3]uint64
		var encoding uint64
		var data []byte
		for in.Next() {
			switch in.Number {
			case 1, 2:
				times[in.Number] = in.Value
			case 3:
				encoding = in.Value
			case 4:
				data = in.Bytes
			}
		}
		c, err := chunkenc.FromData(chunkenc.Encoding(encoding), data)
		if err != nil {
			h.Fatal(err)
		}
		list := referenceSamples(c)
		if k := len(list); k == 0 || k > 120 || timeOf(list[0]) != int(times[1]) || timeOf(list[k-1]) != int(times[2]) {
			h.Errorf("a chunk of %d samples says that it lies between %d and %d: %q", k, times[1], times[2], list)
		}
		samples = append(samples, list...)
	}
	return strings.Join(names, ",") + "|" + strings.Join(samples, " ")
}

func referenceSamples(c chunkenc.Chunk) (out []string) {
	it := c.Iterator(nil)
	for kind := it.Next(); kind != chunkenc.ValNone; kind = it.Next() {
		if kind == chunkenc.ValFloat {
			at, v := it.At()
			out = append(out, fmt.Sprintf("%d:%x", at, math.Float64bits(v)))
			continue
		}
		at, x := it.AtFloatHistogram(nil)
		if math.Float64bits(x.Sum) == 0x7ff0000000000002 {
			out = append(out, fmt.Sprintf("%d:stale", at))
			continue
		}
		text := ""
		for it := x.PositiveBucketIterator(); it.Next(); {
			text += fmt.Sprintf(" 11:%d=%v", it.At().Index, it.At().Count)
		}
		for it := x.NegativeBucketIterator(); it.Next(); {
			text += fmt.Sprintf(" 8:%d=%v", it.At().Index, it.At().Count)
		}
		out = append(out, fmt.Sprintf("%d:%s", at,
			histogramText(kind == chunkenc.ValFloatHistogram, int64(x.Schema), x.ZeroThreshold, x.ZeroCount, x.Count,
				x.Sum, x.CustomValues, text)))
	}
	return out
}

// randomReadQuery is a query, with what it selects by the matchers of the reference.
func randomReadQuery(r *rand.Rand, list []readSeries) (message []byte, want []string) {
	from := int64(r.IntN(500_000_000)) - 1000
	to := from + int64(r.IntN(500_000_000)) - 1000
	if s := list[r.IntN(len(list))].samples; r.IntN(2) == 0 { // ends that are samples
		from, to = s[r.IntN(len(s))].at, s[r.IntN(len(s))].at
	}
	var matchers []*labels.Matcher
	var given []any
	for range r.IntN(4) {
		name := []string{"__name__", "job", "i", "zone", "nothing"}[r.IntN(5)]
		values := map[string][]string{"__name__": {"m1", "m.*", "m[13]", "", "m2|m3|x"},
			"job": {"j1", "j[12]", "", ".*", "j"}, "i": {"1", "1.*", ".", ".+", "1?3"},
			"zone": {"", ".*", `a/é"b`, ".+"}, "nothing": {"", ".*", ".+", "x"}}[name]
		value := values[r.IntN(len(values))]
		kind := r.IntN(4)
		matchers = append(matchers, labels.MustNewMatcher(labels.MatchType(kind), name, value))
		given = append(given, kind, name, value)
	}
	message = servertest.ReadQuery(from, to, given...)
	if r.IntN(3) == 0 { // hints change nothing
		hints := protowire.AppendBytes(protowire.AppendVarint(nil, 1, 1000), 2, "rate")
		inner := message[fieldHead(message):]
		message = protowire.AppendBytes(nil, 1, string(protowire.AppendBytes(slices.Clone(inner), 4, string(hints))))
	}
	want = []string{}
	for _, s := range list {
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
			continue
		}
		var names, samples []string
		for _, x := range s.samples {
			if from <= x.at && x.at <= to {
				samples = append(samples, x.text)
			}
		}
		s.labels.Range(func(l labels.Label) { names = append(names, l.Name+"="+l.Value) })
		if len(samples) > 0 {
			want = append(want, strings.Join(names, ",")+"|"+strings.Join(samples, " "))
		}
	}
	slices.Sort(want)
	return message, want
}

// TestRandomRemoteReads: both forms of answers have every bit of what was written and passes the matchers, in memory
// and flushed.
func TestRandomRemoteReads(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	list := randomSeries(r)
	h := servertest.Real(t, nil)
	writeSeries(h, list)
	for _, state := range []string{"in memory", "flushed"} {
		if state == "flushed" {
			h.Want(h.SQL("ADMIN flush_table('service_physical_table')"), 200, "")
		}
		for range 100 {
			var queries [][]byte
			var want [][]string
			for range 1 + r.IntN(3) {
				q, lines := randomReadQuery(r, list)
				queries, want = append(queries, q), append(want, lines)
			}
			sampled := sampledText(h, h.Do("POST", readPath, servertest.Snappy(queries...)))
			chunked := chunkedText(h, h.Do("POST", readPath,
				servertest.Snappy(append(queries, protowire.AppendVarint(nil, 2, 1))...)), len(queries))
			for i := range want {
				if !slices.Equal(sampled[i], want[i]) {
					t.Fatalf("%s, %q\n got %q\nwant %q", state, queries[i], sampled[i], want[i])
				}
				if !slices.Equal(chunked[i], want[i]) {
					t.Fatalf("%s, chunks, %q\n got %q\nwant %q", state, queries[i], chunked[i], want[i])
				}
			}
		}
	}
}
