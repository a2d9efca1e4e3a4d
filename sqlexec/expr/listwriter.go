package expr

import (
	"varve/engine/convert"
	"varve/engine/vector"
)

// listMarks are the bytes around an element of a list: a comma, the closing bracket, and quotes.
const listMarks = 4

// listWriter writes a list into the heap of a vector, element by element. Once there is no room, it writes nothing
// more.
type listWriter struct {
	out  *vector.Vector
	from int // where the first element begins
	err  error
}

// add writes an element.
func (w *listWriter) add(m []byte) {
	if w.begin(len(m)) {
		w.out.Heap = append(w.out.Heap, m...)
		w.end()
	}
}

// addText writes an element that is a text.
func (w *listWriter) addText(text []byte) {
	if w.begin(convert.StringSize(text)) {
		w.out.Heap = convert.AppendString(w.out.Heap, text)
		w.end()
	}
}

// begin makes room for an element of the given size and separates it from the previous one; false if there is no room.
func (w *listWriter) begin(size int) bool {
	out := w.out
	if w.err == nil && len(out.Heap)+size+listMarks > cap(out.Heap) { // most elements find room
		w.err = checkHeap(out, int64(size+listMarks))
	}
	if w.err != nil {
		return false
	}
	if len(out.Heap) > w.from {
		out.Heap = append(out.Heap, ',')
	}
	return true
}

// end bounds the list after an element.
func (w *listWriter) end() {
	if len(w.out.Heap)-w.from > maxText {
		w.err = errTextLength
	}
}

// addAll writes the elements of a list.
func (w *listWriter) addAll(list []byte) {
	for _, m := range listItems(list) {
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

// mapListCancellable is mapList for functions that may work long on one row.
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
