package pgwire

import (
	"encoding/binary"
	"math"
	"time"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// The time from which binary dates and times count is 2000-01-01, in UTC.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86_400_000_000
)

var be = binary.BigEndian

// binaryCell writes the values of a column in binary.
func binaryCell(v *vector.Vector, zone *time.Location) cell {
	switch v.Type.ID {
	case vector.TypeBool:
		return func(dst []byte, i int) []byte {
			if v.Bool(i) {
				return append(dst, 1)
			}
			return append(dst, 0)
		}
	case vector.TypeInt8, vector.TypeInt16:
		return func(dst []byte, i int) []byte { return be.AppendUint16(dst, uint16(v.Int(i))) }
	case vector.TypeUint8:
		return func(dst []byte, i int) []byte { return be.AppendUint16(dst, uint16(v.Uint(i))) }
	case vector.TypeInt32:
		return func(dst []byte, i int) []byte { return be.AppendUint32(dst, uint32(v.Int(i))) }
	case vector.TypeUint16:
		return func(dst []byte, i int) []byte { return be.AppendUint32(dst, uint32(v.Uint(i))) }
	case vector.TypeInt64:
		return func(dst []byte, i int) []byte { return be.AppendUint64(dst, uint64(v.Int(i))) }
	case vector.TypeUint32:
		return func(dst []byte, i int) []byte { return be.AppendUint64(dst, v.Uint(i)) }
	case vector.TypeUint64, vector.TypeDecimal:
		text := textCell(v, zone)
		return func(dst []byte, i int) []byte { return appendNumeric(dst, text(nil, i)) }
	case vector.TypeFloat32:
		return func(dst []byte, i int) []byte { return be.AppendUint32(dst, math.Float32bits(float32(v.Float(i)))) }
	case vector.TypeFloat64:
		return func(dst []byte, i int) []byte { return be.AppendUint64(dst, math.Float64bits(v.Float(i))) }
	case vector.TypeDate:
		return func(dst []byte, i int) []byte {
			return be.AppendUint32(dst, uint32(max(v.Int(i)-epochDays, math.MinInt32)))
		}
	case vector.TypeTimestamp:
		return timestampCell(v)
	case vector.TypeTime:
		unit := v.Type.UnitsPerSecond()
		return func(dst []byte, i int) []byte { return be.AppendUint64(dst, uint64(micros(v.Int(i), unit))) }
	case vector.TypeDuration:
		unit := v.Type.UnitsPerSecond()
		return func(dst []byte, i int) []byte {
			return be.AppendUint64(be.AppendUint64(dst, uint64(micros(v.Int(i), unit))), 0)
		}
	case vector.TypeInterval:
		return func(dst []byte, i int) []byte {
			months, days, us := interval(v.Bytes(i))
			return be.AppendUint32(be.AppendUint32(be.AppendUint64(dst, uint64(us)), uint32(days)), uint32(months))
		}
	case vector.TypeList:
		if v.Type.Elem().ID != vector.TypeList {
			write := func(v *vector.Vector) cell { return binaryCell(v, zone) }
			return func(dst []byte, i int) []byte {
				return appendArray(dst, v.Type.Elem(), v.Bytes(i), oidOf(v.Type.Elem()), write)
			}
		}
	case vector.TypeNull:
		return func(dst []byte, i int) []byte { return convert.AppendText(dst, v, i) }
	}
	return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
}

func timestampCell(v *vector.Vector) cell {
	unit := v.Type.UnitsPerSecond()
	return func(dst []byte, i int) []byte {
		switch us, infinite := instant(v.Int(i), unit); {
		case infinite && us < 0:
			return be.AppendUint64(dst, 1<<63)
		case infinite:
			return be.AppendUint64(dst, math.MaxInt64)
		default:
			return be.AppendUint64(dst, uint64(us-epochMicros))
		}
	}
}

// binaryCellAs is binaryCell of a column of a statement; catalog: it reads the catalog, see oidAs.
func binaryCellAs(v *vector.Vector, zone *time.Location, catalog bool) cell {
	if catalog {
		switch oidAs(v.Type, true) {
		case oidOID:
			return oidCell(v)
		case arrays[oidOID]:
			return func(dst []byte, i int) []byte {
				return appendArray(dst, v.Type.Elem(), v.Bytes(i), oidOID, oidCell)
			}
		}
	}
	return binaryCell(v, zone)
}

func oidCell(v *vector.Vector) cell {
	return func(dst []byte, i int) []byte { return be.AppendUint32(dst, uint32(v.Uint(i))) }
}

