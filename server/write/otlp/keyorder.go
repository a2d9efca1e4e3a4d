package otlp

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"varve/engine/jsontext"
)

// keyOrder is how a list of attributes is written as JSON. Records of one kind have the same keys in the same order, so
// the keys are sorted, checked and escaped once. A list with a key twice, whatever its case, has no order.
type keyOrder struct {
	keys  [][]byte // of the list
	order []int    // places in the list, by rising key
	heads [][]byte // by order: the key as JSON with its colon
	heap  []byte   // of keys and heads
}

// Limits of the lists whose order is kept.
const (
	maxOrderedKeys = 32
	maxOrderedHeap = 4 << 10
)

// holds reports whether a list has the keys of the order.
func (o *keyOrder) holds(list []attribute) bool {
	if len(list) != len(o.keys) || len(list) == 0 {
		return false
	}
	for i := range list {
		if string(list[i].key) != string(o.keys[i]) {
			return false
		}
	}
	return true
}

// learn makes the order of a list the order that is known.
func (o *keyOrder) learn(list []attribute) {
	o.keys, o.order, o.heads, o.heap = o.keys[:0], o.order[:0], o.heads[:0], o.heap[:0]
	size := 0
	for i := range list {
		size += len(list[i].key)
		if !utf8.Valid(list[i].key) {
			return
		}
	}
	if len(list) > maxOrderedKeys || size > maxOrderedHeap {
		return
	}
	for i := range list {
		for k := range i {
			if bytes.EqualFold(list[i].key, list[k].key) {
				return
			}
		}
		o.order = append(o.order, i)
	}
	slices.SortFunc(o.order, func(a, b int) int { return bytes.Compare(list[a].key, list[b].key) })
	for _, i := range o.order {
		from := len(o.heap)
		o.heap = append(jsontext.AppendString(o.heap, list[i].key), ':')
		o.heads = append(o.heads, o.heap[from:])
	}
	for i := range list {
		from := len(o.heap)
		o.heap = append(o.heap, list[i].key...)
		o.keys = append(o.keys, o.heap[from:])
	}
}

// attributes is object for the attributes of one record after the other.
func (w *writer) attributes(dst []byte, list []attribute) (_ []byte, err error) {
	if !w.known.holds(list) {
		w.known.learn(list)
		return w.object(dst, list, 1)
	}
	dst = append(dst, '{')
	for i, at := range w.known.order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, w.known.heads[i]...)
		if dst, err = w.value(dst, &list[at].wireValue, 2); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
