// Package value holds the values of pipelines and VRL scripts. Entries of a body, results of processors and results of
// scripts have this one Go type, so nothing is converted between them.
//
// # Layout
//
// A Value is 24 bytes without interfaces and boxes, with scalars inside. A string is a view of bytes that somebody else
// keeps: the body, the script or an Arena. A container is a pointer to an Object or an Array.
//
// # Ownership
//
// Each goroutine that works on an event owns an Arena. Strings, containers and scratch space of the event come from it
// and are gone at its Reset. A Value must not outlive the Reset of its arena, nor the text it was read from; Clone
// copies it out.
//
// Reading a value shares containers and does not copy them. Share marks a container that has a second name. Set and
// Delete copy a marked container, one level deep, before they change it; a container without a second name is changed
// in place. Get, At and Member mark what they reach through a marked container, so callers need not care.
//
// One goroutine at a time may use a value. Many may read a value that Freeze has passed.
package value

import (
	"math"
	"time"
	"unsafe"
)

// Kind says what a Value holds.
type Kind uint8

// The kinds. The zero Value is Null; the kinds from ArrayKind on are containers.
const (
	NullKind Kind = iota
	BoolKind
	IntKind
	FloatKind
	StringKind
	TimestampKind
	RegexKind
	ArrayKind
	ObjectKind
	kindCount
)

var kindNames = [kindCount]string{"null", "boolean", "integer", "float", "string", "timestamp", "regex", "array",
	"object"}

// String is the name of the kind in messages.
func (k Kind) String() string { return kindNames[k] }

// Value is one value of any kind. The zero Value is null.
type Value struct {
	ptr unsafe.Pointer // the bytes of a string, the *Object, *Array or *Regex
	// the integer, the bits of the float, 0 or 1, the nanoseconds, or the length of the string in bytes
	num  uint64
	kind Kind
}

// Null is the null value.
var Null Value

// Bool makes a boolean.
func Bool(b bool) Value {
	if b {
		return Value{num: 1, kind: BoolKind}
	}
	return Value{kind: BoolKind}
}

// Int makes an integer.
func Int(n int64) Value { return Value{num: uint64(n), kind: IntKind} }

// Float makes a float. NaN is not a value: whoever computes looks for it before.
func Float(x float64) Value { return Value{num: math.Float64bits(x), kind: FloatKind} }

// Timestamp makes an instant from nanoseconds since 1970-01-01 in UTC.
func Timestamp(ns int64) Value { return Value{num: uint64(ns), kind: TimestampKind} }

// Time makes an instant; ok is false outside of what 64 bits of nanoseconds hold (years 1677 to 2262).
func Time(t time.Time) (v Value, ok bool) {
	ns := t.UnixNano()
	return Timestamp(ns), time.Unix(0, ns).Equal(t)
}

// String makes a string, a view of s.
func String(s string) Value {
	return Value{ptr: unsafe.Pointer(unsafe.StringData(s)), num: uint64(len(s)), kind: StringKind}
}

// Bytes makes a string that is a view of b, which must not change while the value is used.
func Bytes(b []byte) Value {
	return Value{ptr: unsafe.Pointer(unsafe.SliceData(b)), num: uint64(len(b)), kind: StringKind}
}

// Of makes the value of an array.
func (l *Array) Of() Value { return Value{ptr: unsafe.Pointer(l), kind: ArrayKind} }

// Of makes the value of an object.
func (o *Object) Of() Value { return Value{ptr: unsafe.Pointer(o), kind: ObjectKind} }

// Of makes the value of a regular expression.
func (r *Regex) Of() Value { return Value{ptr: unsafe.Pointer(r), kind: RegexKind} }

// Kind is the kind of the value. The accessors below want the value to be of their kind and panic when they would read
// memory as what it is not.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == NullKind }

// IsContainer reports whether the value is an array or an object.
func (v Value) IsContainer() bool { return v.kind >= ArrayKind }

