package parse

import (
	"fmt"
	"strconv"
	"strings"

	"varve/engine/status"
	"varve/engine/vector"
)

// DataType is a type as written: the upper-case words, and the numbers in parentheses.
type DataType struct {
	At      Pos
	Name    string // TIMESTAMP, INT UNSIGNED, DOUBLE PRECISION
	Args    []int
	IsArray bool // T[]
}

// typeNames maps the names without parameters to types.
var typeNames = map[string]vector.Type{
	"STRING": vector.StringType, "TEXT": vector.StringType, "TINYTEXT": vector.StringType,
	"MEDIUMTEXT": vector.StringType,
	"LONGTEXT":   vector.StringType, "VARCHAR": vector.StringType, "CHAR": vector.StringType,
	"CHARACTER":         vector.StringType,
	"CHARACTER VARYING": vector.StringType, "NVARCHAR": vector.StringType, "UUID": vector.StringType,
	"BINARY": vector.BinaryType, "VARBINARY": vector.BinaryType, "BYTEA": vector.BinaryType, "BLOB": vector.BinaryType,
	"BOOLEAN": vector.BoolType, "BOOL": vector.BoolType,
	"TINYINT": vector.Int8Type, "SMALLINT": vector.Int16Type, "INT2": vector.Int16Type, "INT16": vector.Int16Type,
	"INT": vector.Int32Type, "INTEGER": vector.Int32Type, "INT4": vector.Int32Type, "INT32": vector.Int32Type,
	"BIGINT": vector.Int64Type, "INT8": vector.Int64Type, "INT64": vector.Int64Type,
	"TINYINT UNSIGNED": vector.Uint8Type, "UINT8": vector.Uint8Type,
	"SMALLINT UNSIGNED": vector.Uint16Type, "UINT16": vector.Uint16Type, "INT2 UNSIGNED": vector.Uint16Type,
	"INT UNSIGNED": vector.Uint32Type, "INTEGER UNSIGNED": vector.Uint32Type, "UINT32": vector.Uint32Type,
	"INT4 UNSIGNED": vector.Uint32Type,
	"UTINYINT":      vector.Uint8Type, "USMALLINT": vector.Uint16Type, "UINTEGER": vector.Uint32Type,
	"UBIGINT":         vector.Uint64Type,
	"BIGINT UNSIGNED": vector.Uint64Type, "UINT64": vector.Uint64Type, "INT8 UNSIGNED": vector.Uint64Type,
	"FLOAT": vector.Float32Type, "FLOAT4": vector.Float32Type, "FLOAT32": vector.Float32Type,
	"REAL":   vector.Float32Type,
	"DOUBLE": vector.FloatType, "FLOAT8": vector.FloatType, "FLOAT64": vector.FloatType,
	"DOUBLE PRECISION": vector.FloatType,
	"DATE":             vector.DateType, "INTERVAL": vector.Interval, "JSON": vector.JSONType,
	"TIMESTAMP_S": vector.Timestamp(0), "TIMESTAMP_SEC": vector.Timestamp(0), "TIMESTAMPSECOND": vector.Timestamp(0),
	"TIMESTAMP_MS": vector.Timestamp(3), "TIMESTAMPMILLISECOND": vector.Timestamp(3),
	"TIMESTAMP_US": vector.Timestamp(6), "TIMESTAMPMICROSECOND": vector.Timestamp(6), "DATETIME": vector.Timestamp(6),
	"TIMESTAMP_NS": vector.Timestamp(9), "TIMESTAMPNANOSECOND": vector.Timestamp(9),
}

// Resolve returns the type that the words mean. Unknown names are InvalidSyntax, bad parameters InvalidArguments,
// known types that are not supported Unsupported.
func (d DataType) Resolve() (vector.Type, error) {
	if d.IsArray {
		inner := d
		inner.IsArray = false
		elem, err := inner.Resolve()
		if err != nil {
			return vector.Type{}, err
		}
		return vector.List(elem), nil
	}
	switch d.Name {
	case "TIMESTAMP", "TIMESTAMPTZ":
		p, err := d.timePrecision(3)
		return vector.Timestamp(p), err
	case "DATETIME":
		p, err := d.timePrecision(6)
		return vector.Timestamp(p), err
	case "TIME":
		p, err := d.timePrecision(9)
		return vector.Type{ID: vector.TypeTime, Precision: p}, err
	case "DECIMAL", "NUMERIC", "DEC":
		return d.decimal()
	case "VECTOR":
		return vector.Type{}, PlaceError(status.New(status.Unsupported, "data type %s is not supported", d), d.At)
	}
	if t, ok := typeNames[d.Name]; ok {
		return t, nil
	}
	return vector.Type{}, PlaceError(status.New(status.InvalidSyntax, "Invalid SQL syntax: unknown data type %s", d),
		d.At)
}

