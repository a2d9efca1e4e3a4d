// Package scan is the contract between the engine and its runs: memtables and parts both implement Run.
//
// The rows of a run are ordered by (series, time, sequence). A cursor yields dense batches, with projection, time range
// and filter applied.
package scan

import (
	"bytes"
	"context"
	"math"

	"varve/engine/filter"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Range is a span of the time index, in its unit. Both ends are included, so that every instant has a range. It is
// empty if From is greater than To.
type Range struct{ From, To int64 }

// All is the range that excludes nothing.
var All = Range{math.MinInt64, math.MaxInt64}

// Holds reports whether t lies in the range.
func (r Range) Holds(t int64) bool { return t >= r.From && t <= r.To }

// Overlaps reports whether any time of [min, max] lies in the range.
func (r Range) Overlaps(min, max int64) bool { return max >= r.From && min <= r.To }

// Covers reports whether all of [min, max] lies in the range.
func (r Range) Covers(min, max int64) bool { return r.Holds(min) && r.Holds(max) }

// And returns the intersection of two ranges.
func (r Range) And(o Range) Range { return Range{max(r.From, o.From), min(r.To, o.To)} }

// Spec is what a reader wants of a run. It is not changed by the run and may be shared by many cursors.
type Spec struct {
	// Columns are the wanted columns at the reader's schema version, in output order. A run without a column gives its
	// default or NULL as a Const vector; a run with an older type casts. schema.SequenceColumn and schema.KindColumn
	// request the hidden columns.
	Columns []schema.Column
	// TimeColumn is the time index column; Time restricts it.
	TimeColumn schema.Column
	Time       Range
	// Filter is evaluated exactly by the run: nothing above it filters again. Its columns need not be in Columns;
	// FilterColumns describes them at the reader's schema version.
	Filter        filter.And
	FilterColumns []schema.Column
	// Narrowing has the bounds that readers heed while they read; FilterColumns describes their columns as well.
	Narrowing Narrowing
	// KeyPrefix restricts to series whose key begins with it (the logical table in a shared region). Empty: all.
	KeyPrefix []byte
	// Keys restricts a walk by series to series whose keys lie in the range. Cursors ignore it.
	Keys KeyRange
	// Newest asks a cursor to give blocks newest first (rows inside a batch stay in run order).
	Newest bool
	// Pieces, when not nil, restricts a part's cursor to blocks [Pieces.From, Pieces.To): the unit of parallel work.
	Pieces *Pieces
	// Stats, when not nil, counts what the scan did. Fields are updated atomically.
	Stats *Stats
	// Memo, when not nil, is shared by all pieces of a scan, because their conditions on tags are the same.
	Memo *Memo
	// Context, when not nil, ends the scan, with its error: long work asks it now and then, and reads heed it while
	// they wait.
	Context context.Context
	// Reserve, when not nil, is called with the bytes that cursors hold beyond the ordinary, and with a negative number
	// when they give bytes back; its error ends the scan.
	Reserve func(bytes int64) error
	// Holding, when not nil, is what walks that are merged have in hand together.
	Holding *Holding
}

// Holding bounds the bytes of rows that some walks have in hand together. One goroutine at a time.
type Holding struct {
	Most  int64 // that all have; what is more is read in smaller pieces
	Least int64 // that each may have in any case
	Used  int64
}

// KeyRange is the series keys in [From, To). A nil To means no upper bound.
type KeyRange struct{ From, To []byte }

// Holds reports whether a key lies in the range.
func (r KeyRange) Holds(key []byte) bool {
	return bytes.Compare(key, r.From) >= 0 && (r.To == nil || bytes.Compare(key, r.To) < 0)
}

// Pieces is a half-open range of block numbers of a run.
type Pieces struct{ From, To int }

// Cursor streams the matching rows of a run. One goroutine at a time.
type Cursor interface {
	// Next fills b with up to vector.Size rows and reports whether there were any. What is inside stays valid until
	// the following Next or Close.
	Next(b *vector.Batch) (bool, error)
	Close()
}

// Series walks a run series by series: keys rise, rows of the current series come by (time, sequence).
type Series interface {
	// Next moves to the next series with matching rows.
	Next() (key []byte, ok bool, err error)
	// Rows fills b with the next rows of the current series.
	Rows(b *vector.Batch) (bool, error)
	Close()
}

// Ending is a Series that knows when the rows of a series end.
type Ending interface {
	Series
	// Ended reports whether Rows has given all rows of the current series; false also where that is not known yet.
	Ended() bool
}

// Idle is a Series that need not have rows in hand before they are wanted.
type Idle interface {
	Series
	// Least returns a time. No later row of Rows for the current series lies before it.
	Least() int64
	// Rest releases memory until the next call. Results of Rows are no longer valid.
	Rest()
}

// Run is an immutable sorted set of rows. Safe for concurrent use.
type Run interface {
	Rows() int
	// Span is [min, max] of the time index.
	Span() Range
	// Blocks is the number of blocks a cursor can be cut into by Spec.Pieces.
	Blocks() int
	// Block returns rows and the time span of block i without reading it.
	Block(i int) (rows int, span Range)
	// Stat answers count, min and max of a column from statistics alone; ok is false when the run cannot tell
	// exactly. Time and filters are not regarded. An error says that statistics are damaged, or could not be read.
	Stat(ctx context.Context, c schema.Column) (s ColumnStat, ok bool, err error)
	// Split returns at most n-1 rising keys that cut the rows of the series with a prefix into about equal ranges.
	Split(ctx context.Context, prefix []byte, n int) ([][]byte, error)
	Scan(*Spec) (Cursor, error)
	Series(*Spec) (Series, error)
	// Find returns the series of some tables by their tags, to be read each by itself.
	Find(*Find) (Found, error)
	// TagValues calls f with the values of a tag in the series of some tables, whose ids rise. Values are in the form
	// of series keys, and each comes at least once; values of series without rows may be among them. The end of ctx
	// ends the call.
	TagValues(ctx context.Context, tables []schema.TableID, tag schema.Column, f func(val []byte)) error
}

// ColumnStat is exact knowledge about one column of a run.
type ColumnStat struct {
	Count    int            // non-NULL values
	Min, Max *vector.Vector // one row each; nil when Count is 0
}
