package vrl

import (
	"slices"
	"strconv"

	"varve/pipeline/value"
)

// maxKnown is how many members of one container are known by name; beyond that all are told by their union. It bounds
// the work of compiling a script that sets thousands of fields.
const maxKnown = 512

// settled is the type of a value that was read: what may be undefined is null.
func (t Type) settled() Type {
	if t.kinds&Undefined == 0 {
		return t
	}
	t.kinds = t.kinds&^Undefined | Null
	return t
}

// At is the type of what reading a path gives, with Undefined when there may be nothing.
func (t Type) At(p value.Path) Type {
	for i := range p {
		t = t.step(&p[i])
	}
	return t
}

func (t Type) step(s *value.Segment) Type {
	if t.Never() {
		return t
	}
	inside, m := noType, t.object
	container := Object
	if s.IsIndex {
		container, m = Array, t.array
	}
	if t.May(container) {
		switch {
		case !s.IsIndex:
			inside = m.at(s.Key, 0)
		case s.Index >= 0:
			inside = m.at("", s.Index)
		default:
			inside = m.fromEnd(s.Index)
		}
	}
	if t.kinds != container {
		inside = inside.Or(Undefined)
	}
	return inside
}

// fromEnd is the type of the item at a negative index.
func (m *members) fromEnd(index int) Type {
	if n, exact := m.length(); exact {
		if index += n; index < 0 {
			return Of(Undefined)
		}
		return m.at("", index)
	}
	return m.all().Or(Undefined)
}

// length is the number of items of arrays with these members; exact is false when they may have different ones.
func (m *members) length() (n int, exact bool) {
	if m == nil || m.rest != nil {
		return 0, false
	}
	for i, k := range m.known {
		if k.index != i || k.typ.May(Undefined) {
			return 0, false
		}
	}
	return len(m.known), true
}

// with is a copy of the members with one of them set.
func (m *members) with(key string, index int, t Type) *members {
	i, ok := m.find(key, index)
	w := &members{rest: &anyType}
	if m != nil {
		w.rest = m.rest
		w.known = slices.Clone(m.known)
	}
	if ok {
		w.known[i].typ = t
		return w.sized()
	}
	if len(w.known) >= maxKnown {
		all := Union(m.all(), t)
		return (&members{rest: &all}).sized()
	}
	w.known = slices.Insert(w.known, i, knownMember{key, index, t})
	return w.sized()
}

// Insert is the type after a value of type v was written at a path.
func (t Type) Insert(p value.Path, v Type) Type {
	if v.Never() {
		return t // the program has ended before
	}
	if len(p) == 0 {
		return v.settled()
	}
	s := &p[0]
	if !s.IsIndex {
		m := t.object
		if !t.May(Object) {
			m = &members{}
		}
		inner := m.at(s.Key, 0).Insert(p[1:], v)
		return Type{kinds: Object, object: m.with(s.Key, 0, inner)}
	}
	m := t.array
	if !t.May(Array) {
		m = &members{}
	}
	return Type{kinds: Array, array: m.insertItem(s.Index, p[1:], v)}
}

// insertItem is Insert for an item of an array.
func (m *members) insertItem(index int, rest value.Path, v Type) *members {
	if index < 0 {
		n, exact := m.length()
		if !exact || -index > maxKnown {
			// Any item may be the one, and the array may be padded in front.
			all := Union(m.all(), noType.Insert(rest, v)).Or(Null)
			if len(rest) > 0 {
				all = Union(all, m.all().Insert(rest, v))
			}
			return (&members{rest: &all}).sized()
		}
		if short := -index - n; short > 0 {
			padded := &members{known: make([]knownMember, 0, -index)}
			for i := range short {
				padded.known = append(padded.known, knownMember{index: i, typ: Of(Null)})
			}
			for i, k := range m.known {
				padded.known = append(padded.known, knownMember{index: i + short, typ: k.typ})
			}
			m, n = padded, n+short
		}
		index += n
	}
	if index >= maxKnown {
		all := Union(m.all(), noType.Insert(rest, v)).Or(Null)
		return (&members{rest: &all}).sized()
	}
	hole := m.restOf().Or(Null).Without(Undefined)
	for i := range index {
		if _, ok := m.find("", i); !ok {
			m = m.with("", i, hole)
		}
	}
	return m.with("", index, m.at("", index).Insert(rest, v))
}

