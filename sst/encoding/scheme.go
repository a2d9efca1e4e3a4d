package encoding

import (
	"fmt"

	"varve/engine/filter"
	"varve/engine/vector"
)

// scheme is one encoding: its name, how blocks of each kind of value are written and read, and the functions that use
// an encoded block directly. Those that it does not support are nil. A new encoding needs a file, an ID and a row of
// the table below.
type scheme struct {
	name string

	// How blocks are written, by the kind of their values; see choose.go.
	writeInts    writer[intBlock]
	writeFloats  writer[floatBlock]
	writeBools   writer[boolBlock]
	writeStrings writer[textBlock]
	// lengths: its integers may be the lengths of plain strings. It uses no scratch of the encoder, where strings are
	// being written.
	lengths bool

	// The values of a block, by how they lie in memory: as many as dst has, or n. Integers are those of a column,
	// signed or not, and those that other encodings keep inside of theirs. column reads those of a column as a vector
	// that is not Flat.
	bools    func(d *Decoder, r *reader, v *vector.Vector, n int)
	signed   func(d *Decoder, r *reader, dst []int64)
	unsigned func(d *Decoder, r *reader, dst []uint64)
	column   func(d *Decoder, r *reader, v *vector.Vector, n int)
	floats   func(d *Decoder, r *reader, dst []float64)
	strings  func(d *Decoder, r *reader, v *vector.Vector, n int, shared *vector.Vector)

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

	// The same of n integers that another encoding keeps inside of its blocks: hits returns those in an interval,
	// Negate aside, and says nothing of words of keep without a row; some fills dst with those of some rows. nil: all
	// integers have to be decoded.
	hits func(d *Decoder, r *reader, n int, in filter.Interval, keep vector.Bitmap) vector.Bitmap
	some func(d *Decoder, r *reader, dst []uint64, n int, rows []uint32)

	// whole says that the strings of a block are looked for as a whole and never by their words.
	whole func(page []byte) bool
	// single: a block has one value, or none. It is read as a Const vector.
	single bool
}

// schemes are the encodings by ID; most bytes are the ID of none, and their rows are empty. codeSchemes and wideSchemes
// are the methods of codes and of wide numbers. The functions look others up here, which an initial value may not.
var (
	schemes     [1 << 8]scheme
	codeSchemes [runCodes + 1]codeScheme
	wideSchemes [wideBytes + 1]wideScheme
)

// The writers of each kind of block, from the schemes.
var (
	intWriters    table[intBlock]
	lengthWriters table[intBlock] // of plain strings
	floatWriters  table[floatBlock]
	boolWriters   table[boolBlock]
	textWriters   table[textBlock]
	codeWriters   table[codeBlock]
	wideWriters   table[wideBlock]
)

func init() {
	setGeneral()
	setNumbers()
	setStrings()
	codeSchemes = [...]codeScheme{
		packedCodes: {writer[codeBlock]{rank: 1, least: leastPackedCodes, plan: planPackedCodes,
			write: appendPackedCodes}, decodePackedCodes},
		runCodes: {writer[codeBlock]{rank: 2, least: leastRunCodes, plan: planRunCodes,
			write: appendRunCodes}, decodeRunCodes},
	}
	wideSchemes = [...]wideScheme{
		wideInts:  {writer[wideBlock]{rank: 1, least: leastWide, plan: planWideInts}, decodeWideInts},
		wideBytes: {writer[wideBlock]{rank: 2, least: leastWide, plan: planWideBytes}, decodeWideBytes},
	}
	for i := range codeSchemes {
		codeWriters = codeWriters.with(&codeSchemes[i].writer, ID(i))
	}
	for i := range wideSchemes {
		wideWriters = wideWriters.with(&wideSchemes[i].writer, ID(i))
	}
	for i := range schemes {
		s, id := &schemes[i], ID(i)
		intWriters = intWriters.with(&s.writeInts, id)
		floatWriters = floatWriters.with(&s.writeFloats, id)
		boolWriters = boolWriters.with(&s.writeBools, id)
		textWriters = textWriters.with(&s.writeStrings, id)
		if s.lengths {
			lengthWriters = lengthWriters.with(&s.writeInts, id)
		}
	}
}

