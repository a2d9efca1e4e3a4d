package vrl

import (
	"unicode/utf8"

	"varve/pipeline/value"
)

// keyAndValue are the parameters of closures that get the key or index and the value of each member.
func keyAndValue(over Type, _ *Call) []Type {
	key := noType
	if over.May(Object) {
		key = key.Or(String)
	}
	if over.May(Array) {
		key = key.Or(Integer)
	}
	return []Type{key, over.memberType()}
}

func keyAlone(Type, *Call) []Type { return []Type{Of(String)} }

// valueAlone is the parameter of map_values: a member, with recursive also a member of a member.
func valueAlone(over Type, c *Call) []Type {
	if recursive, known := c.Const("recursive"); known && !recursive.True() {
		return []Type{over.memberType()}
	}
	return []Type{over.memberType().deep(maxNesting)}
}

// memberType is the type of whatever a container holds; anything when it holds nothing.
func (t Type) memberType() Type {
	if m := t.Members(); !m.Never() {
		return m
	}
	return anyType.Without(Undefined)
}

// deep is the type of a value or anything inside of it.
func (t Type) deep(levels int) Type {
	if !t.May(Object|Array) || t.isAny() || levels == 0 {
		return t
	}
	inside := t.Members()
	if inside.isJSON() || inside.isAny() {
		return Of(t.kinds | inside.kinds)
	}
	return Union(t, inside.deep(levels-1))
}

// forEach runs the closure for each member.
func forEach(f *Frame, args []value.Value, body *Body) (value.Value, *Failure) {
	if args[0].Kind() == value.ArrayKind {
		list := args[0].Array()
		for i := range list.Len() {
			if _, fl := body.Call(f, value.Int(int64(i)), list.At(i)); fl != nil {
				return value.Null, fl
			}
		}
		return value.Null, nil
	}
	o := args[0].Object()
	for i := range o.Len() {
		if _, fl := body.CallMember(f, value.String(o.Key(i)), o.At(i)); fl != nil {
			return value.Null, fl
		}
	}
	return value.Null, nil
}

// filter keeps the members for which the closure gives true.
func filter(f *Frame, args []value.Value, body *Body) (value.Value, *Failure) {
	if args[0].Kind() == value.ArrayKind {
		list := args[0].Array()
		kept := f.Arena.Array(list.Len())
		for i := range list.Len() {
			v := list.At(i)
			keep, fl := body.Call(f, value.Int(int64(i)), v)
			if fl != nil {
				return value.Null, fl
			}
			if keep.True() {
				kept.Push(f.Arena, v)
			}
		}
		return kept.Of(), nil
	}
	o := args[0].Object()
	kept := f.Arena.Object(o.Len())
	for i := range o.Len() {
		m := o.Member(i)
		keep, fl := body.CallMember(f, value.String(m.Key), m.Value)
		if fl != nil {
			return value.Null, fl
		}
		if keep.True() {
			kept.Append(f.Arena, m.Key, m.Value)
		}
	}
	return kept.Of(), nil
}

// filteredType returns the type of a collection after some members may have been removed.
func filteredType(c *Call, _ Type) Type {
	t := c.Type("value")
	u := Type{kinds: t.kinds & (Object | Array)}
	if t.May(Array) && t.array != nil {
		items := t.array.all()
		u.array = (&members{rest: &items}).sized()
	}
	if t.May(Object) && t.object != nil {
		u.object = &members{rest: t.object.rest}
		for _, k := range t.object.known {
			k.typ = k.typ.Or(Undefined)
			u.object.known = append(u.object.known, k)
		}
		u.object = u.object.sized()
	}
	return u
}

func mapValues(f *Frame, args []value.Value, body *Body) (value.Value, *Failure) {
	return mapInside(f, args[0], args[1].True(), body, 0)
}

// mapInside makes a copy of a container with every member replaced by what the closure gives for it, and with recursive
// the members of that as well.
func mapInside(f *Frame, v value.Value, recursive bool, body *Body, level int) (value.Value, *Failure) {
	if level > value.MaxDepth {
		return f.Fail("the collection is nested too deep")
	}
	one := func(v value.Value) (value.Value, *Failure) {
		w, fl := body.Call(f, v)
		if fl == nil && recursive && w.IsContainer() {
			return mapInside(f, w, true, body, level+1)
		}
		return w.Share(), fl
	}
	if v.Kind() == value.ArrayKind {
		from := v.Array()
		to := f.Arena.Array(from.Len())
		for i := range from.Len() {
			w, fl := one(from.At(i))
			if fl != nil {
				return value.Null, fl
			}
			to.Push(f.Arena, w)
		}
		return to.Of(), nil
	}
	from := v.Object()
	to := f.Arena.Object(from.Len())
	for i := range from.Len() {
		w, fl := one(from.At(i))
		if fl != nil {
			return value.Null, fl
		}
		to.Append(f.Arena, from.Key(i), w)
	}
	return to.Of(), nil
}

