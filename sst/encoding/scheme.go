package encoding

import (
	"fmt"

	"varve/engine/filter"
	"varve/engine/vector"
)

// scheme is one encoding: its name, the function that decodes a block, and the functions that use an encoded block
// directly. Functions that it does not support are nil. A new encoding needs a file, an ID and a row of the table
// below; an encoding of numbers also needs a place in intSchemes or floatSchemes.
type scheme struct {
	name string

	// The values of a block, by how they lie in memory: as many as dst has, or n. Integers are those of a column,
	// signed or not, and those that other encodings keep inside of theirs.
	bools    func(d *Decoder, r *reader, v *vector.Vector, n int)
	signed   func(d *Decoder, r *reader, dst []int64)
	unsigned func(d *Decoder, r *reader, dst []uint64)
	floats   func(d *Decoder, r *reader, dst []float64)
	strings  func(d *Decoder, r *reader, v *vector.Vector, n int, shared *vector.Vector)

	// planInts says what a block of integers costs and keeps its plan in b; false: it is not worth a try beside the
	// cheapest so far. appendInts encodes the block by that plan.
	planInts   func(e *Encoder, b *intBlock) (cost int, ok bool)
	appendInts func(e *Encoder, dst []byte, b *intBlock) []byte

	// appendFloats encodes floats; false: they are not of its form.
	appendFloats func(e *Encoder, dst []byte, v []float64, single bool) (out []byte, ok bool)

	// parse encodes strings of a form of their own, with the ID in front; false: some are not of that form. The
	// shortest is taken.
	parse func(e *Encoder, dst []byte, views []vector.View, heap []byte) ([]byte, bool)

	// Test of an encoded block of n rows without NULLs, at least one: it removes the rows that do not pass from keep.
	// If the block has to be decoded, it returns false and changes nothing.
	equal    func(d *Decoder, r *reader, n int, s []byte, keep vector.Bitmap) bool
	oneOf    func(d *Decoder, r *reader, n int, list *filter.Listed, keep vector.Bitmap) bool
	bound    func(d *Decoder, r *reader, n int, b *filter.FloatBound, keep vector.Bitmap) bool
	interval func(d *Decoder, r *reader, n int, in *filter.Interval, keep vector.Bitmap) bool
	text     func(d *Decoder, r *reader, n int, t *filter.Test, keep vector.Bitmap) bool

	// pick makes v, Flat, the values of some rows, which rise, of a block of n without NULLs. false: the block has to
	// be decoded.
	pick func(d *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool

	// whole says that the strings of a block are looked for as a whole and never by their words.
	whole func(page []byte) bool
	// single: a block has one value, or none.
	single bool
}

// schemes are the encodings by ID; most bytes are the ID of none, and their rows are empty. The functions look others
// up here, which an initial value may not.
var schemes [1 << 8]scheme

// parsers are those that schemes have, by ID.
var parsers []func(e *Encoder, dst []byte, views []vector.View, heap []byte) ([]byte, bool)

func init() {
	always := func([]byte) bool { return true }
	schemes = [len(schemes)]scheme{
		Null: {name: "null", single: true},
		Constant: {name: "constant", single: true, bools: decodeConstantBools, signed: decodeConstant[int64],
			unsigned: decodeConstant[uint64],
			floats:   decodeConstantFloats, strings: decodeConstantString},
		Plain: {name: "plain", bools: decodePlainBools, floats: decodePlainFloats, strings: decodePlainStrings},
		Packed: {name: "packed", planInts: planPacked, appendInts: (*Encoder).appendPacked,
			signed: decodePacked[int64], unsigned: decodePacked[uint64], interval: keepInts, pick: pickPacked},
		Delta: {name: "delta", planInts: planDelta, appendInts: (*Encoder).appendDelta, signed: decodeDelta[int64],
			unsigned: decodeDelta[uint64]},
		DeltaTwo: {name: "delta2", planInts: planDeltaTwo, appendInts: (*Encoder).appendDeltaTwo,
			signed: decodeDeltaTwo[int64], unsigned: decodeDeltaTwo[uint64]},
		Runs: {name: "runs", planInts: planRunsOf, appendInts: (*Encoder).appendRunsOf, signed: decodeRuns[int64],
			unsigned: decodeRuns[uint64]},
		Local: {name: "local", planInts: planLocalInts, appendInts: (*Encoder).appendLocalInts,
			unsigned: decodeLocalInts, strings: decodeLocalStrings},
		Shared: {name: "shared", strings: decodeShared},
		Decimal: {name: "decimal", appendFloats: appendDecimal, floats: decodeDecimal, bound: keepDecimals,
			pick: pickDecimal},
		XOR: {name: "xor", appendFloats: appendXOR, floats: decodeXOR},
		Hex: {name: "hex", parse: (*Encoder).appendHex, strings: decodeHex, equal: keepHex, oneOf: keepHexOf,
			pick: pickHex, whole: dashed},
		IPv4: {name: "ipv4", parse: (*Encoder).appendIPv4, strings: decodeIPv4, equal: keepIPv4, pick: pickIPv4,
			whole: always},
		Number: {name: "number", parse: (*Encoder).appendNumbers, strings: decodeNumbers, equal: keepNumber,
			pick: pickNumbers},
		Template: {name: "template", strings: decodeTemplates, text: keepTemplates},
		TimeText: {name: "times", parse: (*Encoder).appendTimes, strings: decodeTimes, equal: keepTime, whole: always},
	}
	for i := range schemes {
		if parse := schemes[i].parse; parse != nil {
			parsers = append(parsers, parse)
		}
	}
}

func (id ID) scheme() *scheme { return &schemes[id] }

// String is the encoding's name as dumps show it.
func (id ID) String() string {
	if name := id.scheme().name; name != "" {
		return name
	}
	return fmt.Sprintf("encoding(%d)", uint8(id))
}

// Single reports whether a block of the encoding has at most one distinct value, so that its zone is complete.
func (id ID) Single() bool { return id.scheme().single }

// Answers reports whether Keep may answer a test for blocks of the encoding.
func (id ID) Answers(t *filter.Test) bool {
	s := id.scheme()
	return s.text != nil && t.IsText() || s.compares(t.Packed())
}

func (s *scheme) compares(c *filter.Comparison) bool {
	return s.equal != nil && c.Equal != nil || s.oneOf != nil && c.OneOf != nil || s.bound != nil && c.Bound != nil ||
		s.interval != nil && c.Interval != nil
}

// Keep removes the rows that do not pass a test from keep, using the encoded block of n rows. If the block must be
// decoded for the test, ok is false and keep is unchanged.
func (d *Decoder) Keep(src []byte, n int, t *filter.Test, keep vector.Bitmap) (ok bool, err error) {
	if len(src) < 2 || ID(src[0]).scheme().text == nil || !t.IsText() {
		return d.compare(src, n, t.Packed(), keep)
	}
	if src[1] != 0 || n <= 0 || n > MaxRows {
		return false, nil
	}
	r := d.read(src[2:])
	ok = ID(src[0]).scheme().text(d, r, n, t, keep)
	return ok && r.err == nil, r.err
}

// compare is Keep for a comparison.
func (d *Decoder) compare(src []byte, n int, c *filter.Comparison, keep vector.Bitmap) (ok bool, err error) {
	if len(src) < 2 || src[1] != 0 || n <= 0 || n > MaxRows {
		return false, nil
	}
	r := d.read(src[2:])
	switch s := ID(src[0]).scheme(); {
	case s.equal != nil && c.Equal != nil:
		ok = s.equal(d, r, n, c.Equal, keep)
	case s.oneOf != nil && c.OneOf != nil:
		ok = s.oneOf(d, r, n, c.OneOf, keep)
	case s.bound != nil && c.Bound != nil:
		ok = s.bound(d, r, n, c.Bound, keep)
	case s.interval != nil && c.Interval != nil:
		ok = s.interval(d, r, n, c.Interval, keep)
	}
	if ok {
		r.end()
	}
	return ok && r.err == nil, r.err
}

// Whole reports whether the strings of an encoded block are looked for as a whole and never by their words: addresses,
// times and the ids that have dashes.
func Whole(page []byte) bool {
	if len(page) < 2 {
		return false
	}
	whole := ID(page[0]).scheme().whole
	return whole != nil && whole(page)
}
