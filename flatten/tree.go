package flatten

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bytedance/sonic/ast"

	"varve/engine/jsontext"
)

// valueKind is the kind of a value of a tree.
type valueKind uint8

const (
	nullValue valueKind = iota
	boolValue
	intValue
	floatValue
	stringValue
	arrayValue
	objectValue
)

// value is a JSON value as a tree. Strings may point into the text it came from.
type value struct {
	kind  valueKind
	int   int64 // also 1 for true
	float float64
	text  string
	elems []value  // of an array, or the values of an object
	keys  []string // of an object, beside elems
}

// parseTree builds the tree of a valid text: keys of objects are in byte order, of a repeated key the last is there.
// grow is told how many values the tree has, from time to time; its error ends the work.
func parseTree(text []byte, grow func(values int) error) (value, error) {
	t := treeBuilder{grow: grow}
	if err := ast.Preorder(view(mendSurrogates(text)), &t, nil); err != nil {
		return value{}, err
	}
	return t.open[0], nil
}

// treeBuilder is the visitor of sonic's reader that builds a tree. open[0] is the finished value at the end; before,
// the values that are open, outermost first.
type treeBuilder struct {
	open   []value
	values int
	told   int // values that grow was told of
	grow   func(values int) error
}

func (t *treeBuilder) OnNull() error { return t.add(value{}) }
func (t *treeBuilder) OnInt64(v int64, _ json.Number) error {
	return t.add(value{kind: intValue, int: v})
}
func (t *treeBuilder) OnFloat64(v float64, _ json.Number) error {
	return t.add(value{kind: floatValue, float: v})
}
func (t *treeBuilder) OnString(v string) error { return t.add(value{kind: stringValue, text: v}) }
func (t *treeBuilder) OnObjectBegin(int) error { return t.begin(objectValue) }
func (t *treeBuilder) OnArrayBegin(int) error  { return t.begin(arrayValue) }
func (t *treeBuilder) OnArrayEnd() error       { return t.end() }

func (t *treeBuilder) OnBool(v bool) error {
	n := int64(0)
	if v {
		n = 1
	}
	return t.add(value{kind: boolValue, int: n})
}

func (t *treeBuilder) OnObjectKey(v string) error {
	o := &t.open[len(t.open)-1]
	o.keys = append(o.keys, v)
	return nil
}

func (t *treeBuilder) OnObjectEnd() error {
	t.open[len(t.open)-1].sortKeys()
	return t.end()
}

func (t *treeBuilder) begin(k valueKind) error {
	t.open = append(t.open, value{kind: k})
	return nil
}

func (t *treeBuilder) end() error {
	v := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	return t.add(v)
}

func (t *treeBuilder) add(v value) error {
	if t.values++; t.values > t.told+t.told/4+freeBytes/treeBytes {
		t.told = t.values
		if err := t.grow(t.values); err != nil {
			return err
		}
	}
	if len(t.open) == 0 {
		t.open = append(t.open, v)
		return nil
	}
	o := &t.open[len(t.open)-1]
	o.elems = append(o.elems, v)
	return nil
}

// sortKeys puts an object in order and drops all but the last of a repeated key.
func (v *value) sortKeys() {
	rising := true
	for i := 1; i < len(v.keys); i++ {
		rising = rising && v.keys[i-1] < v.keys[i]
	}
	if rising {
		return
	}
	order := make([]int, len(v.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(v.keys[i], v.keys[j]) })
	keys, elems := make([]string, 0, len(order)), make([]value, 0, len(order))
	for k, i := range order {
		if k+1 < len(order) && v.keys[order[k+1]] == v.keys[i] {
			continue
		}
		keys, elems = append(keys, v.keys[i]), append(elems, v.elems[i])
	}
	v.keys, v.elems = keys, elems
}

// appendText appends the value as compact JSON text.
func (v *value) appendText(dst []byte) []byte {
	switch v.kind {
	case nullValue:
		return append(dst, "null"...)
	case boolValue:
		return strconv.AppendBool(dst, v.int != 0)
	case intValue:
		return strconv.AppendInt(dst, v.int, 10)
	case floatValue:
		return jsontext.AppendFloat(dst, v.float)
	case stringValue:
		return jsontext.AppendString(dst, v.text)
	}
	open, closing := byte('['), byte(']')
	if v.kind == objectValue {
		open, closing = '{', '}'
	}
	dst = append(dst, open)
	for i := range v.elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == objectValue {
			dst = append(jsontext.AppendString(dst, v.keys[i]), ':')
		}
		dst = v.elems[i].appendText(dst)
	}
	return append(dst, closing)
}

// field is a column's value in an entry.
type field struct {
	name  string
	value value
}

// fields flattens an object: in byte order of the names, each name once. Where two ways lead to one name, the one that
// comes later in key order wins.
func (v *value) fields(maxDepth int) []field {
	fs := v.appendFields(nil, "", 1, maxDepth)
	slices.SortStableFunc(fs, func(x, y field) int { return strings.Compare(x.name, y.name) })
	out := fs[:0]
	for i, f := range fs {
		if i+1 == len(fs) || fs[i+1].name != f.name {
			out = append(out, f)
		}
	}
	return out
}

func (v *value) appendFields(fs []field, prefix string, depth, maxDepth int) []field {
	for i, key := range v.keys {
		e := &v.elems[i]
		switch {
		case e.kind == objectValue && depth < maxDepth:
			fs = e.appendFields(fs, prefix+key+".", depth+1, maxDepth)
		case e.kind == objectValue || e.kind == arrayValue:
			fs = append(fs, field{prefix + key, value{kind: stringValue, text: string(e.appendText(nil))}})
		default:
			fs = append(fs, field{prefix + key, *e})
		}
	}
	return fs
}
