package vrl

import "varve/pipeline/value"

// ownFunctions belong to the language: they take paths, show types, quote the source or have closures.
var ownFunctions = []Function{
	{Name: "del", Params: []Param{{Name: "path", alias: "target", Kinds: AnyValue, Path: true},
		{Name: "compact", Kinds: Boolean, Default: value.Bool(false)}}, special: (*compiler).del},
	{Name: "exists", Params: []Param{{Name: "path", alias: "field", Kinds: AnyValue, Path: true}},
		special: (*compiler).exists},
	{Name: "unnest", Params: []Param{{Name: "path", Kinds: Array, Path: true}}, special: (*compiler).unnest},
	{Name: "type_def", Params: []Param{{Name: "value", Kinds: AnyValue}}, special: (*compiler).typeDef},
	{Name: "assert", Params: []Param{{Name: "condition", Kinds: Boolean},
		{Name: "message", Kinds: String, Optional: true}}, special: (*compiler).assert},
	{Name: "assert_eq", Params: []Param{{Name: "left", Kinds: AnyValue}, {Name: "right", Kinds: AnyValue},
		{Name: "message", Kinds: String, Optional: true}},
		Fails: Always, Returns: Of(Boolean), Run: assertEqual},

	{Name: "for_each", Params: []Param{{Name: "value", alias: "collection", Kinds: Object | Array}}, Returns: Of(Null),
		Closure: &Closure{Over: "value", Params: keyAndValue}, RunClosure: forEach},
	{Name: "filter", Params: []Param{{Name: "value", alias: "collection", Kinds: Object | Array}},
		Closure:    &Closure{Over: "value", Params: keyAndValue, Result: Boolean, ReturnsFor: filteredType},
		RunClosure: filter},
	{Name: "map_values", Params: []Param{{Name: "value", alias: "collection", Kinds: Object | Array},
		{Name: "recursive", Kinds: Boolean, Default: value.Bool(false)}},
		Closure: &Closure{Over: "value", Params: valueAlone, ReturnsFor: mappedType}, RunClosure: mapValues},
	{Name: "map_keys", Params: []Param{{Name: "value", alias: "object", Kinds: Object},
		{Name: "recursive", Kinds: Boolean, Default: value.Bool(false)}},
		Closure:    &Closure{Over: "value", Params: keyAlone, Result: String, ReturnsFor: rekeyedType},
		RunClosure: mapKeys},
	{Name: "replace_with", Params: []Param{{Name: "value", alias: "string", Kinds: String},
		{Name: "pattern", alias: "regex", Kinds: Regex}, {Name: "count", Kinds: Integer, Default: value.Int(-1)}},
		Returns: Of(String), Closure: &Closure{Over: "value", Params: matchParam, Result: String},
		RunClosure: replaceWith},
}

// rootType returns the known type of the value at the root of a path.
func (c *compiler) rootType(t *targetNode) Type {
	switch {
	case t.variable != "":
		return c.find(t.variable).typ
	case t.meta:
		return c.meta
	}
	return c.event
}

// existing returns a target that is known to be there.
func (c *compiler) existing(t *targetNode) target {
	p := target{node: t}
	if t.variable != "" {
		p.variable = c.find(t.variable).slot
	}
	return p
}

