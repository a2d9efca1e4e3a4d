package expr

import (
	"varve/engine/status"
	"varve/engine/vector"
)

// Memory is what the vectors of a query may take together, and knows whether the query still runs. Safe for concurrent use.
type Memory interface {
	// Err is what the query ended with, nil as long as it runs.
	Err() error
	// Reserve takes bytes, or says that they are not there.
	Reserve(bytes int64) error
	// Release gives bytes back that were reserved.
	Release(bytes int64)
	// Left is how many bytes there are.
	Left() int64
}

// objectBytes is about what a member of a JSON object takes while it is made.
const objectBytes = 64

// maxText bounds a text that a function makes, and maxTexts those of a batch, whatever the memory.
const (
	maxText  = 16 << 20
	maxTexts = 1 << 30
)

// roomShare is the part of the memory left that the texts of one batch of one function may take: a heap that grows is copied,
// and several workers compute at a time.
const roomShare = 4

// tellBytes is how much a program takes before the memory is told: programs of a few small vectors never tell.
const tellBytes = 1 << 20

// hold counts bytes that vectors of the program have grown by. A batch goes through thousands of functions: it ends with the query.
func (r *batchRun) hold(bytes int64) error {
	if r == nil {
		return nil
	}
	if r.untold += bytes; r.untold < tellBytes || r.memory == nil {
		return nil
	}
	if err := r.memory.Err(); err != nil {
		return err
	}
	bytes, r.untold = r.untold, 0
	r.told += bytes
	return r.memory.Reserve(bytes)
}

// room is the size that the heap of a vector may grow to which has room for have bytes.
func (r *batchRun) room(have int) uint32 {
	if r == nil || r.memory == nil {
		return maxTexts
	}
	return uint32(min(int64(have)+max(r.memory.Left()/roomShare, tellBytes), maxTexts))
}

// heldBytes is the memory of the buffers of a vector that a kernel writes.
func heldBytes(v *vector.Vector) int64 {
	return int64(8*(cap(v.Bools)+cap(v.Ints)+cap(v.Uints)+cap(v.Floats)+cap(v.Views)) + cap(v.Heap))
}

// borrow takes the bytes that a function works with beside what it gives; back gives them back.
func (r *batchRun) borrow(bytes int64) (back func(), err error) {
	if r == nil || r.memory == nil || bytes < tellBytes {
		return func() {}, nil
	}
	if err := r.memory.Reserve(bytes); err != nil {
		return nil, err
	}
	return func() { r.memory.Release(bytes) }, nil
}

// running is nil as long as the statement runs.
func (c *Context) running() func() error {
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

// checkHeap holds that the heap of out with so many bytes more is within its bound.
func checkHeap(out *vector.Vector, more int64) error {
	if most := heapLimit(out); int64(len(out.Heap))+more > int64(most) {
		return status.New(status.RuntimeResourcesExhausted,
			"a function would make more than %d MiB of texts of one batch of rows, which is what the query has memory for; select shorter texts or fewer rows", most>>20)
	}
	return nil
}

// heapLimit is the bound of the heap of out.
func heapLimit(out *vector.Vector) int {
	if out.HeapLimit == 0 {
		return maxTexts
	}
	return int(out.HeapLimit)
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
