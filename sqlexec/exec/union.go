package exec

import (
	"context"

	"varve/engine/vector"
)

// Union returns the rows of its inputs, input by input. Workers share the rows of an input that several may read;
// worker 0 reads the others.
func Union(ctx context.Context, inputs []Stream) Source { return &unionSource{ctx, inputs} }

type unionSource struct {
	ctx    context.Context
	inputs []Stream
}

// Reader hands a worker its share.
func (u *unionSource) Reader(worker int) Reader {
	return &unionReader{u: u, worker: worker, left: u.inputs}
}

type unionReader struct {
	u      *unionSource
	worker int
	left   []Stream
	in     Reader
}

func (r *unionReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in == nil {
			if len(r.left) == 0 {
				return false, nil
			}
			s := r.left[0]
			if r.left = r.left[1:]; s.Serial && r.worker > 0 {
				continue
			}
			r.in = Pull(r.u.ctx, s, r.worker, nil)
		}
		ok, err := r.in.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.in.Close()
		r.in = nil
	}
}

func (r *unionReader) Close() {
	if r.in != nil {
		r.in.Close()
	}
}

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
