package vrl

import (
	"slices"
	"strconv"
	"strings"

	"varve/pipeline/value"
)

// Kinds is a set of the types that a value may have; Undefined stands for a path that may not exist.
type Kinds uint16

// The types in the order in which messages list them.
const (
	String Kinds = 1 << iota
	Integer
	Float
	Boolean
	Timestamp
	Regex
	Null
	Undefined
	Array
	Object

	// Number is what arithmetic takes, AnyValue every type that a value can have.
	Number   = Integer | Float
	AnyValue = String | Integer | Float | Boolean | Timestamp | Regex | Null | Array | Object
	anyKinds = AnyValue | Undefined
	jsonKind = String | Integer | Float | Boolean | Null | Array | Object
)

var kindNames = [...]string{"string", "integer", "float", "boolean", "timestamp", "regex", "null", "undefined", "array",
	"object"}

// kindsOf is the set of one kind.
var kindsOf = [...]Kinds{
	value.NullKind: Null, value.BoolKind: Boolean, value.IntKind: Integer, value.FloatKind: Float,
	value.StringKind:    String,
	value.TimestampKind: Timestamp, value.RegexKind: Regex, value.ArrayKind: Array, value.ObjectKind: Object,
}

// Has reports whether the set holds the kind of a value.
func (k Kinds) Has(v value.Value) bool { return k&kindsOf[v.Kind()] != 0 }