func (d DataType) timePrecision(def uint8) (uint8, error) {
	if len(d.Args) == 0 {
		return def, nil
	}
	switch n := d.Args[0]; n {
	case 0, 3, 6, 9:
		return uint8(n), nil
	}
	return 0, status.New(status.InvalidArguments, "invalid precision of %s: 0, 3, 6 and 9 are possible", d)
}

func (d DataType) decimal() (vector.Type, error) {
	p, s := 38, 10
	if len(d.Args) > 0 {
		p, s = d.Args[0], 0
	}
	if len(d.Args) > 1 {
		s = d.Args[1]
	}
	if p < 1 || p > 38 || s < 0 || s > p {
		return vector.Type{}, status.New(status.InvalidArguments,
			"invalid precision or scale of %s: 1 <= precision <= 38, 0 <= scale <= precision", d)
	}
	return vector.Type{ID: vector.TypeDecimal, Precision: uint8(p), Scale: uint8(s)}, nil
}

// String is the type as SQL text.
func (d DataType) String() string {
	text := d.Name
	if len(d.Args) > 0 {
		args := make([]string, len(d.Args))
		for i, a := range d.Args {
			args[i] = fmt.Sprint(a)
		}
		text += "(" + strings.Join(args, ", ") + ")"
	}
	if d.IsArray {
		text += "[]"
	}
	return text
}

// TypeText is a type as SHOW CREATE TABLE prints it.
func TypeText(t vector.Type) string {
	switch t.ID {
	case vector.TypeBool:
		return "BOOLEAN"
	case vector.TypeInt8:
		return "TINYINT"
	case vector.TypeInt16:
		return "SMALLINT"
	case vector.TypeInt32:
		return "INT"
	case vector.TypeInt64:
		return "BIGINT"
	case vector.TypeUint8:
		return "TINYINT UNSIGNED"
	case vector.TypeUint16:
		return "SMALLINT UNSIGNED"
	case vector.TypeUint32:
		return "INT UNSIGNED"
	case vector.TypeUint64:
		return "BIGINT UNSIGNED"
	case vector.TypeFloat32:
		return "FLOAT"
	case vector.TypeFloat64:
		return "DOUBLE"
	case vector.TypeString:
		return "STRING"
	case vector.TypeBinary:
		return "VARBINARY"
	case vector.TypeJSON:
		return "JSON"
	case vector.TypeDate:
		return "DATE"
	case vector.TypeTimestamp:
		return fmt.Sprintf("TIMESTAMP(%d)", t.Precision)
	case vector.TypeTime:
		return "TIME"
	case vector.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case vector.TypeInterval:
		return "INTERVAL"
	}
	return strings.ToUpper(t.String())
}

// InfoText is a type as information_schema.columns shows it in data_type.
func InfoText(t vector.Type) string {
	switch t.ID {
	case vector.TypeBinary:
		return "binary"
	case vector.TypeTime:
		return fmt.Sprintf("time(%d)", t.Precision)
	case vector.TypeDecimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return strings.ToLower(TypeText(t))
}

// dataType reads a type name with its parameters.
func (p *parser) dataType() (DataType, error) {
	d := DataType{At: p.tok.pos}
	if p.dialect != nil && p.is("pg_catalog") && p.peek().op(".") {
		if _, err := p.ident("a data type"); err != nil {
			return d, err
		}
		if err := p.advance(); err != nil {
			return d, err
		}
	}
	if p.tok.kind != tokWord && (p.dialect == nil || p.tok.kind != tokQuoted) {
		return d, p.expected("a data type")
	}
	d.Name = strings.ToUpper(p.tok.text)
	if err := p.advance(); err != nil {
		return d, err
	}
	if second := strings.ToUpper(p.tok.text); p.tok.kind == tokWord &&
		(d.Name == "DOUBLE" && second == "PRECISION" || d.Name == "CHARACTER" && second == "VARYING") {
		d.Name += " " + second
		if err := p.advance(); err != nil {
			return d, err
		}
	}
	if p.isOp("(") {
		if err := p.typeArgs(&d); err != nil {
			return d, err
		}
	}
	if ok, err := p.take("unsigned"); err != nil {
		return d, err
	} else if ok {
		d.Name += " UNSIGNED"
	}
	for _, words := range [][]string{{"with", "time", "zone"}, {"without", "time", "zone"}} {
		if p.is(words[0]) && p.peek().is("time") {
			if _, err := p.takeWords(words...); err != nil {
				return d, err
			}
		}
	}
	if p.isOp("[") && p.peek().op("]") {
		d.IsArray = true
		if err := p.advance(); err != nil {
			return d, err
		}
		return d, p.advance()
	}
	return d, nil
}

func (p *parser) typeArgs(d *DataType) error {
	if err := p.advance(); err != nil {
		return err
	}
	for {
		n, err := strconv.Atoi(p.tok.text)
		if p.tok.kind != tokNumber || err != nil {
			return p.expected("a number")
		}
		d.Args = append(d.Args, n)
		if err := p.advance(); err != nil {
			return err
		}
		if ok, err := p.takeOp(","); err != nil {
			return err
		} else if !ok {
			return p.expectOp(")")
		}
	}
}