// setGeneral sets the encodings of several kinds of values.
func setGeneral() {
	schemes[Null] = scheme{name: "null", single: true}
	schemes[Constant] = scheme{name: "constant", single: true, lengths: true,
		writeInts: writer[intBlock]{rank: 1, least: leastConstant, plan: planConstant, write: appendConstant},
		signed:    decodeConstant[int64], unsigned: decodeConstant[uint64],
		writeFloats: writer[floatBlock]{rank: 1, least: leastConstantFloats, plan: planConstantFloats,
			write: appendConstantFloats},
		floats: decodeConstantFloats,
		writeBools: writer[boolBlock]{rank: 1, least: leastConstantBools, plan: planConstantBools,
			write: appendConstantBools},
		bools:        decodeConstantBools,
		writeStrings: writer[textBlock]{tier: asOne, rank: 1, least: leastConstantString, plan: planConstantString},
		strings:      decodeConstantString}
	schemes[Plain] = scheme{name: "plain",
		writeFloats: writer[floatBlock]{rank: 2, least: leastPlainFloats, plan: planPlainFloats,
			write: appendPlainFloats},
		floats:       decodePlainFloats,
		writeBools:   writer[boolBlock]{rank: 2, least: leastPlainBools, plan: planPlainBools, write: appendPlainBools},
		bools:        decodePlainBools,
		writeStrings: writer[textBlock]{tier: asText, rank: 1, least: leastPlain, plan: planPlain},
		strings:      decodePlainStrings}
	schemes[Local] = scheme{name: "local",
		writeInts: writer[intBlock]{rank: 6, least: leastLocalInts, plan: planLocalInts, write: appendLocalInts},
		unsigned:  decodeLocalInts, column: decodeLocalColumn,
		writeStrings: writer[textBlock]{tier: byValues, rank: 1, least: leastStrings, plan: planLocalStrings},
		strings:      decodeLocalStrings}
}

// setNumbers sets the encodings of integers and floats.
func setNumbers() {
	schemes[Packed] = scheme{name: "packed", lengths: true,
		writeInts: writer[intBlock]{rank: 2, least: leastPacked, plan: planPacked, write: appendPacked},
		signed:    decodePacked[int64], unsigned: decodePacked[uint64], interval: keepInts, pick: pickPacked,
		hits: (*Decoder).hitFrame, some: pickFrame[uint64]}
	schemes[Delta] = scheme{name: "delta",
		writeInts: writer[intBlock]{rank: 3, least: leastDelta, plan: planDelta, write: appendDelta},
		signed:    decodeDelta[int64], unsigned: decodeDelta[uint64]}
	schemes[DeltaTwo] = scheme{name: "delta2",
		writeInts: writer[intBlock]{rank: 4, least: leastDeltaTwo, plan: planDeltaTwo, write: appendDeltaTwo},
		signed:    decodeDeltaTwo[int64], unsigned: decodeDeltaTwo[uint64]}
	schemes[Runs] = scheme{name: "runs",
		writeInts: writer[intBlock]{rank: 5, least: leastRuns, plan: planRunsOf, write: appendRunsOf},
		signed:    decodeRuns[int64], unsigned: decodeRuns[uint64]}
	schemes[Repeat] = scheme{name: "repeat",
		writeInts: writer[intBlock]{rank: 7, least: leastRepeat, plan: planRepeat, write: appendRepeat},
		signed:    decodeRepeat[int64], unsigned: decodeRepeat[uint64]}
	schemes[Grouped] = scheme{name: "grouped",
		writeInts: writer[intBlock]{rank: 8, least: leastGrouped, plan: planGrouped, write: appendGrouped},
		signed:    decodeGrouped[int64], unsigned: decodeGrouped[uint64]}
	schemes[Decimal] = scheme{name: "decimal",
		writeFloats: writer[floatBlock]{rank: 3, least: leastDecimal, plan: planDecimal},
		floats:      decodeDecimal, bound: keepDecimals, pick: pickDecimal}
	schemes[XOR] = scheme{name: "xor",
		writeFloats: writer[floatBlock]{rank: 4, least: leastXOR, plan: planXOR}, floats: decodeXOR}
}

// setStrings sets the encodings of strings.
func setStrings() {
	always := func([]byte) bool { return true }
	schemes[Shared] = scheme{name: "shared",
		writeStrings: writer[textBlock]{tier: byPostings, rank: 1, least: leastShared, plan: planShared},
		strings:      decodeShared}
	schemes[Hex] = scheme{name: "hex",
		writeStrings: writer[textBlock]{tier: asItLies, rank: 1, least: leastStrings, plan: planHex},
		strings:      decodeHex, equal: keepHex, oneOf: keepHexOf, pick: pickHex, whole: dashed}
	schemes[IPv4] = scheme{name: "ipv4",
		writeStrings: writer[textBlock]{tier: asItLies, rank: 2, least: leastStrings, plan: planIPv4},
		strings:      decodeIPv4, equal: keepIPv4, pick: pickIPv4, whole: always}
	schemes[Number] = scheme{name: "number",
		writeStrings: writer[textBlock]{tier: asItLies, rank: 3, least: leastStrings, plan: planNumbers},
		strings:      decodeNumbers, equal: keepNumber, pick: pickNumbers}
	schemes[TimeText] = scheme{name: "times",
		writeStrings: writer[textBlock]{tier: asItLies, rank: 4, least: leastStrings, plan: planTimes},
		strings:      decodeTimes, equal: keepTime, whole: always}
	schemes[Template] = scheme{name: "template",
		writeStrings: writer[textBlock]{tier: asText, rank: 2, least: leastTemplates, plan: planTemplates},
		strings:      decodeTemplates, text: keepTemplates}
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
