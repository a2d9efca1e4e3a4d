package pgwire

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"varve/sqlexec/parse"
)

// value is a parameter as SQL reads it: its text, or the texts of its elements.
type value struct {
	oid   uint32
	null  bool
	text  string
	list  []value
	array bool
}

// readValue reads the value of a parameter number n; b nil is NULL.
func readValue(n int, oid uint32, b []byte, binary bool) (value, error) {
	v := value{oid: oid, null: b == nil}
	elem, array := elements[oid]
	if v.array = array; v.null {
		return v, nil
	}
	var err error
	switch {
	case binary && array:
		v.list, err = readArray(elem, b)
	case array:
		v.list, err = readList(elem, string(b))
	default:
		v.text, err = readOne(oid, b, binary)
	}
	if err == nil {
		return v, nil
	}
	code := "22P03"
	if f := (*failure)(nil); errors.As(err, &f) {
		code = f.code
	}
	return v, fail(code, fmt.Sprintf("parameter $%d: %v", n, err))
}

// readOne reads a value that is no list, as SQL reads it.
func readOne(oid uint32, b []byte, binary bool) (text string, err error) {
	if text = string(b); binary {
		if text, err = readBinary(oid, b); err != nil {
			return "", err
		}
	}
	switch {
	case !utf8.ValidString(text):
		return "", fail("22021", "the text is not valid UTF-8")
	case strings.IndexByte(text, 0) >= 0:
		return "", fail("22021", "the text has the character U+0000")
	case oid == oidNumeric:
		return readDecimal(text)
	case binary:
	case oid == oidBytea:
		if text, err = readBytea(text); err != nil {
			return "", fail("22P02", err.Error())
		}
	case oid == oidDate || oid == oidTimestamp || oid == oidTimestampTZ:
		return readTime(text)
	}
	return text, nil
}

// readBytea reads a text of bytes, in hex or with backslashes, as digits of hex.
func readBytea(text string) (string, error) {
	if digits, ok := strings.CutPrefix(text, `\x`); ok {
		if _, err := hex.DecodeString(digits); err != nil {
			return "", fmt.Errorf("invalid bytes in hex")
		}
		return digits, nil
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '\\' {
			out, i = append(out, '\\'), i+1
			continue
		}
		if i+3 >= len(text) {
			return "", fmt.Errorf("invalid bytes: a backslash is not followed by three digits")
		}
		c, err := strconv.ParseUint(text[i+1:i+4], 8, 8)
		if err != nil {
			return "", fmt.Errorf("invalid bytes: a backslash is not followed by three digits")
		}
		out, i = append(out, byte(c)), i+3
	}
	return hex.EncodeToString(out), nil
}

// readBinary is a binary value as text.
func readBinary(oid uint32, b []byte) (string, error) {
	if want := sizes[oid]; want > 0 && len(b) != int(want) {
		return "", fmt.Errorf("a binary value of type %d has %d bytes", oid, len(b))
	}
	switch oid {
	case oidBool:
		return strconv.FormatBool(b[0] != 0), nil
	case oidInt2:
		return strconv.Itoa(int(int16(be.Uint16(b)))), nil
	case oidInt4:
		return strconv.Itoa(int(int32(be.Uint32(b)))), nil
	case oidOID:
		return strconv.FormatUint(uint64(be.Uint32(b)), 10), nil
	case oidInt8:
		return strconv.FormatInt(int64(be.Uint64(b)), 10), nil
	case oidFloat4:
		return strconv.FormatFloat(float64(math.Float32frombits(be.Uint32(b))), 'g', -1, 32), nil
	case oidFloat8:
		return strconv.FormatFloat(math.Float64frombits(be.Uint64(b)), 'g', -1, 64), nil
	case oidNumeric:
		if text, ok := readNumeric(b); ok {
			return text, nil
		}
		return "", fmt.Errorf("a binary number is not finite, has too many digits, or is damaged")
	case oidBytea:
		return hex.EncodeToString(b), nil
	case oidDate:
		return readDays(int32(be.Uint32(b)))
	case oidTimestamp:
		return readTimestamp(int64(be.Uint64(b)))
	case oidTimestampTZ:
		text, err := readTimestamp(int64(be.Uint64(b)))
		return text + "Z", err
	case oidTime:
		return string(appendClock(nil, int64(be.Uint64(b)))), nil
	case oidInterval:
		return fmt.Sprintf("%d months %d days %d microseconds", int32(be.Uint32(b[12:])), int32(be.Uint32(b[8:])),
			int64(be.Uint64(b))), nil
	case oidUUID:
		if len(b) != 16 {
			return "", fmt.Errorf("a binary value of type %d has %d bytes", oid, len(b))
		}
		h := hex.EncodeToString(b)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
	case oidJSONB:
		if len(b) == 0 || b[0] != 1 {
			return "", fmt.Errorf("a binary value of jsonb has an unknown version")
		}
		return string(b[1:]), nil
	case oidText, oidVarchar, oidBPChar, oidName, oidUnknown, oidJSON, 0:
		return string(b), nil
	}
	return "", fmt.Errorf("binary values of type %d are not supported: send the value as text", oid)
}

