package scan

import (
	"sync"
	"sync/atomic"
)

// Memo keeps results of runs for all pieces of a scan, such as the series that pass its conditions on tags. Safe for
// concurrent use.
type Memo struct {
	found sync.Map
	kept  atomic.Int64 // bytes reserved of it
}

// Reserve has reserve, which may be nil, count bytes that the memo keeps, and gives back a negative number.
func (m *Memo) Reserve(bytes int64, reserve func(bytes int64) error) error {
	if reserve == nil {
		return nil
	}
	err := reserve(bytes)
	if err == nil {
		m.kept.Add(bytes)
	}
	return err
}

// Release gives back the reserved memory when the memo is no longer used.
func (m *Memo) Release(reserve func(bytes int64) error) {
	if kept := m.kept.Swap(0); kept > 0 {
		_ = reserve(-kept) // giving back does not fail
	}
}

// Once returns the result of find for a key. Only the first caller runs find; the others wait for it. Without a memo
// every caller runs find.
func Once[T any](m *Memo, key any, find func() (T, error)) (T, error) {
	if m == nil {
		return find()
	}
	f, ok := m.found.Load(key)
	if !ok {
		f, _ = m.found.LoadOrStore(key, sync.OnceValues(find))
	}
	return f.(func() (T, error))()
}
