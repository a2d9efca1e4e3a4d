package scan

import (
	"bytes"
	"context"
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// Find describes the series that a reader wants from a run: series of some tables whose tags pass. The run does not
// change it.
type Find struct {
	// Tables are the tables whose series are wanted, by rising id.
	Tables []schema.TableID
	// Tests must all pass.
	Tests []TagTest
	// Time is where rows are wanted: a run may leave out series that have none there.
	Time Range
	// TimeColumn is the time index, Columns are the fields, both as in Spec.
	TimeColumn schema.Column
	Columns    []schema.Column
	// Presence: of a float the reader wants to know no more than whether it is there and its bits if it is NaN. A run
	// may put any other number in the place of one that is not NaN.
	Presence bool
	// Stats, when not nil, counts what is read.
	Stats *Stats
	// Context, when not nil, ends the work, as in Spec.
	Context context.Context
	// Reserve, when not nil, is called before memory is kept for as long as the result; its error ends the call.
	Reserve func(bytes int64) error
}

// TagTest is a condition on a tag of a series.
type TagTest struct {
	// Column is the tag. Its default is the value of series whose key does not name it, as in Spec.
	Column schema.Column
	// Values are the only values that pass, rising, in the form of series keys; nil: Match decides.
	Values [][]byte
	// Match tests a value in the form of series keys. A run tests each distinct value once, if it can. Safe for
	// concurrent use.
	Match func(val []byte) bool
	// Null reports whether series pass that lack the tag.
	Null bool
}

// Passes reports whether a value passes; nil: NULL.
func (t *TagTest) Passes(val []byte) bool {
	switch {
	case val == nil:
		return t.Null
	case t.Values == nil:
		return t.Match(val)
	}
	_, ok := slices.BinarySearchFunc(t.Values, val, bytes.Compare)
	return ok
}

// Found is series of a run by rising key. Safe for concurrent use, its readers one goroutine at a time each.
type Found interface {
	Len() int
	// Bytes is the memory that it holds.
	Bytes() int64
	// Keys walks the keys of all of them.
	Keys() (Keys, error)
	// Rows bounds the rows of the i'th.
	Rows(i int) int
	Reader() (Rows, error)
}

// Keys walks keys in order.
type Keys interface {
	// Next returns the next key, which is valid until the following Next. The caller counts the keys and calls it no
	// more often.
	Next() ([]byte, error)
}

// Rows reads the rows of series that were found, in any order of series.
type Rows interface {
	// Begin goes to the rows of the i'th series within a range of times.
	Begin(i int, time Range) error
	// Next returns the next rows by (time, sequence); false: none are left. They are valid until the following Next or
	// Begin.
	Next(s *Stretch) (bool, error)
	// Kinds and Sequences give the hidden columns of what Next gave, in the stretch's rows.
	Kinds(s *Stretch) (*vector.Vector, error)
	Sequences(s *Stretch) (*vector.Vector, error)
	Close()
}

// Stretch is rows [From, To) of some vectors: consecutive rows of one series. The vectors may have any form. Times has
// the times of these rows alone.
type Stretch struct {
	From, To int
	Times    []int64
	Cols     []*vector.Vector
}
