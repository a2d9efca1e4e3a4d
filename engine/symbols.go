package engine

import "varve/engine/symbol"

// Symbols numbers texts from 1 on, so that names and values of labels are compared as numbers; 0 is the empty text. One
// goroutine at a time while texts are numbered; afterwards any number may read.
type Symbols struct{ table symbol.Table }

// NewSymbols is a table without texts.
func NewSymbols() *Symbols { return &Symbols{} }

// Len is the number of texts, the empty one not among them: the greatest number there is.
func (s *Symbols) Len() int { return s.table.Len() }

// bytes64 is the memory held.
func (s *Symbols) bytes64() int64 { return s.table.Bytes64() }

// Bytes is the text with a number. It lies in the table and is not to be changed.
func (s *Symbols) Bytes(id uint32) []byte {
	if id == 0 {
		return nil
	}
	return s.table.Bytes(id - 1)
}

// String is the text with a number.
func (s *Symbols) String(id uint32) string { return string(s.Bytes(id)) }

// mustID numbers a text. It panics past symbol.MaxBytes of texts: names and values of labels come from keys, and readers of so many run
// out of memory before.
func (s *Symbols) mustID(text string) uint32 {
	id, ok := s.id([]byte(text))
	if !ok {
		panic("engine: more bytes of labels than a number can name")
	}
	return id
}

// id numbers a text; false: there is no room for it.
func (s *Symbols) id(text []byte) (uint32, bool) {
	if len(text) == 0 {
		return 0, true
	}
	n, ok := s.table.Add(text)
	return n + 1, ok
}

// Find returns the number of a text that has one.
func (s *Symbols) Find(text string) (uint32, bool) {
	if text == "" {
		return 0, true
	}
	n, ok := s.table.Find([]byte(text))
	if !ok {
		return 0, false
	}
	return n + 1, true
}
