// Package rowfile reads and writes the files of COPY: CSV with a header line, JSON with one object a line, and Parquet.
//
// # Text
//
// CSV and JSON have values as CAST(.. AS STRING) prints them: times in UTC without a zone, the shortest text of a float
// that reads back (NaN, inf, -inf), binary in lower-case hex. NULL is an empty field in CSV, where the empty text is
// "", and null in JSON. JSON values, lists, numbers and booleans stand unquoted in JSON.
//
// # Parquet
//
// Every column is optional. Timestamps and times in seconds are kept as milliseconds, because Parquet has no seconds;
// durations as INT64, intervals and lists as text, decimals as 16 bytes.
//
// # Memory
//
// Readers and writers hold one batch, for Parquet one page a column and one row group, whatever the size of the file. A
// record of a text file is at most MaxRecord.
package rowfile

import (
	"fmt"
	"io"
	"path"
	"strings"

	"varve/engine/timefmt"
	"varve/engine/vector"
)

// MaxRecord is the size of the largest record of a text file, in bytes.
const MaxRecord = 16 << 20

// batchBytes is the text of a batch beyond which it ends before it has vector.Size rows.
const batchBytes = 4 << 20

// Format is the form of a file.
type Format uint8

// The formats.
const (
	CSV Format = iota
	JSON
	Parquet
)

// ParseFormat reads the name of a format, in any case.
func ParseFormat(name string) (Format, bool) {
	switch strings.ToLower(name) {
	case "csv":
		return CSV, true
	case "json", "ndjson", "jsonl":
		return JSON, true
	case "parquet":
		return Parquet, true
	}
	return 0, false
}

// FormatOf reads a format from the ending of a file's name, or from the one before the ending of a compression.
func FormatOf(name string) (Format, bool) {
	ext := path.Ext(name)
	if c, ok := ParseCompression(strings.TrimPrefix(ext, ".")); ok && c != None {
		ext = path.Ext(strings.TrimSuffix(name, ext))
	}
	return ParseFormat(strings.TrimPrefix(ext, "."))
}

// String is the format's name, which is the ending of its files.
func (f Format) String() string { return [...]string{"csv", "json", "parquet"}[f] }

// Times are the layouts that replace the usual text of times in CSV and JSON; nil keeps it.
type Times struct{ Timestamp, Date, Time *timefmt.Layout }

// Writer writes rows. After an error it is of no use.
type Writer interface {
	Write(b *vector.Batch) error
	// Close writes what is left. The writer below stays open.
	Close() error
}

// WriteOptions of NewWriter.
type WriteOptions struct {
	Format      Format
	Compression Compression
	Delimiter   byte // of CSV; 0 is the comma
	Times       Times
	// Continued reports that rows with the same columns precede these: CSV then gets no line of names.
	Continued bool
}

// NewWriter begins a file of rows with the fields. Two fields with one name are an error.
func NewWriter(w io.Writer, fields []vector.Field, o WriteOptions) (Writer, error) {
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.Name] {
			return nil, fmt.Errorf("two columns are named %q, a file needs other names for them: use AS", f.Name)
		}
		seen[f.Name] = true
	}
	if o.Format == Parquet {
		return newParquetWriter(w, fields, o.Compression)
	}
	z, err := compressor(w, o.Compression)
	if err != nil {
		return nil, err
	}
	t := &textWriter{out: z, times: o.Times}
	if o.Format == CSV {
		t.rows, t.csv = csvRows, newCSVForm(o.Delimiter)
		if !o.Continued {
			t.buf = t.csv.appendNames(t.buf, fields)
		}
	} else {
		t.rows = jsonRows(fields)
	}
	return t, nil
}

// Rows is what a Reader gives: a vector for each wanted column. In text files every column is STRING: the value's text,
// not yet read as anything.
type Rows struct {
	N    int
	Cols []*vector.Vector
	// Missing[k] are the rows without column k, as opposed to rows with NULL in it; nil: none. JSON only.
	Missing []vector.Bitmap
	// At[i] is where row i stands: its line in a text file, its number from 1 in Parquet.
	At []int64
}

// Reader reads rows in the order of the file.
type Reader interface {
	// Has reports whether the file has wanted column k. A JSON file may have any.
	Has(k int) bool
	// Next fills r with the next rows; false after the last. The content of r belongs to the reader, until the next
	// call.
	Next(r *Rows) (bool, error)
	Close() error
}

// File is what Parquet is read from.
type File interface {
	io.Reader
	io.ReaderAt
}

// ReadOptions of NewReader.
type ReadOptions struct {
	Format Format
	// Compression of a text file; Auto looks at its first bytes.
	Compression Compression
	Delimiter   byte // of CSV; 0 is the comma
	// Raw sets the names whose values in JSON are wanted as JSON, strings with their quotes; nil: no name.
	Raw []bool
	// Bad is told of records that cannot be taken apart, with their place. Without an error it gives, the record is
	// left out. nil: the first is the error of Next.
	Bad func(at int64, err error) error
	// Hold is called with the total memory that a reader is about to use: for Parquet the memory that the file claims,
	// for text the decompressor and long records. Its error ends the reading. nil: the memory is not counted.
	Hold func(bytes int64) error
}

// NewReader reads the columns of the names from a file of size bytes.
func NewReader(f File, size int64, names []string, o ReadOptions) (Reader, error) {
	if o.Bad == nil {
		o.Bad = func(_ int64, err error) error { return err }
	}
	if o.Hold == nil {
		o.Hold = func(int64) error { return nil }
	}
	if o.Format == Parquet {
		return newParquetReader(f, size, names, o.Hold)
	}
	var unpacking, record int64
	z, err := decompressor(f, o.Compression, func(bytes int64) error {
		unpacking = max(unpacking, bytes)
		return o.Hold(unpacking + record)
	})
	if err != nil {
		return nil, err
	}
	lines := newLineReader(z, func(bytes int64) error {
		record = max(record, bytes)
		return o.Hold(unpacking + record)
	})
	if o.Format == JSON {
		return newJSONReader(lines, names, o.Raw, o.Bad), nil
	}
	r, err := newCSVReader(lines, names, newCSVForm(o.Delimiter).comma, o.Bad)
	if err != nil {
		return nil, closing(z, err)
	}
	return r, nil
}
