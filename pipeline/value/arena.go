package value

import (
	"time"
	"unsafe"

	"varve/engine/status"
)

const (
	// firstBytes and firstSlots are the sizes of the first chunks of an arena: an event of twenty fields fits.
	firstBytes, firstSlots = 4096, 64
	// keptBytes and keptSlots bound what an arena keeps at Reset: after one huge event it does not stay huge.
	keptBytes, keptSlots = 4 << 20, 128 << 10
	// spareFields is the room left for new members when a container is copied to be changed.
	spareFields = 4
)

// Arena is the memory of one event at a time. It hands out bytes, fields, items and containers from chunks; Reset takes
// all of them back. Once the chunks have the size of the largest event, it no longer allocates.
//
// The methods of a nil *Arena allocate on the heap: for constants and tests. One goroutine at a time.
type Arena struct {
	chunk []byte // the largest chunk; free is a part of it or of an older chunk
	free  []byte // what is left, as capacity
	used  int    // bytes handed out since the last Reset

	members slab[Member]
	values  slab[Value]
	objects slab[Object]
	arrays  slab[Array]

	steps    int           // of regular expressions since the last Reset
	searched time.Duration // for all matches since then

	hold func(more int) error // nil: nobody counts
	held int                  // bytes that hold was told of

	json jsonReader
}

// slab hands out slots of one type.
type slab[T any] struct {
	chunk, free []T
	used        int // slots handed out since the last reset
}

// take returns n slots of one of the slabs. They still hold their earlier values.
func take[T any](a *Arena, s *slab[T], n int) []T {
	if n > len(s.free) {
		var t T
		a.mustHold(n * int(unsafe.Sizeof(t)))
		s.chunk = make([]T, chunkSize(len(s.chunk), n, firstSlots, keptSlots))
		s.free = s.chunk
	}
	s.used += n
	slots := s.free[:n:n]
	s.free = s.free[n:]
	return slots
}

// chunkSize returns the size of the chunk after a chunk of the given size, with room for n: twice the previous size, up
// to the bound for chunks that are kept.
func chunkSize(before, n, first, kept int) int { return max(min(2*before, kept), n, first) }

// MaxEventBytes bounds the memory of all values of one event.
const MaxEventBytes = 64 << 20

// ErrEventTooLarge is the panic of an arena that would grow beyond MaxEventBytes, so that code that creates values need
// not check each time. The caller that runs events recovers it.
var ErrEventTooLarge = status.New(status.InvalidArguments, "the values of an entry take more than %d MiB",
	MaxEventBytes>>20)

// mustHold panics unless n bytes more are within what an event may take.
func (a *Arena) mustHold(n int) {
	if !a.Holds(n) {
		panic(ErrEventTooLarge)
	}
}

// Holds reports whether n more bytes are within the bound of an event. A nil arena has no bound. If the memory of
// requests is counted, Holds waits for room, and panics with a Refused if there is none.
func (a *Arena) Holds(n int) bool {
	if a == nil {
		return true
	}
	all := a.Used() + n
	if n < 0 || all > MaxEventBytes {
		return false
	}
	if a.hold != nil && all > a.held+freeEventBytes {
		a.holdUp(all)
	}
	return true
}

const (
	// freeEventBytes is what an event may take without being counted: nearly all take less.
	freeEventBytes = 64 << 10
	// holdBytes is the least that is counted at a time.
	holdBytes = 256 << 10
)

// Refused is the panic of an arena that gets no memory for its event. The caller that runs events recovers it: the
// request fails as a whole.
type Refused struct{ Err error }

// Share has hold count what the largest event so far takes. It may wait for room.
func (a *Arena) Share(hold func(more int) error) { a.hold = hold }

// Forget begins to count anew.
func (a *Arena) Forget() { a.held = 0 }

// holdUp counts an event that takes so many bytes.
func (a *Arena) holdUp(all int) {
	more := min(max(all-a.held, holdBytes), MaxEventBytes-a.held)
	a.held += more
	if err := a.hold(more); err != nil {
		panic(Refused{err})
	}
}

// Made counts a string of so many bytes that was made elsewhere and belongs to the event.
func (a *Arena) Made(n int) {
	if a != nil {
		a.mustHold(n)
		a.used += n
	}
}

