package otlp

import (
	"encoding/binary"
	"math"

	"varve/engine/status"
	"varve/server/protowire"
)

// A histogram becomes rows of three tables: x_bucket with a row for each bound le and the count of all values up to it,
// x_sum and x_count. So does an exponential histogram: its bucket i of scale s ends at 2^((i+1)*2^-s).

// maxBuckets bounds the buckets of a data point: each is a series. Exponential histograms have 160 by default.
const maxBuckets = 2048

// histogramPointData is a data point of a histogram. Its lists are used again.
type histogramPointData struct {
	time, flags, count uint64
	sum                float64
	hasSum             bool
	exemplars          bool // there are some
	counts             []uint64
	bounds             []float64

	// Of exponential histograms.
	scale          int64
	zeroCount      uint64
	zeroThreshold  float64
	positive       int64 // index of the first bucket of counts
	negative       int64
	negativeCounts []uint64
}

// emptied is a point that keeps the memory of its lists.
func (h *histogramPointData) emptied() histogramPointData {
	return histogramPointData{counts: h.counts[:0], bounds: h.bounds[:0], negativeCounts: h.negativeCounts[:0]}
}

func (h *histogramPointData) bytes() int64 {
	return 8 * int64(cap(h.counts)+cap(h.bounds)+cap(h.negativeCounts))
}

// take takes a field that points of both kinds have under the same number; false: f is no such field.
func (h *histogramPointData) take(f *protowire.Fields) bool {
	switch {
	case f.Is(3, protowire.Fixed64):
		h.time = f.Value
	case f.Is(4, protowire.Fixed64):
		h.count = f.Value
	case f.Is(5, protowire.Fixed64):
		h.sum, h.hasSum = f.Double(), true
	case f.Is(10, protowire.Varint):
		h.flags = f.Value
	default:
		return false
	}
	return true
}

// explicitHistogram reads
//
//	HistogramDataPoint{9: KeyValue*, 3: time ns fixed64, 4: count fixed64, 5: sum double, 6: counts of buckets fixed64*, 7: bounds double*,
//	  8: Exemplar*, 10: flags}
func (r *metricsRequest) explicitHistogram(message []byte) error {
	metric := len(r.key)
	defer func() { r.key = r.key[:metric] }()
	h := &r.histogram
	*h = h.emptied()
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case h.take(&f):
		case f.Is(9, protowire.Bytes):
			r.key = appendSized(r.key, f.Bytes)
		case f.Is(8, protowire.Bytes):
			h.exemplars = true
		case f.Number == 6:
			h.counts, err = f.AppendFixed64s(h.counts)
		case f.Number == 7:
			h.bounds, err = f.AppendDoubles(h.bounds)
		}
		if err != nil {
			return err
		}
	}
	if f.Err() != nil || h.flags&noValue != 0 {
		return f.Err()
	}
	if err := h.check(); err != nil {
		r.refuse(r.number, err)
		return nil
	}
	if n := len(h.bounds); n > 0 && math.IsInf(h.bounds[n-1], 1) {
		h.bounds = h.bounds[:n-1] // totals adds the bucket up to +Inf in any case
	}
	below := uint64(0)
	for i, bound := range h.bounds {
		below += h.counts[i]
		if err := r.partOf(message, 9, bucketPart, bound, float64(below)); err != nil {
			return err
		}
	}
	if err := r.totals(message, 9); err != nil || !h.exemplars {
		return err
	}
	return r.exemplars(message, 9, 8, bucketPart, h.time)
}

// check reports whether counts and bounds go together.
func (h *histogramPointData) check() error {
	switch {
	case len(h.counts) > maxBuckets:
		return status.New(status.InvalidArguments, "a histogram has %d buckets, the limit is %d", len(h.counts),
			maxBuckets)
	case len(h.counts) != len(h.bounds)+1 && len(h.counts)+len(h.bounds) > 0:
		return status.New(status.InvalidArguments,
			"a histogram has %d bounds and %d counts of buckets: expected one count more than bounds", len(h.bounds),
			len(h.counts))
	}
	for i, b := range h.bounds {
		if math.IsNaN(b) || i > 0 && b <= h.bounds[i-1] {
			return status.New(status.InvalidArguments, "the bounds of a histogram are out of order: number %[2]d is %[1]v", b, i+1)
		}
	}
	return nil
}

// partOf adds a sample of a part of the histogram in hand; attributes is the number of the field of attributes.
func (r *metricsRequest) partOf(message []byte, attributes int, p metricPart, bound, x float64) error {
	end := len(r.key)
	r.key = binary.LittleEndian.AppendUint64(append(r.key, byte(p)), math.Float64bits(bound))
	err := r.sample(message, attributes, p, bound, r.histogram.time, x)
	r.key = r.key[:end]
	return err
}

// totals adds the last bucket, which counts all values, the sum and the count.
func (r *metricsRequest) totals(message []byte, attributes int) error {
	h := &r.histogram
	if err := r.partOf(message, attributes, bucketPart, math.Inf(1), float64(h.count)); err != nil {
		return err
	}
	return r.sumAndCount(message, attributes)
}

func (r *metricsRequest) sumAndCount(message []byte, attributes int) error {
	h := &r.histogram
	if h.hasSum {
		if err := r.partOf(message, attributes, sumPart, 0, h.sum); err != nil {
			return err
		}
	}
	return r.partOf(message, attributes, countPart, 0, float64(h.count))
}

