package sst

import "encoding/binary"

// stream gathers what a column writes for each block: its pages, or its filters. They are written in stripes.
type stream struct {
	buf     []byte   // not yet written
	lengths []uint64 // for each block, with its checksum; 0: nothing
	gaps    []uint64 // bytes between the end of the one before and each; the first counts from 0
	fresh   int      // blocks that are not yet written
	first   uint64   // where it begins
	end     uint64   // end of what was written last
	bytes   uint64   // written
}

// seal ends the bytes of a block, which begin at mark in buf, with their checksum; none: the block has nothing.
func (s *stream) seal(mark int, sum func([]byte) uint32) {
	if len(s.buf) > mark {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, sum(s.buf[mark:]))
	}
	s.lengths = append(s.lengths, uint64(len(s.buf)-mark))
	s.fresh++
}

// flush returns what is to be written at place at, and counts it as written.
func (s *stream) flush(at uint64) []byte {
	if s.bytes == 0 {
		s.first = at
	}
	for _, l := range s.lengths[len(s.lengths)-s.fresh:] {
		if l == 0 {
			s.gaps = append(s.gaps, 0)
			continue
		}
		s.gaps = append(s.gaps, at-s.end)
		at += l
		s.end = at
	}
	out := s.buf
	s.bytes += uint64(len(out))
	s.buf, s.fresh = s.buf[:0], 0
	return out
}

// extent returns the range of the file that contains it, including the bytes between its pieces.
func (s *stream) extent() ref {
	if s.bytes == 0 {
		return ref{}
	}
	return ref{s.first, s.end - s.first}
}