// String lists the types as in messages: "string, integer or float".
func (k Kinds) String() string {
	if k == anyKinds || k == AnyValue {
		return "any"
	}
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	switch n := len(names); n {
	case 0:
		return "never"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}

// Type is the static knowledge about a value: the kinds it may have and, for objects and arrays, the types of their
// members. A Type is never changed. The zero Type is "never": no value has it.
type Type struct {
	kinds         Kinds
	object, array *members // nil: nothing is known of the members
}

// members are the types inside of an object or array.
type members struct {
	known []knownMember // in the order of keys or indices
	rest  *Type         // type of all other members, which may also be absent; nil: no other members
	nodes int           // members on all levels, see sized
}

// maxTypeNodes bounds what is known of one value. Types share their parts, so a script of some lines, x = [x, x] sixty
// times, could otherwise make one that takes ages to look at.
const maxTypeNodes = 4096

// sized counts the size of new members and returns them. If they are too many, it returns nil, which means that nothing
// is known.
func (m *members) sized() *members {
	m.nodes = len(m.known)
	for i := range m.known {
		m.nodes += m.known[i].typ.nodes()
	}
	if m.rest != nil {
		m.nodes += m.rest.nodes()
	}
	if m.nodes > maxTypeNodes {
		return nil
	}
	return m
}

func (t *Type) nodes() int {
	n := 0
	if t.object != nil {
		n += t.object.nodes
	}
	if t.array != nil {
		n += t.array.nodes
	}
	return n
}

type knownMember struct {
	key   string // of an object
	index int    // of an array
	typ   Type
}

// Known is a field of an object with its type.
type Known struct {
	Name string
	Type Type
}

var (
	anyType = Type{kinds: anyKinds}
	noType  = Type{}

	// jsonType is the type of what a JSON text may hold: it is what its own members are.
	jsonType = func() *Type {
		inside := &members{}
		inside.rest = &Type{jsonKind, inside, inside}
		return inside.rest
	}()
)

// Of is the type of values of some kinds, nothing being known of the members of containers.
func Of(kinds ...Kinds) Type {
	var t Type
	for _, k := range kinds {
		t.kinds |= k
	}
	return t
}

// JSON is the type of what a JSON text may hold.
func JSON() Type { return *jsonType }

// ArrayOf is the type of arrays whose items are of type t.
func ArrayOf(t Type) Type {
	return Type{kinds: Array, array: (&members{rest: &t}).sized()}
}

// ObjectOf is the type of objects with exactly these fields; one that may be absent has Undefined among its kinds.
func ObjectOf(fields ...Known) Type { return objectType(fields, nil) }

// ObjectWith is the type of objects with these fields and others of type rest.
func ObjectWith(rest Type, fields ...Known) Type { return objectType(fields, &rest) }

func objectType(fields []Known, rest *Type) Type {
	m := &members{rest: rest}
	for _, f := range fields {
		m.known = append(m.known, knownMember{key: f.Name, typ: f.Type})
	}
	slices.SortFunc(m.known, func(a, b knownMember) int { return strings.Compare(a.key, b.key) })
	return Type{kinds: Object, object: m.sized()}
}

// ObjectOfAny is the type of objects whose fields are all of type t, whatever their names.
func ObjectOfAny(t Type) Type {
	return Type{kinds: Object, object: (&members{rest: &t}).sized()}
}

// TypeOf is the type of a value that is known.
func TypeOf(v value.Value) Type {
	t := Type{kinds: kindsOf[v.Kind()]}
	switch v.Kind() {
	case value.ArrayKind:
		t.array = &members{}
		for i := range v.Array().Len() {
			t.array.known = append(t.array.known, knownMember{index: i, typ: TypeOf(v.Array().At(i))})
		}
		t.array = t.array.sized()
	case value.ObjectKind:
		t.object = &members{}
		for i := range v.Object().Len() {
			m := v.Object().Member(i)
			t.object.known = append(t.object.known, knownMember{key: m.Key, typ: TypeOf(m.Value)})
		}
		t.object = t.object.sized()
	}
	return t
}

// Kinds is the set of kinds a value of the type may have.
func (t Type) Kinds() Kinds { return t.kinds }

// Never reports whether no value has the type.
func (t Type) Never() bool { return t.kinds == 0 }

// Within reports whether every value of the type is of one of these kinds.
func (t Type) Within(kinds Kinds) bool { return t.kinds&^kinds == 0 && t.kinds != 0 }

// Is reports whether every value of the type is of exactly this one kind.
func (t Type) Is(kind Kinds) bool { return t.kinds == kind }

// May reports whether a value of the type can be of one of these kinds.
func (t Type) May(kinds Kinds) bool { return t.kinds&kinds != 0 }

// Or is the type with more kinds.
func (t Type) Or(kinds Kinds) Type {
	if kinds&Object != 0 {
		t.object = nil
	}
	if kinds&Array != 0 {
		t.array = nil
	}
	t.kinds |= kinds
	return t
}

// Without is the type with fewer kinds.
func (t Type) Without(kinds Kinds) Type {
	if t.kinds &^= kinds; t.kinds&Object == 0 {
		t.object = nil
	}
	if t.kinds&Array == 0 {
		t.array = nil
	}
	return t
}

// Only is the type restricted to some kinds.
func (t Type) Only(kinds Kinds) Type { return t.Without(anyKinds &^ kinds) }

// restOf is the type of members not known by name or index; the zero Type when there are none.
func (m *members) restOf() Type {
	switch {
	case m == nil:
		return anyType
	case m.rest == nil:
		return noType
	}
	return *m.rest
}

// find returns the position of a member and whether it is known.
func (m *members) find(key string, index int) (i int, ok bool) {
	if m == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(m.known, knownMember{key: key, index: index}, func(a, b knownMember) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return a.index - b.index
	})
}

// at is the type of one member, with Undefined when it may be absent.
func (m *members) at(key string, index int) Type {
	if i, ok := m.find(key, index); ok {
		return m.known[i].typ
	}
	return m.restOf().Or(Undefined)
}

// all is the union of all members' types.
func (m *members) all() Type {
	t := m.restOf()
	if m != nil {
		for _, k := range m.known {
			t = Union(t, k.typ.Without(Undefined))
		}
	}
	return t
}

// Members is the type of whatever an array or object of this type holds; never for empty ones.
func (t Type) Members() Type {
	u := noType
	if t.May(Object) {
		u = Union(u, t.object.all())
	}
	if t.May(Array) {
		u = Union(u, t.array.all())
	}
	return u.Without(Undefined)
}

