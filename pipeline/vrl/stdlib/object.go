package stdlib

import (
	"slices"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// objectFunctions work on objects and paths.
var objectFunctions = []vrl.Function{
	{Name: "get", Light: true, Params: []vrl.Param{arg("value", vrl.Object|vrl.Array), arg("path", vrl.Array)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.AnyValue), Run: get},
	{Name: "set", Params: []vrl.Param{arg("value", vrl.Object|vrl.Array), arg("path", vrl.Array),
		arg("data", vrl.AnyValue)}, Fails: vrl.Always, ReturnsFor: setType, Run: set},
	{Name: "remove", Params: []vrl.Param{arg("value", vrl.Object|vrl.Array), arg("path", vrl.Array),
		flag("compact", false)}, Fails: vrl.Always, ReturnsFor: sameContainer, Run: remove},
	{Name: "merge", Params: []vrl.Param{arg("to", vrl.Object), arg("from", vrl.Object), flag("deep", false)},
		ReturnsFor: mergedType, Run: merge},
	{Name: "keys", Params: []vrl.Param{arg("value", vrl.Object)}, Returns: vrl.ArrayOf(vrl.Of(vrl.String)), Run: keys},
	{Name: "values", Params: []vrl.Param{arg("value", vrl.Object)}, ReturnsFor: func(c *vrl.Call) vrl.Type {
		return vrl.ArrayOf(c.Type("value").Only(vrl.Object).Members())
	}, Run: values},
	{Name: "flatten", Params: []vrl.Param{arg("value", vrl.Object|vrl.Array), text("separator", "."),
		constant(opt("except", vrl.Array))},
		ReturnsFor: sameContainer, Run: flatten},
	{Name: "unflatten", Params: []vrl.Param{arg("value", vrl.Object), text("separator", "."), flag("recursive", true)},
		Returns: vrl.Of(vrl.Object), Run: unflatten},
	{Name: "object_from_array", Params: []vrl.Param{arg("values", vrl.Array), opt("keys", vrl.Array)},
		Returns: vrl.Of(vrl.Object), Run: objectFromArray},
	{Name: "to_entries", Params: []vrl.Param{arg("value", vrl.Object|vrl.Array)},
		ReturnsFor: func(c *vrl.Call) vrl.Type {
			return vrl.ArrayOf(vrl.ObjectOf(knownField("key", vrl.Of(vrl.String, vrl.Integer)),
				knownField("value", c.Type("value").Members().Or(vrl.Null))))
		}, Run: toEntries},
	{Name: "from_entries", Params: []vrl.Param{arg("value", vrl.Array)}, Returns: vrl.Of(vrl.Object), Run: fromEntries},
	{Name: "tag_types_externally", Params: []vrl.Param{arg("value", vrl.AnyValue)},
		Returns: vrl.Of(vrl.Object, vrl.Array, vrl.Null),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return tagTypes(f, args[0])
		}},
}

// mergedType is the type of what merge gives.
func mergedType(c *vrl.Call) vrl.Type {
	to, from := c.Type("to").Only(vrl.Object), c.Type("from").Only(vrl.Object)
	switch deep, known := c.Const("deep"); {
	case !known:
		return vrl.Union(to.Merge(from), to.MergedDeep(from))
	case deep.True():
		return to.MergedDeep(from)
	}
	return to.Merge(from)
}

// sameContainer is the type of a container that is changed: what is inside is not known.
func sameContainer(c *vrl.Call) vrl.Type {
	if t := vrl.Of(c.Type("value").Kinds() & (vrl.Object | vrl.Array)); !t.Never() {
		return t
	}
	return vrl.Of(vrl.Object, vrl.Array)
}

// setType is the type of a container in which a value was set: the first step decides its kind, whatever it was before.
func setType(c *vrl.Call) vrl.Type {
	switch first := c.Type("path").Only(vrl.Array).At(value.Path{value.Item(0)}); {
	case first.Is(vrl.String):
		return vrl.Of(vrl.Object)
	case first.Is(vrl.Integer):
		return vrl.Of(vrl.Array)
	}
	return vrl.Of(vrl.Object, vrl.Array)
}

