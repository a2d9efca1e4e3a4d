package value

import (
	"slices"
	"strings"
)

// Member is one field of an object.
type Member struct {
	Key   string
	Value Value
}

// Object is a set of fields in the order of the bytes of their keys.
type Object struct {
	members []Member
	extent
	shared bool // has a second name: copied before it is changed
	frozen bool // so has everything inside
}

// Array is a list of values.
type Array struct {
	items []Value
	extent
	shared bool // as in Object
	frozen bool
}

const (
	// MaxNodes bounds the values inside a value, on all levels together, and MaxNesting the levels. Containers are
	// shared, so a script could write `x = [x, x]` sixty times and get a value that fits into no memory once it is
	// written out. Code that builds values calls TooLarge. Values read from a body stay far below.
	MaxNodes, MaxNesting = 16 << 20, 512
)

// extent is what a container holds in the containers inside of it. The depth may be too large after members were
// removed.
type extent struct {
	nodes uint32
	depth uint16 // levels of containers below this one
}

// adopt counts a value put into the container.
func (e *extent) adopt(v Value) {
	if v.kind < ArrayKind {
		return
	}
	nodes, depth := v.extent()
	e.nodes = min(e.nodes+nodes, 1<<30)
	e.depth = max(e.depth, min(depth, MaxNesting+1))
}

// replace counts a value that takes the place of another.
func (e *extent) replace(old, v Value) {
	if old.kind >= ArrayKind {
		e.add(-old.Nodes())
	}
	e.adopt(v)
}

// add counts values that were added or, when it is negative, taken away inside of the container.
func (e *extent) add(nodes int) {
	e.nodes = uint32(min(max(int(e.nodes)+nodes, 0), 1<<30))
}

// Nodes is how many values a container holds, all levels together.
func (v Value) Nodes() int {
	nodes, _ := v.extent()
	return int(nodes)
}

// holder is the extent of a container.
func (v Value) holder() *extent {
	if v.kind == ArrayKind {
		return &v.Array().extent
	}
	return &v.Object().extent
}

// extent is the number of values in a container and of levels it has; scalars have none.
func (v Value) extent() (nodes uint32, depth uint16) {
	switch v.kind {
	case ArrayKind:
		l := (*Array)(v.ptr)
		return min(l.nodes+uint32(len(l.items)), 1<<30), l.depth + 1
	case ObjectKind:
		o := (*Object)(v.ptr)
		return min(o.nodes+uint32(len(o.members)), 1<<30), o.depth + 1
	}
	return 0, 0
}

// Bulk is how much work it is, in steps of some tens of nanoseconds, to go through a long string or a large container
// once; 0 for all that is small.
func (v Value) Bulk() int {
	const longString, largeContainer = 4096, 1024
	switch v.kind {
	case StringKind:
		if v.num >= longString {
			return int(v.num / 64)
		}
	case ArrayKind, ObjectKind:
		if n := v.Nodes(); n >= largeContainer {
			return n / 16
		}
	}
	return 0
}

// TooLarge reports whether a value holds more than MaxNodes values or nests deeper than MaxNesting.
func (v Value) TooLarge() bool {
	nodes, depth := v.extent()
	return nodes > MaxNodes || depth > MaxNesting
}

// linearFields is up to how many fields a key is found by looking at all of them: comparing lengths beats a binary
// search.
const linearFields = 12

// Len is the number of fields.
func (o *Object) Len() int { return len(o.members) }

// Member is the i-th field in key order.
func (o *Object) Member(i int) Member {
	m := o.members[i]
	if o.shared {
		m.Value.Share()
	}
	return m
}

// Key is the key of the i-th field in key order.
func (o *Object) Key(i int) string { return o.members[i].Key }

// At is the value of the i-th field in key order.
func (o *Object) At(i int) Value {
	v := o.members[i].Value
	if o.shared {
		v.Share()
	}
	return v
}

// Index is the position of a key, -1 without it.
func (o *Object) Index(key string) int {
	if len(o.members) <= linearFields {
		for i := range o.members {
			if o.members[i].Key == key {
				return i
			}
		}
		return -1
	}
	if i, found := o.search(key); found {
		return i
	}
	return -1
}

// IndexNear is Index when the key probably stands at position guess, as it did in the last event.
func (o *Object) IndexNear(key string, guess int) int {
	if uint(guess) < uint(len(o.members)) && o.members[guess].Key == key {
		return guess
	}
	return o.Index(key)
}

// search returns the position of a key, or the one it would have.
func (o *Object) search(key string) (i int, found bool) {
	lo, hi := 0, len(o.members)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if o.members[mid].Key < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(o.members) && o.members[lo].Key == key
}

// Get is the value of a field; ok is false without it.
func (o *Object) Get(key string) (v Value, ok bool) {
	if i := o.Index(key); i >= 0 {
		return o.At(i), true
	}
	return Value{}, false
}

// Set sets a field of an object that has only one reference, such as a new object. The key is kept as a view.
func (o *Object) Set(a *Arena, key string, v Value) {
	n := len(o.members)
	if n == 0 || o.members[n-1].Key < key {
		o.push(a, Member{key, v})
		return
	}
	i, found := o.search(key)
	if found {
		o.replace(o.members[i].Value, v)
		o.members[i].Value = v
		return
	}
	o.push(a, Member{})
	copy(o.members[i+1:], o.members[i:])
	o.members[i] = Member{key, v}
	o.adopt(v)
}