// Remove is the type after the path was deleted; compact containers that became empty may be gone as well.
func (t Type) Remove(p value.Path, compact bool) Type {
	if len(p) == 0 {
		switch {
		case t.Is(Object):
			return ObjectOf()
		case t.Is(Array):
			return Type{kinds: Array, array: &members{}}
		}
		return Of(Null, t.kinds&(Object|Array))
	}
	s := &p[0]
	if !s.IsIndex {
		if !t.May(Object) {
			return t
		}
		t.object = t.object.removeField(s.Key, p[1:], compact)
		return t
	}
	if t.May(Array) {
		t.array = t.array.removeItem(s.Index, p[1:], compact)
	}
	return t
}

func (m *members) removeField(key string, rest value.Path, compact bool) *members {
	i, ok := m.find(key, 0)
	if !ok {
		return m // nothing was known
	}
	if len(rest) == 0 {
		return (&members{known: slices.Delete(slices.Clone(m.known), i, i+1), rest: m.rest}).sized()
	}
	inner := m.known[i].typ.Remove(rest, compact)
	if compact && inner.May(Object|Array) {
		empty, certain := inner.empty()
		there := !m.known[i].typ.At(rest).May(Undefined) // without a deletion nothing is compacted
		switch {
		case certain && empty && there:
			return m.removeField(key, nil, true)
		case !certain || empty:
			inner = inner.Or(Undefined)
		}
	}
	return m.with(key, 0, inner)
}

// empty reports whether the containers of the type have no members, and whether that is certain.
func (t Type) empty() (empty, certain bool) {
	if !t.Is(Object) && !t.Is(Array) {
		return false, false
	}
	m := t.object
	if t.Is(Array) {
		m = t.array
	}
	if m == nil {
		return false, false
	}
	for i := range m.known {
		if !m.known[i].typ.May(Undefined) {
			return false, true
		}
	}
	return true, len(m.known) == 0 && m.rest == nil
}

func (m *members) removeItem(index int, rest value.Path, compact bool) *members {
	n, exact := m.length()
	if exact && index < 0 {
		index += n
	}
	switch {
	case exact && (index < 0 || index >= n):
		return m
	case exact && len(rest) == 0:
		w := &members{}
		for i, k := range slices.Delete(slices.Clone(m.known), index, index+1) {
			w.known = append(w.known, knownMember{index: i, typ: k.typ})
		}
		return w.sized()
	case exact && !compact:
		return m.with("", index, m.known[index].typ.Remove(rest, false))
	}
	all := m.all()
	if len(rest) > 0 {
		all = Union(all, all.Remove(rest, compact))
	}
	return (&members{rest: &all}).sized()
}

// Merge is the type of the fields of t with those of u in their place, as `|` merges objects.
func (t Type) Merge(u Type) Type {
	if t.Never() || u.Never() {
		return Type{kinds: Object, object: pick(t, u)}
	}
	a, b := t.object, u.object
	if a == nil || b == nil {
		w := &members{rest: &anyType}
		if b != nil {
			w.known = slices.Clone(b.known)
			for i := range w.known {
				if k := &w.known[i]; k.typ.May(Undefined) {
					k.typ = Union(k.typ.Without(Undefined), a.at(k.key, 0))
				}
			}
		}
		return Type{kinds: Object, object: w.sized()}
	}
	w := &members{rest: unionRest(a.rest, b.rest)}
	for _, k := range a.known {
		over := b.at(k.key, 0)
		if over.May(Undefined) {
			over = Union(over.Without(Undefined), k.typ)
		}
		w.known = append(w.known, knownMember{key: k.key, typ: over})
	}
	for _, k := range b.known {
		if _, ok := a.find(k.key, 0); ok {
			continue
		}
		if k.typ.May(Undefined) {
			k.typ = Union(k.typ.Without(Undefined), a.at(k.key, 0))
		}
		i, _ := w.find(k.key, 0)
		w.known = slices.Insert(w.known, i, k)
	}
	return Type{kinds: Object, object: w.sized()}
}

