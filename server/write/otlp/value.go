package otlp

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/protowire"
)

// Values of attributes and bodies:
//
//	AnyValue{1: string, 2: bool, 3: int, 4: double, 5: ArrayValue, 6: KeyValueList, 7: bytes}: one of them, or none
//	ArrayValue{1: AnyValue*}
//	KeyValueList{1: KeyValue*}
//	KeyValue{1: key, 2: AnyValue}

// kind is the kind of a value.
type kind uint8

const (
	nothing kind = iota
	textValue
	boolValue
	intValue
	floatValue
	arrayValue
	objectValue
	bytesValue
)

// wireValue is a value in place.
type wireValue struct {
	kind  kind
	bits  uint64 // of a boolean, an integer, a double
	bytes []byte // of the others: lies in the message
}

func (v *wireValue) float() float64 { return math.Float64frombits(v.bits) }

// attribute is a key with its value, in place.
type attribute struct {
	key []byte
	wireValue
}

// maxDepth bounds how deep arrays and lists in a value nest. JSON columns have the same bound.
const maxDepth = 128

// readValue reads a value. A later member replaces an earlier one.
func readValue(message []byte) (v wireValue, err error) {
	if n := len(message); n >= 2 && message[0] == 1<<3|byte(protowire.Bytes) && int(message[1]) == n-2 && n < 130 {
		return wireValue{kind: textValue, bytes: message[2:]}, nil // a short text, as most are
	}
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Number > 7:
		case f.Kind == protowire.Bytes && (f.Number == 1 || f.Number >= 5):
			v = wireValue{kind: [...]kind{1: textValue, 5: arrayValue, 6: objectValue, 7: bytesValue}[f.Number],
				bytes: f.Bytes}
		case f.Is(2, protowire.Varint):
			v = wireValue{kind: boolValue, bits: min(f.Value, 1)}
		case f.Is(3, protowire.Varint):
			v = wireValue{kind: intValue, bits: f.Value}
		case f.Is(4, protowire.Fixed64):
			v = wireValue{kind: floatValue, bits: f.Value}
		default:
			return v, fmt.Errorf("field %d of a value is of wire type %d", f.Number, f.Kind)
		}
	}
	if len(v.bytes) > maxValue && v.kind != textValue {
		return v, errLong
	}
	return v, f.Err()
}

// readAttribute reads a key and its value.
func readAttribute(message []byte) (a attribute, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			a.key = f.Bytes
		case f.Is(2, protowire.Bytes):
			if a.wireValue, err = readValue(f.Bytes); err != nil {
				return a, err
			}
		}
	}
	return a, f.Err()
}

const (
	// maxListed bounds the attributes of a list: one takes two bytes in a message, and attributeBytes here.
	maxListed = 1 << 16
	// maxValue bounds a value of bytes, or with values in it: its text is longer than the value.
	maxValue = 16 << 20
)

// appendAttribute appends the attribute in the field in hand.
func appendAttribute(list []attribute, f *protowire.Fields) ([]attribute, error) {
	if len(list) == maxListed {
		return list, errListed
	}
	a, err := readAttribute(f.Bytes)
	if err != nil {
		return list, fmt.Errorf("attribute: %w", err)
	}
	return append(list, a), nil
}

// writer makes JSON of values. A status error says that the value was read but cannot be kept; any other error says
// that the message is malformed.
type writer struct {
	stack []attribute // members of the objects that are being written
	known keyOrder
	// grown is called, before they take memory, with the bytes that texts grow by through escapes, which make six bytes
	// of one; nil: nobody counts.
	grown  func(bytes int64) error
	untold int
}

// tellEscapes is how many bytes texts grow by before grown is called.
const tellEscapes = 1 << 20

// text appends a text in quotes. It is valid UTF-8.
func (w *writer) text(dst, b []byte) ([]byte, error) {
	if maxEscape*len(b) > tellEscapes {
		size := quotedBytes(b)
		if err := w.grow(size - len(b)); err != nil {
			return dst, err
		}
		return jsontext.AppendString(slices.Grow(dst, size), b), nil
	}
	from := len(dst)
	dst = jsontext.AppendString(dst, b)
	return dst, w.grow(len(dst) - from - len(b))
}

// grow counts bytes that a text grows by.
func (w *writer) grow(bytes int) error {
	if w.untold += bytes; w.untold < tellEscapes || w.grown == nil {
		return nil
	}
	bytes, w.untold = w.untold, 0
	return w.grown(int64(bytes))
}

