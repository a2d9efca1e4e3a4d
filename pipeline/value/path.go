package value

import (
	"fmt"
	"strings"

	"varve/engine/jsontext"
)

// MaxIndex is the largest index, from either end, at which an array may be written: missing items before it become
// null.
const MaxIndex = 65_535

// Segment is one step of a path: a field, or an index, which counts from the end if it is negative.
type Segment struct {
	Key     string
	Index   int
	IsIndex bool
}

// Path leads from a value to one inside it.
type Path []Segment

// Field is a step to a field.
func Field(key string) Segment { return Segment{Key: key} }

// Item is a step to an item of an array.
func Item(index int) Segment { return Segment{Index: index, IsIndex: true} }

// String is the path as a script writes it after its target: ".a[0]".
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.IsIndex:
			fmt.Fprintf(&b, "[%d]", s.Index)
		case plainField(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("." + string(jsontext.AppendString(nil, s.Key)))
		}
	}
	return b.String()
}

// plainField reports whether a field needs no quotes in a script.
func plainField(key string) bool {
	for i := range len(key) {
		if c := key[i]; (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '@' {
			return false
		}
	}
	return key != ""
}

// Get reads the value at a path. Without a member there, or with a value of another kind on the way, it is null and ok
// is false.
func Get(v Value, p Path) (at Value, ok bool) {
	for i := range p {
		if v, ok = v.step(&p[i]); !ok {
			return Value{}, false
		}
	}
	return v, true
}

// step moves down by one segment.
func (v Value) step(s *Segment) (at Value, ok bool) {
	if s.IsIndex {
		return v.Item(s.Index)
	}
	if v.kind != ObjectKind {
		return Value{}, false
	}
	return v.Object().Get(s.Key)
}

// Item is the item of an array at an index, from the end when negative.
func (v Value) Item(index int) (at Value, ok bool) {
	if v.kind != ArrayKind {
		return Value{}, false
	}
	l := v.Array()
	if index < 0 {
		index += len(l.items)
	}
	if uint(index) >= uint(len(l.items)) {
		return Value{}, false
	}
	return l.At(index), true
}

// Set writes the value at a path below root, which must have only one reference. It creates missing containers,
// replaces values of another kind on the way, and pads arrays with null. It fails, and changes nothing, if the value
// would become too large or an index is beyond MaxIndex.
func Set(a *Arena, root *Value, p Path, v Value) error {
	nodes, depth := v.extent()
	if len(p)+int(depth) > MaxNesting || int(nodes)+root.Nodes() > MaxNodes {
		return ErrTooLarge
	}
	for i := range p {
		if p[i].IsIndex && (p[i].Index > MaxIndex || p[i].Index < -MaxIndex-1) {
			return fmt.Errorf("array index %d is out of range: at most %d", p[i].Index, MaxIndex)
		}
	}
	put(a, root, p, v, depth)
	return nil
}

// ErrTooLarge is what happens to a value of more than MaxNodes or MaxNesting.
var ErrTooLarge = fmt.Errorf("a value would hold more than %d values or nest deeper than %d levels", MaxNodes,
	MaxNesting)

// put does what Set does, without its checks. more is by how many values the one at a place has grown.
func put(a *Arena, at *Value, p Path, v Value, depth uint16) (more int) {
	before := at.Nodes()
	if len(p) == 0 {
		*at = v
		return v.Nodes() - before
	}
	var inner *Value
	if p[0].IsIndex {
		inner = itemSlot(a, at, p[0].Index)
	} else {
		inner, _ = FieldSlot(a, at, p[0].Key, -1)
	}
	more = put(a, inner, p[1:], v, depth)
	e := at.holder()
	e.add(more)
	e.depth = max(e.depth, uint16(len(p)-1)+depth)
	return at.Nodes() - before
}

// SetField is like Set, for a scalar in a field of v itself. guess is the probable position of the key, such as its
// position in the last event; the result is the actual position.
func SetField(a *Arena, v *Value, key string, scalar Value, guess int) (at int) {
	place, at := FieldSlot(a, v, key, guess)
	if place.kind >= ArrayKind {
		v.Object().replace(*place, scalar)
	}
	*place = scalar
	return at
}

// FieldSlot returns the place of a field below v, for the caller to write, and creates it if it is missing. v becomes
// an object if it is not one, and a copy if it has another reference. guess is the probable position of the key; the
// second result is the actual position. The place is valid until the object changes in another way. Values written to
// it are not counted: call Recount afterwards.
func FieldSlot(a *Arena, v *Value, key string, guess int) (place *Value, at int) {
	var o *Object
	if v.kind != ObjectKind {
		o = a.Object(spareFields)
		*v = o.Of()
	} else if o = v.Object(); o.shared {
		o = o.Copy(a)
		*v = o.Of()
	}
	if at = o.IndexNear(key, guess); at < 0 {
		o.Set(a, key, Value{})
		at = o.Index(key)
	}
	return &o.members[at].Value, at
}

// Recount counts the memory of a value whose containers FieldSlot created. Containers with a second reference were
// counted before they got it.
func Recount(v Value) {
	switch {
	case v.kind == ObjectKind && !v.Object().shared:
		o := v.Object()
		o.extent = extent{}
		for i := range o.members {
			Recount(o.members[i].Value)
			o.adopt(o.members[i].Value)
		}
	case v.kind == ArrayKind && !v.Array().shared:
		l := v.Array()
		l.extent = extent{}
		for _, item := range l.items {
			Recount(item)
			l.adopt(item)
		}
	}
}

// itemSlot is FieldSlot for an item of an array, at an index within MaxIndex.
func itemSlot(a *Arena, v *Value, index int) (place *Value) {
	var l *Array
	if v.kind != ArrayKind {
		l = a.Array(max(index+1, -index, spareFields))
		*v = l.Of()
	} else if l = v.Array(); l.shared {
		l = l.Copy(a)
		*v = l.Of()
	}
	if index < 0 {
		if index += len(l.items); index < 0 {
			l.padFront(a, -index)
			index = 0
		}
	}
	for len(l.items) <= index {
		l.Push(a, Value{})
	}
	return &l.items[index]
}

// padFront puts n nulls before the items.
func (l *Array) padFront(a *Arena, n int) {
	old := len(l.items)
	for range n {
		l.Push(a, Value{})
	}
	copy(l.items[n:], l.items[:old])
	clear(l.items[:n])
}

// Delete removes the value at a path from root and returns it; ok is false, and nothing changes, if there is none. The
// empty path empties root itself: a container stays a container, any other value becomes null. With compact, containers
// on the way that become empty are removed as well.
func Delete(a *Arena, root *Value, p Path, compact bool) (old Value, ok bool) {
	if len(p) == 0 {
		old = *root
		switch old.kind {
		case ObjectKind:
			*root = a.Object(spareFields).Of()
		case ArrayKind:
			*root = a.Array(spareFields).Of()
		default:
			*root = Value{}
		}
		return old, true
	}
	if _, ok := Get(*root, p); !ok {
		return Value{}, false
	}
	old, _ = remove(a, root, p, compact)
	return old, true
}

// remove takes out what is known to be there; empty says that the container at has no member left.
func remove(a *Arena, at *Value, p Path, compact bool) (old Value, empty bool) {
	if p[0].IsIndex {
		l := at.Array()
		if l.shared {
			l = l.Copy(a)
			*at = l.Of()
		}
		i := p[0].Index
		if i < 0 {
			i += len(l.items)
		}
		if len(p) == 1 {
			return l.Remove(i), len(l.items) == 0
		}
		inner := &l.items[i]
		before := inner.Nodes()
		old, emptied := remove(a, inner, p[1:], compact)
		if l.add(inner.Nodes() - before); emptied && compact {
			l.Remove(i)
		}
		return old, len(l.items) == 0
	}
	o := at.Object()
	if o.shared {
		o = o.Copy(a)
		*at = o.Of()
	}
	i := o.Index(p[0].Key)
	if len(p) == 1 {
		return o.Remove(i), len(o.members) == 0
	}
	inner := &o.members[i].Value
	before := inner.Nodes()
	old, emptied := remove(a, inner, p[1:], compact)
	if o.add(inner.Nodes() - before); emptied && compact {
		o.Remove(i)
	}
	return old, len(o.members) == 0
}
