package engine

import (
	"hash/maphash"

	"varve/engine/symbol"
)

// Symbols numbers texts from 1 on, so that names and values of labels are compared as numbers; 0 is the empty text. Each text is
// held once, and whoever wants it shares it. One goroutine at a time while texts are numbered; afterwards any number may read.
type Symbols struct {
	slots   []uint32 // open addressing by hash: a number, 0: free; a power of two, at most two thirds full
	hashes  []uint32 // by number, less 1
	texts   []string // by number, less 1
	reserve func(bytes int64) error
	room    int64 // bytes that are reserved and not yet taken
}

const (
	// symbolBytes is about the memory of a text besides its bytes, while the lists that hold it grow.
	symbolBytes = 64
	// symbolsRoom is the bytes that are reserved at a time.
	symbolsRoom = 16 << 10
)

// NewSymbols is a table without texts. Reserve, when not nil, is asked before memory is kept; its error is that of the call that
// brought the text.
func NewSymbols(reserve func(bytes int64) error) *Symbols {
	return &Symbols{reserve: reserve}
}

// Len is the number of texts, the empty one not among them: the greatest number there is.
func (s *Symbols) Len() int { return len(s.texts) }

// String is the text with a number.
func (s *Symbols) String(id uint32) string {
	if id == 0 {
		return ""
	}
	return s.texts[id-1]
}

// id numbers a text.
func (s *Symbols) id(text []byte) (uint32, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if 3*(len(s.texts)+1) > 2*len(s.slots) {
		s.slots = symbol.Doubled(s.slots, s.hashes)
	}
	h := uint32(maphash.Bytes(symbolSeed, text))
	at := int(h) & (len(s.slots) - 1)
	for ; s.slots[at] != 0; at = (at + 1) & (len(s.slots) - 1) {
		if n := s.slots[at]; s.hashes[n-1] == h && s.texts[n-1] == string(text) {
			return n, nil
		}
	}
	if err := s.take(int64(len(text)) + symbolBytes); err != nil {
		return 0, err
	}
	s.texts, s.hashes = append(s.texts, string(text)), append(s.hashes, h)
	s.slots[at] = uint32(len(s.texts))
	return s.slots[at], nil
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