// readArray reads a binary array of one dimension.
func readArray(elem uint32, b []byte) ([]value, error) {
	bad := fmt.Errorf("a binary array is damaged, or has more than one dimension")
	if len(b) < 12 {
		return nil, bad
	}
	dimensions := be.Uint32(b)
	if b = b[12:]; dimensions == 0 {
		return nil, nil
	}
	if dimensions != 1 || len(b) < 8 {
		return nil, bad
	}
	n := int(be.Uint32(b))
	b = b[8:]
	if n < 0 || n > len(b)/4 {
		return nil, bad
	}
	list := make([]value, 0, n)
	for range n {
		if len(b) < 4 {
			return nil, bad
		}
		size := int(int32(be.Uint32(b)))
		if b = b[4:]; size < 0 {
			list = append(list, value{oid: elem, null: true})
			continue
		}
		if size > len(b) {
			return nil, bad
		}
		text, err := readOne(elem, b[:size], true)
		if err != nil {
			return nil, err
		}
		list, b = append(list, value{oid: elem, text: text}), b[size:]
	}
	return list, nil
}

// readList reads {a,"b c",NULL}.
func readList(elem uint32, text string) (list []value, err error) {
	bad := fmt.Errorf("malformed array: expected {..} of one dimension")
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, bad
	}
	for i := 1; i < len(text)-1; {
		var b strings.Builder
		quoted := text[i] == '"'
		if quoted {
			i++
		}
		for ; i < len(text)-1; i++ {
			c := text[i]
			if quoted && c == '"' || !quoted && c == ',' {
				break
			}
			if !quoted && (c == '{' || c == '"') {
				return nil, bad
			}
			if c == '\\' {
				if i++; i == len(text)-1 {
					return nil, bad
				}
				c = text[i]
			}
			b.WriteByte(c)
		}
		if quoted {
			if i == len(text)-1 {
				return nil, bad
			}
			i++ // past the quote
		}
		one := value{oid: elem, text: b.String()}
		if !quoted {
			one.text = strings.TrimSpace(one.text)
			one.null = strings.EqualFold(one.text, "null")
		}
		if !one.null {
			if one.text, err = readOne(elem, []byte(one.text), false); err != nil {
				return nil, err
			}
		}
		if list = append(list, one); i < len(text)-1 {
			if text[i] != ',' {
				return nil, bad
			}
			if i++; i == len(text)-1 {
				return nil, bad
			}
		}
	}
	return list, nil
}

// expr is the value as an expression of its type.
func (v value) expr(at parse.Node) parse.Expr {
	if v.array {
		if v.null {
			t := castType(elements[v.oid], "", at)
			t.IsArray = true
			return &parse.Cast{Node: at, X: &parse.Literal{Node: at, Kind: parse.NullLiteral}, Type: t}
		}
		if len(v.list) == 0 {
			return emptyList(castType(elements[v.oid], "", at), at)
		}
		a := &parse.Array{Node: at}
		for _, one := range v.list {
			a.Items = append(a.Items, one.expr(at))
		}
		return a
	}
	lit := &parse.Literal{Node: at, Kind: parse.StringLiteral, Text: v.text}
	switch {
	case v.null:
		lit.Kind, lit.Text = parse.NullLiteral, ""
	case v.oid == oidBytea:
		lit.Kind = parse.HexLiteral
		return lit
	case v.oid == oidInt8:
		if _, err := strconv.ParseInt(v.text, 10, 64); err == nil && v.text[0] != '+' && v.text[0] != '-' {
			lit.Kind = parse.NumberLiteral
			return lit
		}
	case v.oid == oidBool:
		switch strings.ToLower(v.text) {
		case "t", "true", "1", "on", "yes", "y":
			lit.Kind, lit.Text = parse.TrueLiteral, ""
			return lit
		case "f", "false", "0", "off", "no", "n":
			lit.Kind, lit.Text = parse.FalseLiteral, ""
			return lit
		}
	}
	if sqlTypes[v.oid] == "" && !v.null {
		return lit
	}
	return &parse.Cast{Node: at, X: lit, Type: castType(v.oid, v.text, at)}
}