func (c *compiler) del(b *boundCall) (operand, bool) {
	a := &b.given[b.byParam[0]]
	t := targetOf(a.node.expr)
	if t == nil { // no other reference sees the deletion
		return operand{typ: a.typ.settled(),
			run: b.runner(func(_ *Frame, args []value.Value) (value.Value, *Failure) { return args[0], nil })}, true
	}
	if t.variable == "" && c.readOnly(t.meta, t.path) {
		c.report(codeReadOnly, titleReadOnly, t.span, "mutation of read-only value")
		c.add(t.span, c.text(t.span)+" is read-only, and cannot be deleted")
		return operand{}, false
	}
	x := operand{typ: c.rootType(t).At(t.path).settled()}
	compact := b.args[1]
	always := compact.isConst && compact.constant.True()
	after := func(t Type, path value.Path) Type {
		u := t.Remove(path, always)
		if !compact.isConst {
			u = Union(u, t.Remove(path, true))
		}
		return u
	}
	switch {
	case t.variable != "":
		// The language keeps the known types of variables and metadata.
		c.find(t.variable).isConst = false
	case t.meta:
	default:
		c.event = after(c.event, t.path)
	}
	if i := b.byParam[1]; i >= 0 {
		x.run = c.delCompact(b, t)
		return x, true
	}
	if !c.plain && t.variable == "" && !t.meta && len(t.path) == 1 && !t.path[0].IsIndex {
		key, hint := t.path[0].Key, c.newHint()
		x.run = func(f *Frame) (value.Value, *Failure) { return f.deleteField(key, hint), nil }
		return x, true
	}
	root, path := c.existing(t).root(), t.path
	x.run = func(f *Frame) (value.Value, *Failure) {
		old, _ := value.Delete(f.Arena, root(f), path, false)
		return old.Share(), nil
	}
	return x, true
}

// delCompact is the op of del with a second argument.
func (c *compiler) delCompact(b *boundCall, t *targetNode) op {
	root, path := c.existing(t).root(), t.path
	at := b.byParam[1]
	b.given[b.byParam[0]].run = constOp(value.Null) // the path itself is not read
	return b.runner(func(f *Frame, args []value.Value) (value.Value, *Failure) {
		old, _ := value.Delete(f.Arena, root(f), path, args[b.given[at].param].True())
		return old.Share(), nil
	})
}

// deleteField deletes a field of the event and gives what it held.
func (f *Frame) deleteField(key string, hint int) value.Value {
	if f.event.Kind() != value.ObjectKind {
		return value.Null
	}
	i := f.event.Object().IndexNear(key, int(f.hints[hint]))
	if i < 0 {
		return value.Null
	}
	f.hints[hint] = int32(i)
	return value.OwnObject(f.Arena, &f.event).Remove(i).Share()
}

func (c *compiler) exists(b *boundCall) (operand, bool) {
	a := &b.given[b.byParam[0]]
	t := targetOf(a.node.expr)
	x := operand{typ: Of(Boolean)}
	if t == nil {
		base, path := a.base.run, a.node.expr.(*pathNode).path
		x.run = func(f *Frame) (value.Value, *Failure) {
			root, fl := base(f)
			if fl != nil {
				return value.Null, fl
			}
			_, ok := value.Get(root, path)
			return value.Bool(ok), nil
		}
		return x, true
	}
	if !c.plain && t.variable == "" && !t.meta && len(t.path) == 1 && !t.path[0].IsIndex {
		key, hint := t.path[0].Key, c.newHint()
		x.run = func(f *Frame) (value.Value, *Failure) {
			if f.event.Kind() != value.ObjectKind {
				return value.Bool(false), nil
			}
			return value.Bool(f.event.Object().IndexNear(key, int(f.hints[hint])) >= 0), nil
		}
		return x, true
	}
	root, path := c.existing(t).root(), t.path
	x.run = func(f *Frame) (value.Value, *Failure) {
		_, ok := value.Get(*root(f), path)
		return value.Bool(ok), nil
	}
	return x, true
}

// unnest compiles unnest(path): copies of the root, each with one item of the array at the path in its place.
func (c *compiler) unnest(b *boundCall) (operand, bool) {
	a := &b.given[b.byParam[0]]
	t := targetOf(a.node.expr)
	if t == nil {
		return c.unnestUnnamed(b, a)
	}
	x := operand{typ: unnested(c.rootType(t), t.path)}
	root, path := c.existing(t).root(), t.path
	x.run = b.runner(func(f *Frame, args []value.Value) (value.Value, *Failure) {
		return unnestItems(f, root(f).Share(), path, args[0].Array())
	})
	return x, true
}

