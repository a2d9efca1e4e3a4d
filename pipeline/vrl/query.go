package vrl

import (
	"fmt"

	"varve/engine/nearest"
	"varve/pipeline/value"
)

// variable compiles the reading of a variable, or of a path below it.
func (c *compiler) variable(n *variableNode, path value.Path, at span) (operand, bool) {
	v := c.find(n.name)
	if v == nil {
		if !c.broken[n.name] {
			names := make([]string, 0, len(c.vars))
			for i := range c.vars {
				names = append(names, c.vars[i].name)
			}
			c.report(codeUndefinedVariable, titleUndefinedVariable, n.span, "undefined variable")
			c.suggest(n.span, n.name, append(names, "null", "true", "false"))
		}
		return operand{}, false
	}
	v.slot.read = true
	slot := v.slot.index
	x := operand{node: n, typ: v.typ.At(path)}
	if v.isConst {
		x.constant, _ = value.Get(v.constant, path)
		x.isConst = true
	}
	switch {
	case len(path) == 0 && c.moving == node(n):
		x.run = func(f *Frame) (value.Value, *Failure) { return take(&f.slots[slot]), nil }
		return x, true
	case len(path) == 0:
		x.run = func(f *Frame) (value.Value, *Failure) { return f.slots[slot].Share(), nil }
		return x, true
	}
	x.node = &pathNode{span: at, base: n, path: path}
	x.run = func(f *Frame) (value.Value, *Failure) {
		v, _ := value.Get(f.slots[slot], path)
		return v.Share(), nil
	}
	return x, true
}

// pathExpr compiles the reading of a path.
func (c *compiler) pathExpr(n *pathNode) (operand, bool) {
	switch base := n.base.(type) {
	case nil:
		if n.meta {
			return operand{node: n, typ: c.meta.At(n.path), run: readMeta(n.path)}, true
		}
		if c.moving == node(n) {
			return operand{node: n, typ: c.event,
				run: func(f *Frame) (value.Value, *Failure) { return take(&f.event), nil }}, true
		}
		return operand{node: n, typ: c.event.At(n.path), run: c.readEvent(n.path)}, true
	case *variableNode:
		return c.variable(base, n.path, n.span)
	}
	x, ok := c.expr(n.base)
	if !ok {
		return operand{}, false
	}
	y := operand{node: n, typ: x.typ.At(n.path), fallible: x.fallible, isConst: x.isConst, base: &x}
	if x.isConst {
		y.constant, _ = value.Get(x.constant, n.path)
	}
	run, path := x.run, n.path
	y.run = func(f *Frame) (value.Value, *Failure) {
		v, fl := run(f)
		if fl != nil {
			return value.Null, fl
		}
		v, _ = value.Get(v, path)
		return v, nil
	}
	return y, true
}

// take moves a value out of its place, so that it gets no second name.
func take(from *value.Value) value.Value {
	v := *from
	*from = value.Null
	return v
}

func readMeta(path value.Path) op {
	return func(f *Frame) (value.Value, *Failure) {
		v, _ := value.Get(f.Meta, path)
		return v.Share(), nil
	}
}

// readEvent reads below the event. Paths of one and two fields, which are most, remember where each field stood.
func (c *compiler) readEvent(path value.Path) op {
	switch {
	case c.plain:
	case len(path) == 0:
		return func(f *Frame) (value.Value, *Failure) { return f.event.Share(), nil }
	case len(path) == 1 && !path[0].IsIndex:
		key, hint := path[0].Key, c.newHint()
		return func(f *Frame) (value.Value, *Failure) { return f.field(f.event, key, hint).Share(), nil }
	case len(path) == 2 && !path[0].IsIndex && !path[1].IsIndex:
		first, hint, second, hint2 := path[0].Key, c.newHint(), path[1].Key, c.newHint()
		return func(f *Frame) (value.Value, *Failure) {
			return f.field(f.field(f.event, first, hint), second, hint2).Share(), nil
		}
	}
	return func(f *Frame) (value.Value, *Failure) {
		v, _ := value.Get(f.event, path)
		return v.Share(), nil
	}
}

func (c *compiler) newHint() int {
	c.hints++
	return c.hints - 1
}

// field reads a field of v; null if it does not exist.
func (f *Frame) field(v value.Value, key string, hint int) value.Value {
	if v.Kind() != value.ObjectKind {
		return value.Null
	}
	o := v.Object()
	i := o.IndexNear(key, int(f.hints[hint]))
	if i < 0 {
		return value.Null
	}
	f.hints[hint] = int32(i)
	return o.At(i)
}

// suggest adds a label to the diagnostic of an unknown name, with the known one that is nearest. A script with very
// many errors gets none for the later ones.
func (c *compiler) suggest(at span, name string, known []string) {
	if len(c.diagnostics) > maxRendered {
		return
	}
	near := nearest.Finder{To: name, Far: true}
	for _, s := range known {
		near.Look(s, s)
	}
	if near.Found != "" {
		c.add(at, `did you mean "`+near.Found+`"?`)
	}
}

// ParsePath reads a path below the event or, with meta, below the metadata, as a script writes it: .a."b c"[0], %x.
func ParsePath(text string) (path value.Path, meta bool, err error) {
	items := parse(text)
	if len(items) == 1 {
		if items[0].fault != nil {
			return nil, false, fmt.Errorf("%q is not a path: %s", text, items[0].fault.Labels[0].Text)
		}
		if n, ok := items[0].expr.(*pathNode); ok && n.base == nil {
			return n.path, n.meta, nil
		}
	}
	return nil, false, fmt.Errorf("%q is not a path: one begins with . or %%", text)
}
