package expr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/axiomhq/hyperloglog"
)

// sketch is a HyperLogLog sketch. A few values are a table of fine keys, of which each tells 2^25 places apart; more
// are registers. It holds what the library's sketch holds, which writes and reads states and estimates from registers,
// but takes a value without sorting and copying lists.
type sketch struct {
	keys  []uint32 // a table with linear probing; 0 is an empty place, and no fine key
	count int      // of keys
	regs  []uint8  // 2^sketchBits registers; nil: keys hold all
}

const (
	sketchSize  = 56 // bytes of the struct
	sketchBits  = 14
	registers   = 1 << sketchBits
	fineBits    = 25
	belowFine   = fineBits - sketchBits
	firstPlaces = 8
	// mostPlaces is the greatest table: twice the memory of registers, for a better estimate.
	mostPlaces = 8192
)

// fineKey is the key of a hash. With its first bits it has the number of a place; where those that follow the
// register's number are all zero, and so do not tell the register's value, it has the number of zeros behind them too.
func fineKey(hash uint64) uint32 {
	place := uint32(hash >> (64 - fineBits))
	if place&(1<<belowFine-1) != 0 {
		return place << 1
	}
	zeros := bits.LeadingZeros64(hash<<fineBits | 1<<fineBits - 1)
	return place<<7 | uint32(zeros+1)<<1 | 1
}

// registerOf is the register of a fine key and the value that the key gives it.
func registerOf(key uint32) (i uint32, value uint8) {
	if key&1 != 0 {
		return key >> (32 - sketchBits), uint8(key>>1&63) + belowFine
	}
	return key >> (belowFine + 1), uint8(bits.LeadingZeros32(key<<(31-belowFine))) + 1
}

// insert adds a value by its hash and returns by how many bytes the sketch has grown.
func (s *sketch) insert(hash uint64) (grown int64) {
	if s.regs != nil {
		value := uint8(bits.LeadingZeros64(hash<<sketchBits|1<<(sketchBits-1))) + 1
		if r := &s.regs[hash>>(64-sketchBits)]; *r < value {
			*r = value
		}
		return 0
	}
	return s.insertKey(fineKey(hash))
}

// insertKey adds a fine key.
func (s *sketch) insertKey(key uint32) (grown int64) {
	if s.regs != nil {
		i, value := registerOf(key)
		s.regs[i] = max(s.regs[i], value)
		return 0
	}
	if 4*s.count >= 3*len(s.keys) {
		grown = s.grow()
		if s.regs != nil {
			return grown + s.insertKey(key)
		}
	}
	if place := findKey(s.keys, key); s.keys[place] == 0 {
		s.keys[place] = key
		s.count++
	}
	return grown
}

// findKey is the place of a key in a table, or the empty place for it.
func findKey(keys []uint32, key uint32) int {
	last := uint32(len(keys) - 1) // a power of two less one
	place := key * 0x9e3779b1 >> 16 & last
	for keys[place] != 0 && keys[place] != key {
		place = (place + 1) & last
	}
	return int(place)
}

// grow makes a larger table, or registers in place of the largest one.
func (s *sketch) grow() (grown int64) {
	old := s.keys
	grown = -4 * int64(len(old))
	if len(old) == mostPlaces {
		return grown + s.toRegisters()
	}
	s.keys = make([]uint32, max(firstPlaces, 2*len(old)))
	for _, key := range old {
		if key != 0 {
			s.keys[findKey(s.keys, key)] = key
		}
	}
	return grown + 4*int64(len(s.keys))
}

// toRegisters gives up the table and returns the bytes of the registers.
func (s *sketch) toRegisters() int64 {
	keys := s.keys
	s.keys, s.count, s.regs = nil, 0, make([]uint8, registers)
	for _, key := range keys {
		if key != 0 {
			s.insertKey(key)
		}
	}
	return registers
}

// merge adds what another sketch holds, which is not used any more.
func (s *sketch) merge(o *sketch) (grown int64) {
	switch {
	case o.regs == nil && o.count == 0:
		return 0
	case s.regs == nil && s.count == 0:
		grown = o.bytes() - s.bytes()
		*s = *o
		*o = sketch{}
		return grown
	case o.regs != nil:
		if s.regs == nil {
			before := s.bytes()
			grown = s.toRegisters() - before
		}
		mergeRegisters(s.regs, o.regs)
		return grown
	}
	for _, key := range o.keys {
		if key != 0 {
			grown += s.insertKey(key)
		}
	}
	return grown
}

// bytes is the memory of table and registers.
func (s *sketch) bytes() int64 { return int64(4*len(s.keys) + len(s.regs)) }

// mergeRegisters makes each of dst the greater of both.
func mergeRegisters(dst, src []uint8) {
	src = src[:len(dst)]
	for i, value := range src {
		dst[i] = max(dst[i], value)
	}
}

// estimate is the number of distinct values: of keys by linear counting, of registers as the library does.
func (s *sketch) estimate() (uint64, error) {
	const places = 1 << fineBits
	if s.regs == nil {
		return uint64(places * math.Log(places/float64(places-s.count))), nil
	}
	state, err := s.library()
	if err != nil {
		return 0, err
	}
	return state.Estimate(), nil
}

// library is the library's sketch of the same values.
func (s *sketch) library() (*hyperloglog.Sketch, error) { return readHLL(s.appendState(nil)) }

// appendState appends the written form, version 2 of the library: a header, and registers or keys and an empty list.
func (s *sketch) appendState(dst []byte) []byte {
	if s.regs != nil {
		dst = append(dst, 2, sketchBits, 0, 0)
		dst = binary.BigEndian.AppendUint32(dst, registers)
		return append(dst, s.regs...)
	}
	dst = append(dst, 2, sketchBits, 0, 1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.count))
	keys := make([]uint32, 0, s.count)
	for _, key := range s.keys {
		if key != 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys) // equal values give equal states
	for _, key := range keys {
		dst = binary.BigEndian.AppendUint32(dst, key)
	}
	return append(dst, make([]byte, 12)...)
}

// mergeState adds a written state, whose lengths the library has checked.
func (s *sketch) mergeState(k *hyperloglog.Sketch) (grown int64, err error) {
	b, err := k.MarshalBinary()
	switch {
	case err != nil:
		return 0, err
	case b[1] != sketchBits:
		return 0, fmt.Errorf("it has 2^%d registers, not 2^%d", b[1], sketchBits)
	}
	sparse, n, b := b[3] == 1, binary.BigEndian.Uint32(b[4:]), b[8:]
	if !sparse {
		if s.regs == nil {
			before := s.bytes()
			grown = s.toRegisters() - before
		}
		mergeRegisters(s.regs, b)
		return grown, nil
	}
	for range n {
		grown += s.insertKey(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	key := uint32(0)
	for list := b[12:]; len(list) > 0; { // its keys rise: it has their differences, behind three numbers
		difference, size := binary.Uvarint(list)
		key, list = key+uint32(difference), list[size:]
		grown += s.insertKey(key)
	}
	return grown, nil
}
