package vrl

import "varve/pipeline/value"

// movable finds the argument of x = f(x, ...) or . = f(., ...) that need not be shared with the place it is read from,
// which gets another value anyway: so a closure that adds to an array, or an object, item by item does not copy it each
// time. Nothing else of the call may read or write that place. It gives nil when there is no such argument.
func (c *compiler) movable(n *assignNode) node {
	call, ok := n.expr.(*callNode)
	if !ok || len(n.ok.path) > 0 || n.ok.noop || n.ok.meta || call.closure != nil {
		return nil
	}
	if fn := c.library.Function(call.name); fn == nil || fn.special != nil {
		return nil
	}
	var found node
	for i := range call.args {
		if found == nil && isRoot(call.args[i].expr, n.ok) {
			found = call.args[i].expr
		}
	}
	if found == nil {
		return nil
	}
	uses := 0
	visit(call, func(m node) {
		if touches(m, n.ok) {
			uses++
		}
	})
	if uses > 1 {
		return nil
	}
	return found
}

// isRoot reports whether an expression reads exactly the place of a target.
func isRoot(n node, t *targetNode) bool {
	switch n := n.(type) {
	case *variableNode:
		return t.variable == n.name
	case *pathNode:
		return t.variable == "" && n.base == nil && !n.meta && len(n.path) == 0
	}
	return false
}

// touches reports whether an expression, those inside of it aside, reads or writes the place of a target or what is
// below it.
func touches(n node, t *targetNode) bool {
	same := func(to *targetNode) bool {
		return to != nil && !to.noop && !to.meta && to.variable == t.variable
	}
	switch n := n.(type) {
	case *variableNode:
		return t.variable == n.name
	case *templateNode:
		for _, part := range n.parts {
			if part.variable && part.text == t.variable {
				return true
			}
		}
	case *pathNode:
		return t.variable == "" && n.base == nil && !n.meta
	case *assignNode:
		return same(n.ok) || same(n.err)
	}
	return false
}

// putBack runs a call that takes a value out of its place, and puts it back if the call fails.
func putBack(root func(*Frame) *value.Value, run op) op {
	return func(f *Frame) (value.Value, *Failure) {
		place := root(f)
		old := *place
		v, fl := run(f)
		if fl != nil {
			*place = old
		}
		return v, fl
	}
}
