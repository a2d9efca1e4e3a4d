package vrl

import (
	"regexp"

	"varve/pipeline/value"
)

// emptyRegex is the regular expression that stands for a missing one.
var emptyRegex = &value.Regex{Regexp: regexp.MustCompile(""), Names: []string{""}}

// target is the target of an assignment, compiled.
type target struct {
	node     *targetNode
	variable *slot // a variable; nil: the event or the metadata
	declares bool  // the assignment makes the variable
}

// assign compiles an assignment; used says whether its value is taken.
func (c *compiler) assign(n *assignNode, used bool) (operand, bool) {
	if n.err != nil {
		return c.assignWithError(n, used)
	}
	before := len(c.pending)
	if n.merge {
		return c.mergeInto(n, used)
	}
	moved := c.moving
	c.moving = c.movable(n)
	x, ok := c.expr(n.expr)
	taken := c.moving != nil
	c.moving = moved
	if !ok {
		c.markBroken(n.ok)
		return operand{}, false
	}
	unhandled, misfit := len(c.pending) > before, ""
	if unhandled {
		misfit = c.pending[before].misfit
	}
	c.pending = c.pending[:before]
	if unhandled {
		c.reportFallibleAssignment(n, misfit)
		return operand{}, false
	}
	if n.ok.noop {
		c.reportNoOp(n)
		return operand{}, false
	}
	to, ok := c.writeTarget(n.ok)
	if !ok {
		return operand{}, false
	}
	c.retype(n.ok, x.typ, x.constant, x.isConst)
	y := operand{node: n, typ: x.typ.settled()}
	if taken {
		x.run = putBack(to.root(), x.run)
	}
	y.run = c.store(to, x.run, used)
	return y, true
}

// reportFallibleAssignment reports an assignment whose value may fail; misfit is the argument that causes it, if there
// is one.
func (c *compiler) reportFallibleAssignment(n *assignNode, misfit string) {
	to, expr := c.text(n.ok.span), c.text(n.expr.at())
	labels := labelled(n.expr.at(), "this expression is fallible", "update the expression to be infallible")
	if misfit != "" {
		labels = append(labels, labelled(n.expr.at(), misfit)...)
	}
	labels = append(labels, labelled(n.span, "or change this to an infallible assignment:", to+", err = "+expr)...)
	c.reportLabels(codeFallibleAssignment, titleFallibleAssignment, labels,
		"or give a default: "+to+" = "+expr+" ?? ...")
}

func (c *compiler) reportNoOp(n *assignNode) {
	labels := append(labelled(n.expr.at(), "this no-op assignment has no effect"),
		labelled(n.ok.span, "either assign to a path or variable here")...)
	c.reportLabels(codeNoOpAssignment, titleNoOpAssignment,
		append(labels, labelled(n.span, "or remove the assignment")...))
}

// markBroken notes that a variable is missing because its value did not compile.
func (c *compiler) markBroken(t *targetNode) {
	if t.variable != "" && len(t.path) == 0 && c.find(t.variable) == nil {
		c.broken[t.variable] = true
	}
}

// target returns the place of a target, declaring a variable that is new.
func (c *compiler) target(t *targetNode) (target, bool) {
	p := target{node: t}
	if t.noop || t.variable == "" {
		return p, true
	}
	v := c.find(t.variable)
	if v == nil {
		if v = c.declare(t.variable, t.span); v == nil {
			return p, false
		}
		p.declares = true
	}
	p.variable = v.slot
	return p, true
}

// writeTarget is target of one that may be written.
func (c *compiler) writeTarget(t *targetNode) (target, bool) {
	if !c.writable(t) {
		return target{}, false
	}
	return c.target(t)
}

// declare adds a variable to the scope.
func (c *compiler) declare(name string, at span) *variable {
	if c.slots >= maxVariables {
		c.report(codeInvalidTarget, titleInvalidTarget, at, "a script has at most 1024 variables")
		return nil
	}
	c.vars = append(c.vars, variable{name: name, slot: &slot{index: c.slots}})
	c.slots++
	delete(c.broken, name)
	return &c.vars[len(c.vars)-1]
}

// retype notes the type of a target after a value of a type was written to it.
func (c *compiler) retype(t *targetNode, typ Type, constant value.Value, isConst bool) {
	switch {
	case t.noop:
	case t.variable != "":
		v := c.find(t.variable)
		v.typ = v.typ.Insert(t.path, typ)
		v.constant, v.isConst = constant, isConst && len(t.path) == 0
	case t.meta:
		c.meta = c.meta.Insert(t.path, typ)
	default:
		c.event = c.event.Insert(t.path, typ)
	}
}

// writable reports a target that is read-only, or that lies below a value of the wrong kind.
func (c *compiler) writable(t *targetNode) bool {
	if t.noop {
		return true
	}
	if t.variable == "" && c.readOnly(t.meta, t.path) {
		c.report(codeReadOnly, titleReadOnly, t.span, "mutation of read-only value")
		return false
	}
	root := c.event
	switch {
	case t.meta:
		root = c.meta
	case t.variable != "":
		root = anyType
		if v := c.find(t.variable); v != nil {
			root = v.typ
		}
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		parent, container := root.At(t.path[:i]), Object
		if t.path[i].IsIndex {
			container = Array
		}
		if !parent.May(container|Undefined) && !parent.Never() {
			c.reportParent(t, root)
			return false
		}
	}
	return true
}

