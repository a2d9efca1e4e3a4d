package flatten

import (
	"errors"
	"slices"

	"varve/engine/status"
	"varve/engine/vector"
)

// Rows may take far more memory than the text they come from: a NULL takes eight bytes, a column some hundred. They are
// measured whenever they may have grown by freeBytes, so that they are bounded before they are made.

// counted counts a row that has ended.
func (d *Decoder) counted() {
	d.res.Rows++
	if d.res.Rows*d.b.Columns() >= d.cells {
		d.measure(0)
	}
}

// room makes room for one more column, whose earlier rows are NULL. False if the request has failed.
func (d *Decoder) room() bool {
	if d.res.Rows*(d.b.Columns()+1) >= d.cells {
		d.measure(int64(d.res.Rows) * 8)
	}
	return d.err == nil
}

// measure counts the memory of the rows and the given number of further bytes; if it is too much, the request fails.
func (d *Decoder) measure(more int64) {
	if !d.making() {
		return
	}
	if err := d.checkCells(); err != nil {
		d.err = err
		return
	}
	bytes := more + edgeBytes*int64(d.edges)
	for _, b := range d.all {
		bytes += b.Bytes()
	}
	d.cells, d.learned = d.res.Rows*d.b.Columns()+freeCount, d.edges
	if d.o.MaxBytes > 0 && bytes > d.o.MaxBytes {
		d.err = errRows(bytes, d.o.MaxBytes)
	} else if d.o.Hold != nil {
		d.err = d.o.Hold(bytes)
	}
}

func errRows(bytes, most int64) error {
	return status.Wrap(ErrTooMany, status.InvalidArguments,
		"the rows of the request take %d bytes, the limit is %d, send fewer entries at a time", bytes, most)
}

// checkCells refuses bodies of few bytes that make many cells.
func (d *Decoder) checkCells() error { return CheckCells(d.res.Rows, d.b.Columns(), d.total) }

// ErrTooMany is the cause of errors of rows that together are too many, or too large, for memory. Fewer entries at a
// time may be stored all the same.
var ErrTooMany = errors.New("too many rows at a time")

// CheckCells refuses rows and columns of more cells than the bytes that they were made of may make. The bound is that
// of a batch in memory, not of a table.
func CheckCells(rows, columns int, bytes int64) error {
	limit := min(maxCells, freeCells+cellsPerByte*bytes)
	if cells := int64(rows) * int64(columns); cells > limit {
		return status.Wrap(ErrTooMany, status.InvalidArguments,
			"%d rows of %d columns have more cells than a body of %d bytes may fill (%d), send fewer rows at a time",
			rows, columns, bytes, limit)
	}
	return nil
}

// keep notes a builder of the body.
func (d *Decoder) keep(b *vector.Builder) {
	if !slices.Contains(d.all, b) {
		d.all = append(d.all, b)
	}
}

// grow makes room for the values of an entry that is taken apart.
func (d *Decoder) grow(values int) error {
	d.measure(treeBytes * int64(values))
	return d.err
}
