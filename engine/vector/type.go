// Package vector holds the one data type that all layers share: batches of typed columns. Decoders build batches, the
// log records them, memtables and column files store them, operators stream them and answers are printed from them.
// There is no row type. A vector or batch belongs to one goroutine; memory that vectors share (Heap, Values) is never
// written through a vector.
//
//	type.go vector.go batch.go   types, columns, rows of columns
//	bitmap.go                    sets of rows, validity
//	builder.go                   rows by columns, as decoders make them
//	appendrows.go interleave.go  rows of others
//	codec.go                     batches as bytes, for the log and for files that spill
//	reuse.go room*.go            memory of slices
//	check.go                     what builds with invariants check
package vector

import "fmt"

// Size is the number of rows in a full streaming batch: 2,048 int64 are 16 KiB, so a kernel's inputs and output stay
// in the first and second level cache.
const Size = 2048

// Kind is how values lie in memory. Narrow integers and float32 widen to these five; files choose their own width.
type Kind uint8

// The five memory layouts.
const (
	Bool    Kind = iota + 1 // Vector.Bools
	Int64                   // Vector.Ints
	Uint64                  // Vector.Uints
	Float64                 // Vector.Floats
	Bytes                   // Vector.Views into Vector.Heap
)

// TypeID says what values mean.
type TypeID uint8

// The types. Their numbers are written to disk and never change.
const (
	TypeNull      TypeID = 0 // the type of a bare NULL; stored as Bytes, never a column of a table
	TypeBool      TypeID = 1
	TypeInt8      TypeID = 2
	TypeInt16     TypeID = 3
	TypeInt32     TypeID = 4
	TypeInt64     TypeID = 5
	TypeUint8     TypeID = 6
	TypeUint16    TypeID = 7
	TypeUint32    TypeID = 8
	TypeUint64    TypeID = 9
	TypeFloat32   TypeID = 10 // kept as float64 holding a float32 value
	TypeFloat64   TypeID = 11
	TypeString    TypeID = 12 // UTF-8
	TypeBinary    TypeID = 13
	TypeJSON      TypeID = 14 // compact JSON text, keys in byte order
	TypeDate      TypeID = 15 // Int64: days since 1970-01-01
	TypeTimestamp TypeID = 16 // Int64: units since the epoch; Precision 0, 3, 6 or 9
	TypeTime      TypeID = 17 // Int64: units since midnight; Precision 0, 3, 6 or 9
	TypeDuration  TypeID = 18 // Int64; Precision 0, 3, 6 or 9
	TypeInterval  TypeID = 19 // Bytes: 16 bytes little endian: months int32, days int32, nanoseconds int64
	TypeDecimal   TypeID = 20 // Bytes: 16 bytes little endian two's complement; Precision digits, Scale after the point
	TypeList      TypeID = 21 // Bytes: compact JSON array; Precision holds the element's TypeID, Scale its precision
)

// Type is what the values of a column mean. Comparable; three bytes.
type Type struct {
	ID               TypeID
	Precision, Scale uint8
}

// The types without parameters, and the four timestamps.
var (
	NullType    = Type{ID: TypeNull}
	BoolType    = Type{ID: TypeBool}
	Int8Type    = Type{ID: TypeInt8}
	Int16Type   = Type{ID: TypeInt16}
	Int32Type   = Type{ID: TypeInt32}
	Int64Type   = Type{ID: TypeInt64}
	Uint8Type   = Type{ID: TypeUint8}
	Uint16Type  = Type{ID: TypeUint16}
	Uint32Type  = Type{ID: TypeUint32}
	Uint64Type  = Type{ID: TypeUint64}
	Float32Type = Type{ID: TypeFloat32}
	FloatType   = Type{ID: TypeFloat64}
	StringType  = Type{ID: TypeString}
	BinaryType  = Type{ID: TypeBinary}
	JSONType    = Type{ID: TypeJSON}
	DateType    = Type{ID: TypeDate}
	Interval    = Type{ID: TypeInterval}
)