// Append adds a field in any order; Sort has to follow the last one before the object is used, unless the keys came in
// order and were all different.
func (o *Object) Append(a *Arena, key string, v Value) { o.push(a, Member{key, v}) }

// Sort brings fields added by Append in order. Of several with one key the last stays.
func (o *Object) Sort() {
	inOrder := true
	for i := 1; i < len(o.members); i++ {
		if o.members[i-1].Key >= o.members[i].Key {
			inOrder = false
			break
		}
	}
	if inOrder {
		return
	}
	slices.SortStableFunc(o.members, func(x, y Member) int { return strings.Compare(x.Key, y.Key) })
	o.dropRepeated()
}

// dropRepeated keeps the last of neighbours with one key.
func (o *Object) dropRepeated() {
	kept := o.members[:0]
	for i, m := range o.members {
		if i+1 < len(o.members) && o.members[i+1].Key == m.Key {
			continue
		}
		kept = append(kept, m)
	}
	o.members = kept
}

// push adds a field at the end, in memory of the arena.
func (o *Object) push(a *Arena, m Member) {
	if len(o.members) == cap(o.members) {
		o.members = a.growMembers(o.members)
	}
	o.members = append(o.members, m)
	o.adopt(m.Value)
}

// Remove takes the i-th field out of an object that has one name only, and gives its value.
func (o *Object) Remove(i int) Value {
	v := o.At(i)
	o.replace(v, Value{})
	o.members = append(o.members[:i], o.members[i+1:]...)
	return v
}

// Own returns the object itself, to be changed, or a copy of one level when it has a second name.
func (o *Object) Own(a *Arena) *Object {
	if !o.shared {
		return o
	}
	return o.Copy(a)
}

// Copy copies one level; the members are shared with the original.
func (o *Object) Copy(a *Arena) *Object {
	to := a.Object(len(o.members) + spareFields)
	to.members = append(to.members, o.members...)
	to.extent = o.extent
	for i := range to.members {
		to.members[i].Value.Share()
	}
	return to
}

// Len is the number of items.
func (l *Array) Len() int { return len(l.items) }

// At is the i-th item.
func (l *Array) At(i int) Value {
	v := l.items[i]
	if l.shared {
		v.Share()
	}
	return v
}

// Push appends an item to an array that has only one reference, such as a new array.
func (l *Array) Push(a *Arena, v Value) {
	if len(l.items) == cap(l.items) {
		l.items = a.growValues(l.items)
	}
	l.items = append(l.items, v)
	l.adopt(v)
}

// Remove removes the i-th item of an array that has only one reference, and returns it; later items move up.
func (l *Array) Remove(i int) Value {
	v := l.At(i)
	l.replace(v, Value{})
	l.items = append(l.items[:i], l.items[i+1:]...)
	return v
}

// Own returns the array itself, to be changed, or a copy of one level when it has a second name.
func (l *Array) Own(a *Arena) *Array {
	if !l.shared {
		return l
	}
	return l.Copy(a)
}

// Copy copies one level; the items are shared with the original.
func (l *Array) Copy(a *Arena) *Array {
	to := a.Array(len(l.items) + spareFields)
	to.items = append(to.items, l.items...)
	to.extent = l.extent
	for i := range to.items {
		to.items[i].Share()
	}
	return to
}

// Merge returns the fields of into, replaced and extended by the fields of from. It changes into itself, unless into
// has a second reference; from is unchanged.
func Merge(a *Arena, into, from *Object) *Object {
	into = into.Own(a)
	old, added := len(into.members), 0
	for i, j := 0, 0; j < len(from.members); {
		switch {
		case i == old || into.members[i].Key > from.members[j].Key:
			added++
			j++
		case into.members[i].Key == from.members[j].Key:
			into.replace(into.members[i].Value, from.At(j))
			into.members[i].Value = from.At(j)
			i++
			j++
		default:
			i++
		}
	}
	if added == 0 {
		return into
	}
	if old+added > cap(into.members) {
		grown := a.Object(old + added + spareFields)
		grown.members = append(grown.members, into.members...)
		into.members = grown.members
	}
	// From the back, so that nothing is overwritten before it has moved.
	into.members = into.members[:old+added]
	for i, j, to := old-1, len(from.members)-1, old+added-1; to > i; to-- {
		switch key := from.members[j].Key; {
		case i < 0 || into.members[i].Key < key:
			into.members[to] = Member{key, from.At(j)}
			into.adopt(into.members[to].Value)
			j--
		case into.members[i].Key == key:
			j-- // its value was put above
			fallthrough
		default:
			into.members[to] = into.members[i]
			i--
		}
	}
	return into
}

// OwnObject returns the object at a place, ready to be changed. The place must hold an object. If the object has a
// second reference, a copy replaces it.
func OwnObject(a *Arena, at *Value) *Object {
	o := at.Object()
	if o.shared {
		o = o.Copy(a)
		*at = o.Of()
	}
	return o
}
