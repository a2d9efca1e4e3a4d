package expr

import "varve/engine/vector"

// listMarks is what stands around an element of a list: a comma and what ends it, and quotes.
const listMarks = 4

// listWriter writes a list into the heap of a vector, an element after the other, and nothing more once there is no room.
type listWriter struct {
	out  *vector.Vector
	from int // where the first element begins
	err  error
}

// add writes an element.
func (w *listWriter) add(m []byte) {
	if w.err != nil {
		return
	}
	out := w.out
	if len(out.Heap)+len(m)+listMarks > cap(out.Heap) { // most elements find room
		if w.err = checkHeap(out, int64(len(m)+listMarks)); w.err != nil {
			return
		}
	}
	if len(out.Heap) > w.from {
		out.Heap = append(out.Heap, ',')
	}
	if out.Heap = append(out.Heap, m...); len(out.Heap)-w.from > maxText {
		w.err = errTextLength
	}
}

// addAll writes the elements of a list.
func (w *listWriter) addAll(list []byte) {
	for _, m := range elements(list) {
		w.add(m)
	}
}

// mapList is mapText for functions that make lists.
func mapList(write func(w *listWriter, a []*vector.Vector, i int)) kernel {
	return mapListCancellable(func(w *listWriter, a []*vector.Vector, i int) error {
		write(w, a, i)
		return nil
	})
}

// mapListCancellable is mapList for functions whose work on one row may be long.
func mapListCancellable(write func(w *listWriter, a []*vector.Vector, i int) error) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			at := len(out.Heap)
			if valid == nil || valid.Get(i) {
				out.Heap = append(out.Heap, '[')
				w := listWriter{out: out, from: at + 1}
				if err := write(&w, a, i); err != nil {
					return err
				}
				if w.err != nil {
					return w.err
				}
				out.Heap = append(out.Heap, ']')
			}
			if err := endText(out, at); err != nil {
				return err
			}
		}
		return nil
	}
}
