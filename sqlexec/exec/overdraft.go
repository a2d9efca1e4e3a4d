package exec

import (
	"sync"
	"sync/atomic"
)

// overdraft is a part of a budget for something that goes to disk when memory is short, but only between batches: what
// it is refused meanwhile it owes, up to a bound. Safe for concurrent use.
type overdraft struct {
	*Budget
	most  int64  // that it may owe; 0: a refusal is an error
	share *share // of which it takes; nil: of all that there is

	mu   sync.Mutex
	held int64 // bytes of the budget
	owed int64
	full bool // it was refused something
}

// share is a part of the memory that several may take together, before they owe what is more. The rest is for the
// operators above them, which have to work with their rows.
type share struct {
	limit int64
	taken atomic.Int64
}

// leastOwed and mostOwed bound what may be owed, which is to be enough for a batch: a matrix of two keys takes 4 MiB,
// and sketches of each row 8 MiB.
const (
	leastOwed = 8 << 20
	mostOwed  = 64 << 20
)

// newOverdraft is a part of a budget from which nothing is taken yet.
func newOverdraft(b *Budget, of *share, owes bool) *overdraft {
	m := &overdraft{Budget: b, share: of}
	if owes {
		m.most = min(max(b.pool.limit/8, leastOwed), mostOwed)
	}
	return m
}

// Reserve takes bytes: of the share, else it owes them, else of what else there is.
func (m *overdraft) Reserve(bytes int64) error {
	m.mu.Lock()
	owed := m.owed
	m.mu.Unlock()
	within := m.most == 0 || m.share.left() >= bytes
	if within {
		err := m.take(bytes, owed > 0 && m.most > 0)
		if err == nil || !exhausted(err) {
			return err
		}
	}
	m.mu.Lock()
	m.full = true
	owes := m.owed+bytes <= m.most
	if owes {
		m.owed += bytes
	}
	m.mu.Unlock()
	switch {
	case owes:
		return nil
	case within:
		return m.Budget.exceeded()
	}
	return m.take(bytes, owed > 0)
}

// take takes bytes of the budget; who hurries, because it is about to stop, does not wait for others to give some back.
func (m *overdraft) take(bytes int64, hurries bool) error {
	if !hurries {
		if err := m.Budget.Reserve(bytes); err != nil {
			return err
		}
	} else if !m.Budget.ticket.Take(bytes) {
		return m.Budget.exceeded()
	} else {
		m.Budget.count(bytes)
	}
	m.mu.Lock()
	m.held += bytes
	m.mu.Unlock()
	m.share.add(bytes)
	return nil
}

// Release returns bytes, those first that it owes.
func (m *overdraft) Release(bytes int64) {
	m.mu.Lock()
	owed := min(m.owed, bytes)
	m.owed -= owed
	bytes -= owed
	m.held -= bytes
	m.mu.Unlock()
	m.share.add(-bytes)
	m.Budget.Release(bytes)
}

// Left is how many bytes there are.
func (m *overdraft) Left() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Budget.Left() + max(m.most-m.owed, 0)
}

// room is how many bytes there are without owing any.
func (m *overdraft) room() int64 { return min(m.Budget.Left(), m.share.left()) }

// short reports whether it was refused something.
func (m *overdraft) short() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.full
}

// taken is what it has of the budget, and owes.
func (m *overdraft) taken() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held + m.owed
}

// close gives everything back.
func (m *overdraft) close() {
	m.mu.Lock()
	held := m.held
	m.held, m.owed = 0, 0
	m.mu.Unlock()
	m.share.add(-held)
	m.Budget.Release(held)
}

// left is what may still be taken.
func (s *share) left() int64 {
	if s == nil {
		return 1<<63 - 1
	}
	return s.limit - s.taken.Load()
}

func (s *share) add(bytes int64) {
	if s != nil {
		s.taken.Add(bytes)
	}
}