// pathOf reads a path from an array of strings and integers.
func pathOf(f *vrl.Frame, list *value.Array) (value.Path, *vrl.Failure) {
	path := make(value.Path, 0, list.Len())
	for i := range list.Len() {
		switch s := list.At(i); s.Kind() {
		case value.StringKind:
			path = append(path, value.Field(s.Str()))
		case value.IntKind:
			n := s.Int()
			if int64(int32(n)) != n {
				_, fl := f.Fail("array index %s is out of range", s)
				return nil, fl
			}
			path = append(path, value.Item(int(n)))
		default:
			_, fl := f.Fail("path segment must be either string or integer, not %k", s)
			return nil, fl
		}
	}
	return path, nil
}

func get(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	path, fl := pathOf(f, args[1].Array())
	if fl != nil {
		return value.Null, fl
	}
	v, _ := value.Get(args[0], path)
	return v, nil
}

func set(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	path, fl := pathOf(f, args[1].Array())
	if fl != nil {
		return value.Null, fl
	}
	root := args[0]
	if err := value.Set(f.Arena, &root, path, args[2].Share()); err != nil {
		return f.FailErr(err)
	}
	if root.Kind() != value.ObjectKind && root.Kind() != value.ArrayKind { // an empty path
		return f.Fail("expected array or object, got %k", root)
	}
	return root, nil
}

func remove(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	path, fl := pathOf(f, args[1].Array())
	if fl != nil {
		return value.Null, fl
	}
	root := args[0]
	value.Delete(f.Arena, &root, path, args[2].True())
	return root, nil
}

func merge(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if !args[2].True() {
		return value.Merge(f.Arena, args[0].Object(), args[1].Object()).Of(), nil
	}
	return mergeObjects(f.Arena, args[0].Object(), args[1].Object(), true).Of(), nil
}

// mergeObjects makes the union of two objects. Of fields in both the right one stays; with deep, two objects are
// merged.
func mergeObjects(a *value.Arena, to, from *value.Object, deep bool) *value.Object {
	o := a.Object(to.Len() + from.Len())
	i, j := 0, 0
	for i < to.Len() && j < from.Len() {
		left, right := to.Key(i), from.Key(j)
		switch {
		case left < right:
			o.Append(a, left, to.At(i).Share())
			i++
		case left > right:
			o.Append(a, right, from.At(j).Share())
			j++
		default:
			v := from.At(j)
			if old := to.At(i); deep && v.Kind() == value.ObjectKind && old.Kind() == value.ObjectKind {
				v = mergeObjects(a, old.Object(), v.Object(), true).Of()
			}
			o.Append(a, right, v.Share())
			i, j = i+1, j+1
		}
	}
	for ; i < to.Len(); i++ {
		o.Append(a, to.Key(i), to.At(i).Share())
	}
	for ; j < from.Len(); j++ {
		o.Append(a, from.Key(j), from.At(j).Share())
	}
	return o
}

func keys(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	o := args[0].Object()
	list := f.Arena.Array(o.Len())
	for i := range o.Len() {
		list.Push(f.Arena, value.String(o.Key(i)))
	}
	return list.Of(), nil
}

func values(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	o := args[0].Object()
	list := f.Arena.Array(o.Len())
	for i := range o.Len() {
		list.Push(f.Arena, o.At(i).Share())
	}
	return list.Of(), nil
}

func flatten(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if args[0].Kind() == value.ArrayKind {
		list := f.Arena.Array(args[0].Array().Len())
		if fl := flattenArray(f, list, args[0].Array()); fl != nil {
			return value.Null, fl
		}
		return list.Of(), nil
	}
	t := flattening{frame: f, to: f.Arena.Object(2 * args[0].Object().Len()), separator: args[1].Str()}
	if !args[2].IsNull() {
		for i := range args[2].Array().Len() {
			if k := args[2].Array().At(i); k.Kind() == value.StringKind {
				t.except = append(t.except, k.Str())
			}
		}
	}
	if fl := t.object("", args[0].Object()); fl != nil {
		return value.Null, fl
	}
	t.to.Sort()
	return t.to.Of(), nil
}

