package otlp

import (
	"encoding/hex"
	"unicode/utf8"

	"varve/pipeline/value"
	"varve/server/protowire"
)

// values makes values of pipelines from the values of a message. Texts are not copied. err keeps the first error.
type values struct {
	arena *value.Arena
	err   error
}

func (w *values) fail(err error) value.Value {
	if w.err == nil {
		w.err = err
	}
	return value.Value{}
}

func (w *values) text(b []byte) value.Value {
	if !utf8.Valid(b) {
		return w.fail(errUTF8)
	}
	return value.Bytes(b)
}

// id is an id in hexadecimal digits.
func (w *values) id(b []byte) value.Value {
	return w.arena.End(hex.AppendEncode(w.arena.Begin(), b))
}

// body is the text of a body.
func (w *values) body(j *writer, v *wireValue) value.Value {
	switch {
	case v.kind == nothing:
		return value.Value{}
	case v.kind == textValue:
		return w.text(v.bytes)
	}
	out, err := j.body(nil, v)
	if err != nil {
		return w.fail(err)
	}
	return w.arena.Copy(string(out))
}

// object is a list of attributes as an object. If a key comes twice, the last value counts.
func (w *values) object(list []attribute, depth int) value.Value {
	if depth > maxDepth {
		return w.fail(errDeep)
	}
	o := w.arena.Object(len(list))
	for i := range list {
		o.Append(w.arena, value.View(list[i].key), w.value(&list[i].wireValue, depth+1))
		if !utf8.Valid(list[i].key) {
			return w.fail(errUTF8)
		}
	}
	o.Sort()
	return o.Of()
}

func (w *values) value(v *wireValue, depth int) value.Value {
	switch v.kind {
	case textValue:
		return w.text(v.bytes)
	case boolValue:
		return value.Bool(v.bits != 0)
	case intValue:
		return value.Int(int64(v.bits))
	case floatValue:
		return value.Float(v.float())
	case bytesValue:
		return w.id(v.bytes)
	case arrayValue:
		return w.array(v.bytes, depth)
	case objectValue:
		return w.keyValues(v.bytes, depth)
	}
	return value.Value{}
}

func (w *values) array(message []byte, depth int) value.Value {
	if depth > maxDepth {
		return w.fail(errDeep)
	}
	list := w.arena.Array(0)
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		v, err := readValue(f.Bytes)
		if err != nil {
			return w.fail(err)
		}
		list.Push(w.arena, w.value(&v, depth+1))
	}
	if f.Err() != nil {
		return w.fail(f.Err())
	}
	return list.Of()
}

func (w *values) keyValues(message []byte, depth int) value.Value {
	var list []attribute
	f := protowire.Of(message)
	for f.Next() {
		if f.Is(1, protowire.Bytes) {
			var err error
			if list, err = appendAttribute(list, &f); err != nil {
				return w.fail(err)
			}
		}
	}
	if f.Err() != nil {
		return w.fail(f.Err())
	}
	return w.object(list, depth)
}