// unnestUnnamed is unnest of a path below a value that has no name: it is computed once, for the root and the array.
func (c *compiler) unnestUnnamed(b *boundCall, a *givenArg) (operand, bool) {
	base, path := a.base.run, a.node.expr.(*pathNode).path
	site := b.site()
	expected := value.String(Array.String())
	x := operand{typ: unnested(a.base.typ, path)}
	x.run = func(f *Frame) (value.Value, *Failure) {
		root, fl := base(f)
		if fl != nil {
			return value.Null, site.add(fl)
		}
		list, _ := value.Get(root, path)
		if list.Kind() != value.ArrayKind {
			return value.Null, site.add(f.wrongKind(expected, list))
		}
		v, fl := unnestItems(f, root.Share(), path, list.Array())
		if fl != nil {
			return value.Null, site.add(fl)
		}
		return v, nil
	}
	return x, true
}

// unnestItems makes copies of whole, each with one of the items at the path.
func unnestItems(f *Frame, whole value.Value, path value.Path, items *value.Array) (value.Value, *Failure) {
	list := f.Arena.Array(items.Len())
	for i := range items.Len() {
		if fl := f.Spend(1); fl != nil {
			return value.Null, fl
		}
		one := whole
		if fl := f.write(&one, path, items.At(i).Share()); fl != nil {
			return value.Null, fl
		}
		list.Push(f.Arena, one)
	}
	return list.Of(), nil
}

// unnested is the type of an array of copies of a root, each with an item of the array at the path in its place.
func unnested(root Type, path value.Path) Type {
	list := root.At(path).Only(Array)
	if list.Never() {
		return ArrayOf(root.Insert(path, Of(Null)))
	}
	m := &members{}
	if list.array != nil {
		for _, k := range list.array.known {
			one := root.Insert(path, k.typ.settled())
			if k.typ.May(Undefined) {
				one = one.Or(Undefined)
			}
			m.known = append(m.known, knownMember{index: k.index, typ: one})
		}
	}
	if rest := list.array.restOf(); !rest.Never() {
		rest = root.Insert(path, rest.settled())
		m.rest = &rest
	}
	return Type{kinds: Array, array: m.sized()}
}

// typeDef compiles type_def(value): the type as the compiler knows it. The value itself is never computed.
func (c *compiler) typeDef(b *boundCall) (operand, bool) {
	x := constOperand(b.node, b.given[0].typ.describe(true))
	x.typ, x.isConst = anyType, false
	return x, true
}

func (c *compiler) assert(b *boundCall) (operand, bool) {
	text := value.String("assertion failed: " + c.text(b.given[b.byParam[0]].node.expr.at()))
	x := operand{typ: Of(Boolean), fallible: true}
	x.run = b.runner(func(f *Frame, args []value.Value) (value.Value, *Failure) {
		switch {
		case args[0].True():
			return args[0], nil
		case args[1].Kind() == value.StringKind:
			return f.Fail("%s", args[1])
		}
		return f.Fail("%s", text)
	})
	return x, true
}

func assertEqual(f *Frame, args []value.Value) (value.Value, *Failure) {
	switch {
	case value.Equal(args[0], args[1]):
		return value.Bool(true), nil
	case args[2].Kind() == value.StringKind:
		return f.Fail("%s", args[2])
	}
	left := f.Arena.End(value.AppendJSON(f.Arena.Begin(), args[0]))
	right := f.Arena.End(value.AppendJSON(f.Arena.Begin(), args[1]))
	return f.Fail("assertion failed: %s == %s", left, right)
}

// reservedGroup is the name of a group that would hide what every match has, empty without one.
func reservedGroup(re *value.Regex) string {
	for _, name := range re.Names {
		if name == "string" || name == "captures" {
			return name
		}
	}
	return ""
}