func flattenArray(f *vrl.Frame, to *value.Array, from *value.Array) *vrl.Failure {
	if fl := f.Spend(from.Len()); fl != nil {
		return fl
	}
	for i := range from.Len() {
		v := from.At(i)
		if v.Kind() != value.ArrayKind {
			to.Push(f.Arena, v.Share())
		} else if fl := flattenArray(f, to, v.Array()); fl != nil {
			return fl
		}
	}
	return nil
}

// flattening is an object on its way into one level.
type flattening struct {
	frame     *vrl.Frame
	to        *value.Object
	separator string
	except    []string // keys that are left whole
	bytes     int      // of all joined keys: deep objects with long keys make much of little
}

func (t *flattening) object(prefix string, from *value.Object) *vrl.Failure {
	if fl := t.frame.Spend(from.Len()); fl != nil {
		return fl
	}
	for i := range from.Len() {
		m := from.Member(i)
		key := m.Key
		if prefix != "" {
			key = t.frame.Arena.Concat(prefix, t.separator, m.Key).Str()
			if t.bytes += len(key); t.bytes > vrl.MaxStringBytes {
				return t.frame.Room(t.bytes)
			}
		}
		whole := m.Value.Kind() != value.ObjectKind || slices.Contains(t.except, m.Key) ||
			slices.Contains(t.except, key)
		if whole {
			t.to.Append(t.frame.Arena, key, m.Value.Share())
			continue
		}
		if fl := t.object(key, m.Value.Object()); fl != nil {
			return fl
		}
	}
	return nil
}

// maxUnflatten bounds how deep keys are taken apart.
const maxUnflatten = 128

func unflatten(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	return unflattenObject(f, args[0].Object(), args[1].Str(), args[2].True())
}

func unflattenObject(f *vrl.Frame, from *value.Object, separator string, recursive bool) (value.Value, *vrl.Failure) {
	if fl := f.Spend(from.Len()); fl != nil {
		return value.Null, fl
	}
	root := f.Arena.Object(from.Len()).Of()
	// Keys without a separator come first, so that an object replaces a scalar of the same name, not vice versa.
	for _, nested := range []bool{false, true} {
		for i := range from.Len() {
			m := from.Member(i)
			if (separator != "" && strings.Contains(m.Key, separator)) != nested {
				continue
			}
			v := m.Value
			if recursive && v.Kind() == value.ObjectKind {
				var fl *vrl.Failure
				if v, fl = unflattenObject(f, v.Object(), separator, true); fl != nil {
					return value.Null, fl
				}
			}
			if fl := unflattened(f, &root, m.Key, separator, v.Share()); fl != nil {
				return value.Null, fl
			}
		}
	}
	value.Recount(root)
	return root, nil
}

// unflattened puts a value at the path that a joined key says. An object stays where a scalar comes later; two objects
// become one.
func unflattened(f *vrl.Frame, root *value.Value, key, separator string, v value.Value) *vrl.Failure {
	at := root
	for depth := 0; ; depth++ {
		name, rest, more := key, "", false
		if separator != "" && depth < maxUnflatten {
			name, rest, more = strings.Cut(key, separator)
		}
		at, _ = value.FieldSlot(f.Arena, at, name, -1)
		if !more {
			break
		}
		key = rest
	}
	if at.Kind() == value.ObjectKind && at.Object().Len() > 0 {
		if v.Kind() == value.ObjectKind {
			*at = mergeObjects(f.Arena, at.Object(), v.Object(), true).Of()
		}
		return nil
	}
	*at = v
	return f.Spend(1)
}

