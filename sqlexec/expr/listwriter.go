package expr

import "varve/engine/vector"

// listWriter writes a list, an element after the other. It stops past the longest text that there may be, which the kernel finds.
type listWriter struct {
	text []byte
	from int // where the first element begins
	most int // the length of text past which nothing is added
}

// add writes an element.
func (w *listWriter) add(m []byte) {
	if len(w.text) > w.most {
		return
	}
	if len(w.text) > w.from {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, m...)
}

// addAll writes the elements of a list.
func (w *listWriter) addAll(list []byte) {
	for _, m := range elements(list) {
		w.add(m)
	}
}

// mapList is mapText for functions that make lists.
func mapList(write func(w *listWriter, a []*vector.Vector, i int)) kernel {
	return mapListHeeding(func(w *listWriter, a []*vector.Vector, i int) error {
		write(w, a, i)
		return nil
	})
}

// mapListHeeding is mapList for functions that end with their query.
func mapListHeeding(write func(w *listWriter, a []*vector.Vector, i int) error) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			at := len(out.Heap)
			if valid == nil || valid.Get(i) {
				w := listWriter{text: append(out.Heap, '['), from: at + 1, most: min(at+maxText, heapLimit(out))}
				err := write(&w, a, i)
				if out.Heap = append(w.text, ']'); err != nil {
					return err
				}
			}
			if err := endText(out, at); err != nil {
				return err
			}
		}
		return nil
	}
}
