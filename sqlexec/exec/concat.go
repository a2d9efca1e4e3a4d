package exec

import "varve/engine/vector"

// concat returns the rows of sources, source by source, to worker 0.
func concat(sources []Source) Source { return &concatenation{sources} }

type concatenation struct{ sources []Source }

// Reader hands all rows to worker 0.
func (c *concatenation) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	return &chainReader{sources: c.sources}
}

type chainReader struct {
	sources []Source
	in      Reader
}

func (r *chainReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in == nil {
			if len(r.sources) == 0 {
				return false, nil
			}
			r.in, r.sources = r.sources[0].Reader(0), r.sources[1:]
		}
		ok, err := r.in.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.in.Close()
		r.in = nil
	}
}

func (r *chainReader) Close() {
	if r.in != nil {
		r.in.Close()
	}
}

// empty has no rows.
type empty struct{}

func (empty) Next(*vector.Batch) (bool, error) { return false, nil }
func (empty) Close()                           {}