// emptyList is a list of a type without elements. A list that is written without any has no type.
func emptyList(elem parse.DataType, at parse.Node) parse.Expr {
	null := &parse.Cast{Node: at, X: &parse.Literal{Node: at, Kind: parse.NullLiteral}, Type: elem}
	return &parse.Call{Node: at, Name: "array_pop_front", Args: []parse.Expr{
		&parse.Array{Node: at, Items: []parse.Expr{null}}}}
}

// castType is the type of SQL of a parameter that has a text.
func castType(oid uint32, text string, at parse.Node) parse.DataType {
	t := parse.DataType{At: at.At, Name: sqlTypes[oid]}
	switch oid {
	case oidTimestamp, oidTimestampTZ:
		t.Args = []int{6}
	case oidNumeric:
		t.Args = decimalOf(text)
	}
	if t.Name == "" {
		t.Name = "STRING"
	}
	return t
}

// stored is the value as INSERT reads it fastest: a number or a text, which the column makes a value of its type.
func (v value) stored() parse.Expr {
	lit := &parse.Literal{Kind: parse.StringLiteral, Text: v.text}
	switch {
	case v.null:
		lit.Kind, lit.Text = parse.NullLiteral, ""
		return lit
	case v.array:
		return v.expr(parse.Node{})
	}
	switch v.oid {
	case oidInt2, oidInt4, oidInt8, oidFloat4, oidFloat8:
		if _, err := strconv.ParseFloat(v.text, 64); err == nil {
			lit.Kind = parse.NumberLiteral
		}
	case oidText, oidTimestampTZ, oidDate, oidJSON, oidNumeric:
	default:
		return v.expr(parse.Node{})
	}
	return lit
}

// maxDigits is the largest number of digits of a decimal number.
const maxDigits = 38

// decimalOf are the precision and the scale of a number that readDecimal has read: all its digits, and ten after the
// point where there is room.
func decimalOf(text string) []int {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	room := maxDigits - len(strings.TrimLeft(whole, "0"))
	return []int{maxDigits, max(len(fraction), min(10, room))}
}

// readDecimal reads a number with a point, an exponent, or neither, and writes it without an exponent. Digits after the
// point that are zero and have no room are cut.
func readDecimal(text string) (string, error) {
	s := strings.TrimSpace(text)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	tooLong := fail("22003", fmt.Sprintf("a number has more than the %d digits of a decimal number", maxDigits))
	bad := fail("22P02", "invalid input syntax for type numeric")
	switch strings.ToLower(s) {
	case "nan", "inf", "infinity":
		return "", fail("22003", "the number "+s+" is not supported: decimal numbers are finite")
	}
	exponent := 0
	mantissa, rest, ok := strings.Cut(strings.ToLower(s), "e")
	if ok {
		var err error
		if exponent, err = strconv.Atoi(rest); errors.Is(err, strconv.ErrRange) || exponent > 1e6 || exponent < -1e6 {
			return "", tooLong
		} else if err != nil {
			return "", bad
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return "", bad
	}
	digits := strings.TrimLeft(all, "0")
	point := len(whole) + exponent - (len(all) - len(digits)) // digits before the point
	scale := max(len(fraction)-exponent, 0)
	if digits == "" {
		return "0" + fractionOf("", min(scale, maxDigits)), nil
	}
	room := maxDigits - max(point, 0)
	if room < 0 || len(strings.TrimRight(digits, "0"))-point > room {
		return "", tooLong
	}
	if point <= 0 {
		return sign + "0" + fractionOf(strings.Repeat("0", -point)+digits, min(scale, room)), nil
	}
	if n := point - len(digits); n > 0 {
		digits += strings.Repeat("0", n)
	}
	return sign + digits[:point] + fractionOf(digits[point:], min(scale, room)), nil
}

// fractionOf is a point and n digits; nothing for none.
func fractionOf(digits string, n int) string {
	if n == 0 {
		return ""
	}
	return "." + (digits + strings.Repeat("0", max(n-len(digits), 0)))[:n]
}