func objectFromArray(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := args[0].Array()
	o := f.Arena.Object(list.Len())
	n := list.Len()
	if !args[1].IsNull() {
		n = min(n, args[1].Array().Len())
	}
	for i := range n {
		var key value.Value
		v := list.At(i)
		if !args[1].IsNull() {
			key = args[1].Array().At(i)
		} else {
			if v.Kind() != value.ArrayKind {
				return f.Fail("expected array, got %k", v)
			}
			pair := v.Array()
			if pair.Len() < 1 {
				return f.Fail("array value too short")
			}
			key, v = pair.At(0), value.Null
			if pair.Len() > 1 {
				v = pair.At(1)
			}
		}
		if key.IsNull() {
			continue
		}
		if key.Kind() != value.StringKind {
			return f.Fail("expected string, got %k", key)
		}
		o.Append(f.Arena, key.Str(), v.Share())
	}
	o.Sort()
	return o.Of(), nil
}

func toEntries(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	n := length(args[0])
	if fl := f.Spend(n); fl != nil {
		return value.Null, fl
	}
	list := f.Arena.Array(n)
	for i := range n {
		entry := f.Arena.Object(2)
		if args[0].Kind() == value.ObjectKind {
			m := args[0].Object().Member(i)
			entry.Append(f.Arena, "key", value.String(m.Key))
			entry.Append(f.Arena, "value", m.Value.Share())
		} else {
			entry.Append(f.Arena, "key", value.Int(int64(i)))
			entry.Append(f.Arena, "value", args[0].Array().At(i).Share())
		}
		list.Push(f.Arena, entry.Of())
	}
	return list.Of(), nil
}

func fromEntries(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := args[0].Array()
	o := f.Arena.Object(list.Len())
	for i := range list.Len() {
		entry := list.At(i)
		if entry.Kind() != value.ObjectKind {
			return f.Fail("expected object, got %k", entry)
		}
		key, ok := firstOf(entry.Object(), "key", "k", "Key", "K", "name", "Name")
		if !ok {
			return f.Fail("the entry has no key")
		}
		v, _ := firstOf(entry.Object(), "value", "v", "Value", "V")
		switch key.Kind() {
		case value.StringKind:
		case value.IntKind, value.FloatKind, value.BoolKind, value.NullKind:
			name := f.Arena.Begin()
			if key.IsNull() {
				name = append(name, "null"...)
			}
			key = f.Arena.End(appendScalar(name, key))
		default:
			return f.Fail("expected string, got %k", key)
		}
		o.Append(f.Arena, key.Str(), v.Share())
	}
	o.Sort()
	return o.Of(), nil
}

// firstOf is the first of several fields that an object has and that is not null or false.
func firstOf(o *value.Object, names ...string) (v value.Value, ok bool) {
	for _, name := range names {
		if field, has := o.Get(name); has {
			if v, ok = field, true; !field.IsNull() && (field.Kind() != value.BoolKind || field.Bool()) {
				return v, true
			}
		}
	}
	return v, ok
}

// tagTypes wraps every scalar in an object with the name of its type.
func tagTypes(f *vrl.Frame, v value.Value) (value.Value, *vrl.Failure) {
	if fl := f.Spend(1); fl != nil {
		return value.Null, fl
	}
	a := f.Arena
	switch v.Kind() {
	case value.NullKind:
		return v, nil
	case value.ArrayKind:
		list := a.Array(v.Array().Len())
		for i := range v.Array().Len() {
			item, fl := tagTypes(f, v.Array().At(i))
			if fl != nil {
				return value.Null, fl
			}
			list.Push(a, item)
		}
		return list.Of(), nil
	case value.ObjectKind:
		o := a.Object(v.Object().Len())
		for i := range v.Object().Len() {
			m := v.Object().Member(i)
			item, fl := tagTypes(f, m.Value)
			if fl != nil {
				return value.Null, fl
			}
			o.Append(a, m.Key, item)
		}
		return o.Of(), nil
	}
	o := a.Object(1)
	o.Append(a, v.Kind().String(), v)
	return o.Of(), nil
}