// reportParent reports the last step of a target if a step leads into a value that is not a container of the required
// kind.
func (c *compiler) reportParent(t *targetNode, root Type) {
	last := len(t.path) - 1
	what, empty := "querying a field of a non-object type is unsupported", "{}"
	if t.path[last].IsIndex {
		what, empty = "indexing into a non-array type is unsupported", "[]"
	}
	end := t.starts[last]
	for end > t.start+1 && c.source[end-1] == '.' {
		end--
	}
	parent := c.text(span{t.start, end})
	labels := append(labelled(span{t.starts[last], t.end}, what),
		labelled(span{t.start, end}, "this path resolves to a value of type "+root.At(t.path[:last]).String())...)
	kind := map[string]string{"{}": "object", "[]": "array"}[empty]
	c.reportLabels(codeParentSegment, titleParentSegment, labels,
		"try: change parent value to "+kind+", before assignment", "", "    "+parent+" = "+empty)
}

// readOnly reports whether the options protect a path.
func (c *compiler) readOnly(meta bool, path value.Path) bool {
	for _, r := range c.options.ReadOnly {
		if r.Meta != meta {
			continue
		}
		if startsWith(r.Path, path) || r.Recursive && startsWith(path, r.Path) {
			return true
		}
	}
	return false
}

// startsWith reports whether a path begins with another or is the same.
func startsWith(path, start value.Path) bool {
	if len(path) < len(start) {
		return false
	}
	for i := range start {
		if path[i] != start[i] {
			return false
		}
	}
	return true
}

// store makes the op that computes a value and writes it. With used it gives the value, which then has two names.
func (c *compiler) store(to target, run op, used bool) op {
	if !c.plain && to.node.variable == "" && !to.node.meta && len(to.node.path) == 1 && !to.node.path[0].IsIndex {
		path, key, hint := to.node.path, to.node.path[0].Key, c.newHint()
		return func(f *Frame) (value.Value, *Failure) {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			if used {
				v.Share()
			}
			if v.IsContainer() {
				return v, f.write(&f.event, path, v)
			}
			f.setField(key, hint, v)
			return v, nil
		}
	}
	if !c.plain && to.variable != nil && len(to.node.path) == 0 {
		slot := to.variable.index
		return func(f *Frame) (value.Value, *Failure) {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			if used {
				v.Share()
			}
			f.slots[slot] = v
			return v, nil
		}
	}
	write := to.writer()
	return func(f *Frame) (value.Value, *Failure) {
		v, fl := run(f)
		if fl != nil {
			return value.Null, fl
		}
		if used {
			v.Share()
		}
		return v, write(f, v)
	}
}

// setField writes a scalar to a field of the event.
func (f *Frame) setField(key string, hint int, v value.Value) {
	f.hints[hint] = int32(value.SetField(f.Arena, &f.event, key, v, int(f.hints[hint])))
}

// writer returns the function that writes a value to the place; nil when there is nothing to write to.
func (p target) writer() func(f *Frame, v value.Value) *Failure {
	path := p.node.path
	switch {
	case p.node.noop:
		return nil
	case p.variable != nil:
		slot, fresh := p.variable.index, p.declares
		if len(path) == 0 {
			return func(f *Frame, v value.Value) *Failure {
				f.slots[slot] = v
				return nil
			}
		}
		return func(f *Frame, v value.Value) *Failure {
			if fresh {
				f.slots[slot] = value.Null // what an earlier run of a closure left
			}
			return f.write(&f.slots[slot], path, v)
		}
	case p.node.meta:
		return func(f *Frame, v value.Value) *Failure { return f.write(&f.Meta, path, v) }
	}
	return func(f *Frame, v value.Value) *Failure { return f.write(&f.event, path, v) }
}

func (f *Frame) write(root *value.Value, path value.Path, v value.Value) *Failure {
	if err := value.Set(f.Arena, root, path, v); err != nil {
		_, fl := f.FailErr(err)
		return fl
	}
	return nil
}

