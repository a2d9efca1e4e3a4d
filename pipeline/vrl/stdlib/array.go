package stdlib

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// arrayFunctions work on arrays.
var arrayFunctions = []vrl.Function{
	{Name: "push", Light: true, Params: []vrl.Param{arg("value", vrl.Array), arg("item", vrl.AnyValue)},
		ReturnsFor: func(c *vrl.Call) vrl.Type {
			return c.Type("value").Pushed(c.Type("item"))
		}, Run: push},
	{Name: "append", Light: true, Params: []vrl.Param{arg("value", vrl.Array), arg("items", vrl.Array)},
		ReturnsFor: func(c *vrl.Call) vrl.Type {
			return c.Type("value").Appended(c.Type("items"))
		}, Run: appendItems},
	{Name: "pop", Light: true, Params: []vrl.Param{arg("value", vrl.Array)}, ReturnsFor: sameItems, Run: pop},
	{Name: "includes", Params: []vrl.Param{arg("value", vrl.Array), arg("item", vrl.AnyValue)},
		Returns: vrl.Of(vrl.Boolean), Run: includes},
	{Name: "unique", Params: []vrl.Param{arg("value", vrl.Array)}, ReturnsFor: sameItems, Run: unique},
	{Name: "tally", Params: []vrl.Param{arg("value", vrl.Array)}, Fails: vrl.Always,
		Returns: vrl.ObjectOfAny(vrl.Of(vrl.Integer)), Run: tally},
	{Name: "tally_value", Params: []vrl.Param{arg("array", vrl.Array), arg("value", vrl.AnyValue)},
		Returns: vrl.Of(vrl.Integer), Run: tallyValue},
	{Name: "zip", Params: []vrl.Param{arg("array_0", vrl.Array), opt("array_1", vrl.Array)},
		Returns: vrl.ArrayOf(vrl.Of(vrl.Array)), Run: zip},
}

// sameItems is the type of an array with some of the argument's items.
func sameItems(c *vrl.Call) vrl.Type { return vrl.ArrayOf(c.Type("value").Only(vrl.Array).Members()) }

func push(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := f.Own(args[0].Array())
	list.Push(f.Arena, args[1].Share())
	return list.Of(), f.Spend(1)
}

func appendItems(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list, more := f.Own(args[0].Array()), args[1].Array()
	for i := range more.Len() {
		list.Push(f.Arena, more.At(i).Share())
	}
	return list.Of(), f.Spend(more.Len())
}

func pop(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := f.Own(args[0].Array())
	if list.Len() > 0 {
		list.Remove(list.Len() - 1)
	}
	return list.Of(), f.Spend(1)
}

func includes(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := args[0].Array()
	for i := range list.Len() {
		if value.Equal(list.At(i), args[1]) {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

// linearUnique is up to how many items each is compared with all before it.
const linearUnique = 16

func unique(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := args[0].Array()
	if fl := f.Spend(list.Len()); fl != nil {
		return value.Null, fl
	}
	to := f.Arena.Array(list.Len())
	if list.Len() <= linearUnique {
		for i := range list.Len() {
			known := false
			for k := 0; k < to.Len() && !known; k++ {
				known = value.Equal(to.At(k), list.At(i))
			}
			if !known {
				to.Push(f.Arena, list.At(i).Share())
			}
		}
		return to.Of(), nil
	}
	// Equal values have equal JSON texts; the kind in front distinguishes values with the same text.
	seen := make(map[string]struct{}, list.Len())
	var text []byte
	for i := range list.Len() {
		v := list.At(i)
		text = appendIdentity(text[:0], v)
		if _, known := seen[string(text)]; known {
			continue
		}
		seen[string(text)] = struct{}{}
		to.Push(f.Arena, v.Share())
	}
	return to.Of(), nil
}

// appendIdentity appends a text that two values share only if they are equal: the kind, then strings with their length.
func appendIdentity(dst []byte, v value.Value) []byte {
	dst = append(dst, byte('0'+v.Kind()))
	switch v.Kind() {
	case value.StringKind:
		dst = append(appendScalar(dst, value.Int(int64(len(v.Str())))), ':')
		return append(dst, v.Str()...)
	case value.ArrayKind:
		dst = append(appendScalar(dst, value.Int(int64(v.Array().Len()))), ':')
		for i := range v.Array().Len() {
			dst = appendIdentity(dst, v.Array().At(i))
		}
		return dst
	case value.ObjectKind:
		dst = append(appendScalar(dst, value.Int(int64(v.Object().Len()))), ':')
		for i := range v.Object().Len() {
			m := v.Object().Member(i)
			dst = appendIdentity(appendIdentity(dst, value.String(m.Key)), m.Value)
		}
		return dst
	case value.TimestampKind:
		return append(appendScalar(dst, value.Int(v.Nanos())), ';')
	case value.FloatKind:
		if v.Float() == 0 { // 0.0 and -0.0 are equal
			return append(dst, "0;"...)
		}
	}
	return append(appendScalar(dst, v), ';')
}

func tally(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	list := args[0].Array()
	counts := make(map[string]int64, min(list.Len(), 64))
	for i := range list.Len() {
		v := list.At(i)
		if v.Kind() != value.StringKind {
			return f.Fail("all values must be strings, found: %s", v)
		}
		counts[v.Str()]++
	}
	o := f.Arena.Object(len(counts))
	for key, n := range counts {
		o.Append(f.Arena, key, value.Int(n))
	}
	o.Sort()
	return o.Of(), nil
}

func tallyValue(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	n := int64(0)
	for i := range args[0].Array().Len() {
		if value.Equal(args[0].Array().At(i), args[1]) {
			n++
		}
	}
	return value.Int(n), nil
}

func zip(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	lists := args[:2]
	if args[1].IsNull() { // one array of arrays
		outer := args[0].Array()
		lists = f.Arena.Values(outer.Len())
		for i := range outer.Len() {
			if outer.At(i).Kind() != value.ArrayKind {
				return f.Fail("expected array, got %k", outer.At(i))
			}
			lists[i] = outer.At(i)
		}
	}
	n := 0
	for i, l := range lists {
		if i == 0 || l.Array().Len() < n {
			n = l.Array().Len()
		}
	}
	if fl := f.Spend(n * (1 + len(lists))); fl != nil {
		return value.Null, fl
	}
	rows := f.Arena.Array(n)
	for i := range n {
		row := f.Arena.Array(len(lists))
		for _, l := range lists {
			row.Push(f.Arena, l.Array().At(i).Share())
		}
		rows.Push(f.Arena, row.Of())
	}
	return rows.Of(), nil
}