// mappedType returns the type of a collection whose members are the results of the closure.
func mappedType(c *Call, body Type) Type {
	body = body.settled()
	t := c.Type("value")
	recursive, known := c.Const("recursive")
	if (!known || recursive.True()) && body.May(Object|Array) {
		body = Of(body.kinds)
	}
	replaced := func(m *members) *members {
		w := &members{}
		if m == nil || m.rest != nil {
			w.rest = &body
		}
		if m != nil {
			for _, k := range m.known {
				if k.typ.May(Undefined) {
					k.typ = body.Or(Undefined)
				} else {
					k.typ = body
				}
				w.known = append(w.known, k)
			}
		}
		return w.sized()
	}
	u := Type{kinds: t.kinds & (Object | Array)}
	if t.May(Array) {
		u.array = replaced(t.array)
	}
	if t.May(Object) {
		u.object = replaced(t.object)
	}
	return u
}

func mapKeys(f *Frame, args []value.Value, body *Body) (value.Value, *Failure) {
	return rekey(f, args[0], args[1].True(), body, 0)
}

// rekey makes a copy of an object with other keys; with recursive also of all objects inside, arrays included.
func rekey(f *Frame, v value.Value, recursive bool, body *Body, level int) (value.Value, *Failure) {
	if level > value.MaxDepth {
		return f.Fail("the collection is nested too deep")
	}
	if v.Kind() == value.ArrayKind {
		from := v.Array()
		to := f.Arena.Array(from.Len())
		for i := range from.Len() {
			item := from.At(i)
			if item.IsContainer() {
				var fl *Failure
				if item, fl = rekey(f, item, true, body, level+1); fl != nil {
					return value.Null, fl
				}
			}
			to.Push(f.Arena, item)
		}
		return to.Of(), nil
	}
	from := v.Object()
	to := f.Arena.Object(from.Len())
	for i := range from.Len() {
		m := from.Member(i)
		key, fl := body.Call(f, value.String(m.Key))
		if fl != nil {
			return value.Null, fl
		}
		if key.Kind() != value.StringKind {
			return f.Fail("expected string, got %k", key)
		}
		if recursive && m.Value.IsContainer() {
			if m.Value, fl = rekey(f, m.Value, true, body, level+1); fl != nil {
				return value.Null, fl
			}
		}
		to.Append(f.Arena, key.Str(), m.Value)
	}
	to.Sort()
	return to.Of(), nil
}

func rekeyedType(c *Call, _ Type) Type {
	inside := c.Type("value").Members()
	if recursive, known := c.Const("recursive"); !known || recursive.True() {
		if inside.May(Object | Array) {
			inside = Of(inside.kinds)
		}
	}
	if inside.Never() {
		return ObjectOf()
	}
	return ObjectOfAny(inside)
}

// matchParam is the parameter of replace_with: the text of the match, its groups, and those with a name as fields.
func matchParam(Type, *Call) []Type {
	groups := Of(String, Null)
	t := ObjectOf(Known{"string", Of(String)}, Known{"captures", ArrayOf(groups)})
	t.object.rest = &groups
	return []Type{t}
}

// replaceWith replaces the first matches, or all, by what the closure gives for them.
func replaceWith(f *Frame, args []value.Value, body *Body) (value.Value, *Failure) {
	text, re, count := args[0].Str(), args[1].Regex(), args[2].Int()
	if reservedGroup(re) != "" {
		return f.Fail(`Capture group cannot be named "string" or "captures"`)
	}
	if count == 0 {
		return args[0], nil
	}
	if count < 0 {
		count = int64(utf8.RuneCountInString(text)) + 1
	}
	found, fl := f.FindAll(re, text, int(min(count, int64(len(text))+1)))
	if fl != nil {
		return value.Null, fl
	}
	if found == nil {
		return args[0], nil
	}
	out, from := f.Arena.Begin(), 0
	for _, at := range found {
		v, fl := body.Call(f, matchObject(f, re, text, at))
		if fl != nil {
			return value.Null, fl
		}
		if v.Kind() != value.StringKind {
			return f.Fail("expected string, got %k", v)
		}
		if fl := f.Room(len(out) + at[0] - from + len(v.Str())); fl != nil {
			return value.Null, fl
		}
		out = append(append(out, text[from:at[0]]...), v.Str()...)
		from = at[1]
	}
	return f.Arena.End(append(out, text[from:]...)), nil
}

// matchObject makes the object of one match from the positions of its groups.
func matchObject(f *Frame, re *value.Regex, text string, at []int) value.Value {
	groups := f.Arena.Array(len(at)/2 - 1)
	match := f.Arena.Object(len(at)/2 + 1)
	for i := 1; i < len(at)/2; i++ {
		v := value.Null
		if at[2*i] >= 0 {
			v = value.String(text[at[2*i]:at[2*i+1]])
		}
		groups.Push(f.Arena, v)
		if i < len(re.Names) && re.Names[i] != "" {
			match.Set(f.Arena, re.Names[i], v)
		}
	}
	match.Set(f.Arena, "captures", groups.Of())
	match.Set(f.Arena, "string", value.String(text[at[0]:at[1]]))
	return match.Of()
}
