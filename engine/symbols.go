package engine

import (
	"hash/maphash"
	"slices"
	"strings"

	"varve/engine/symbol"
)

// Symbols numbers texts from 1 on, so that names and values of labels are compared as numbers; 0 is the empty text.
// Each text is held once, and whoever wants it shares it. One goroutine at a time while texts are numbered; afterwards
// any number may read.
type Symbols struct {
	slots   []uint32        // open addressing by hash: a number, 0: free; a power of two, at most two thirds full
	hashes  []uint32        // by number, less 1
	texts   [][]string      // by number, less 1: textChunk in each list, but for the last
	count   int             // of texts
	heap    strings.Builder // the bytes of short texts: what is full is left to them
	reserve func(bytes int64) error
	room    int64 // bytes that are reserved and not yet taken
}

const (
	// symbolBytes is about the memory of a text besides its bytes, while the lists that hold it grow.
	symbolBytes = 44
	// textChunk is the number of texts in a list. A single list of a million texts would be copied as it grows.
	textChunk = 4096
	// heapBytes is the size of a piece of the heap at most, and shortText the size of texts that lie there.
	heapBytes, shortText = 16 << 10, 256
	// symbolsRoom is the bytes that are reserved at a time.
	symbolsRoom = 16 << 10
)

// NewSymbols returns a table without texts. Reserve, when not nil, is called before memory is kept; its error is
// returned to the caller that added the text.
func NewSymbols(reserve func(bytes int64) error) *Symbols {
	return &Symbols{reserve: reserve}
}

// Len is the number of texts, the empty one not among them: the greatest number there is.
func (s *Symbols) Len() int { return s.count }

// String is the text with a number.
func (s *Symbols) String(id uint32) string {
	if id == 0 {
		return ""
	}
	return s.text(id - 1)
}

// id numbers a text.
func (s *Symbols) id(text []byte) (uint32, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if 3*(s.count+1) > 2*len(s.slots) {
		s.slots = symbol.Doubled(s.slots, s.hashes)
	}
	h := uint32(maphash.Bytes(symbolSeed, text))
	at := int(h) & (len(s.slots) - 1)
	for ; s.slots[at] != 0; at = (at + 1) & (len(s.slots) - 1) {
		if n := s.slots[at]; s.hashes[n-1] == h && s.text(n-1) == string(text) {
			return n, nil
		}
	}
	if err := s.take(int64(len(text)) + symbolBytes); err != nil {
		return 0, err
	}
	s.keep(text)
	s.hashes = append(s.hashes, h)
	s.slots[at] = uint32(s.count)
	return s.slots[at], nil
}

// text is a text by its number less 1.
func (s *Symbols) text(i uint32) string { return s.texts[i/textChunk][i%textChunk] }

// keep appends a text to the last list.
func (s *Symbols) keep(text []byte) {
	if s.count%textChunk == 0 {
		room := textChunk
		if s.count == 0 {
			room = 16 // most selections have few
		}
		s.texts = append(s.texts, make([]string, 0, room))
	}
	last := &s.texts[len(s.texts)-1]
	*last = append(*last, s.kept(text))
	s.count++
}

// kept is a copy of a text. Short ones share memory.
func (s *Symbols) kept(text []byte) string {
	if len(text) > shortText {
		return string(text)
	}
	from := s.heap.Len()
	if from+len(text) > s.heap.Cap() {
		room := min(max(2*s.heap.Cap(), 2*shortText), heapBytes)
		s.heap = strings.Builder{}
		s.heap.Grow(room)
		from = 0
	}
	s.heap.Write(text)
	return s.heap.String()[from:]
}

// all is a list of all texts.
func (s *Symbols) all() ([]string, error) {
	if len(s.texts) == 1 {
		return s.texts[0], nil
	}
	if err := s.take(int64(s.count) * 16); err != nil {
		return nil, err
	}
	return slices.Concat(s.texts...), nil
}

var symbolSeed = maphash.MakeSeed()

// take counts bytes before they are kept.
func (s *Symbols) take(bytes int64) error {
	if s.reserve != nil && bytes > s.room {
		more := max(bytes, symbolsRoom)
		if err := s.reserve(more); err != nil {
			return err
		}
		s.room += more
	}
	s.room -= bytes
	return nil
}
