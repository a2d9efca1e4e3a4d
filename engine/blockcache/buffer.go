package blockcache

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"varve/engine/invariant"
)

const (
	// minBuffer and maxBuffer are the sizes, as powers of two, of the buffers that are used again.
	minBuffer, maxBuffer = 12, 22
)

// pools hold buffers of each size.
var pools [maxBuffer + 1]sync.Pool

// buffer is memory that several may hold; whoever lets go of it last gives it back.
type buffer struct {
	b    []byte
	refs atomic.Int32
	pool *sync.Pool // nil: it is not used again
}

// newBuffer has n bytes, and one who holds it.
func newBuffer(n int) *buffer {
	size := max(minBuffer, bits.Len(uint(max(n, 1)-1)))
	if size > maxBuffer {
		m := &buffer{b: make([]byte, n)}
		m.refs.Store(1)
		return m
	}
	m, _ := pools[size].Get().(*buffer)
	if m == nil {
		m = &buffer{b: make([]byte, 1<<size), pool: &pools[size]}
	}
	m.b = m.b[:n]
	m.refs.Store(1)
	return m
}

func (m *buffer) hold() { m.refs.Add(1) }

// free lets go.
func (m *buffer) free() {
	left := m.refs.Add(-1)
	if left < 0 {
		panic("bytes of the cache of cold data were released twice")
	}
	if left > 0 || m.pool == nil {
		return
	}
	m.b = m.b[:cap(m.b)]
	if invariant.On {
		for i := range m.b {
			m.b[i] = 0xDB // what is used after its release is found
		}
	}
	m.pool.Put(m)
}

// lend is a part of the buffer, with the function that lets go of the buffer.
func (m *buffer) lend(from, n int) ([]byte, func()) {
	return m.b[from : from+n : from+n], sync.OnceFunc(m.free)
}
