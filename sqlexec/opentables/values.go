package opentables

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/opentables/iceberg"
)

// valueStats are the bounds of a column of a file.
type valueStats struct {
	nulls      int64
	some       bool
	low, high  int64 // of integers and times
	least, top float64
	nan        bool   // bounds would be wrong for readers that compare NaN
	from, to   []byte // of texts
}

// boundText is the length of bounds of texts, in characters.
const boundText = 16

// fill makes the values of a column of the file.
func (p *parquetFile) fill(c int, b *vector.Batch) {
	l := &p.leaves[c]
	v := b.Cols[l.at]
	s := &p.stats[c]
	p.values, p.heap = p.values[:0], p.heap[:0]
	null := parquet.NullValue().Level(0, 0, c)
	flat, n := v, b.N
	switch v.Form {
	case vector.Dict:
		flat, n = v.Values, distinct(v)
	case vector.Const:
		n = 1
	}
	one := p.valueOf(l, s, flat)
	switch v.Form {
	case vector.Const:
		x := null
		if v.IsNull(0) {
			s.nulls += int64(b.N)
		} else {
			x = one(0).Level(0, 1, c)
		}
		for range b.N {
			p.values = append(p.values, x)
		}
	case vector.Dict:
		words, made := vector.Extended(p.words[:0], n), vector.Extended(p.made[:0], n)
		p.words, p.made = words, made
		clear(made) // bounds are of values that rows have
		for i, code := range v.Codes[:b.N] {
			if v.IsNull(i) {
				s.nulls++
				p.values = append(p.values, null)
				continue
			}
			if !made[code] {
				words[code], made[code] = one(int(code)).Level(0, 1, c), true
			}
			p.values = append(p.values, words[code])
		}
	default:
		for i := range n {
			if v.IsNull(i) {
				s.nulls++
				p.values = append(p.values, null)
				continue
			}
			p.values = append(p.values, one(i).Level(0, 1, c))
		}
	}
}

// valueOf returns the function that makes the value of row i, which is not NULL, and enters it into the bounds.
func (p *parquetFile) valueOf(l *leaf, s *valueStats, v *vector.Vector) func(i int) parquet.Value {
	switch v.Type.Kind() {
	case vector.Bool:
		return func(i int) parquet.Value { return parquet.BooleanValue(v.Bool(i)) }
	case vector.Int64:
		return intValue(l, s, v)
	case vector.Uint64:
		return p.uintValue(l, s, v)
	case vector.Float64:
		if l.typ == iceberg.Float {
			return func(i int) parquet.Value {
				s.float(v.Float(i))
				return parquet.FloatValue(float32(v.Float(i)))
			}
		}
		return func(i int) parquet.Value {
			s.float(v.Float(i))
			return parquet.DoubleValue(v.Float(i))
		}
	}
	return p.bytesValue(l, s, v)
}

func intValue(l *leaf, s *valueStats, v *vector.Vector) func(i int) parquet.Value {
	if l.typ == iceberg.Int || l.typ == iceberg.Date {
		return func(i int) parquet.Value {
			s.int(v.Int(i))
			return parquet.Int32Value(int32(v.Int(i)))
		}
	}
	times, parts := int64(1), int64(1)
	if v.Type.ID == vector.TypeTimestamp || v.Type.ID == vector.TypeTime {
		if units := v.Type.UnitsPerSecond(); units > 1e6 {
			parts = units / 1e6
		} else {
			times = 1e6 / units
		}
	}
	return func(i int) parquet.Value {
		x := micros(v.Int(i), times, parts)
		s.int(x)
		return parquet.Int64Value(x)
	}
}

// micros is a count of other units as one of microseconds, as near as 64 bits allow.
func micros(x, times, parts int64) int64 {
	switch {
	case parts > 1:
		return timefmt.FloorDiv(x, parts)
	case x > math.MaxInt64/times:
		return math.MaxInt64
	case x < math.MinInt64/times:
		return math.MinInt64
	}
	return x * times
}

func (p *parquetFile) uintValue(l *leaf, s *valueStats, v *vector.Vector) func(i int) parquet.Value {
	switch l.typ {
	case iceberg.Int:
		return func(i int) parquet.Value {
			s.int(int64(v.Uint(i)))
			return parquet.Int32Value(int32(v.Uint(i)))
		}
	case iceberg.Long:
		return func(i int) parquet.Value {
			s.int(int64(v.Uint(i)))
			return parquet.Int64Value(int64(v.Uint(i)))
		}
	}
	size := decimalSize(20)
	return func(i int) parquet.Value {
		from := len(p.heap)
		for range size - 8 {
			p.heap = append(p.heap, 0)
		}
		p.heap = binary.BigEndian.AppendUint64(p.heap, v.Uint(i))
		return parquet.FixedLenByteArrayValue(p.heap[from:len(p.heap):len(p.heap)])
	}
}

