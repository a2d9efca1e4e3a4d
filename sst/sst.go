// Package sst stores rows in column files, one file per part. A file is written once, in order, then mapped into memory
// and read.
//
// # Layout
//
// All integers are little endian; docs/format/part.md gives the widths of everything.
//
//	+--------------------------------------------------+
//	| magic "VARVSST1" 8B                              |
//	| pages: column 0: block 0 | block 1 | ...         |   page = encoded block of one column, CRC-32C 4B
//	|        column 1: ...                             |
//	| token filters: column 0: block 0 | ...           |   for the blocks that have one, each with its CRC-32C
//	| per column: dictionary, postings, page index,    |   sections, each followed by its CRC-32C
//	|             text sizes                           |
//	| tag index: values of tags with their series      |   blocks, each with its CRC-32C, and a section
//	| series section: keys (front coded), first rows   |
//	| directory: per column id, type, sections, stats  |
//	| footer 64B: directory offset and length, counts, |
//	|         format version, CRC-32C, magic           |
//	+--------------------------------------------------+
//
// Rows are ordered by (series, time, sequence). All columns are cut into blocks at the same rows: a block has BlockRows
// rows, the last one may be shorter. Tag columns are not stored per row: the series section says where each series
// begins, and tag values come from its keys.
//
// # Promises
//
// Reading a file gives the rows that were written, or an error that wraps ErrCorrupt and names file, column and block.
// Every byte is checked against a CRC-32C before it is used, every count and offset against the bounds of what it
// points into. A Part, its Run and a Cache are safe for concurrent use; a Writer, a cursor and a series walk belong to
// one goroutine.
//
// # Files
//
//	format.go part.go                           opening, sections
//	file.go mapped.go                           the bytes of a file, in a mapping
//	entries.go unreadable.go                    calls from outside, bytes that cannot be read
//	writer.go stream.go tagwriter.go splice.go  writing, blocks taken over whole
//	series.go tags.go tagindex.go find.go       series, tags, series by tags
//	textsizes.go                                bytes of texts by series and block
//	tagroom.go                                  what scans hold of tags is counted
//	cursor.go select.go selectseries.go         scans: which blocks and rows pass
//	packed.go few.go filters.go                 tests on pages as they lie, texts of few rows, token filters
//	pages.go                                    which bytes are pages, which index
//	ahead.go                                    requests for pages of parts that are far away
//	project.go source.go held.go walk.go        rows as batches, by block and by series, as few as fit
//	columns.go cache.go indexcache.go           columns of open parts; decoded blocks and page indexes that are kept
//	check.go verify.go dump.go aside.go         damage, looking for it, printing
//	metrics.go checks.go                        figures, what builds with invariants check
package sst

import (
	"context"
	"errors"
	"time"

	"varve/engine/schema"
	"varve/engine/vector"
)

// ErrCorrupt is wrapped by every error that says that a file does not hold what it claims.
var ErrCorrupt = errors.New("damaged part")

// ErrPassedOver is wrapped by the errors of Check for an index that reads pass over when it is damaged: answers stay
// right and take longer.
var ErrPassedOver = errors.New("reads pass over it")

// WriterOptions are how a part is written.
type WriterOptions struct {
	// Table is the schema version that the rows have; tags and time index are found in it.
	Table *schema.Table
	// Columns are the columns of the batches given to Write, in order: the time index and the fields, no tags.
	Columns []schema.Column
	// Hidden stores the sequence and kind columns, which then follow Columns in every batch: tables that are not
	// append-only. Without it the part reads as sequence MaxSeq, kind put, in every row.
	Hidden bool
	// MinSeq and MaxSeq are the sequence numbers of the rows, for parts without hidden columns.
	MinSeq, MaxSeq uint64
	// BlockRows is the number of rows of a block: a multiple of vector.Size, at most MaxBlockRows. 0: DefaultBlockRows.
	BlockRows int
	// BlockBytes is the number of bytes in memory after which a block is closed with fewer rows. 0: DefaultBlockBytes.
	BlockBytes int
	// Workers is the number of goroutines that encode a block's columns; 0 and 1: the caller's alone.
	Workers int
}

// Block sizes.
const (
	// DefaultBlockRows is four streaming batches.
	DefaultBlockRows = 8192
	// MaxBlockRows bounds the memory that a reader allocates for one column of a block.
	MaxBlockRows = 1 << 16
	// maxRows bounds a part: row numbers are 32 bits wide.
	maxRows = 1<<32 - 1
)

// Meta is what the engine keeps of a part.
type Meta struct {
	Rows int64
	// Bytes is the file's size; IndexBytes is the part of it for page indexes, postings, filters, series and directory.
	Bytes, IndexBytes int64
	// MinTime and MaxTime are the span of the time index, both inclusive.
	MinTime, MaxTime int64
	MinSeq, MaxSeq   uint64
	// Checksum is the CRC-32C of directory and footer, which contain the checksums of all other sections.
	Checksum uint32
	Series   int64
	// IndexTime is what a writer spent on zones, postings and token filters, all its workers together; 0 for a part
	// that was opened.
	IndexTime time.Duration
	Columns   []ColumnMeta
}

// ColumnMeta describes one column of a part.
type ColumnMeta struct {
	ID   schema.ColumnID
	Name string
	Type vector.Type
	// Bytes are pages, dictionary and everything of the index; IndexBytes of them page index with zones, postings and
	// token filters; FilterBytes of those the filters, PostingBytes the postings.
	Bytes, IndexBytes, FilterBytes, PostingBytes int64
}

// OpenOptions are how a part is read.
type OpenOptions struct {
	// Cache keeps decoded blocks; nil: none.
	Cache *Cache
	// Metrics counts what reads did; nil: not counted.
	Metrics *Metrics
	// Context ends the reads for which no reader's context is known, such as those of sections that all readers share;
	// nil: nobody ends them.
	Context context.Context
}
