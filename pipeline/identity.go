package pipeline

import (
	"slices"
	"strings"

	"varve/engine/vector"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// Entries that a dispatcher sends to service_identity: they come as values, and may hold timestamps. Bodies that name
// service_identity themselves never get here: package flatten reads them straight into columns.

// flatField is a column's value in an entry.
type flatField struct {
	name  string
	value value.Value
}

// identity makes the row of a context as it is.
func (w *worker) identity(v value.Value, suffix string) error {
	if v.Kind() != value.ObjectKind {
		return processor.ErrNotObject
	}
	e := w.event(nil)
	e.Load(v)
	w.key = append(w.key[:0], suffix...)
	s, err := w.keyed(nil, e)
	if err != nil {
		return err
	}
	depth := w.request.MaxDepth
	if depth <= 0 {
		depth = 10
	}
	w.flat = w.flat[:0]
	for _, m := range e.Rest {
		w.flatten(m.Key, m.Value, 1, depth)
	}
	if err := s.identityRow(w.flat, w.now()); err != nil {
		s.drop()
		return err
	}
	s.set = s.set[:0]
	s.endRow()
	return w.counted(s, nil)
}

// flatten notes the columns of a value.
func (w *worker) flatten(name string, v value.Value, depth, most int) {
	switch {
	case v.Kind() == value.ObjectKind && depth < most:
		o := v.Object()
		for i := range o.Len() {
			m := o.Member(i)
			w.flatten(w.arena.Concat(name, ".", m.Key).Str(), m.Value, depth+1, most)
		}
	case v.IsContainer():
		text := w.arena.End(value.AppendJSON(w.arena.Begin(), v))
		w.flat = append(w.flat, flatField{name, text})
	default:
		w.flat = append(w.flat, flatField{name, v})
	}
}

// identityRow sets the values of a row. Where two ways lead to one name, the one that comes later in key order wins.
func (s *sink) identityRow(flat []flatField, now int64) error {
	s.time.SetInt(now)
	slices.SortStableFunc(flat, func(x, y flatField) int { return strings.Compare(x.name, y.name) })
	for i := range flat {
		f := &flat[i]
		if f.name == timeColumn || i+1 < len(flat) && flat[i+1].name == f.name {
			continue
		}
		t := inferred(f.value)
		if t == vector.NullType {
			continue
		}
		c, err := s.column(f.name, t)
		if err != nil {
			return s.clash(err, f.name, f.value)
		}
		s.put(c, f.value)
	}
	return nil
}
