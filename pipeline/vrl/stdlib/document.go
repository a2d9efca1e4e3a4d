package stdlib

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
	"go.yaml.in/yaml/v3"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// documentFunctions read other notations of JSON-like values.
var documentFunctions = []vrl.Function{
	{Name: "parse_yaml", Params: stringParam, Fails: vrl.Always, Returns: vrl.JSON(), Run: parseYAML},
	{Name: "parse_cbor", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.AnyValue &^ vrl.Regex),
		Run: parseCBOR},
	{Name: "parse_ruby_hash", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Object), Run: parseRubyHash},
}

// maxNodes bounds the values of one document: YAML's aliases make much of little.
const maxNodes = 1_000_000

var errTooLarge = errors.New("the document is too large or nests too deep")

func parseYAML(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(validText(args[0].Str())), &document); err != nil {
		return f.Fail("unable to parse yaml: %s", value.String(err.Error()))
	}
	if document.Kind == 0 {
		return value.Null, nil
	}
	r := yamlReader{arena: f.Arena, left: maxNodes}
	v, err := r.value(document.Content[0], 0)
	if err != nil {
		return f.Fail("unable to parse yaml: %s", value.String(err.Error()))
	}
	return v, nil
}

// yamlReader makes values of the nodes of a document.
type yamlReader struct {
	arena *value.Arena
	left  int // nodes that may still come
}

func (r *yamlReader) value(n *yaml.Node, depth int) (value.Value, error) {
	if r.left--; r.left < 0 || depth > value.MaxDepth {
		return value.Null, errTooLarge
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := r.arena.Array(len(n.Content))
		for _, item := range n.Content {
			v, err := r.value(item, depth+1)
			if err != nil {
				return value.Null, err
			}
			list.Push(r.arena, v)
		}
		return list.Of(), nil
	case yaml.MappingNode:
		o := r.arena.Object(len(n.Content) / 2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := r.member(o, n.Content[i], n.Content[i+1], depth); err != nil {
				return value.Null, err
			}
		}
		return o.Of(), nil
	}
	return yamlScalar(n)
}

// member adds a field; << merges another mapping, whose fields do not replace those that are there.
func (r *yamlReader) member(o *value.Object, key, content *yaml.Node, depth int) error {
	v, err := r.value(content, depth+1)
	if err != nil {
		return err
	}
	if key.Tag == "!!merge" && v.Kind() == value.ObjectKind {
		for i := range v.Object().Len() {
			if m := v.Object().Member(i); o.Index(m.Key) < 0 {
				o.Set(r.arena, m.Key, m.Value.Share())
			}
		}
		return nil
	}
	if key.Kind != yaml.ScalarNode {
		return errors.New("a key is not a scalar")
	}
	o.Set(r.arena, key.Value, v)
	return nil
}

func yamlScalar(n *yaml.Node) (value.Value, error) {
	switch n.Tag {
	case "!!null":
		return value.Null, nil
	case "!!bool":
		return value.Bool(strings.EqualFold(n.Value, "true")), nil
	case "!!int":
		var i int64
		if err := n.Decode(&i); err == nil {
			return value.Int(i), nil
		}
		var x float64
		err := n.Decode(&x)
		return value.Float(x), err
	case "!!float":
		var x float64
		if err := n.Decode(&x); err != nil || math.IsNaN(x) {
			return value.String(n.Value), nil
		}
		return value.Float(x), nil
	}
	return value.String(n.Value), nil
}

// cborMode reads CBOR with bounds; numbers keep their types.
var cborMode = func() cbor.DecMode {
	mode, err := cbor.DecOptions{MaxNestedLevels: value.MaxDepth, MaxArrayElements: maxNodes, MaxMapPairs: maxNodes,
		IntDec: cbor.IntDecConvertSignedOrBigInt,
		UTF8:   cbor.UTF8DecodeInvalid, TimeTag: cbor.DecTagOptional}.DecMode()
	if err != nil {
		panic("vrl: CBOR options: " + err.Error())
	}
	return mode
}()

func parseCBOR(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	var decoded any
	if err := cborMode.Unmarshal([]byte(args[0].Str()), &decoded); err != nil {
		return f.Fail("unable to parse cbor: %s", value.String(err.Error()))
	}
	v, err := fromGo(f.Arena, decoded)
	if err != nil {
		return f.Fail("unable to parse cbor: %s", value.String(err.Error()))
	}
	return v, nil
}

// fromGo makes a value of what a decoder made.
func fromGo(a *value.Arena, x any) (value.Value, error) {
	switch x := x.(type) {
	case nil:
		return value.Null, nil
	case bool:
		return value.Bool(x), nil
	case int64:
		return value.Int(x), nil
	case uint64:
		if x <= math.MaxInt64 {
			return value.Int(int64(x)), nil
		}
		return value.Float(float64(x)), nil
	case big.Int:
		y, _ := new(big.Float).SetInt(&x).Float64()
		return value.Float(y), nil
	case float32:
		return fromGo(a, float64(x))
	case float64:
		if math.IsNaN(x) {
			return value.Null, nil
		}
		return value.Float(x), nil
	case string:
		return value.String(x), nil
	case []byte:
		return value.Bytes(x), nil
	case cbor.ByteString:
		return value.String(string(x)), nil
	case cbor.Tag:
		return fromGo(a, x.Content)
	case time.Time:
		if v, ok := value.Time(x); ok {
			return v, nil
		}
		return value.Null, errors.New("a time is out of range")
	case []any:
		list := a.Array(len(x))
		for _, item := range x {
			v, err := fromGo(a, item)
			if err != nil {
				return value.Null, err
			}
			list.Push(a, v)
		}
		return list.Of(), nil
	case map[any]any:
		o := a.Object(len(x))
		for key, item := range x {
			v, err := fromGo(a, item)
			if err != nil {
				return value.Null, err
			}
			name, ok := key.(string)
			if !ok {
				name = fmt.Sprint(key)
			}
			o.Append(a, name, v)
		}
		o.Sort()
		return o.Of(), nil
	}
	return value.Null, fmt.Errorf("an event cannot hold a value of type %T", x)
}

