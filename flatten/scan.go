package flatten

import (
	"strconv"
	"unsafe"

	"varve/engine/jsontext"
)

// Text is padded: at its end lies a zero byte and padBytes of slack, so that no loop here looks for the end. A failed
// read returns the index of the byte that does not fit; at the text's end that is the zero byte, by which "cut short"
// and "wrong" are told apart.

// view is b as a string without a copy: valid until b changes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// fault says why text is not a value.
type fault uint8

const (
	fine       fault = iota
	odd              // well formed so far, but a case for the general reader
	notAnEntry       // well formed, but not an entry, where only entries are allowed
	badSyntax
	badNesting
	badRange
)

// String is the reason as error texts show it.
func (f fault) String() string {
	switch f {
	case badNesting:
		return "nesting is deeper than " + strconv.Itoa(maxNesting)
	case badRange:
		return "number out of range"
	}
	return "unexpected character"
}

// blank skips blanks between tokens; line ends are such only in a stream.
func (d *Decoder) blank(i int) int {
	for {
		switch d.buf[i] {
		case ' ', '\t', '\r':
		case '\n':
			if !d.newlines {
				return i
			}
		default:
			return i
		}
		i++
	}
}

// skip reads the value at i and gives the index after it. nesting is that of the value if it is an object or array.
func (d *Decoder) skip(i, nesting int) (end int, f fault) {
	b := d.buf
	switch c := b[i]; c {
	case '"':
		end, ok := jsontext.StringEnd(b, i+1)
		if !ok {
			return end, badSyntax
		}
		return end, fine
	case '{', '[':
		return d.skipNested(i, nesting)
	case 't', 'f', 'n':
		end, ok := jsontext.Word(b, i, literals[c>>3&3])
		if !ok {
			return end, badSyntax
		}
		return end, fine
	default:
		end, kind, _, _ := jsontext.ParseNumber(b, i)
		return end, numberFault[kind]
	}
}

// literals by two bits in which their first letters differ.
var literals = [4]string{'t' >> 3 & 3: "true", 'f' >> 3 & 3: "false", 'n' >> 3 & 3: "null"}

var numberFault = [...]fault{jsontext.NoNumber: badSyntax, jsontext.TooBig: badRange, jsontext.Int: fine,
	jsontext.Float: fine}

// skipNested reads the object or array at i.
func (d *Decoder) skipNested(i, nesting int) (end int, f fault) {
	if nesting > maxNesting {
		return i, badNesting
	}
	b := d.buf
	object := b[i] == '{'
	closing := b[i] + 2 // ] and } follow two after [ and {
	i = d.blank(i + 1)
	if b[i] == closing {
		return i + 1, fine
	}
	for {
		if object {
			if b[i] != '"' {
				return i, badSyntax
			}
			var ok bool
			if i, ok = jsontext.StringEnd(b, i+1); !ok {
				return i, badSyntax
			}
			if i = d.blank(i); b[i] != ':' {
				return i, badSyntax
			}
			i = d.blank(i + 1)
		}
		if i, f = d.skip(i, nesting+1); f != fine {
			return i, f
		}
		i = d.blank(i)
		switch b[i] {
		case ',':
			i = d.blank(i + 1)
		case closing:
			return i + 1, fine
		default:
			return i, badSyntax
		}
	}
}