// Timestamp is the timestamp type with 0, 3, 6 or 9 fraction digits.
func Timestamp(precision uint8) Type { return Type{ID: TypeTimestamp, Precision: precision} }

// Duration is the duration type with 0, 3, 6 or 9 fraction digits.
func Duration(precision uint8) Type { return Type{ID: TypeDuration, Precision: precision} }

// List is the list type of elem. Elements are scalars; of decimals it keeps the scale.
func List(elem Type) Type {
	if elem.ID == TypeDecimal {
		return Type{ID: TypeList, Precision: uint8(elem.ID), Scale: elem.Scale}
	}
	return Type{ID: TypeList, Precision: uint8(elem.ID), Scale: elem.Precision}
}

// Elem is the element type of a list. Decimals have as many digits as there may be.
func (t Type) Elem() Type {
	if TypeID(t.Precision) == TypeDecimal {
		return Type{ID: TypeDecimal, Precision: 38, Scale: t.Scale}
	}
	return Type{ID: TypeID(t.Precision), Precision: t.Scale}
}

// Kind is how values of the type lie in memory.
func (t Type) Kind() Kind {
	switch t.ID {
	case TypeBool:
		return Bool
	case TypeInt8, TypeInt16, TypeInt32, TypeInt64, TypeDate, TypeTimestamp, TypeTime, TypeDuration:
		return Int64
	case TypeUint8, TypeUint16, TypeUint32, TypeUint64:
		return Uint64
	case TypeFloat32, TypeFloat64:
		return Float64
	default:
		return Bytes
	}
}

// IsInteger reports whether the type is one of the eight integer types.
func (t Type) IsInteger() bool { return t.ID >= TypeInt8 && t.ID <= TypeUint64 }

// IsNumber reports whether the type is an integer, float or decimal.
func (t Type) IsNumber() bool {
	return t.ID >= TypeInt8 && t.ID <= TypeFloat64 || t.ID == TypeDecimal
}

// IsText reports whether the type is STRING.
func (t Type) IsText() bool { return t.ID == TypeString }

// IsTimestamp reports whether the type is a timestamp of any precision.
func (t Type) IsTimestamp() bool { return t.ID == TypeTimestamp }

// UnitsPerSecond is 1, 1e3, 1e6 or 1e9 for types with a time precision, 0 for others.
func (t Type) UnitsPerSecond() int64 {
	switch t.ID {
	case TypeTimestamp, TypeTime, TypeDuration:
		n := int64(1)
		for range t.Precision {
			n *= 10
		}
		return n
	}
	return 0
}

var typeNames = [...]string{
	"Null", "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64",
	"String", "Binary", "Json", "Date", "Timestamp", "Time", "Duration", "IntervalMonthDayNano", "Decimal", "List",
}

// String is the name that DESC and the JSON answers show: Int64, TimestampMillisecond, Decimal(10, 2).
func (t Type) String() string {
	if int(t.ID) >= len(typeNames) {
		return fmt.Sprintf("Type(%d)", t.ID)
	}
	name := typeNames[t.ID]
	switch t.ID {
	case TypeTimestamp, TypeTime, TypeDuration:
		switch t.Precision {
		case 0:
			return name + "Second"
		case 3:
			return name + "Millisecond"
		case 6:
			return name + "Microsecond"
		}
		return name + "Nanosecond"
	case TypeDecimal:
		return fmt.Sprintf("Decimal(%d, %d)", t.Precision, t.Scale)
	case TypeList:
		return "List<" + t.Elem().String() + ">"
	}
	return name
}

// Known reports whether the type is one that a file of this version may hold.
func (t Type) Known() bool {
	if int(t.ID) >= len(typeNames) {
		return false
	}
	switch t.ID {
	case TypeTimestamp, TypeTime, TypeDuration:
		return t.Precision == 0 || t.Precision == 3 || t.Precision == 6 || t.Precision == 9
	}
	return true
}