// parseRubyHash reads what Ruby prints of a hash: { "a" => 1, :b => [nil, true], c: 'x' }.
func parseRubyHash(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	r := rubyReader{frame: f, s: validText(args[0].Str())}
	r.blanks()
	v, err := r.value(1)
	if err == nil {
		if r.blanks(); r.at < len(r.s) {
			err = fmt.Errorf("unexpected text at byte %d", r.at)
		} else if v.Kind() != value.ObjectKind {
			err = errors.New("the text is not a hash")
		}
	}
	if err != nil {
		return f.Fail("could not parse ruby hash: %s", value.String(err.Error()))
	}
	return v, nil
}

// rubyReader goes through the text of a hash.
type rubyReader struct {
	frame *vrl.Frame
	s     string
	at    int
}

func (r *rubyReader) blanks() {
	for r.at < len(r.s) && isBlankByte(r.s[r.at]) {
		r.at++
	}
}

// take takes a text if it stands here, after blanks.
func (r *rubyReader) take(text string) bool {
	r.blanks()
	if strings.HasPrefix(r.s[r.at:], text) {
		r.at += len(text)
		return true
	}
	return false
}

func (r *rubyReader) unexpected() error {
	if r.at >= len(r.s) {
		return errors.New("the text ends too early")
	}
	return fmt.Errorf("unexpected text at byte %d", r.at)
}

func (r *rubyReader) value(depth int) (value.Value, error) {
	if depth > value.MaxDepth {
		return value.Null, errTooLarge
	}
	if fl := r.frame.Spend(1); fl != nil {
		return value.Null, errTooLarge
	}
	r.blanks()
	if r.at >= len(r.s) {
		return value.Null, r.unexpected()
	}
	switch r.s[r.at] {
	case '{':
		return r.hash(depth)
	case '[':
		return r.array(depth)
	case '"', '\'':
		text, ok := r.quoted()
		if !ok {
			return value.Null, errors.New("a string does not end")
		}
		return value.String(text), nil
	case ':':
		r.at++
		if r.at < len(r.s) && r.s[r.at] == '"' {
			return r.value(depth)
		}
		return value.String(r.word()), nil
	}
	word := r.word()
	switch word {
	case "":
		return value.Null, r.unexpected()
	case "nil":
		return value.Null, nil
	case "true", "false":
		return value.Bool(word == "true"), nil
	}
	if n, why := decimal(strings.ReplaceAll(word, "_", "")); why == "" {
		return value.Int(n), nil
	}
	if x, ok := floatOf(word); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return value.Float(x), nil
	}
	r.at -= len(word)
	return value.Null, r.unexpected()
}

// word takes letters, digits, underscores, signs and points.
func (r *rubyReader) word() string {
	start := r.at
	for r.at < len(r.s) && (isNameByte(r.s[r.at]) || r.s[r.at] >= 0x80 || strings.IndexByte("+-.", r.s[r.at]) >= 0) {
		r.at++
	}
	return r.s[start:r.at]
}

// quoted takes a string in single or double quotes.
func (r *rubyReader) quoted() (text string, ok bool) {
	quote := r.s[r.at]
	for i := r.at + 1; i < len(r.s); i++ {
		switch r.s[i] {
		case '\\':
			i++
		case quote:
			text = r.s[r.at+1 : i]
			r.at = i + 1
			if strings.IndexByte(text, '\\') >= 0 {
				text = unescaped(r.frame.Arena, text, quote)
			}
			return text, true
		}
	}
	return "", false
}

func (r *rubyReader) array(depth int) (value.Value, error) {
	list := r.frame.Arena.Array(4)
	for r.at++; ; {
		if r.take("]") {
			return list.Of(), nil
		}
		if list.Len() > 0 && !r.take(",") {
			return value.Null, r.unexpected()
		}
		if r.take("]") {
			return list.Of(), nil
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return value.Null, err
		}
		list.Push(r.frame.Arena, v)
	}
}

func (r *rubyReader) hash(depth int) (value.Value, error) {
	o := r.frame.Arena.Object(4)
	first := true
	for r.at++; ; first = false {
		if r.take("}") {
			return o.Of(), nil
		}
		if !first && !r.take(",") {
			return value.Null, r.unexpected()
		}
		if r.take("}") {
			return o.Of(), nil
		}
		key, err := r.key()
		if err != nil {
			return value.Null, err
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return value.Null, err
		}
		o.Set(r.frame.Arena, key, v)
	}
}

// key takes a key with its arrow or colon: "a" =>, :a =>, 1 =>, a: or "a":.
func (r *rubyReader) key() (string, error) {
	r.blanks()
	if r.at >= len(r.s) {
		return "", r.unexpected()
	}
	key := ""
	switch c := r.s[r.at]; {
	case c == ':' && strings.HasPrefix(r.s[r.at:], `:"`):
		r.at++
		fallthrough
	case c == '"' || c == '\'':
		text, ok := r.quoted()
		if !ok {
			return "", errors.New("a string does not end")
		}
		key = text
	case c == ':':
		r.at++
		key = r.word()
	default:
		key = r.word()
	}
	if key == "" && r.s[max(r.at-1, 0)] != '"' && r.s[max(r.at-1, 0)] != '\'' {
		return "", r.unexpected()
	}
	if !r.take("=>") && !r.take(":") {
		return "", r.unexpected()
	}
	return key, nil
}