// assignWithError compiles x, err = e.
func (c *compiler) assignWithError(n *assignNode, used bool) (operand, bool) {
	before := len(c.pending)
	expr := n.expr
	if n.merge {
		expr = n.merged()
	}
	x, ok := c.expr(expr)
	c.pending = c.pending[:before]
	c.forgetConstants(expr)
	if !ok {
		c.markBroken(n.ok)
		c.markBroken(n.err)
		return operand{}, false
	}
	if !x.fallible {
		c.report(codeInfallibleAssignment, titleInfallibleAssignment, n.err.span,
			"this error assignment is unnecessary")
		d := &c.diagnostics[len(c.diagnostics)-1]
		d.Labels = append(d.Labels, labelled(n.expr.at(), "because this expression can't fail")...)
		d.Labels = append(d.Labels, labelled(n.ok.span, "use: "+c.text(n.ok.span)+" = "+c.text(n.expr.at()))...)
		return operand{}, false
	}
	if n.ok.noop && n.err.noop {
		c.reportNoOp(n)
		return operand{}, false
	}
	if !c.writable(n.ok) || !c.writable(n.err) {
		return operand{}, false
	}
	to, ok := c.target(n.ok)
	if !ok {
		return operand{}, false
	}
	byDefault := x.typ.byDefault()
	c.retype(n.ok, Union(x.typ.settled(), TypeOf(byDefault)), value.Null, false)
	failed, ok := c.target(n.err)
	if !ok {
		return operand{}, false
	}
	c.retype(n.err, Of(String, Null), value.Null, false)
	y := operand{node: n, typ: Union(x.typ.settled(), Of(String))}
	y.run = withError(x.run, to, failed, byDefault, used)
	return y, true
}

// withError computes a value and writes it with null, or, when it fails, the default with the message. The message is
// not made when nobody looks at it.
func withError(run op, to, failed target, byDefault value.Value, used bool) op {
	write, writeErr := to.writer(), failed.writer()
	quiet := !used && (failed.node.noop || failed.variable != nil && len(failed.node.path) == 0)
	both := func(f *Frame, v, message value.Value) *Failure {
		if write != nil {
			if fl := write(f, v); fl != nil {
				return fl
			}
		}
		if writeErr != nil {
			return writeErr(f, message)
		}
		return nil
	}
	unread := value.String("")
	return func(f *Frame) (value.Value, *Failure) {
		v, fl := run(f)
		if fl == nil {
			if used {
				v.Share()
			}
			return v, both(f, v, value.Null)
		}
		if fl.how == byReturn {
			return value.Null, fl
		}
		message := unread
		if !quiet || failed.variable != nil && failed.variable.read {
			message = f.Arena.End(fl.Append(f.Arena.Begin()))
		}
		return message, both(f, byDefault, message)
	}
}

// byDefault returns the default value of a type.
func (t Type) byDefault() value.Value {
	switch t.kinds {
	case String:
		return value.String("")
	case Integer:
		return value.Int(0)
	case Float:
		return value.Float(0)
	case Boolean:
		return value.Bool(false)
	case Timestamp:
		return value.Timestamp(0)
	case Regex:
		return emptyRegex.Of()
	case Array:
		return (*value.Arena)(nil).Array(0).Of().Freeze()
	case Object:
		return (*value.Arena)(nil).Object(0).Of().Freeze()
	}
	return value.Null
}

// merged is the target merged with the expression, for |=.
func (n *assignNode) merged() node {
	at := n.expr.at()
	return &opNode{n.span, "|", at, n.ok.asExpr(), n.expr}
}

// asExpr is the reading of a target.
func (t *targetNode) asExpr() node {
	if t.variable == "" {
		return &pathNode{span: t.span, meta: t.meta, path: t.path, starts: t.starts}
	}
	var v node = &variableNode{t.span, t.variable}
	if len(t.path) > 0 {
		v = &pathNode{span: t.span, base: v, path: t.path, starts: t.starts}
	}
	return v
}

// mergeInto compiles x |= e, which changes x in place.
func (c *compiler) mergeInto(n *assignNode, used bool) (operand, bool) {
	if n.ok.noop {
		c.reportNoOp(n)
		return operand{}, false
	}
	before := len(c.pending)
	left, ok := c.expr(n.ok.asExpr())
	if !ok {
		return operand{}, false
	}
	right, ok := c.expr(n.expr)
	if !ok {
		return operand{}, false
	}
	unhandled := len(c.pending) > before
	c.pending = c.pending[:before]
	if !c.mergeable(n.ok.span, left, n.expr.at(), right) {
		return operand{}, false
	}
	if unhandled {
		c.reportFallibleAssignment(n, "")
		return operand{}, false
	}
	to, ok := c.writeTarget(n.ok)
	if !ok {
		return operand{}, false
	}
	x := operand{node: n, typ: left.typ.Merge(right.typ)}
	c.retype(n.ok, x.typ, value.Null, false)
	root := to.root()
	path, run := n.ok.path, right.run
	x.run = func(f *Frame) (value.Value, *Failure) {
		from, fl := run(f)
		if fl != nil {
			return value.Null, fl
		}
		into := root(f)
		old, _ := value.Get(*into, path)
		if old.Kind() != value.ObjectKind || from.Kind() != value.ObjectKind {
			return f.Fail("can't merge type %k into %k", from, old)
		}
		v := value.Merge(f.Arena, old.Object(), from.Object()).Of()
		if used {
			v.Share()
		}
		return v, f.write(into, path, v)
	}
	return x, true
}

// root returns where the value lies that the place is in.
func (p target) root() func(f *Frame) *value.Value {
	switch {
	case p.variable != nil:
		slot := p.variable.index
		return func(f *Frame) *value.Value { return &f.slots[slot] }
	case p.node.meta:
		return func(f *Frame) *value.Value { return &f.Meta }
	}
	return func(f *Frame) *value.Value { return &f.event }
}
