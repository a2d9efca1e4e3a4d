package flatten

import (
	"bytes"
	"encoding/json"

	"github.com/bytedance/sonic/ast"
	"github.com/bytedance/sonic/utf8"

	"varve/engine/status"
)

// Visitor gets the values of a JSON text in the order they stand there. Strings may point into the text. A method's
// error ends the walk and is its result.
type Visitor interface {
	Null() error
	Bool(v bool) error
	Int(v int64) error
	Float(v float64) error
	String(v string) error
	BeginObject() error
	Key(v string) error
	EndObject() error
	BeginArray() error
	EndArray() error
}

// Walk reads one JSON value, strictly and within the limits of this package, and shows it to v. Nothing is shown of a
// text that is not valid; its error is InvalidArguments. Numbers come as Decode reads them.
func Walk(text []byte, v Visitor) error {
	if !utf8.Validate(text) {
		return status.New(status.InvalidArguments, "invalid UTF-8")
	}
	d := Decoder{newlines: true, end: len(text)}
	d.buf = append(append(make([]byte, 0, len(text)+padBytes), text...), make([]byte, padBytes)...)
	start := d.blank(0)
	end, f := d.skip(start, 1)
	if f == fine {
		if end = d.blank(end); end != len(text) {
			f = badSyntax
		}
	}
	if f != fine {
		return status.New(status.InvalidArguments, "%s at byte %d", f, end)
	}
	return walk(d.buf[start:end], v)
}

// walk is Walk for text known to be valid.
func walk(text []byte, v Visitor) error {
	return ast.Preorder(view(mendSurrogates(text)), adapter{v}, nil)
}

// mendSurrogates replaces halves of surrogate pairs, which the visitor refuses, by \ufffd, in a copy.
func mendSurrogates(text []byte) []byte {
	owned := false
	for i := bytes.Index(text, []byte(`\u`)); i >= 0; {
		n, size := 2, 2
		if !escaped(text, i) {
			b := append(text[i+2:min(i+14, len(text)):min(i+14, len(text))], make([]byte, padBytes)...)
			if r, end, ok := unicode(b, 0); ok && r == 0xFFFD {
				if !owned {
					text, owned = bytes.Clone(text), true
				}
				copy(text[i:], `\ufffd`)
				size = 6
			} else if ok {
				size = 2 + end
			}
			n = size
		}
		next := bytes.Index(text[i+n:], []byte(`\u`))
		if next < 0 {
			break
		}
		i += n + next
	}
	return text
}

// escaped tells whether the backslash at i is itself escaped.
func escaped(text []byte, i int) bool {
	n := 0
	for n < i && text[i-1-n] == '\\' {
		n++
	}
	return n&1 != 0
}

// adapter shows a Visitor as sonic's.
type adapter struct{ v Visitor }

func (a adapter) OnNull() error                            { return a.v.Null() }
func (a adapter) OnBool(v bool) error                      { return a.v.Bool(v) }
func (a adapter) OnString(v string) error                  { return a.v.String(v) }
func (a adapter) OnInt64(v int64, _ json.Number) error     { return a.v.Int(v) }
func (a adapter) OnFloat64(v float64, _ json.Number) error { return a.v.Float(v) }
func (a adapter) OnObjectBegin(int) error                  { return a.v.BeginObject() }
func (a adapter) OnObjectKey(key string) error             { return a.v.Key(key) }
func (a adapter) OnObjectEnd() error                       { return a.v.EndObject() }
func (a adapter) OnArrayBegin(int) error                   { return a.v.BeginArray() }
func (a adapter) OnArrayEnd() error                        { return a.v.EndArray() }
