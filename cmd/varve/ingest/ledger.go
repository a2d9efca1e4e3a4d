package ingest

import (
	"slices"
	"sync"
)

// span is a stretch of an input.
type span struct {
	From mark `json:"from"`
	To   mark `json:"to"`
}

// ledger notes what of an input is dealt with: stored by the server or among the rejects. Safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	at    mark   // all before it is
	ahead []span // and these, which lie behind it with a gap, in order
	last  mark   // end of what was cut
	ended bool   // nothing further will be cut
	dirty bool   // since take
}

// start is where an input begins to be read.
func (l *ledger) start(at mark, ahead []span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.last, l.ahead = at, at, slices.Clone(ahead)
	if n := len(ahead); n > 0 {
		l.last = ahead[n-1].To
	}
}

// cut notes that a batch ends at to.
func (l *ledger) cut(to mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.Byte > l.last.Byte {
		l.last = to
	}
}

// end notes that all is cut.
func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.dirty = true, true
}

// done notes that a stretch is dealt with.
func (l *ledger) done(from, to mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
	i, _ := slices.BinarySearchFunc(l.ahead, from.Byte,
		func(s span, b int64) int { return int(min(1, max(-1, s.From.Byte-b))) })
	l.ahead = slices.Insert(l.ahead, i, span{from, to})
	for i = max(0, i-1); i+1 < len(l.ahead); {
		if l.ahead[i].To.Byte < l.ahead[i+1].From.Byte {
			i++
			continue
		}
		if next := l.ahead[i+1].To; next.Byte > l.ahead[i].To.Byte {
			l.ahead[i].To = next
		}
		l.ahead = slices.Delete(l.ahead, i+1, i+2)
	}
	for len(l.ahead) > 0 && l.ahead[0].From.Byte <= l.at.Byte {
		if next := l.ahead[0].To; next.Byte > l.at.Byte {
			l.at = next
		}
		l.ahead = slices.Delete(l.ahead, 0, 1)
	}
}

// whole reports whether everything of the input is dealt with.
func (l *ledger) whole() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended && l.at.Byte >= l.last.Byte
}

// moved reports whether anything is dealt with.
func (l *ledger) moved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at.Byte > 0 || len(l.ahead) > 0
}

// take gives what is to be written into the state; changed is false when it has not since the last time.
func (l *ledger) take() (at mark, ahead []span, changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, l.dirty = l.dirty, false
	return l.at, slices.Clone(l.ahead), changed
}

// touch lets the next take say that something has changed.
func (l *ledger) touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
}
