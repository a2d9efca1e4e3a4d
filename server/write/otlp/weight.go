package otlp

import "varve/engine/status"

// tellStep is what the rows of a request may grow by before hold is told.
const tellStep = 1 << 20

// weight counts the bytes that the rows of a request take, and tells what bounds them every now and then.
type weight struct {
	what       string // that the request has, for the error
	most       int64
	hold       func(bytes int64) error // takes what the rows may take until it is told again
	held, told int64
	full       error // there is no room for more, which is no fault of a row
}

// begin forgets what was counted.
func (w *weight) begin(what string, most int64) {
	*w = weight{what: what, most: most, hold: w.hold}
}

// add counts bytes that the rows are about to take.
func (w *weight) add(bytes int64) error {
	w.held += bytes
	return w.tell()
}

// tell tells hold when the rows take more than it knows of.
func (w *weight) tell() error {
	switch {
	case w.held <= w.told:
		return nil
	case w.held > w.most:
		w.full = status.New(status.InvalidArguments,
			"the %s of the request take more than %d bytes, send fewer at a time", w.what, w.most)
	default:
		w.told = w.held + tellStep
		w.full = w.hold(w.told)
	}
	return w.full
}