func (s *slab[T]) reset() {
	if len(s.chunk) > keptSlots {
		s.chunk = nil
	}
	s.free, s.used = s.chunk, 0
}

// bytes is the size of what is handed out.
func (s *slab[T]) bytes() int {
	var t T
	return s.used * int(unsafe.Sizeof(t))
}

// Used is how many bytes were handed out since the last Reset.
func (a *Arena) Used() int {
	return a.used + a.members.bytes() + a.values.bytes() + a.objects.bytes() + a.arrays.bytes()
}

// Reset takes everything back. Values of this arena are no longer to be used.
func (a *Arena) Reset() {
	if cap(a.chunk) > keptBytes {
		a.chunk = nil
	}
	a.free, a.used = a.chunk[:0], 0
	a.steps, a.searched = 0, 0
	a.members.reset()
	a.values.reset()
	a.objects.reset()
	a.arrays.reset()
}

// Object makes an empty object with room for n fields.
func (a *Arena) Object(n int) *Object {
	if a == nil {
		return &Object{members: make([]Member, 0, n)}
	}
	o := &take(a, &a.objects, 1)[0]
	*o = Object{members: take(a, &a.members, n)[:0]}
	return o
}

// Array makes an empty array with room for n items.
func (a *Arena) Array(n int) *Array {
	if a == nil {
		return &Array{items: make([]Value, 0, n)}
	}
	l := &take(a, &a.arrays, 1)[0]
	*l = Array{items: take(a, &a.values, n)[:0]}
	return l
}

func (a *Arena) growMembers(old []Member) []Member {
	n := max(2*cap(old), 2*spareFields)
	if a == nil {
		return append(make([]Member, 0, n), old...)
	}
	return append(take(a, &a.members, n)[:0], old...)
}

func (a *Arena) growValues(old []Value) []Value {
	n := max(2*cap(old), 2*spareFields)
	if a == nil {
		return append(make([]Value, 0, n), old...)
	}
	return append(take(a, &a.values, n)[:0], old...)
}

// Values returns n null values of scratch.
func (a *Arena) Values(n int) []Value {
	if a == nil {
		return make([]Value, n)
	}
	v := take(a, &a.values, n)
	clear(v)
	return v
}

// Begin returns an empty buffer for the bytes of a new string; End turns the appended bytes into the string. Other
// values may be created in between, even with another Begin.
func (a *Arena) Begin() []byte {
	if a == nil {
		return nil
	}
	if cap(a.free) < 64 {
		a.more(64)
	}
	b := a.free[:0]
	a.free = nil
	return b
}

// End makes the string of the bytes in b, which Begin gave and append may have moved.
func (a *Arena) End(b []byte) Value {
	if a != nil {
		a.mustHold(len(b))
		a.used += len(b)
		if cap(b) > cap(a.chunk) {
			a.chunk = b[:0]
		}
		if rest := b[len(b):]; cap(rest) > cap(a.free) {
			a.free = rest
		}
	}
	return Bytes(b[:len(b):len(b)])
}

// Grow makes sure that n more bytes fit into b, a buffer of Begin, without moving it again.
func (a *Arena) Grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	if a != nil {
		a.mustHold(len(b) + n)
	}
	size := max(2*cap(b), len(b)+n, firstBytes)
	return append(make([]byte, 0, size), b...)
}

func (a *Arena) more(n int) {
	a.mustHold(n)
	a.chunk = make([]byte, 0, chunkSize(cap(a.chunk), n, firstBytes, keptBytes))
	a.free = a.chunk
}

// Alloc returns n bytes with undefined content, for a string of known length: fill them, then call Bytes.
func (a *Arena) Alloc(n int) []byte {
	if a == nil {
		return make([]byte, n)
	}
	if n > cap(a.free) {
		a.more(n)
	}
	a.used += n
	b := a.free[:n:n]
	a.free = a.free[n:n:cap(a.free)]
	return b
}

// Copy makes a string of its own bytes.
func (a *Arena) Copy(s string) Value {
	b := a.Alloc(len(s))
	copy(b, s)
	return Bytes(b)
}

// Concat joins several strings into one.
func (a *Arena) Concat(parts ...string) Value {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b := a.Alloc(n)
	at := 0
	for _, p := range parts {
		at += copy(b[at:], p)
	}
	return Bytes(b)
}

// View is b as a string; b must not change while the string is used.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