// Bool is the boolean.
func (v Value) Bool() bool { return v.num != 0 }

// True reports whether the value is the boolean true.
func (v Value) True() bool { return v.kind == BoolKind && v.num != 0 }

// Int is the integer.
func (v Value) Int() int64 { return int64(v.num) }

// Float is the float.
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Number is an integer or float as a float.
func (v Value) Number() float64 {
	if v.kind == IntKind {
		return float64(int64(v.num))
	}
	return math.Float64frombits(v.num)
}

// IsNumber reports whether the value is an integer or a float.
func (v Value) IsNumber() bool { return v.kind == IntKind || v.kind == FloatKind }

// Nanos is the instant in nanoseconds since 1970-01-01 in UTC.
func (v Value) Nanos() int64 { return int64(v.num) }

// Str is the text of a string, a view.
func (v Value) Str() string {
	if v.kind != StringKind {
		wrongKind(v.kind, StringKind)
	}
	return unsafe.String((*byte)(v.ptr), int(v.num))
}

// Array is the array.
func (v Value) Array() *Array {
	if v.kind != ArrayKind {
		wrongKind(v.kind, ArrayKind)
	}
	return (*Array)(v.ptr)
}

// Object is the object.
func (v Value) Object() *Object {
	if v.kind != ObjectKind {
		wrongKind(v.kind, ObjectKind)
	}
	return (*Object)(v.ptr)
}

// Regex is the regular expression.
func (v Value) Regex() *Regex {
	if v.kind != RegexKind {
		wrongKind(v.kind, RegexKind)
	}
	return (*Regex)(v.ptr)
}

func wrongKind(got, want Kind) {
	panic("value: a " + got.String() + " is read as " + want.String())
}

// Share marks a container as having a second name and gives the value back; other kinds need no mark.
func (v Value) Share() Value {
	switch v.kind {
	case ArrayKind:
		if a := (*Array)(v.ptr); !a.shared {
			a.shared = true
		}
	case ObjectKind:
		if o := (*Object)(v.ptr); !o.shared {
			o.shared = true
		}
	}
	return v
}

// Freeze marks a container and all below it, so that reading writes nothing: for constants used by many goroutines.
func (v Value) Freeze() Value {
	switch v.kind {
	case ArrayKind:
		l := v.Array()
		if l.frozen {
			return v
		}
		l.shared, l.frozen = true, true
		for _, item := range l.items {
			item.Freeze()
		}
	case ObjectKind:
		o := v.Object()
		if o.frozen {
			return v
		}
		o.shared, o.frozen = true, true
		for _, m := range o.members {
			m.Value.Freeze()
		}
	}
	return v
}

// Clone copies a value with all below it, strings and containers, into a; a nil arena means the heap.
func (v Value) Clone(a *Arena) Value {
	switch v.kind {
	case StringKind:
		return a.Copy(v.Str())
	case ArrayKind:
		from := v.Array().items
		to := a.Array(len(from))
		for _, item := range from {
			to.Push(a, item.Clone(a))
		}
		return to.Of()
	case ObjectKind:
		from := v.Object().members
		to := a.Object(len(from))
		for _, m := range from {
			to.Append(a, a.Copy(m.Key).Str(), m.Value.Clone(a))
		}
		return to.Of()
	}
	return v
}

// Equal reports whether two values are of the same kind and equal, containers member by member. 1 and 1.0 are not.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case FloatKind:
		return a.Float() == b.Float()
	case StringKind:
		return a.Str() == b.Str()
	case RegexKind:
		return a.Regex().Source == b.Regex().Source
	case ArrayKind:
		x, y := a.Array().items, b.Array().items
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case ObjectKind:
		x, y := a.Object().members, b.Object().members
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i].Key != y[i].Key || !Equal(x[i].Value, y[i].Value) {
				return false
			}
		}
		return true
	}
	return a.num == b.num
}
