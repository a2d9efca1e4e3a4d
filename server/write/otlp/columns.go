package otlp

import (
	"math"
	"strconv"
	"unicode/utf8"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// attributeColumns are the columns of the attributes of spans, scopes or resources. Spans of one kind have the same
// keys in the same order. So each key is first compared with the key at the same place of the span before, and looked
// up by name only if it differs.
type attributeColumns struct {
	prefix string
	list   []attributeColumn // list[0] stands for the beginning of a span
	byKey  map[string]int
	at     int // the column that was set last
}

// attributeColumn is the column of a key.
type attributeColumn struct {
	key    string
	values *vector.ColumnBuilder
	// settled columns keep their type: it is the table's or that of the conventions, or values were found that fit no
	// other. given says that it is the table's.
	settled, given bool
	next           int // the column that came behind this one in the span before
}

func columnsOf(prefix string) attributeColumns {
	return attributeColumns{prefix: prefix, list: make([]attributeColumn, 1, 32), byKey: map[string]int{}}
}

// cut takes away the columns from the n-th on.
func (s *attributeColumns) cut(n int) {
	for i := n; i < len(s.list); i++ {
		delete(s.byKey, s.list[i].key)
		s.list[i] = attributeColumn{}
	}
	s.list = s.list[:n]
}

// attribute sets an attribute of the row. One without a value is NULL.
func (r *tracesRequest) attribute(s *attributeColumns, a *attribute) error {
	if a.kind == nothing {
		return nil
	}
	n := s.list[s.at].next
	if n == 0 || n >= len(s.list) || s.list[n].key != string(a.key) {
		var ok bool
		if n, ok = s.byKey[string(a.key)]; !ok {
			var err error
			if n, err = r.addColumn(s, a); err != nil {
				return err
			}
		}
		s.list[s.at].next = n
	}
	s.at = n
	c := s.list[n].values
	switch t := c.Type(); {
	case a.kind == textValue && t.ID == vector.TypeString:
		if !utf8.Valid(a.bytes) {
			return attributeError(c, errUTF8)
		}
		c.SetBytes(a.bytes)
	case a.kind == intValue && t.ID == vector.TypeInt64:
		c.SetInt(int64(a.bits))
	case a.kind == floatValue && t.ID == vector.TypeFloat64:
		c.SetFloat(a.float())
	case a.kind == boolValue && t.ID == vector.TypeBool:
		c.SetBool(a.bits != 0)
	case a.kind == bytesValue && t.ID == vector.TypeBinary:
		c.SetBytes(a.bytes)
	case t.ID == vector.TypeJSON:
		heap, err := r.writer.value(c.Heap(), &a.wireValue, 1)
		if err != nil {
			return attributeError(c, err)
		}
		c.SetHeap(heap)
	default:
		return r.coerce(&s.list[n], &a.wireValue)
	}
	return nil
}

// attributeError adds the attribute to an error of its value; an error of the message stays as it is.
func attributeError(c *vector.ColumnBuilder, err error) error {
	if err != errUTF8 && err != errDeep {
		return err
	}
	return status.Wrap(err, status.InvalidArguments, "column %s: %v", c.Name(), err)
}

// valueTypes are the types of columns for values.
var valueTypes = [...]vector.Type{
	textValue: vector.StringType, boolValue: vector.BoolType, intValue: vector.Int64Type, floatValue: vector.FloatType,
	arrayValue: vector.JSONType, objectValue: vector.JSONType, bytesValue: vector.BinaryType,
}

// addColumn makes the column of a key that no span had before. Its type is that of the table's column, or that of the
// conventions, or else that of the value.
func (r *tracesRequest) addColumn(s *attributeColumns, a *attribute) (int, error) {
	if !utf8.Valid(a.key) {
		return 0, status.New(status.InvalidArguments, "the key of an attribute is not valid UTF-8")
	}
	c := attributeColumn{key: string(a.key)}
	name := s.prefix + c.key
	if err := schema.CheckColumnName(name); err != nil {
		return 0, err
	}
	typ := valueTypes[a.kind]
	if known, ok := conventions[c.key]; ok {
		typ, c.settled = known, true
	}
	if p := r.column(name); p >= 0 {
		typ, c.settled, c.given = r.there.Columns[p].Type, true, true
	} else if r.columnCount++; r.columnCount+spanColumnCount > schema.MaxColumns {
		return 0, status.New(status.InvalidArguments, "column %.80s: table %s cannot have more than %d columns", name,
			r.table.Table, schema.MaxColumns)
	}
	var err error
	if c.values, err = r.rows.Column(name, typ); err != nil {
		return 0, err
	}
	n := len(s.list)
	s.list, s.byKey[c.key] = append(s.list, c), n
	r.weight.held += newColumnBytes + 8*int64(r.rows.Rows())
	return n, nil
}

// newColumnBytes is what a column takes besides its values.
const newColumnBytes = 1 << 10

// column is the place of a column in the existing table; -1: there is no such column or no table.
func (r *tracesRequest) column(name string) int {
	if r.there == nil {
		return -1
	}
	return r.there.Column(name)
}

// coerce sets a value of another type than the column's. If the column has its type only from values of this request,
// the type may change so that all values fit: a column of texts takes the value's type if all texts can be read as it,
// other columns become text. Columns of integers become columns of floats, also the table's.
func (r *tracesRequest) coerce(c *attributeColumn, v *wireValue) error {
	typ := c.values.Type()
	scalar := v.kind >= textValue && v.kind <= floatValue
	if typ == vector.StringType && !c.settled && scalar {
		if c.values.Retype(valueTypes[v.kind], convert.All) && setCoerced(c.values, v) {
			return nil
		}
		c.settled = true // there are texts that cannot be read as the value's type
	}
	if v.kind == floatValue && typ == vector.Int64Type && (c.given || !c.settled) {
		c.values.Widen() // the write then widens the table's column too
	}
	if setCoerced(c.values, v) {
		return nil
	}
	if !c.settled && scalar && c.values.Retype(vector.StringType, convert.All) && setCoerced(c.values, v) {
		c.settled = true
		return nil
	}
	shown, ok := appendText(nil, v)
	if !ok {
		shown = []byte("an array, a list of keys and values, or bytes")
	}
	return status.New(status.InvalidArguments, "column %s is of type %s, which cannot hold the value %.80q",
		c.values.Name(), typ, shown)
}

// setCoerced converts a value to the type of a column and sets it; false: it does not convert.
func setCoerced(c *vector.ColumnBuilder, v *wireValue) bool {
	switch t := c.Type(); {
	case t.ID == vector.TypeFloat64 || t.ID == vector.TypeFloat32:
		return setFloat(c, v)
	case t.IsInteger():
		return setInteger(c, v)
	case t.ID == vector.TypeBool:
		return setBool(c, v)
	case t.ID == vector.TypeString:
		return setScalar(c, v)
	}
	return false
}

func setFloat(c *vector.ColumnBuilder, v *wireValue) bool {
	x := v.float()
	switch v.kind {
	case floatValue:
	case intValue:
		x = float64(int64(v.bits))
	case textValue:
		var err error
		if x, err = strconv.ParseFloat(string(v.bytes), 64); err != nil {
			return false
		}
	default:
		return false
	}
	if c.Type().ID == vector.TypeFloat32 {
		x = float64(float32(x))
	}
	c.SetFloat(x)
	return true
}

func setInteger(c *vector.ColumnBuilder, v *wireValue) bool {
	x := int64(v.bits)
	switch v.kind {
	case intValue:
	case floatValue:
		f := v.float()
		if x = int64(f); float64(x) != f || math.Abs(f) >= 1<<63 {
			return false
		}
	case textValue:
		var err error
		if x, err = strconv.ParseInt(string(v.bytes), 10, 64); err != nil {
			return false
		}
	default:
		return false
	}
	lo, hi := convert.IntBounds(c.Type())
	if x < lo || x > 0 && uint64(x) > hi {
		return false
	}
	if c.Type().Kind() == vector.Uint64 {
		c.SetUint(uint64(x))
	} else {
		c.SetInt(x)
	}
	return true
}

func setBool(c *vector.ColumnBuilder, v *wireValue) bool {
	if v.kind != textValue {
		return false
	}
	is := string(v.bytes) == "true"
	if !is && string(v.bytes) != "false" {
		return false
	}
	c.SetBool(is)
	return true
}

func setScalar(c *vector.ColumnBuilder, v *wireValue) bool {
	heap, ok := appendText(c.Heap(), v)
	if !ok || v.kind == textValue && !utf8.Valid(v.bytes) {
		return false
	}
	c.SetHeap(heap)
	return true
}
