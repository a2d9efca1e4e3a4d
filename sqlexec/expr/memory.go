package expr

import (
	"varve/engine/status"
	"varve/engine/vector"
)

// Memory is what the vectors of a query may take together, and knows whether the query still runs. Safe for concurrent
// use.
type Memory interface {
	// Err is what the query ended with, nil as long as it runs.
	Err() error
	// Reserve takes bytes, or says that they are not there.
	Reserve(bytes int64) error
	// Release returns bytes that were reserved.
	Release(bytes int64)
	// Left is how many bytes there are.
	Left() int64
}

// objectBytes estimates the memory of a member of a JSON object while it is made.
const objectBytes = 64

// maxText bounds a text that a function makes, and maxTexts those of a batch, whatever the memory.
const (
	maxText  = 16 << 20
	maxTexts = 1 << 30
)

// roomShare is the part of the memory left that the texts of one batch of one function may take: several workers
// compute at a time.
const roomShare = 4

// callBytes and argBytes estimate the memory of a function of a program, and of each of its arguments, before the first
// row.
const (
	callBytes = 1 << 10
	argBytes  = 384
)

// tellBytes is the memory of a program above which it is reported: programs with a few small vectors never report.
const tellBytes = 1 << 20

// hold counts bytes that vectors of the program have grown by, or, below zero, given up. A batch goes through thousands
// of functions: what they hold ends with the query.
func (r *batchRun) hold(bytes int64) error {
	if r == nil {
		return nil
	}
	if r.untold += bytes; r.untold < tellBytes && r.untold > -tellBytes || r.memory == nil {
		return nil
	}
	if err := r.memory.Err(); err != nil {
		return err
	}
	bytes, r.untold = r.untold, 0
	r.told += bytes
	if bytes < 0 {
		r.memory.Release(-bytes)
		return nil
	}
	return r.memory.Reserve(bytes)
}

// owe counts bytes that a program takes before it is run: the memory is told of them by then.
func (r *batchRun) owe(bytes int64) {
	if r != nil {
		r.untold += bytes
	}
}

// slotsHeld counts the memory of a vector whose texts belong to another; held of it is already counted.
func (r *batchRun) slotsHeld(v *vector.Vector, held *int64) error {
	grown := slotBytes(v) - *held
	if grown <= 0 {
		return nil
	}
	*held += grown
	return r.hold(grown)
}

// vectorHeld counts the memory of a new vector; held of it is already counted.
func (r *batchRun) vectorHeld(v *vector.Vector, held *int64) error {
	grown := heldBytes(v) - *held
	if grown <= 0 {
		return nil
	}
	*held += grown
	return r.hold(grown)
}

// heapRoom is the room of the heap of a vector that a kernel fills. A heap that grows is there twice while it is
// copied: the larger one is reserved before it is made, the smaller one given back after.
type heapRoom struct {
	run  *batchRun
	held *int64 // bytes of the vector that are counted
	most int64  // what the texts of a batch may take
}

// room is the Room of a vector whose heap has been counted as held; nil if no memory is accounted.
func (h *heapRoom) room(r *batchRun, held *int64) vector.HeapRoom {
	if r == nil || r.memory == nil {
		return nil
	}
	h.run, h.held, h.most = r, held, min(max(r.memory.Left()/roomShare, tellBytes), maxTexts)
	return h
}

// Grow makes room for more bytes in the heap of v.
func (h *heapRoom) Grow(v *vector.Vector, bytes int64) error {
	have, need := int64(cap(v.Heap)), int64(len(v.Heap))+bytes
	switch {
	case need > max(h.most, have):
		return tooManyTexts(h.most)
	case need <= max(have, smallText):
		return nil
	}
	if err := h.run.memory.Err(); err != nil {
		return err
	}
	size := max(need, min(max(need+need/4, smallText), h.most))
	if err := h.run.memory.Reserve(size); err != nil {
		return err
	}
	v.Heap = append(vector.Room[byte](int(size)), v.Heap...)
	h.run.memory.Release(have) // memory that is not counted here is counted with the vector
	h.run.told += size - have
	*h.held += size - have
	return nil
}

// within checks that a batch may make texts of so many bytes.
func (h *heapRoom) within(bytes int64) error {
	if h.run != nil && bytes > h.most || bytes > maxTexts {
		return tooManyTexts(min(h.most, maxTexts))
	}
	return nil
}

func tooManyTexts(most int64) error {
	return status.New(status.RuntimeResourcesExhausted,
		"a function would make more than %d MiB of texts of one batch of rows, which is what the query has memory "+
			"for; select shorter texts or fewer rows", most>>20)
}

// heldBytes is the memory of the buffers of a vector that a kernel writes.
func heldBytes(v *vector.Vector) int64 { return slotBytes(v) + int64(cap(v.Heap)) }

// slotBytes is heldBytes without texts.
func slotBytes(v *vector.Vector) int64 {
	return int64(8 * (cap(v.Bools) + cap(v.Ints) + cap(v.Uints) + cap(v.Floats) + cap(v.Views)))
}

// borrow reserves the working memory of a function besides its result; back gives it back.
func (r *batchRun) borrow(bytes int64) (back func(), err error) {
	if r == nil || r.memory == nil || bytes < tellBytes {
		return func() {}, nil
	}
	if err := r.memory.Reserve(bytes); err != nil {
		return nil, err
	}
	return func() { r.memory.Release(bytes) }, nil
}

// cancelled returns why the statement was cancelled; nil: it never is.
func (c *Context) cancelled() func() error {
	if c == nil || c.Memory == nil {
		return nil
	}
	return c.Memory.Err
}

// makeRoom reports whether a text of so many bytes, or work that takes as much, fits into the heap of out.
func makeRoom(out *vector.Vector, bytes int64) error {
	if bytes > maxText {
		return errTextLength
	}
	return checkHeap(out, bytes)
}

// checkHeap makes room for so many bytes more in the heap of out, within its bound.
func checkHeap(out *vector.Vector, more int64) error {
	need := int64(len(out.Heap)) + more
	switch {
	case need > maxTexts:
		return tooManyTexts(maxTexts)
	case need <= int64(cap(out.Heap)) || out.Room == nil:
		return nil
	}
	return out.Room.Grow(out, more)
}

// endText ends the text of a row that began at in the heap of out.
func endText(out *vector.Vector, at int) error {
	if len(out.Heap)-at > maxText {
		return errTextLength
	}
	if err := checkHeap(out, 0); err != nil {
		return err
	}
	out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
	return nil
}

var errTextLength = execError("a function makes a text of more than %d MiB", maxText>>20)
