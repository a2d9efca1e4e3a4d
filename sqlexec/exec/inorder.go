package exec

import (
	"context"
	"slices"
	"sync"

	"varve/engine/scan"
	"varve/engine/vector"
)

// InOrder reads a scan through filters and projections with several workers and returns the rows in the order of a
// single worker, so that a client gets the same rows whatever else runs. ok is false for any other source, and for
// operators that keep something from batch to batch.
//
// The caller's goroutine reads the first piece; a short answer needs no more. Then workers take pieces in turn, and
// each may be at most a few batches of its piece ahead of the reader. All processors evaluate the conditions, and
// passing rows take bounded memory.
func InOrder(ctx context.Context, src Source, ops []Operator, workers int) (r Reader, ok bool) {
	from := piecesOf(src)
	if from == nil || workers < 2 {
		return nil, false
	}
	for _, op := range ops {
		if m, ok := op.(*measuredOp); ok {
			op = m.Operator
		}
		switch op.(type) {
		case *filterOp, *projectOp:
		default:
			return nil, false
		}
	}
	return newInOrder(ctx, from, ops, workers), true
}

// piecesOf returns the pieces of a scan; nil: the source is none.
func piecesOf(src Source) cursors {
	switch src := src.(type) {
	case *pieceSource:
		return src.scan
	case *measuredSource:
		if from := piecesOf(src.Source); from != nil {
			return &measuredCursors{from, src}
		}
	}
	return nil
}

// cursors hands out the pieces of a scan. Safe for concurrent use.
type cursors interface {
	Cursor() (scan.Cursor, scan.Range, bool, error)
}

// aheadBatches is how many batches of a piece may wait for the reader, and aheadPieces how many pieces for each worker.
// A batch of more than aheadBytes is not copied: its worker waits until the reader has come to the piece.
const (
	aheadBatches = 2
	aheadPieces  = 2
	aheadBytes   = 1 << 20
)

type inOrderReader struct {
	ctx     context.Context
	cancel  context.CancelFunc
	from    cursors
	ops     []Operator
	workers int

	first   scan.Cursor // the piece that the caller reads; nil: not opened, or read
	step    Step
	in      vector.Batch
	given   int           // rows of in that step has been given
	made    *vector.Batch // by step; nil: nothing passed
	started bool

	mu    sync.Mutex  // held while a piece is taken and entered: pieces come in the scan's order
	queue chan *piece // closed when there are no more
	wg    sync.WaitGroup
	at    *piece
}

// piece is what came out of a piece of the scan.
type piece struct {
	batches chan vector.Batch // closed at the end of the piece
	reached chan struct{}     // closed when the reader comes to it
	err     error             // to be read after batches is closed
}

