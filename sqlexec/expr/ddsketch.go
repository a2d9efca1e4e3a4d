package expr

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
)

// ddSketch counts numbers in buckets whose bounds grow by a constant factor, so that a quantile is off by no more than
// a relative error. When there are more buckets than it may have, neighbours are joined: the factor is squared. Source:
// the UDDSketch paper (Epicoco et al., 2020): bucket i holds (gamma^(i-1), gamma^i], gamma = (1+a)/(1-a), and joining
// maps i to ceil(i/2).
//
// # Layout of a state
//
//	+---------+------------+-------------+--------------+----------+--------+----------+---------------------------+
//	| "UD" 2B | version 1B | buckets 4B  | error f64 8B | joins 1B | n 8B   | zeros 8B | 2 x (length 4B, buckets)  |
//	+---------+------------+-------------+--------------+----------+--------+----------+---------------------------+
//
// Little endian. The lists are the positive, then the negative numbers' buckets: index int32, count 8B, by rising
// index.
type ddSketch struct {
	limit    int     // most buckets
	relative float64 // error at the start
	joins    int
	gamma    float64
	logGamma float64
	n, zeros uint64
	sides    [2]map[int32]uint64 // positive and negative numbers
}

const (
	ddVersion    = 1
	ddHeader     = 2 + 1 + 4 + 8 + 1 + 8 + 8
	maxDDBuckets = 1 << 16
	maxDDJoins   = 60 // the factor has left the range of floats long before
)

var errDDState = errors.New("not a state of uddsketch_state")

func newDDSketch(limit int, relative float64) *ddSketch {
	s := &ddSketch{limit: limit, relative: relative, sides: [2]map[int32]uint64{{}, {}}}
	s.factor()
	return s
}

func (s *ddSketch) factor() {
	s.gamma = (1 + s.relative) / (1 - s.relative)
	s.logGamma = math.Log(s.gamma) * math.Pow(2, float64(s.joins))
}

// add counts a number; NaN and infinities are not numbers to it.
func (s *ddSketch) add(x float64) {
	if x-x != 0 {
		return
	}
	s.n++
	side := s.sides[0]
	switch {
	case x == 0:
		s.zeros++
		return
	case x < 0:
		side, x = s.sides[1], -x
	}
	side[int32(math.Ceil(math.Log(x)/s.logGamma))]++
	s.shrink()
}

// shrink joins buckets until there are no more than allowed.
func (s *ddSketch) shrink() {
	for len(s.sides[0])+len(s.sides[1]) > s.limit && s.joins < maxDDJoins {
		s.join()
	}
}

func (s *ddSketch) join() {
	for i, side := range s.sides {
		joined := make(map[int32]uint64, len(side)/2+1)
		for k, n := range side {
			joined[int32(math.Ceil(float64(k)/2))] += n
		}
		s.sides[i] = joined
	}
	s.joins++
	s.factor()
}

// merge adds another sketch of the same parameters.
func (s *ddSketch) merge(o *ddSketch) error {
	if s.limit != o.limit || s.relative != o.relative {
		return errors.New("states of different parameters cannot be merged")
	}
	for s.joins < o.joins {
		s.join()
	}
	steps := s.joins - o.joins
	for i, side := range o.sides {
		for k, n := range side {
			for range steps {
				k = int32(math.Ceil(float64(k) / 2))
			}
			s.sides[i][k] += n
		}
	}
	s.n, s.zeros = s.n+o.n, s.zeros+o.zeros
	s.shrink()
	return nil
}

// value is the middle of a bucket, by ratio.
func (s *ddSketch) value(k int32) float64 {
	g := math.Exp(s.logGamma)
	if math.IsInf(g, 1) {
		return math.Exp(s.logGamma * (float64(k) - 0.5))
	}
	return 2 * math.Exp(s.logGamma*float64(k)) / (g + 1)
}

// quantile is the value at rank q*n of n numbers, from 0, at most that of the greatest; false when there are no
// numbers.
func (s *ddSketch) quantile(q float64) (float64, bool) {
	if s.n == 0 {
		return 0, false
	}
	rank := min(uint64(q*float64(s.n)), s.n-1)
	seen := uint64(0)
	negative := slices.Sorted(maps.Keys(s.sides[1]))
	slices.Reverse(negative)
	for _, k := range negative {
		if seen += s.sides[1][k]; seen > rank {
			return -s.value(k), true
		}
	}
	if seen += s.zeros; seen > rank {
		return 0, true
	}
	last := 0.0
	for _, k := range slices.Sorted(maps.Keys(s.sides[0])) {
		last = s.value(k)
		if seen += s.sides[0][k]; seen > rank {
			break
		}
	}
	return last, true
}

// appendState appends the sketch in the layout above.
func (s *ddSketch) appendState(dst []byte) []byte {
	dst = append(dst, 'U', 'D', ddVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.limit))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.relative))
	dst = append(dst, byte(s.joins))
	dst = binary.LittleEndian.AppendUint64(dst, s.n)
	dst = binary.LittleEndian.AppendUint64(dst, s.zeros)
	for _, side := range s.sides {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(side)))
		for _, k := range slices.Sorted(maps.Keys(side)) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(k))
			dst = binary.LittleEndian.AppendUint64(dst, side[k])
		}
	}
	return dst
}

// readDDSketch reads a state and checks what it says.
func readDDSketch(b []byte) (*ddSketch, error) {
	if len(b) < ddHeader || b[0] != 'U' || b[1] != 'D' || b[2] != ddVersion {
		return nil, errDDState
	}
	limit, relative := binary.LittleEndian.Uint32(b[3:]), math.Float64frombits(binary.LittleEndian.Uint64(b[7:]))
	if limit < 1 || limit > maxDDBuckets || !(relative > 0 && relative < 1) || b[15] > maxDDJoins {
		return nil, errDDState
	}
	s := newDDSketch(int(limit), relative)
	s.joins = int(b[15])
	s.factor()
	s.n, s.zeros = binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	total := s.zeros
	b = b[ddHeader:]
	for i := range s.sides {
		if len(b) < 4 {
			return nil, errDDState
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		if uint64(len(b)) < 12*uint64(n) {
			return nil, errDDState
		}
		for range n {
			count := binary.LittleEndian.Uint64(b[4:])
			s.sides[i][int32(binary.LittleEndian.Uint32(b))] += count
			if total += count; total < count { // more numbers than there can be
				return nil, errDDState
			}
			b = b[12:]
		}
	}
	if len(b) > 0 || total != s.n {
		return nil, errDDState
	}
	return s, nil
}