// appendArray appends a list of one dimension, whose elements clients know by a number, and cellOf writes.
func appendArray(dst []byte, elem vector.Type, list []byte, oid uint32, cellOf func(*vector.Vector) cell) []byte {
	v := &vector.Vector{Type: elem}
	n := expr.AppendElements(v, 0, list)
	dimensions, nulls := uint32(1), uint32(0)
	if n == 0 {
		dimensions = 0
	}
	for i := range n {
		if v.IsNull(i) {
			nulls = 1
		}
	}
	dst = be.AppendUint32(be.AppendUint32(be.AppendUint32(dst, dimensions), nulls), oid)
	if n == 0 {
		return dst
	}
	dst = be.AppendUint32(be.AppendUint32(dst, uint32(n)), 1)
	write := cellOf(v)
	for i := range n {
		dst = appendCell(dst, v, write, i)
	}
	return dst
}

// appendCell appends a value with its length before it; NULL has the length -1.
func appendCell(dst []byte, v *vector.Vector, write cell, i int) []byte {
	at := len(dst)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	if v.IsNull(i) {
		return dst
	}
	dst = write(dst, i)
	be.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// appendNumeric appends a decimal number in binary: groups of four digits, the power of the first, the sign, and the
// digits after the point.
func appendNumeric(dst, text []byte) []byte {
	sign := uint16(0)
	if len(text) > 0 && text[0] == '-' {
		sign, text = 0x4000, text[1:]
	}
	point, scale := len(text), 0
	for i, c := range text {
		if c == '.' {
			point, scale = i, len(text)-i-1
		}
	}
	whole := text[:point]
	var groups []uint16
	head := len(whole) % 4
	if head > 0 {
		groups = append(groups, group(whole[:head]))
	}
	for i := head; i < len(whole); i += 4 {
		groups = append(groups, group(whole[i:i+4]))
	}
	weight := len(groups) - 1
	if scale > 0 {
		fraction := append([]byte(nil), text[point+1:]...)
		for len(fraction)%4 != 0 {
			fraction = append(fraction, '0')
		}
		for i := 0; i < len(fraction); i += 4 {
			groups = append(groups, group(fraction[i:i+4]))
		}
	}
	for len(groups) > 0 && groups[0] == 0 {
		groups, weight = groups[1:], weight-1
	}
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	if len(groups) == 0 {
		weight, sign = 0, 0
	}
	dst = be.AppendUint16(be.AppendUint16(dst, uint16(len(groups))), uint16(weight))
	dst = be.AppendUint16(be.AppendUint16(dst, sign), uint16(scale))
	for _, g := range groups {
		dst = be.AppendUint16(dst, g)
	}
	return dst
}

func group(digits []byte) (n uint16) {
	for _, c := range digits {
		n = n*10 + uint16(c-'0')
	}
	return n
}

// The values of parameters in binary, as texts.

// readNumeric is a decimal number in binary as text.
func readNumeric(b []byte) (string, bool) {
	if len(b) < 8 {
		return "", false
	}
	n, weight := int(be.Uint16(b)), int(int16(be.Uint16(b[2:])))
	sign, scale := be.Uint16(b[4:]), int(be.Uint16(b[6:]))
	b = b[8:]
	if len(b) != 2*n || sign != 0 && sign != 0x4000 || scale > 1<<14 || weight < -64 || weight > 64 || n > 64 {
		return "", false
	}
	for i := range n {
		if be.Uint16(b[2*i:]) > 9999 {
			return "", false
		}
	}
	scale = min(scale, 512) // 64 groups from a power of -64 on have no digits beyond
	var whole, fraction []byte
	four := func(dst []byte, g uint16) []byte {
		return append(dst, byte('0'+g/1000%10), byte('0'+g/100%10), byte('0'+g/10%10), byte('0'+g%10))
	}
	at := func(w int) uint16 { // the group of a power
		if i := weight - w; i >= 0 && i < n {
			return be.Uint16(b[2*i:])
		}
		return 0
	}
	for w := max(weight, 0); w >= 0; w-- {
		whole = four(whole, at(w))
	}
	for w := -1; len(fraction) < scale; w-- {
		fraction = four(fraction, at(w))
	}
	for len(whole) > 1 && whole[0] == '0' {
		whole = whole[1:]
	}
	text := string(whole)
	if scale > 0 {
		text += "." + string(fraction[:scale])
	}
	if sign != 0 {
		text = "-" + text
	}
	return text, true
}