func newInOrder(ctx context.Context, from cursors, ops []Operator, workers int) *inOrderReader {
	r := &inOrderReader{from: from, ops: ops, workers: workers, queue: make(chan *piece, workers*aheadPieces)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	once := func(s Step) Step { return s } // what is made is looked at before the next rows are
	r.step = chained(ops, func(b *vector.Batch) error {
		r.made = b
		return nil
	}, once)[0]
	return r
}

// Next returns the next batch.
func (r *inOrderReader) Next(b *vector.Batch) (bool, error) {
	if !r.started {
		ok, err := r.nextOfFirst(b)
		if ok || err != nil {
			return ok, err
		}
		r.start()
	}
	for {
		if r.at != nil {
			if kept, ok := <-r.at.batches; ok {
				*b = kept
				return true, nil
			}
			if r.at.err != nil {
				return false, r.at.err
			}
		}
		at, ok := <-r.queue
		if !ok {
			return false, r.ctx.Err()
		}
		close(at.reached)
		r.at = at
	}
}

// nextOfFirst reads the first piece; false: it ends.
func (r *inOrderReader) nextOfFirst(b *vector.Batch) (bool, error) {
	if r.first == nil {
		c, _, ok, err := r.from.Cursor()
		if err != nil || !ok {
			return false, err
		}
		r.first = c
	}
	for {
		if err := r.ctx.Err(); err != nil {
			return false, err
		}
		if r.given == r.in.N {
			ok, err := r.first.Next(&r.in)
			if err != nil || !ok {
				return false, err
			}
			r.given = 0
		}
		r.made = nil
		if err := r.step(r.portion()); err != nil {
			return false, err
		}
		if r.made != nil && r.made.N > 0 {
			*b = *r.made
			return true, nil
		}
	}
}

// portion takes rows of in: all of them where their texts are not long.
func (r *inOrderReader) portion() *vector.Batch {
	if r.given == 0 && !hasLongTexts(&r.in) {
		r.given = r.in.N
		return &r.in
	}
	from := r.given
	r.given = portionEnd(&r.in, from, rowTexts)
	return sliceOf(&r.in, from, r.given)
}

// start lets the workers go.
func (r *inOrderReader) start() {
	r.started = true
	if r.first != nil {
		r.first.Close()
		r.first = nil
	}
	for range r.workers {
		r.wg.Go(r.work)
	}
	go func() {
		r.wg.Wait()
		close(r.queue)
	}()
}

// work reads pieces until there are no more, or the reader has gone.
func (r *inOrderReader) work() {
	var to *piece
	step := Chain(r.ops, func(b *vector.Batch) error {
		if b.N == 0 {
			return nil
		}
		if BatchBytes(b) > aheadBytes {
			select {
			case <-to.reached:
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
		}
		select {
		case to.batches <- keepBatch(b):
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})[0]
	for {
		p, c := r.take()
		if p == nil {
			return
		}
		to = p
		if c != nil {
			p.err = r.read(c, step)
		}
		failed := p.err != nil
		close(p.batches)
		if failed {
			return
		}
	}
}

// take takes the next piece and enters it for the reader; nil: there is none. A piece without a cursor holds an error.
func (r *inOrderReader) take() (*piece, scan.Cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _, ok, err := r.from.Cursor()
	if !ok && err == nil {
		return nil, nil
	}
	p := &piece{batches: make(chan vector.Batch, aheadBatches), reached: make(chan struct{}), err: err}
	select {
	case r.queue <- p:
		if err != nil {
			return p, nil
		}
		return p, c
	case <-r.ctx.Done():
		if c != nil {
			c.Close()
		}
		return nil, nil
	}
}

// read drains a piece. A panic is the query's end, not the server's.
func (r *inOrderReader) read(c scan.Cursor, step Step) (err error) {
	defer c.Close()
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	var b vector.Batch
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		ok, err := c.Next(&b)
		if err != nil || !ok {
			return err
		}
		if err := step(&b); err != nil {
			return err
		}
	}
}

// Close ends the workers and waits for them: afterwards the scan may be closed.
func (r *inOrderReader) Close() {
	r.cancel()
	if r.first != nil {
		r.first.Close()
		r.first = nil
	}
	r.wg.Wait()
}

// keepBatch copies a batch, so that it stays when its maker goes on. Dictionaries are shared: they do not change.
func keepBatch(b *vector.Batch) vector.Batch {
	kept := vector.Batch{N: b.N, Cols: make([]*vector.Vector, len(b.Cols))}
	for i, v := range b.Cols {
		c := &vector.Vector{Type: v.Type}
		switch v.Form {
		case vector.Const:
			c.Append(0, v, 0, 1)
			c.Form = vector.Const
		case vector.Dict:
			c.Form, c.Values, c.Codes = vector.Dict, v.Values, slices.Clone(v.Codes[:b.N])
			if v.Valid != nil {
				c.Valid = slices.Clone(v.Valid[:vector.Words(b.N)])
			}
		default:
			c.Append(0, v, 0, b.N)
		}
		kept.Cols[i] = c
	}
	return kept
}