// bytesValue is valueOf for types that are kept as bytes: text for those that Iceberg lacks.
func (p *parquetFile) bytesValue(l *leaf, s *valueStats, v *vector.Vector) func(i int) parquet.Value {
	switch v.Type.ID {
	case vector.TypeString, vector.TypeJSON, vector.TypeList:
		return func(i int) parquet.Value {
			b := v.Bytes(i)
			s.text(b)
			return parquet.ByteArrayValue(b)
		}
	case vector.TypeBinary:
		return func(i int) parquet.Value { return parquet.ByteArrayValue(v.Bytes(i)) }
	case vector.TypeDecimal:
		precision, _, _ := l.typ.Digits()
		skip := 16 - decimalSize(precision)
		return func(i int) parquet.Value {
			from, b := len(p.heap)+skip, v.Bytes(i)
			p.heap = binary.BigEndian.AppendUint64(p.heap, binary.LittleEndian.Uint64(b[8:]))
			p.heap = binary.BigEndian.AppendUint64(p.heap, binary.LittleEndian.Uint64(b))
			return parquet.FixedLenByteArrayValue(p.heap[from:len(p.heap):len(p.heap)])
		}
	}
	return func(i int) parquet.Value {
		from := len(p.heap)
		p.heap = expr.AppendText(p.heap, v, i)
		b := p.heap[from:len(p.heap):len(p.heap)]
		s.text(b)
		return parquet.ByteArrayValue(b)
	}
}

// writeMore writes the map: for each row the values, as texts, of the columns past the bound that are not NULL.
func (p *parquetFile) writeMore(columns []*parquet.ColumnWriter, b *vector.Batch) error {
	at := len(p.leaves)
	var keys, texts []parquet.Value
	p.heap = p.heap[:0]
	for i := range b.N {
		level := 0 // of repetition
		for k, pos := range p.more.at {
			v := b.Cols[pos]
			if v.IsNull(i) {
				continue
			}
			from := len(p.heap)
			p.heap = expr.AppendText(p.heap, v, i)
			keys = append(keys, parquet.ByteArrayValue([]byte(p.more.names[k])).Level(level, 1, at))
			texts = append(texts, parquet.ByteArrayValue(p.heap[from:len(p.heap):len(p.heap)]).Level(level, 2, at+1))
			level = 1
		}
		if level == 0 {
			keys = append(keys, parquet.NullValue().Level(0, 0, at))
			texts = append(texts, parquet.NullValue().Level(0, 0, at+1))
		}
	}
	p.bytes += int64(len(p.heap))
	if _, err := columns[0].WriteRowValues(keys); err != nil {
		return err
	}
	_, err := columns[1].WriteRowValues(texts)
	return err
}

func (s *valueStats) int(x int64) {
	if !s.some {
		s.low, s.high, s.some = x, x, true
		return
	}
	s.low, s.high = min(s.low, x), max(s.high, x)
}

func (s *valueStats) float(x float64) {
	switch {
	case x != x:
		s.nan = true
	case !s.some:
		s.least, s.top, s.some = x, x, true
	default:
		s.least, s.top = min(s.least, x), max(s.top, x)
	}
}

func (s *valueStats) text(b []byte) {
	switch {
	case !s.some:
		s.from, s.to, s.some = append(s.from, b...), append(s.to, b...), true
	case string(b) < string(s.from):
		s.from = append(s.from[:0], b...)
	case string(b) > string(s.to):
		s.to = append(s.to[:0], b...)
	}
}

// column is what is known of the column.
func (s *valueStats) column(t iceberg.Type, rows int64) iceberg.Column {
	c := iceberg.Column{Values: rows, Nulls: s.nulls}
	if !s.some || s.nan {
		return c
	}
	switch t {
	case iceberg.Int, iceberg.Date:
		c.Lower, c.Upper = iceberg.IntBound(int32(s.low)), iceberg.IntBound(int32(s.high))
	case iceberg.Long, iceberg.Time, iceberg.Timestamptz:
		c.Lower, c.Upper = iceberg.LongBound(s.low), iceberg.LongBound(s.high)
	case iceberg.Float:
		c.Lower, c.Upper = iceberg.FloatBound(float32(s.least)), iceberg.FloatBound(float32(s.top))
	case iceberg.Double:
		c.Lower, c.Upper = iceberg.DoubleBound(s.least), iceberg.DoubleBound(s.top)
	case iceberg.String:
		c.Lower, c.Upper = cutText(s.from), textAbove(s.to)
	}
	return c
}

// cutText is a text of at most boundText characters that is not above b; nil: b is no UTF-8.
func cutText(b []byte) []byte {
	if !utf8.Valid(b) {
		return nil
	}
	n := 0
	for i := range string(b) {
		if n == boundText {
			return b[:i:i]
		}
		n++
	}
	return b
}

// textAbove is a text of at most boundText characters that is not below b; nil: there is none.
func textAbove(b []byte) []byte {
	cut := cutText(b)
	if cut == nil || len(cut) == len(b) {
		return cut
	}
	runes := []rune(string(cut))
	for i := len(runes) - 1; i >= 0; i-- {
		next := runes[i] + 1
		if next >= 0xD800 && next <= 0xDFFF {
			next = 0xE000
		}
		if next <= utf8.MaxRune {
			runes[i] = next
			return []byte(string(runes[:i+1]))
		}
	}
	return nil
}