// pick is the members of whichever of two types, one of them never, is an object.
func pick(t, u Type) *members {
	if t.Never() && u.Never() {
		return &members{}
	}
	if t.Never() {
		return u.object
	}
	return t.object
}

// describe returns the type as type_def shows it; withRest says whether to show the kind of unknown members.
func (t Type) describe(withRest bool) value.Value {
	o := (*value.Arena)(nil).Object(4)
	put := func(key string) { o.Set(nil, key, value.Bool(true)) }
	switch {
	case t.Never():
		put("never")
		return o.Of()
	case t.kinds == anyKinds:
		put("any")
		return o.Of()
	case t.kinds == jsonKind|Undefined || t.kinds == jsonKind && t.isJSON():
		put("json")
		return o.Of()
	}
	for i, name := range kindNames {
		if kind := Kinds(1) << i; t.May(kind) && kind < Array {
			if kind == String {
				name = "bytes"
			}
			put(name)
		}
	}
	if t.May(Array) {
		t.array.describe(o, "array", withRest)
	}
	if t.May(Object) {
		t.object.describe(o, "object", withRest)
	}
	return o.Of()
}

func (m *members) describe(o *value.Object, name string, withRest bool) {
	inside := (*value.Arena)(nil).Object(4)
	if m != nil {
		for _, k := range m.known {
			if k.typ.kinds == anyKinds && k.typ.isAny() && m.restOf().isAny() {
				continue // it is what every member may be
			}
			key := k.key
			if name == "array" {
				key = strconv.Itoa(k.index)
			}
			inside.Set(nil, key, k.typ.describe(withRest))
		}
	}
	o.Set(nil, name, inside.Of())
	rest := m.restOf()
	if !withRest || rest.Without(Undefined).Never() {
		return
	}
	// The type of unknown members nests without end where anything or any JSON may follow.
	if rest.isAny() || rest.isJSON() {
		o.Set(nil, name+"_unknown_infinite", rest.Or(Undefined).describe(false))
		return
	}
	o.Set(nil, name+"_unknown_exact", rest.Without(Undefined).describe(true))
}

// Pushed returns the type of an array of type t after an item of type item is appended.
func (t Type) Pushed(item Type) Type {
	t = t.Only(Array)
	if n, exact := t.array.length(); exact && n < maxKnown {
		return Type{kinds: Array, array: t.array.with("", n, item.settled())}
	}
	return ArrayOf(Union(t.Members(), item.settled()))
}

// Appended is the type of arrays of type t with the items of arrays of type u behind their own.
func (t Type) Appended(u Type) Type {
	t, u = t.Only(Array), u.Only(Array)
	n, exact := t.array.length()
	m, exactToo := u.array.length()
	if !exact || !exactToo || n+m > maxKnown {
		return ArrayOf(Union(t.Members(), u.Members()))
	}
	w := &members{known: slices.Clone(t.array.known)}
	for i, k := range u.array.known {
		w.known = append(w.known, knownMember{index: n + i, typ: k.typ})
	}
	return Type{kinds: Array, array: w.sized()}
}

// MergedDeep is the type of objects of type t with those of type u put in, objects on both sides joined.
func (t Type) MergedDeep(u Type) Type { return t.mergedDeep(u, maxNesting) }

func (t Type) mergedDeep(u Type, levels int) Type {
	w := t.Merge(u)
	if w.object == nil || t.object == nil || u.object == nil {
		return Of(Object)
	}
	joined := &members{known: slices.Clone(w.object.known), rest: w.object.rest}
	for i := range joined.known {
		k := &joined.known[i]
		a, b := t.object.at(k.key, 0), u.object.at(k.key, 0)
		if !a.May(Object) || !b.May(Object) {
			continue
		}
		if levels == 0 || a.kinds != Object || b.kinds != Object {
			k.typ = Union(Union(a, b).Without(Object|Undefined), Of(Object))
			continue
		}
		k.typ = a.mergedDeep(b, levels-1)
	}
	return Type{kinds: Object, object: joined.sized()}
}
