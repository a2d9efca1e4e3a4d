package vrl

import (
	"fmt"
)

// checkClosure checks that there is a closure if and only if the function takes one, and that it fits.
func (c *compiler) checkClosure(b *boundCall) bool {
	n, want := b.node, b.function.Closure
	switch {
	case want == nil && n.closure == nil:
		return true
	case want == nil:
		c.report(codeUnexpectedClosure, titleUnexpectedClosure, n.closure.span, "unexpected closure")
		c.add(n.span, "this function does not accept a closure")
		return false
	case n.closure == nil:
		c.report(codeMissingClosure, titleMissingClosure, n.span, "this function expects a closure")
		return false
	}
	i := b.index(want.Over)
	over, kinds := b.args[i].typ.settled(), b.function.Params[i].Kinds
	if !over.Never() && !over.Within(kinds) {
		c.reportLabels(codeClosureTarget, titleClosureTarget,
			labelled(n.span, "the closure tied to this function call expects a different input value",
				fmt.Sprintf("expression has an inferred type of %s where an %s was expected", over, kinds)))
		return false
	}
	if params := want.Params(over, &b.Call); len(params) != len(n.closure.params) {
		c.report(codeClosureArity, titleClosureArity, n.nameSpan,
			fmt.Sprintf("this function requires a closure with %d argument(s)", len(params)))
		c.add(n.closure.paramsSpan, fmt.Sprintf("but %d argument(s) are supplied", len(n.closure.params)))
		return false
	}
	return true
}

// closureBody compiles the block of a closure, once, as if it ran once. The variables that the block changes lose their
// constant value before: at the second run they have another.
func (c *compiler) closureBody(b *boundCall) (*Body, operand, bool) {
	n, want := b.node.closure, b.function.Closure
	c.forgetConstants(n.body)
	declared := len(c.vars)
	closure := &Body{steps: 1}
	expressions := 0
	visit(n.body, func(node) { expressions++ })
	closure.steps += expressions / 2
	for i, typ := range want.Params(b.args[b.index(want.Over)].typ.settled(), &b.Call) {
		if n.params[i] == "_" {
			closure.slots = append(closure.slots, -1)
			continue
		}
		// A parameter hides a variable of its name, which is found again once the parameter is gone.
		v := c.declare(n.params[i], n.paramsSpan)
		if v == nil {
			return nil, operand{}, false
		}
		v.typ = typ.settled()
		closure.slots = append(closure.slots, v.slot.index)
	}
	before := len(c.pending)
	outer := c.returns
	c.returns = noType
	body, ok := c.block(n.body, want.Result != 0 || want.ReturnsFor != nil)
	returns := c.returns
	c.vars, c.returns = c.vars[:declared], outer
	if !ok {
		return nil, operand{}, false
	}
	c.forgetConstants(n.body) // it may not run at all
	if len(c.pending) > before {
		// Reported now: a `!` on the call does not cover what happens inside.
		c.diagnostics = append(c.diagnostics, c.pending[before:]...)
		c.pending = c.pending[:before]
		return nil, operand{}, false
	}
	if result := Union(body.typ, returns).settled(); want.Result != 0 && !result.Never() &&
		!result.Within(want.Result) {
		c.report(codeClosureResult, titleClosureResult, n.body.span, "block returns invalid value type")
		c.add(n.body.span, "expected: "+want.Result.String())
		c.add(n.body.span, "received: "+result.String())
		return nil, operand{}, false
	}
	closure.run = body.run
	return closure, body, true
}

// forgetConstants forgets the constant values of the variables that an expression changes, by assignment or by del: the
// expression may run to its end never, once or often.
func (c *compiler) forgetConstants(n node) {
	forget := func(t *targetNode) {
		if t == nil || t.variable == "" {
			return
		}
		if v := c.find(t.variable); v != nil {
			v.isConst = false
		}
	}
	visit(n, func(n node) {
		switch n := n.(type) {
		case *assignNode:
			forget(n.ok)
			forget(n.err)
		case *callNode:
			forget(n.deletes())
		}
	})
}

// deletes returns the place that a call deletes from, nil if it deletes nothing that a program can read again.
func (n *callNode) deletes() *targetNode {
	if n.name != "del" {
		return nil
	}
	for _, a := range n.args {
		if a.name != "compact" {
			return targetOf(a.expr)
		}
	}
	return nil
}

// visit shows a tree to see, parents first.
func visit(n node, see func(node)) {
	if n == nil {
		return
	}
	see(n)
	each := func(list []node) {
		for _, m := range list {
			visit(m, see)
		}
	}
	switch n := n.(type) {
	case *arrayNode:
		each(n.items)
	case *objectNode:
		each(n.values)
	case *blockNode:
		each(n.body)
	case *groupNode:
		visit(n.inner, see)
	case *ifNode:
		each(n.predicate)
		each(n.then.body)
		if n.orElse != nil {
			each(n.orElse.body)
		}
	case *abortNode:
		visit(n.message, see)
	case *returnNode:
		visit(n.result, see)
	case *assignNode:
		visit(n.expr, see)
	case *opNode:
		visit(n.left, see)
		visit(n.right, see)
	case *notNode:
		visit(n.operand, see)
	case *pathNode:
		visit(n.base, see)
	case *callNode:
		for i := range n.args {
			visit(n.args[i].expr, see)
		}
		if n.closure != nil {
			each(n.closure.body.body)
		}
	}
}