// exponentialHistogram reads
//
//	ExponentialHistogramDataPoint{1: KeyValue*, 3: time ns fixed64, 4: count fixed64, 5: sum double, 6: scale sint32, 7: count of zeros fixed64,
//	  8: positive Buckets, 9: negative Buckets, 10: flags, 11: Exemplar*, 14: zero threshold double}
//	Buckets{1: offset sint32, 2: counts uint64*}
func (r *metricsRequest) exponentialHistogram(message []byte) error {
	metric := len(r.key)
	defer func() { r.key = r.key[:metric] }()
	h := &r.histogram
	*h = h.emptied()
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case h.take(&f):
		case f.Is(1, protowire.Bytes):
			r.key = appendSized(r.key, f.Bytes)
		case f.Is(6, protowire.Varint):
			h.scale = f.Zigzag()
		case f.Is(7, protowire.Fixed64):
			h.zeroCount = f.Value
		case f.Is(8, protowire.Bytes):
			h.positive, h.counts, err = readBuckets(f.Bytes, h.counts)
		case f.Is(9, protowire.Bytes):
			h.negative, h.negativeCounts, err = readBuckets(f.Bytes, h.negativeCounts)
		case f.Is(11, protowire.Bytes):
			h.exemplars = true
		case f.Is(14, protowire.Fixed64):
			h.zeroThreshold = f.Double()
		}
		if err != nil {
			return err
		}
	}
	if f.Err() != nil || h.flags&noValue != 0 {
		return f.Err()
	}
	if len(h.counts)+len(h.negativeCounts) > maxBuckets || h.scale < -10 || h.scale > 20 {
		r.refuse(r.number, status.New(status.InvalidArguments,
			"an exponential histogram may have %d buckets of scales from -10 to 20: it has more, or scale %d",
			maxBuckets, h.scale))
		return nil
	}
	return r.exponentialBuckets(message)
}

func readBuckets(message []byte, counts []uint64) (offset int64, _ []uint64, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Varint):
			offset = f.Zigzag()
		case f.Number == 2:
			if counts, err = f.AppendUints(counts, maxBuckets); err != nil {
				return offset, counts, err
			}
		}
	}
	return offset, counts, f.Err()
}

// exponentialBuckets adds the buckets from the lowest bound on: those of negative values, which lie mirrored, the zero
// bucket, and those of positive values.
func (r *metricsRequest) exponentialBuckets(message []byte) error {
	h := &r.histogram
	below := uint64(0)
	// edge is the lower end of a bucket, and the upper one of the one before.
	edge := func(index int64) float64 { return math.Exp2(float64(index) * math.Exp2(-float64(h.scale))) }
	for i := len(h.negativeCounts) - 1; i >= 0; i-- {
		below += h.negativeCounts[i]
		if err := r.bucketTo(message, -edge(h.negative+int64(i)), below); err != nil {
			return err
		}
	}
	below += h.zeroCount
	if err := r.bucketTo(message, h.zeroThreshold, below); err != nil {
		return err
	}
	for i, n := range h.counts {
		below += n
		if err := r.bucketTo(message, edge(h.positive+int64(i)+1), below); err != nil {
			return err
		}
	}
	if err := r.totals(message, 1); err != nil || !h.exemplars {
		return err
	}
	return r.exemplars(message, 1, 11, bucketPart, h.time)
}

// bucketTo adds a bucket of an exponential histogram, and notes its bound, unless that is no finite number: then the
// last bucket counts its values.
func (r *metricsRequest) bucketTo(message []byte, bound float64, below uint64) error {
	if math.IsInf(bound, 0) || math.IsNaN(bound) {
		return nil
	}
	r.histogram.bounds = append(r.histogram.bounds, bound)
	return r.partOf(message, 1, bucketPart, bound, float64(below))
}

// summary reads
//
//	SummaryDataPoint{7: KeyValue*, 3: time ns fixed64, 4: count fixed64, 5: sum double, 6: quantiles{1: quantile double, 2: value double}*, 8: flags}
//
// into the table of the metric, a row for each quantile, and those of its sum and count.
func (r *metricsRequest) summary(message []byte) error {
	metric := len(r.key)
	defer func() { r.key = r.key[:metric] }()
	h := &r.histogram
	*h = h.emptied()
	h.hasSum = true
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(7, protowire.Bytes):
			r.key = appendSized(r.key, f.Bytes)
		case f.Is(3, protowire.Fixed64):
			h.time = f.Value
		case f.Is(4, protowire.Fixed64):
			h.count = f.Value
		case f.Is(5, protowire.Fixed64):
			h.sum = f.Double()
		case f.Is(6, protowire.Bytes):
			if len(h.bounds) == maxBuckets {
				r.refuse(r.number, status.New(status.InvalidArguments, "a summary has more than %d quantiles",
					maxBuckets))
				return nil
			}
			var quantile, x float64
			in := protowire.Of(f.Bytes)
			for in.Next() {
				switch {
				case in.Is(1, protowire.Fixed64):
					quantile = in.Double()
				case in.Is(2, protowire.Fixed64):
					x = in.Double()
				}
			}
			if in.Err() != nil {
				return in.Err()
			}
			h.bounds, h.counts = append(h.bounds, quantile), append(h.counts, math.Float64bits(x))
		case f.Is(8, protowire.Varint):
			h.flags = f.Value
		}
	}
	if f.Err() != nil || h.flags&noValue != 0 {
		return f.Err()
	}
	for i, quantile := range h.bounds {
		if err := r.partOf(message, 7, quantilePart, quantile, math.Float64frombits(h.counts[i])); err != nil {
			return err
		}
	}
	return r.sumAndCount(message, 7)
}
