package exec

import (
	"sync"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/vector"
)

// Newest reads a scan newest pieces first for ORDER BY time DESC LIMIT n. It keeps the n greatest times that passed all filters; when
// every remaining piece is older than the least of them, reading stops. ties tells that further sort keys decide between rows of
// equal time: these must all be read. The operator goes over the filters, where column col is the time; it notes the times of the
// rows that passed. The scan stays the caller's.
func Newest(s *engine.Scan, n int, ties bool, col int) (Source, Operator) {
	w := &newest{scan: s, n: n, ties: ties, col: col}
	return w, &watch{w}
}

// newest is shared by the workers.
type newest struct {
	scan *engine.Scan
	n    int
	ties bool
	col  int

	mu   sync.Mutex
	heap []int64 // the n greatest times so far, least first
}

// Reader gives a worker its share of the pieces.
func (s *newest) Reader(int) Reader { return &scanReader{scan: s.scan, enough: s.enough} }

// enough tells whether no row of a piece can be among the wanted ones. Pieces come by falling span: the rest is older still.
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

// watch is the operator above the filters that notes the times of rows that passed.
type watch struct{ s *newest }

func (w *watch) String() string { return "NewestFirst" }

// Step notes times and passes the rows on.
func (w *watch) Step(next Step) Step {
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
