// Package histograms reads and writes native histograms as the messages of metrics carry them: remote write reads them,
// remote read writes them. A message is the same in all versions:
//
//	Histogram{1: count int, 2: count float, 3: sum, 4: schema zigzag, 5: zero threshold, 6: zero count int, 7: zero count float,
//	  8: negative spans*, 9: negative deltas packed zigzag, 10: negative counts packed double,
//	  11: positive spans*, 12: positive deltas, 13: positive counts, 14: reset hint, 15: time ms, 16: custom bounds packed double,
//	  17: start time ms}
//	BucketSpan{1: offset zigzag, 2: length}
//
// The spans say which buckets the counts belong to: a span begins offset buckets behind the end of the span before. A
// delta is the difference of a count to the count before.
package histograms

import (
	"encoding/binary"
	"math"

	"varve/engine/status"
	"varve/server/protowire"
	"varve/sqlexec/promql/histogram"
)

// maxBuckets bounds the buckets of a histogram.
const maxBuckets = 10_000

// Message is a histogram as it is sent: Read takes the message apart, Finish makes the histogram.
type Message struct {
	histogram.Histogram
	At, Start          int64 // ms; Start is 0 where none is given
	floats             bool
	count, zeroCount   uint64 // as integers
	positive, negative side
}

// side is one side of a histogram.
type side struct {
	spans  []span
	deltas []uint64 // zigzag
	counts []float64
	total  uint64 // of the buckets, where they are integers
}

type span struct {
	offset int64
	length uint64
}

// histogramKinds are the kinds of the fields of a histogram by their number; list: a list of numbers, packed or one by
// one.
var histogramKinds = [...]protowire.Kind{list, protowire.Varint, protowire.Fixed64, protowire.Fixed64, protowire.Varint,
	protowire.Fixed64, protowire.Varint,
	protowire.Fixed64, protowire.Bytes, list, list, protowire.Bytes, list, list, protowire.Varint, protowire.Varint,
	list, protowire.Varint}

const list protowire.Kind = 0xff

// Read reads a message. An error says that the bytes are no message; see Finish for what a message may hold.
func (h *Message) Read(message []byte) (err error) {
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
			if f.Value <= uint64(histogram.Gauge) { // a hint of a later version stays unknown
				h.Hint = histogram.ResetHint(f.Value)
			}
		case 15:
			h.At = f.Int()
		case 16:
			h.Bounds, err = f.AppendDoubles(h.Bounds)
		case 17:
			h.Start = f.Int()
		}
	}
	if err == nil {
		err = f.Err()
	}
	return err
}

// read reads one of a side's fields: spans, deltas or counts.
func (s *side) read(f *protowire.Fields, part int) (err error) {
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

// Finish makes the histogram of the message that Read took apart, and checks it.
func (h *Message) Finish() (err error) {
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

// addsUp checks the count of a histogram of integers: it is the sum of the buckets. If the sum of the observations is
// NaN, the count may be higher: observations of NaN are in no bucket.
func (h *Message) addsUp() error {
	found := h.zeroCount + h.positive.total + h.negative.total
	if h.count == found || math.IsNaN(h.Sum) && h.count > found {
		return nil
	}
	return status.New(status.InvalidArguments, "its buckets have %d observations, its count is %d", found, h.count)
}

// buckets are the buckets of a side.
func (s *side) buckets(integer bool) ([]histogram.Bucket, error) {
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

// Append appends a histogram of a time, ms, as messages have it.
func Append(dst []byte, h *histogram.Histogram, at int64) []byte {
	if h.Integer {
		dst = protowire.AppendVarint(dst, 1, uint64(h.Count))
	} else {
		dst = protowire.AppendDouble(dst, 2, h.Count)
	}
	dst = protowire.AppendDouble(dst, 3, h.Sum)
	dst = protowire.AppendVarint(dst, 4, zigzag(int64(h.Schema)))
	dst = protowire.AppendDouble(dst, 5, h.ZeroThreshold)
	if h.Integer {
		dst = protowire.AppendVarint(dst, 6, uint64(h.ZeroCount))
	} else {
		dst = protowire.AppendDouble(dst, 7, h.ZeroCount)
	}
	dst = appendSide(dst, 8, h.Negative, h.Integer)
	dst = appendSide(dst, 11, h.Positive, h.Integer)
	dst = protowire.AppendVarint(dst, 14, uint64(h.Hint))
	dst = protowire.AppendVarint(dst, 15, uint64(at))
	if len(h.Bounds) > 0 {
		dst = protowire.AppendMessage(dst, 16, func(dst []byte) []byte { return appendFloats(dst, h.Bounds) })
	}
	return dst
}

// appendSide appends the spans and counts of a side, whose fields begin with a number.
func appendSide(dst []byte, number int, side []histogram.Bucket, integer bool) []byte {
	if len(side) == 0 {
		return dst
	}
	end := int64(0)
	for from := 0; from < len(side); {
		to := from + 1
		for to < len(side) && side[to].Index == side[to-1].Index+1 {
			to++
		}
		at := protowire.Begin(&dst, number)
		dst = protowire.AppendVarint(dst, 1, zigzag(int64(side[from].Index)-end))
		dst = protowire.End(protowire.AppendVarint(dst, 2, uint64(to-from)), at)
		end, from = int64(side[to-1].Index)+1, to
	}
	if !integer {
		at := protowire.Begin(&dst, number+2)
		for _, b := range side {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(b.Count))
		}
		return protowire.End(dst, at)
	}
	at, before := protowire.Begin(&dst, number+1), int64(0)
	for _, b := range side {
		dst = binary.AppendUvarint(dst, zigzag(int64(b.Count)-before))
		before = int64(b.Count)
	}
	return protowire.End(dst, at)
}

func appendFloats(dst []byte, list []float64) []byte {
	for _, x := range list {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
}

func zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }
