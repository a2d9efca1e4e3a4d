package metricsapi

import (
	"math"

	"varve/engine"
	"varve/engine/status"
	"varve/server/protowire"
	"varve/sqlexec/promql/histogram"
)

// Histogram, the same in both versions:
//
//	Histogram{1: count int, 2: count float, 3: sum, 4: schema zigzag, 5: zero threshold, 6: zero count int, 7: zero count float,
//	  8: negative spans*, 9: negative deltas packed zigzag, 10: negative counts packed double,
//	  11: positive spans*, 12: positive deltas, 13: positive counts, 14: reset hint, 15: time ms, 16: custom bounds packed double,
//	  17: start time ms}
//	BucketSpan{1: offset zigzag, 2: length}
//
// The spans say which buckets the numbers are of: each begins offset buckets behind the end of the one before. Integer
// counts are each the difference to the one before.

// maxBuckets bounds the buckets of a histogram.
const maxBuckets = 10_000

// wireHistogram is a histogram as it is sent.
type wireHistogram struct {
	histogram.Histogram
	at, start          int64
	floats             bool
	count, zeroCount   uint64 // as integers
	positive, negative wireSide
}

// wireSide is one side of a histogram.
type wireSide struct {
	spans  []span
	deltas []uint64 // zigzag
	counts []float64
	total  uint64 // of the buckets, where they are integers
}

type span struct {
	offset int64
	length uint64
}

// histogram reads a native histogram.
func (w *request) histogram(into *engine.Samples, message []byte) error {
	var h wireHistogram
	if err := h.parse(message); err != nil {
		return err
	}
	w.name = h.AppendBinary(w.name[:0])
	if err := into.Histogram(h.at, w.name); err != nil {
		return err
	}
	if w.histograms++; h.start != 0 && w.version == 2 && checkTime(h.start) == nil {
		into.Started(h.start)
	}
	return nil
}

// histogramKinds are the kinds of the fields of a histogram by their number, but for lists of numbers, which come in
// two forms.
var histogramKinds = [...]protowire.Kind{list, protowire.Varint, protowire.Fixed64, protowire.Fixed64, protowire.Varint,
	protowire.Fixed64, protowire.Varint,
	protowire.Fixed64, protowire.Bytes, list, list, protowire.Bytes, list, list, protowire.Varint, protowire.Varint,
	list, protowire.Varint}

const list protowire.Kind = 0xff

// parse reads a histogram and checks it.
func (h *wireHistogram) parse(message []byte) error {
	if err := h.read(message); err != nil {
		return malformed(err)
	}
	if err := h.finish(); err != nil {
		return status.Wrap(err, status.InvalidArguments, "a histogram is not valid: %v", err)
	}
	return checkTime(h.at)
}

func (h *wireHistogram) read(message []byte) (err error) {
	f := protowire.Of(message)
	for err == nil && f.Next() {
		if f.Number < len(histogramKinds) && histogramKinds[f.Number] != f.Kind && histogramKinds[f.Number] != list {
			return f.WrongKind()
		}
		switch f.Number {
		case 1:
			h.Count, h.count = float64(f.Value), f.Value
		case 2:
			h.Count, h.floats = f.Double(), true
		case 3:
			h.Sum = f.Double()
		case 4:
			h.Schema = int32(max(min(f.Zigzag(), math.MaxInt32), math.MinInt32))
		case 5:
			h.ZeroThreshold = f.Double()
		case 6:
			h.ZeroCount, h.zeroCount = float64(f.Value), f.Value
		case 7:
			h.ZeroCount = f.Double()
		case 8, 9, 10:
			err = h.negative.read(&f, f.Number-8)
		case 11, 12, 13:
			err = h.positive.read(&f, f.Number-11)
		case 14:
			if f.Value <= uint64(histogram.Gauge) { // what later versions may say is no more than unknown
				h.Hint = histogram.ResetHint(f.Value)
			}
		case 15:
			h.at = f.Int()
		case 16:
			h.Bounds, err = f.AppendDoubles(h.Bounds)
		case 17:
			h.start = f.Int()
		}
	}
	if err == nil {
		err = f.Err()
	}
	return err
}

// read reads one of a side's fields: spans, deltas or counts.
func (s *wireSide) read(f *protowire.Fields, part int) (err error) {
	switch part {
	case 0:
		var one span
		in := protowire.Of(f.Bytes)
		for in.Next() {
			switch {
			case in.Is(1, protowire.Varint):
				one.offset = in.Zigzag()
			case in.Is(2, protowire.Varint):
				one.length = in.Value
			case in.Number <= 2:
				return in.WrongKind()
			}
		}
		if len(s.spans) <= maxBuckets { // one more is a fault
			s.spans = append(s.spans, one)
		}
		err = in.Err()
	case 1:
		s.deltas, err = f.AppendUints(s.deltas, maxBuckets)
	case 2:
		s.counts, err = f.AppendDoubles(s.counts)
	}
	return err
}

// finish makes the histogram of what was sent.
func (h *wireHistogram) finish() (err error) {
	h.Integer = !h.floats
	if h.Positive, err = h.positive.buckets(h.Integer); err != nil {
		return err
	}
	if h.Negative, err = h.negative.buckets(h.Integer); err != nil {
		return err
	}
	if h.Schema <= histogram.MaxSentSchema {
		h.Coarsen(histogram.MaxSchema)
	}
	if err := h.Validate(); err != nil || h.floats {
		return err
	}
	return h.addsUp()
}

// addsUp checks the count of a histogram of integers: it is that of all buckets, but where the sum is NaN there may be
// observations of NaN, which no bucket has.
func (h *wireHistogram) addsUp() error {
	found := h.zeroCount + h.positive.total + h.negative.total
	if h.count == found || math.IsNaN(h.Sum) && h.count > found {
		return nil
	}
	return status.New(status.InvalidArguments, "its buckets have %d observations, its count is %d", found, h.count)
}

// buckets are the buckets of a side.
func (s *wireSide) buckets(integer bool) ([]histogram.Bucket, error) {
	given := len(s.counts)
	if integer {
		given = len(s.deltas)
	}
	if len(s.spans) > maxBuckets {
		return nil, status.New(status.InvalidArguments, "it has more than %d spans", maxBuckets)
	}
	total := uint64(0)
	for _, p := range s.spans {
		if total += min(p.length, maxBuckets+1); total > maxBuckets {
			return nil, status.New(status.InvalidArguments, "its spans have more than %d buckets", maxBuckets)
		}
	}
	if total != uint64(given) {
		return nil, status.New(status.InvalidArguments, "its spans have %d buckets, %d counts are given", total, given)
	}
	if given == 0 {
		return nil, nil
	}
	list := make([]histogram.Bucket, 0, given)
	index, count := int64(0), int64(0)
	for i, p := range s.spans {
		if i > 0 && p.offset < 0 {
			return nil, status.New(status.InvalidArguments,
				"span %d begins %d buckets before the end of the one before", i, -p.offset)
		}
		index += p.offset
		for range p.length {
			if index <= math.MinInt32 || index > math.MaxInt32 {
				return nil, status.New(status.InvalidArguments, "it has a bucket %d", index)
			}
			b := histogram.Bucket{Index: int32(index)}
			if integer {
				d := s.deltas[len(list)]
				count += int64(d>>1) ^ -int64(d&1)
				b.Count = float64(count)
				s.total += uint64(count)
			} else {
				b.Count = s.counts[len(list)]
			}
			list = append(list, b)
			index++
		}
	}
	return list, nil
}
