package engine

import (
	"errors"

	"varve/engine/status"
	"varve/engine/vector"
)

// refusals are the rows of a write that its table does not take, see Hint.Reject.
type refusals struct {
	rows    []error       // by row; nil: none is refused
	columns map[int]error // columns that the table cannot get: the rows that have a value there are refused
	kept    []uint32      // the rows that the record has; nil: all
}

// begin forgets the rows, which are held against another schema.
func (r *refusals) begin() {
	clear(r.rows)
	r.kept = nil
}

// why says why a row is refused; nil: it is not.
func (r *refusals) why(row int) error {
	if r.rows == nil {
		return nil
	}
	return r.rows[row]
}

// refuse leaves a row out.
func (w *tableWrite) refuse(row int, why error) {
	if w.refused.rows == nil {
		w.refused.rows = make([]error, w.batch.N)
	}
	if w.refused.rows[row] == nil {
		w.refused.rows[row] = why
		w.left++
	}
}

// refuseAll leaves all rows out.
func (w *tableWrite) refuseAll(why error) {
	for row := range w.batch.N {
		w.refuse(row, why)
	}
}

// allOrError leaves all rows out; the error is that of the write where rows cannot be left out.
func (w *tableWrite) allOrError(why error) error {
	if w.hint.Reject == nil || status.Of(why) != status.InvalidArguments {
		return why
	}
	w.refuseAll(why)
	return nil
}

// columnOrError leaves out the rows that have a value in the i-th column.
func (w *tableWrite) columnOrError(i int, why error) error {
	if w.hint.Reject == nil || status.Of(why) != status.InvalidArguments {
		return why
	}
	w.refuseColumn(i, why)
	return nil
}

func (w *tableWrite) refuseColumn(i int, why error) {
	v := w.batch.Cols[i]
	for row := range w.batch.N {
		if !v.IsNull(row) {
			w.refuse(row, valued(why, v, row))
		}
	}
}

// nullsOrError leaves out the rows that have no value in the i-th column.
func (w *tableWrite) nullsOrError(i int, why error) error {
	if w.hint.Reject == nil {
		return why
	}
	v := w.batch.Cols[i]
	for row := range w.batch.N {
		if v.IsNull(row) {
			w.refuse(row, why)
		}
	}
	return nil
}

// giveUp notes that the table does not get the i-th column of the rows, when it is aligned again.
func (w *tableWrite) giveUp(i int, why error) error {
	if w.hint.Reject == nil || status.Of(why) != status.InvalidArguments {
		return why
	}
	if w.refused.columns == nil {
		w.refused.columns = map[int]error{}
	}
	w.refused.columns[i] = why
	return nil
}

// giveUpAll is giveUp for several columns.
func (w *tableWrite) giveUpAll(places []int, why error) error {
	for _, i := range places {
		if err := w.giveUp(i, why); err != nil {
			return err
		}
	}
	return nil
}

// valued is the error of a column for a row of it: a clash shows the row's value.
func valued(why error, v *vector.Vector, row int) error {
	var e *status.Error
	var clash *TypeClash
	if !errors.As(why, &e) || !errors.As(why, &clash) {
		return why
	}
	own := *clash
	own.Row, own.Rows, own.Value = 0, 1, &vector.Vector{}
	own.Value.Reset(v.Type)
	own.Value.Append(0, v, row, row+1)
	return status.Wrap(&own, e.Code, "%s", e.Msg)
}

// leavesOut reports whether rows of new series may be left out.
func (w *tableWrite) leavesOut() bool {
	return w.writeEntry != nil && (w.hint.LeftOut != nil || w.hint.Reject != nil)
}

// leaveOut removes all rows from the record except some, because there is no room for the other series.
func (w *tableWrite) leaveOut(keep []uint32) {
	before := w.rec.batch.N
	if before == len(keep) {
		return
	}
	if w.hint.Reject == nil {
		w.left += before - len(keep)
	} else {
		w.refuseOthers(keep)
	}
	if len(keep) == 0 {
		w.rec = nil
		return
	}
	w.rec.keep(keep)
}

// refuseOthers refuses the rows of the record that are not to be kept.
func (w *tableWrite) refuseOthers(keep []uint32) {
	next := 0
	for row := range w.rec.batch.N {
		if next < len(keep) && int(keep[next]) == row {
			next++
			continue
		}
		of := row
		if w.refused.kept != nil {
			of = int(w.refused.kept[row])
		}
		w.refuse(of, w.leftWhy)
	}
}

// tell reports the rows that were left out to the writer.
func (w *tableWrite) tell() {
	switch {
	case w.left == 0:
	case w.hint.Reject == nil:
		w.hint.LeftOut(w.left, w.leftWhy)
	default:
		for row, why := range w.refused.rows {
			if why != nil {
				w.hint.Reject(w.builder.Origin(row), why)
			}
		}
	}
}
