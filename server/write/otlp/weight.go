package otlp

import "varve/engine/status"

// tellStep is how many bytes the rows of a request may grow by before hold is called again.
const tellStep = 1 << 20

// weight counts the bytes that the rows of a request take. It calls hold each time they have grown by tellStep.
type weight struct {
	what string // the records of the request, for the error
	most int64
	hold func(bytes int64) error // is called with the most bytes that the rows take until the next call
	held int64                   // bytes that the rows take
	told int64                   // the bytes with which hold was called
	full error                   // that there is no room for more, which is no fault of a row
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

// tell calls hold if the rows take more than it was called with.
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