// maxEscape is the longest escape of a byte.
const maxEscape = len(`\u0001`)

// quotedBytes is about the length of a text in quotes, and no less.
func quotedBytes(b []byte) int {
	n := len(b) + 2
	for _, c := range b {
		switch {
		case c < ' ':
			n += maxEscape - 1
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

var (
	errDeep = status.New(status.InvalidArguments, "a value nests deeper than %d levels", maxDepth)
	errUTF8 = status.New(status.InvalidArguments, "a text is not valid UTF-8")

	errListed = status.New(status.InvalidArguments, "there are more than %d attributes in a list", maxListed)
	errLong   = status.New(status.InvalidArguments, "a value of bytes, or one with values in it, is longer than %d MiB",
		maxValue>>20)
)

// object appends attributes as a JSON object, keys in order. If a key comes twice, the last value counts. object sorts
// list in place.
func (w *writer) object(dst []byte, list []attribute, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errDeep
	}
	if !sorted(list) {
		slices.SortStableFunc(list, func(a, b attribute) int { return compare(a.key, b.key) })
	}
	dst = append(dst, '{')
	empty := len(dst)
	for i := range list {
		a := &list[i]
		if i+1 < len(list) && string(list[i+1].key) == string(a.key) {
			continue
		}
		if !utf8.Valid(a.key) {
			return dst, errUTF8
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.text(dst, a.key); err != nil {
			return dst, err
		}
		dst = append(dst, ':')
		if dst, err = w.value(dst, &a.wireValue, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func sorted(list []attribute) bool {
	for i := 1; i < len(list); i++ {
		if string(list[i-1].key) > string(list[i].key) {
			return false
		}
	}
	return true
}

func compare(a, b []byte) int {
	switch {
	case string(a) < string(b):
		return -1
	case string(a) > string(b):
		return 1
	}
	return 0
}

// value appends a value as JSON.
func (w *writer) value(dst []byte, v *wireValue, depth int) ([]byte, error) {
	switch v.kind {
	case textValue:
		if !utf8.Valid(v.bytes) {
			return dst, errUTF8
		}
		return w.text(dst, v.bytes)
	case boolValue:
		return strconv.AppendBool(dst, v.bits != 0), nil
	case intValue:
		return strconv.AppendInt(dst, int64(v.bits), 10), nil
	case floatValue:
		return jsontext.AppendFloat(dst, v.float()), nil
	case bytesValue:
		return append(hex.AppendEncode(append(dst, '"'), v.bytes), '"'), nil
	case arrayValue:
		return w.array(dst, v.bytes, depth)
	case objectValue:
		return w.keyValues(dst, v.bytes, depth)
	}
	return append(dst, "null"...), nil
}

func (w *writer) array(dst, message []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errDeep
	}
	dst = append(dst, '[')
	empty := len(dst)
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		v, err := readValue(f.Bytes)
		if err != nil {
			return dst, err
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		if dst, err = w.value(dst, &v, depth+1); err != nil {
			return dst, err
		}
	}
	if f.Err() != nil {
		return dst, f.Err()
	}
	return append(dst, ']'), nil
}

func (w *writer) keyValues(dst, message []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errDeep
	}
	from := len(w.stack)
	defer func() { w.stack = w.stack[:from] }()
	f := protowire.Of(message)
	for f.Next() {
		if f.Is(1, protowire.Bytes) {
			var err error
			if w.stack, err = appendAttribute(w.stack, &f); err != nil {
				return dst, err
			}
		}
	}
	if f.Err() != nil {
		return dst, f.Err()
	}
	return w.object(dst, w.stack[from:len(w.stack):len(w.stack)], depth)
}

// appendText appends a scalar as text: strings as they are, numbers in their shortest form; false: v is no scalar.
func appendText(dst []byte, v *wireValue) ([]byte, bool) {
	switch v.kind {
	case textValue:
		return append(dst, v.bytes...), true
	case boolValue:
		return strconv.AppendBool(dst, v.bits != 0), true
	case intValue:
		return strconv.AppendInt(dst, int64(v.bits), 10), true
	case floatValue:
		return appendNumber(dst, v.float()), true
	}
	return dst, false
}

// appendNumber appends the shortest text of a number that reads back as it.
func appendNumber(dst []byte, x float64) []byte {
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}