// Union is the type of values that are of either type.
func Union(a, b Type) Type {
	u := Type{kinds: a.kinds | b.kinds}
	u.object = unionMembers(a.kinds&Object != 0, a.object, b.kinds&Object != 0, b.object)
	u.array = unionMembers(a.kinds&Array != 0, a.array, b.kinds&Array != 0, b.array)
	return u
}

func unionMembers(inA bool, a *members, inB bool, b *members) *members {
	switch {
	case !inA:
		return b
	case !inB || a == b:
		return a
	case a == nil || b == nil:
		// One side may be any value, so the members that only the other side has may be any value, too.
		return nil
	}
	u := &members{}
	i, j := 0, 0
	for i < len(a.known) || j < len(b.known) {
		switch {
		case j == len(b.known) || i < len(a.known) && before(a.known[i], b.known[j]):
			k := a.known[i]
			k.typ = Union(k.typ, b.restOf().Or(Undefined))
			u.known = append(u.known, k)
			i++
		case i == len(a.known) || before(b.known[j], a.known[i]):
			k := b.known[j]
			k.typ = Union(k.typ, a.restOf().Or(Undefined))
			u.known = append(u.known, k)
			j++
		default:
			k := a.known[i]
			k.typ = Union(k.typ, b.known[j].typ)
			u.known = append(u.known, k)
			i, j = i+1, j+1
		}
	}
	u.rest = unionRest(a.rest, b.rest)
	return u.sized()
}

func unionRest(a, b *Type) *Type {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	case a == &anyType || b == &anyType || a.isAny() || b.isAny():
		return &anyType
	}
	if a == jsonType || b == jsonType {
		// The members of JSON nest without end: a union with anything but JSON is told by its kinds alone.
		if a.kinds|b.kinds == jsonKind && a.object == b.object && a.array == b.array {
			return jsonType
		}
		u := Of(a.kinds | b.kinds)
		return &u
	}
	u := Union(*a, *b)
	return &u
}

func before(a, b knownMember) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	return a.index < b.index
}

// isAny reports whether a value of the type may be anything.
func (t Type) isAny() bool {
	return t.kinds&AnyValue == AnyValue && t.object.isAny() && t.array.isAny()
}

func (m *members) isAny() bool {
	return m == nil || len(m.known) == 0 && m.rest != nil &&
		(m.rest == &anyType || m.rest.kinds&AnyValue == AnyValue && m.rest.object == nil && m.rest.array == nil)
}

// isJSON reports whether the type is that of all values that a JSON text may hold.
func (t Type) isJSON() bool {
	return t.kinds&^Undefined == jsonKind && t.object.isJSON() && t.array.isJSON()
}

func (m *members) isJSON() bool {
	return m != nil && len(m.known) == 0 && m.rest == jsonType
}

// maxShown is up to how many members a type is shown with them in messages.
const maxShown = 32

// String is the type as in messages: the members of one exact object or array are shown, of anything else the kinds.
func (t Type) String() string {
	switch {
	case t.nodes() > maxShown:
	case t.Is(Object) && t.object != nil && t.object.rest == nil:
		parts := make([]string, 0, len(t.object.known))
		for _, k := range t.object.known {
			parts = append(parts, k.key+": "+k.typ.String())
		}
		if len(parts) == 0 {
			return "{ }"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case t.Is(Array) && t.array != nil && t.array.rest == nil:
		parts := make([]string, 0, len(t.array.known))
		for i, k := range t.array.known {
			if k.index != i {
				parts = append(parts, strconv.Itoa(k.index)+": "+k.typ.String())
				continue
			}
			parts = append(parts, k.typ.String())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return t.kinds.String()
}

// Holds reports whether a value of the type, or a known member of it, is known to have one of these kinds and no other.
func (t Type) Holds(kinds Kinds) bool {
	if t.Within(kinds) {
		return true
	}
	for _, m := range []*members{t.object, t.array} {
		if m == nil {
			continue
		}
		for _, k := range m.known {
			if k.typ.Holds(kinds) {
				return true
			}
		}
	}
	return false
}
