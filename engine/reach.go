package engine

import (
	"context"
	"slices"
	"sync"

	"varve/engine/scan"
)

// A scan of cold parts has pages requested of the pieces that come next while those before are read: a bucket answers
// late, and many at once. How far it reaches doubles with each piece that is handed out, so that a reader that stops
// early has few pages fetched in vain.
const (
	firstReach = 4  // pieces with pages to fetch, before the first piece
	mostReach  = 32 // in the end
	// reachBytes bounds the pages that were requested for pieces which are not handed out yet.
	reachBytes = 32 << 20
)

// reach is what a scan has requested ahead.
type reach struct {
	ctx    context.Context // of the requests; nil: no part is cold
	cancel context.CancelFunc
	turn   sync.Mutex // held while pieces are looked at

	// The lock of the scan protects what follows.
	taken  int     // pieces that were handed out
	asked  []int64 // bytes that were requested of each of the first pieces that are left
	bytes  int64   // their sum
	pieces int     // those of them that are not 0
	most   int     // bound of pieces
}

// begin prepares requests if a piece is of a cold part.
func (a *reach) begin(ctx context.Context, pieces []piece) {
	for i := range pieces {
		if p := pieces[i].run; p != nil && p.part != nil && p.part.isCold() {
			a.ctx, a.cancel = context.WithCancel(ctx)
			a.most = firstReach
			return
		}
	}
}

// end ends the requests.
func (a *reach) end() {
	if a.cancel != nil {
		a.cancel()
	}
}

// took counts the first piece as handed out. The lock of the scan is held.
func (a *reach) took() {
	if a.ctx == nil {
		return
	}
	a.taken++
	a.most = min(2*a.most, mostReach)
	if len(a.asked) > 0 {
		if a.asked[0] > 0 {
			a.bytes, a.pieces = a.bytes-a.asked[0], a.pieces-1
		}
		a.asked = a.asked[1:]
	}
}

// reachOut requests the pages of pieces to come, as far as the scan reaches.
func (s *Scan) reachOut() {
	a := &s.reach
	if a.ctx == nil {
		return
	}
	a.turn.Lock()
	defer a.turn.Unlock()
	for a.ctx.Err() == nil {
		p, number, ok := s.toReach()
		if !ok {
			return
		}
		spec := *s.spec
		spec.Time = spec.Time.And(p.span)
		spec.Pieces = &p.blocks
		spec.Filter = slices.Concat(spec.Filter, s.above)
		n := p.run.part.file.Ahead(a.ctx, &spec, reachBytes)
		s.mu.Lock()
		if i := number - a.taken; i >= 0 && n > 0 {
			a.asked[i] = n
			a.bytes, a.pieces = a.bytes+n, a.pieces+1
		}
		s.mu.Unlock()
	}
}

// toReach is the next piece to look at, with its number; false: the scan does not reach further now.
func (s *Scan) toReach() (p piece, number int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.reach
	wanted, _ := s.bounds.Wanted()
	for a.pieces < a.most && a.bytes < reachBytes && len(a.asked) < len(s.pieces) {
		number, p = a.taken+len(a.asked), s.pieces[len(a.asked)]
		a.asked = append(a.asked, 0)
		if p.run != nil && p.run.part != nil && p.run.part.isCold() && wanted.Overlaps(p.span.From, p.span.To) {
			return p, number, true
		}
	}
	return p, 0, false
}

// reachOut requests the pages of stretches to come, as far as the walk reaches, which doubles with each stretch.
func (w *stretchSeries) reachOut() {
	ctx := w.s.reach.ctx
	if ctx == nil {
		return
	}
	pieces, bytes := 0, int64(0)
	for _, n := range w.asked {
		pieces, bytes = pieces+min(1, int(n)), bytes+n
	}
	w.reach = min(max(2*w.reach, firstReach), mostReach)
	for len(w.asked) < len(w.left) && pieces < w.reach && bytes < reachBytes && ctx.Err() == nil {
		n := w.s.askStretch(ctx, w.left[len(w.asked)], w.spec, reachBytes-bytes)
		w.asked = append(w.asked, n)
		pieces, bytes = pieces+min(1, int(n)), bytes+n
	}
}

// askStretch requests pages of the cold parts of a stretch, and gives how many bytes they are: about most at the most.
func (s *Scan) askStretch(ctx context.Context, at stretch, spec scan.Spec, most int64) (bytes int64) {
	if spec.Time = spec.Time.And(at.span); spec.Time.From > spec.Time.To {
		return 0
	}
	if len(at.runs) == 1 && s.asItIs(at.runs[0]) {
		spec.Filter = slices.Concat(spec.Filter, s.above)
	}
	for _, r := range at.runs {
		if r.part != nil && r.part.isCold() && bytes < most {
			bytes += r.part.file.Ahead(ctx, &spec, most-bytes)
		}
	}
	return bytes
}
