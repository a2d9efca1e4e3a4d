package stdlib

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// compactFunctions drop members that say nothing.
var compactFunctions = []vrl.Function{
	{Name: "compact", Params: []vrl.Param{arg("value", vrl.Object|vrl.Array), flag("recursive", true),
		flag("null", true), flag("string", true), flag("object", true),
		flag("array", true), flag("nullish", false)}, ReturnsFor: sameContainer, Run: compact},
}

// compacting says which members are dropped.
type compacting struct {
	recursive, null, text, object, array, nullish bool
}

func compact(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	c := compacting{args[1].True(), args[2].True(), args[3].True(), args[4].True(), args[5].True(), args[6].True()}
	return c.container(f, args[0])
}

// container copies a container without the dropped members.
func (c *compacting) container(f *vrl.Frame, v value.Value) (value.Value, *vrl.Failure) {
	if fl := f.Spend(length(v)); fl != nil {
		return value.Null, fl
	}
	if v.Kind() == value.ArrayKind {
		from := v.Array()
		to := f.Arena.Array(from.Len())
		for i := range from.Len() {
			item, kept, fl := c.member(f, from.At(i))
			if fl != nil {
				return value.Null, fl
			}
			if kept {
				to.Push(f.Arena, item.Share())
			}
		}
		return to.Of(), nil
	}
	from := v.Object()
	to := f.Arena.Object(from.Len())
	for i := range from.Len() {
		m := from.Member(i)
		item, kept, fl := c.member(f, m.Value)
		if fl != nil {
			return value.Null, fl
		}
		if kept {
			to.Append(f.Arena, m.Key, item.Share())
		}
	}
	return to.Of(), nil
}

// member compacts a member and says whether it stays.
func (c *compacting) member(f *vrl.Frame, v value.Value) (compacted value.Value, kept bool, fl *vrl.Failure) {
	if c.recursive && v.IsContainer() {
		if v, fl = c.container(f, v); fl != nil {
			return value.Null, false, fl
		}
	}
	switch v.Kind() {
	case value.NullKind:
		return v, !c.null && !c.nullish, nil
	case value.StringKind:
		return v, !(c.text && v.Str() == "") && !(c.nullish && nullish(v)), nil
	case value.ObjectKind:
		return v, !c.object || v.Object().Len() > 0, nil
	case value.ArrayKind:
		return v, !c.array || v.Array().Len() > 0, nil
	}
	return v, true, nil
}
