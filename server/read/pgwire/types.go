package pgwire

import (
	"strings"

	"varve/engine/vector"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// The numbers of types that clients know.
const (
	oidBool        = 16
	oidBytea       = 17
	oidName        = 19
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidOID         = 26
	oidJSON        = 114
	oidFloat4      = 700
	oidFloat8      = 701
	oidUnknown     = 705
	oidBPChar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidNumeric     = 1700
	oidUUID        = 2950
	oidJSONB       = 3802
)

// arrays are the numbers of lists by those of their elements.
var arrays = map[uint32]uint32{
	oidBool: 1000, oidBytea: 1001, oidInt8: 1016, oidInt2: 1005, oidInt4: 1007, oidText: 1009, oidJSON: 199,
	oidFloat4: 1021, oidFloat8: 1022, oidDate: 1182, oidTime: 1183, oidTimestampTZ: 1185, oidTimestamp: 1115,
	oidInterval: 1187, oidNumeric: 1231, oidVarchar: 1015, oidUUID: 2951, oidOID: 1028, oidName: 1003, oidJSONB: 3807,
	oidBPChar: 1014,
}

// elements are the numbers of elements by those of their lists.
var elements = map[uint32]uint32{}

func init() {
	for elem, list := range arrays {
		elements[list] = elem
	}
}

// sizes are the bytes of a binary value of types whose values all have as many.
var sizes = map[uint32]int16{
	oidBool: 1, oidInt8: 8, oidInt2: 2, oidInt4: 4, oidFloat4: 4, oidFloat8: 8, oidDate: 4, oidTime: 8,
	oidTimestamp: 8, oidTimestampTZ: 8, oidInterval: 16, oidOID: 4,
}

// sizeOf is the size of a type as clients are told; -1: it varies.
func sizeOf(oid uint32) int16 {
	if n, ok := sizes[oid]; ok {
		return n
	}
	return -1
}

// oidOf is the type that clients know for a type of ours. A time is an instant, so it is a time with a zone; integers
// without a sign have the next type that holds them all.
func oidOf(t vector.Type) uint32 {
	switch t.ID {
	case vector.TypeBool:
		return oidBool
	case vector.TypeInt8, vector.TypeInt16, vector.TypeUint8:
		return oidInt2
	case vector.TypeInt32, vector.TypeUint16:
		return oidInt4
	case vector.TypeInt64, vector.TypeUint32:
		return oidInt8
	case vector.TypeUint64, vector.TypeDecimal:
		return oidNumeric
	case vector.TypeFloat32:
		return oidFloat4
	case vector.TypeFloat64:
		return oidFloat8
	case vector.TypeBinary:
		return oidBytea
	case vector.TypeJSON:
		return oidJSON
	case vector.TypeDate:
		return oidDate
	case vector.TypeTimestamp:
		return oidTimestampTZ
	case vector.TypeTime:
		return oidTime
	case vector.TypeDuration, vector.TypeInterval:
		return oidInterval
	case vector.TypeList:
		if elem := t.Elem(); elem.ID != vector.TypeList {
			return arrays[oidOf(elem)]
		}
		return oidJSON
	}
	return oidText
}

// oidAs is oidOf of a column of a statement; of one that reads the catalog, integers of 32 bits without a sign are
// numbers of things there, which clients know as oid.
func oidAs(t vector.Type, catalog bool) uint32 {
	switch {
	case catalog && t.ID == vector.TypeUint32:
		return oidOID
	case catalog && t.ID == vector.TypeList && t.Elem().ID == vector.TypeUint32:
		return arrays[oidOID]
	}
	return oidOf(t)
}

// readsCatalog reports whether a table of the catalog is in FROM.
func readsCatalog(from parse.TableRef) bool {
	switch t := from.(type) {
	case *parse.Join:
		return readsCatalog(t.L) || readsCatalog(t.R)
	case *parse.Table:
		if n := len(t.Name); n > 1 {
			return t.Name[n-2].Name == infoschema.PGCatalog
		}
		return strings.HasPrefix(t.Name[0].Name, "pg_")
	}
	return false
}

// sqlTypes are the types of SQL of parameters. What is missing is a text.
var sqlTypes = map[uint32]string{
	oidBool: "BOOLEAN", oidBytea: "BYTEA", oidInt2: "SMALLINT", oidInt4: "INT", oidInt8: "BIGINT",
	oidOID:    "INT UNSIGNED",
	oidFloat4: "FLOAT", oidFloat8: "DOUBLE", oidNumeric: "DECIMAL", oidDate: "DATE", oidTime: "TIME",
	oidTimestamp: "TIMESTAMP", oidTimestampTZ: "TIMESTAMP", oidInterval: "INTERVAL",
}
