package value

import "slices"

// Member is one field of an object.
type Member struct {
	Key   string
	Value Value
}

// Object is a set of fields in the order of the bytes of their keys.
type Object struct {
	members []Member
	shared  bool // has a second name: copied before it is changed
}

// Array is a list of values.
type Array struct {
	items  []Value
	shared bool // as in Object
}

// linearFields is up to how many fields a key is found by looking at all of them: comparing lengths beats a binary search.
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

// search gives the position of a key, or the one it would have.
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

// Set sets a field of an object that has one name only, such as one just made. The key is kept as a view.
func (o *Object) Set(a *Arena, key string, v Value) {
	n := len(o.members)
	if n == 0 || o.members[n-1].Key < key {
		o.push(a, Member{key, v})
		return
	}
	i, found := o.search(key)
	if found {
		o.members[i].Value = v
		return
	}
	o.push(a, Member{})
	copy(o.members[i+1:], o.members[i:])
	o.members[i] = Member{key, v}
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
	slices.SortStableFunc(o.members, func(x, y Member) int { return compare(x.Key, y.Key) })
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

func compare(x, y string) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// push adds a field at the end, in memory of the arena.
func (o *Object) push(a *Arena, m Member) {
	if len(o.members) == cap(o.members) {
		o.members = a.growMembers(o.members)
	}
	o.members = append(o.members, m)
}

// Remove takes the i-th field out of an object that has one name only, and gives its value.
func (o *Object) Remove(i int) Value {
	v := o.At(i)
	o.members = append(o.members[:i], o.members[i+1:]...)
	return v
}

// Clear takes all fields out of an object that has one name only.
func (o *Object) Clear() { o.members = o.members[:0] }

// own gives the object itself, or a copy of one level when it has a second name.
func (o *Object) own(a *Arena) *Object {
	if !o.shared {
		return o
	}
	return o.Copy(a)
}

// Copy copies one level; the members are shared with the original.
func (o *Object) Copy(a *Arena) *Object {
	to := a.Object(len(o.members) + spareFields)
	to.members = append(to.members, o.members...)
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

// Push adds an item to an array that has one name only, such as one just made.
func (l *Array) Push(a *Arena, v Value) {
	if len(l.items) == cap(l.items) {
		l.items = a.growValues(l.items)
	}
	l.items = append(l.items, v)
}

// Put replaces the i-th item of an array that has one name only.
func (l *Array) Put(i int, v Value) { l.items[i] = v }

// Remove takes the i-th item out of an array that has one name only, and gives it; those behind it move up.
func (l *Array) Remove(i int) Value {
	v := l.At(i)
	l.items = append(l.items[:i], l.items[i+1:]...)
	return v
}

// Clear takes all items out of an array that has one name only.
func (l *Array) Clear() { l.items = l.items[:0] }

func (l *Array) own(a *Arena) *Array {
	if !l.shared {
		return l
	}
	return l.Copy(a)
}

// Copy copies one level; the items are shared with the original.
func (l *Array) Copy(a *Arena) *Array {
	to := a.Array(len(l.items) + spareFields)
	to.items = append(to.items, l.items...)
	for i := range to.items {
		to.items[i].Share()
	}
	return to
}

// Merge gives the fields of into with those of from put in their place. It changes into itself unless that has a second
// name; from stays as it is.
func Merge(a *Arena, into, from *Object) *Object {
	into = into.own(a)
	old, added := len(into.members), 0
	for i, j := 0, 0; j < len(from.members); {
		switch {
		case i == old || into.members[i].Key > from.members[j].Key:
			added++
			j++
		case into.members[i].Key == from.members[j].Key:
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

// OwnObject gives the object at a place, which has to hold one, to be changed: a copy takes its place if it has a second name.
func OwnObject(a *Arena, at *Value) *Object {
	o := at.Object()
	if o.shared {
		o = o.Copy(a)
		*at = o.Of()
	}
	return o
}
