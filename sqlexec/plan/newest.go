package plan

import (
	"sync"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/sqlexec/exec"
)

// newest reads a table newest pieces first for ORDER BY time DESC LIMIT n. It keeps the n greatest times that passed
// all filters; when every remaining piece is older than the least of them, reading stops. Shared by the workers.
type newest struct {
	scan *engine.Scan
	n    int // rows wanted
	// ties tells that further sort keys decide between rows of equal time: these must all be read.
	ties bool
	col  int // the time among the columns above the operators

	mu   sync.Mutex
	heap []int64 // the n greatest times so far, least first
}

// Reader gives a worker its share of the pieces.
func (s *newest) Reader(int) exec.Reader { return &newestReader{s: s} }

// enough tells whether no row of a piece can be among the wanted ones.
func (s *newest) enough(span scan.Range) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.heap) < s.n {
		return false
	}
	if s.n == 0 {
		return true
	}
	return s.heap[0] > span.To || s.heap[0] == span.To && !s.ties
}

type newestReader struct {
	s *newest
	c scan.Cursor
}

func (r *newestReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.c == nil {
			c, span, ok, err := r.s.scan.Cursor()
			if err != nil || !ok {
				return false, err
			}
			if r.s.enough(span) { // pieces come by falling span: the rest is older still
				c.Close()
				return false, nil
			}
			r.c = c
		}
		ok, err := r.c.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.c.Close()
		r.c = nil
	}
}

func (r *newestReader) Close() {
	if r.c != nil {
		r.c.Close()
		r.c = nil
	}
}

// watch is the operator above the filters that notes the times of rows that passed.
type watch struct{ s *newest }

func (w *watch) String() string { return "NewestFirst" }

// Step notes times and passes the rows on.
func (w *watch) Step(next exec.Step) exec.Step {
	return func(b *vector.Batch) error {
		w.s.note(b.Cols[w.s.col], b.N)
		return next(b)
	}
}

// note puts times into the heap.
func (s *newest) note(times *vector.Vector, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		t := times.Int(i)
		switch {
		case len(s.heap) < s.n:
			s.heap = append(s.heap, t)
			for at := len(s.heap) - 1; at > 0 && s.heap[at] < s.heap[(at-1)/2]; at = (at - 1) / 2 {
				s.heap[at], s.heap[(at-1)/2] = s.heap[(at-1)/2], s.heap[at]
			}
		case s.n > 0 && t > s.heap[0]:
			s.heap[0] = t
			s.sink()
		}
	}
}

// sink restores the heap after its least element was replaced.
func (s *newest) sink() {
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(s.heap) {
			return
		}
		if child+1 < len(s.heap) && s.heap[child+1] < s.heap[child] {
			child++
		}
		if s.heap[at] <= s.heap[child] {
			return
		}
		s.heap[at], s.heap[child] = s.heap[child], s.heap[at]
		at = child
	}
}
