package scan

import "sync"

// Memo keeps what runs find out once for all pieces of a scan, such as the series that pass its conditions on tags. Safe for
// concurrent use.
type Memo struct{ found sync.Map }

// Once returns what find found for a key, which only the first who asks calls; the others wait for it. Without a memo
// everybody calls it.
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
