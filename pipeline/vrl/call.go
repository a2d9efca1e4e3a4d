package vrl

import (
	"errors"
	"fmt"
	"slices"

	"varve/pipeline/value"
)

// boundCall is a call whose arguments are compiled and assigned to parameters.
type boundCall struct {
	Call
	node *callNode
	base int // where its arguments lie on the stack

	// given are the arguments in the order of the source, byParam their positions by parameter, -1 for those not given.
	given   []givenArg
	byParam []int

	// misfits are the arguments that may be of a kind their parameter does not take.
	misfits []*givenArg
}

type givenArg struct {
	operand
	node  *argumentNode
	param int
}

// call compiles the call of a function.
func (c *compiler) call(n *callNode) (operand, bool) {
	before := len(c.pending)
	fn := c.library.Function(n.name)
	b := &boundCall{node: n, base: c.stack, Call: Call{function: fn, options: &c.options}}
	room := len(n.args)
	if fn != nil {
		room = max(room, len(fn.Params))
	}
	c.stack += room
	c.stackMax = max(c.stackMax, c.stack)
	defer func() { c.stack = b.base }()

	for i := range n.args {
		x, ok := c.expr(n.args[i].expr)
		if !ok {
			c.pending = c.pending[:before]
			return operand{}, false
		}
		b.given = append(b.given, givenArg{operand: x, node: &n.args[i]})
	}
	c.pending = c.pending[:before]
	if !c.bind(b) || !c.checkConstants(b) {
		return operand{}, false
	}
	x, ok := c.finish(b)
	if !ok {
		return operand{}, false
	}
	x.node = n
	canFail := x.fallible || len(b.misfits) > 0
	x.fallible = canFail && !n.aborts
	if x.fallible {
		c.pending = append(c.pending, c.unhandled(b))
	}
	if n.aborts && !canFail {
		c.diagnostics = append(c.diagnostics,
			Diagnostic{Code: codeNeedlessAbort, Title: titleNeedlessAbort, Warning: true,
				Labels: append(labelled(n.nameSpan, "this function can't fail"),
					Label{n.nameSpan.end, n.nameSpan.end + 1, "remove this abort (!) instruction"})})
	}
	return x, true
}

// unhandled is the failure of the call in case nothing handles it.
func (c *compiler) unhandled(b *boundCall) Diagnostic {
	n := b.node
	if len(b.misfits) == 0 {
		return Diagnostic{Code: codeUnhandled, Title: titleUnhandled, Labels: labelled(n.span, unhandledTexts[:]...),
			Notes: []string{"handle the error with `value, err = " + n.name +
				"(...)`, with `?? default`, or end the program with `" + n.name + "!(...)`"}}
	}
	d := Diagnostic{Code: codeArgumentType, Title: titleArgumentType}
	for i, a := range b.misfits {
		p := &b.function.Params[a.param]
		d.Labels = append(d.Labels, argumentLabels(a, p)...)
		if i == 0 {
			d.Notes = c.guardNotes(b, a, p)
			d.misfit = fmt.Sprintf(
				"'%s' argument type is unknown and this function expects parameter '%s' of type '%s'",
				c.text(a.node.expr.at()), p.Name, p.Kinds)
		}
	}
	return d
}

// bind assigns arguments to parameters and checks them, in the order of the contract.
func (c *compiler) bind(b *boundCall) bool {
	n, fn := b.node, b.function
	if fn == nil {
		c.report(codeUndefinedFunction, titleUndefinedFunction, n.nameSpan, "undefined function")
		c.suggest(n.nameSpan, n.name, c.library.Names())
		return false
	}
	if len(n.args) > len(fn.Params) {
		at := span{n.args[0].start, n.args[len(n.args)-1].end}
		c.report(codeTooManyArguments, titleTooManyArguments, at, "too many function arguments")
		c.add(at, fmt.Sprintf("this function takes a maximum of %d argument%s", len(fn.Params), plural(len(fn.Params))))
		return false
	}
	b.byParam = slices.Repeat([]int{-1}, len(fn.Params))
	position := 0
	for i := range b.given {
		if !c.findParam(b, &b.given[i], &position) {
			return false
		}
		b.byParam[b.given[i].param] = i
	}
	for i := range b.given {
		if !c.checkArgument(b, &b.given[i]) {
			return false
		}
	}
	b.args = make([]callArg, len(fn.Params))
	for i := range fn.Params {
		p := &fn.Params[i]
		if at := b.byParam[i]; at >= 0 {
			a := &b.given[at]
			b.args[i] = callArg{given: true, typ: a.typ.settled(), constant: a.constant, isConst: a.isConst}
			continue
		}
		if p.required() {
			c.report(codeMissingArgument, titleMissingArgument, n.span,
				fmt.Sprintf("required argument missing: %q (position %d)", p.Name, i))
			return false
		}
		b.args[i] = callArg{typ: TypeOf(p.Default), constant: p.Default, isConst: true}
	}
	return c.checkClosure(b)
}

// findParam finds the parameter of an argument. A named argument uses up a position only if it is exactly the next one.
func (c *compiler) findParam(b *boundCall, a *givenArg, position *int) bool {
	params := b.function.Params
	if a.node.name == "" {
		a.param = *position
		*position++
	} else {
		a.param = slices.IndexFunc(params, func(p Param) bool {
			return p.Name == a.node.name || p.alias == a.node.name
		})
		if a.param == *position {
			*position++
		}
	}
	if a.param < 0 || a.param >= len(params) {
		names := make([]string, 0, len(params))
		for _, p := range params {
			names = append(names, p.Name)
		}
		c.report(codeUnknownKeyword, titleUnknownKeyword, a.node.nameSpan, "unknown keyword")
		c.add(b.node.nameSpan, "this function accepts the following keywords: "+quotedNames(names))
		return false
	}
	return true
}

// checkArgument checks the type of an argument, and that it cannot fail.
func (c *compiler) checkArgument(b *boundCall, a *givenArg) bool {
	p, typ, at := &b.function.Params[a.param], a.typ.settled(), a.node.expr.at()
	switch kinds := p.Kinds; {
	case typ.Never():
	case !typ.May(kinds):
		c.reportLabels(codeArgumentType, titleArgumentType, argumentLabels(a, p), c.guardNotes(b, a, p)...)
		return false
	case !typ.Within(kinds):
		b.misfits = append(b.misfits, a)
	}
	if a.fallible {
		c.report(codeFallibleArgument, titleFallibleArgument, at, "this expression can fail")
		c.add(at, "handle the error before passing it in as an argument")
		return false
	}
	return true
}

// checkConstants checks the arguments that have to be known now.
func (c *compiler) checkConstants(b *boundCall) bool {
	for i := range b.given {
		a := &b.given[i]
		p := &b.function.Params[a.param]
		if p.Path {
			if targetOf(a.node.expr) == nil && a.base == nil {
				c.innerError(b.node.span, codeUnexpectedExpression, titleUnexpectedExpression,
					fmt.Sprintf("unexpected expression for argument %q", p.Name), "received: "+formOf(a.node.expr),
					"expected: query")
				return false
			}
			continue
		}
		if !p.Const && p.Enum == nil {
			continue
		}
		if !a.isConst {
			c.innerError(b.node.span, codeNotConstant, titleNotConstant,
				fmt.Sprintf("expected static expression for argument %q", p.Name), "received: "+formOf(a.node.expr))
			return false
		}
		if p.Enum != nil && (a.constant.Kind() != value.StringKind || !slices.Contains(p.Enum, a.constant.Str())) {
			c.innerError(b.node.span, codeInvalidEnum, titleInvalidEnum,
				fmt.Sprintf("invalid enum variant for argument %q", p.Name),
				"received: "+shownConstant(a.constant), "expected one of: "+quotedNames(p.Enum))
			return false
		}
	}
	return true
}

// innerError reports an error of an argument's value, which is shown inside of another.
func (c *compiler) innerError(at span, code int, title string, labels ...string) {
	c.reportLabels(codeFunctionCompilation, fmt.Sprintf("%s: error[E%d] %s", titleFunctionCompilation, code, title),
		labelled(at, labels...))
}

// add adds a label to the diagnostic reported last.
func (c *compiler) add(at span, text string) {
	d := &c.diagnostics[len(c.diagnostics)-1]
	d.Labels = append(d.Labels, labelled(at, text)...)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// finish compiles the function itself.
func (c *compiler) finish(b *boundCall) (operand, bool) {
	fn := b.function
	if fn.special != nil {
		return fn.special(c, b)
	}
	x := operand{}
	var body operand
	var closure *Body
	if fn.Closure != nil {
		var ok bool
		if closure, body, ok = c.closureBody(b); !ok {
			return operand{}, false
		}
	}
	switch {
	case fn.Closure != nil && fn.Closure.ReturnsFor != nil:
		x.typ = fn.Closure.ReturnsFor(&b.Call, body.typ)
	case fn.ReturnsFor != nil:
		x.typ = fn.ReturnsFor(&b.Call)
	default:
		x.typ = fn.Returns
	}
	x.fallible = fn.Fails != nil && fn.Fails(&b.Call)
	if fn.RunClosure != nil {
		x.run = b.runner(func(f *Frame, args []value.Value) (value.Value, *Failure) {
			return fn.RunClosure(f, args, closure)
		})
		return x, true
	}
	run := fn.Run
	if fn.Compile != nil {
		var err error
		if run, err = fn.Compile(&b.Call); err != nil {
			c.functionError(b, err)
			return operand{}, false
		}
	}
	x.run = b.runner(run)
	return x, true
}

// functionError reports what the Compile of a function found.
func (c *compiler) functionError(b *boundCall, err error) {
	code, title, labels := codeInvalidArgument, titleInvalidArgument, []string{err.Error()}
	if arg := (*argumentError)(nil); errors.As(err, &arg) {
		code, title = arg.code, arg.title
		if arg.parameter != "" {
			labels = []string{fmt.Sprintf("invalid argument %q", arg.parameter), "error: " + err.Error()}
			if at := b.byParam[b.index(arg.parameter)]; at >= 0 && b.given[at].isConst {
				labels = append(labels, "received: "+shownConstant(b.given[at].constant))
			}
		}
	}
	c.innerError(b.node.span, code, title, labels...)
}

// runArg computes one argument.
type runArg struct {
	run      op
	param    int
	kinds    Kinds
	expected value.Value // kinds as text
}

// site is where the errors of the call come from.
func (b *boundCall) site() *callSite {
	return &callSite{fmt.Sprintf("function call error for %q at (%d:%d): ", b.node.name, b.node.start, b.node.end)}
}

// runner makes the op of the call: arguments in the order of the source, defaults, kinds, then the function.
func (b *boundCall) runner(run Run) op {
	params := b.function.Params
	light := b.function.Light
	site := b.site()
	args := make([]runArg, 0, len(b.given))
	for i := range b.given {
		a := &b.given[i]
		kinds := params[a.param].Kinds
		args = append(args, runArg{a.run, a.param, kinds, value.String(kinds.String())})
	}
	if len(args) == 1 && len(params) == 1 {
		return unaryCall(b.base, args[0], run, site, light)
	}
	// What is not given is filled in for each call: the place is shared with other calls.
	defaults := make([]value.Value, len(params))
	for i := range params {
		defaults[i] = params[i].Default
	}
	// Of an argument given twice the last counts, so that the number of arguments does not tell whether all are given.
	missing := slices.Contains(b.byParam, -1)
	base, end := b.base, b.base+len(params)
	return func(f *Frame) (value.Value, *Failure) {
		stack := f.stack[base:end:end]
		if missing {
			copy(stack, defaults)
		}
		for i := range args {
			v, fl := args[i].run(f)
			if fl != nil {
				return value.Null, site.add(fl)
			}
			stack[args[i].param] = v
		}
		for i := range args {
			a := &args[i]
			v := stack[a.param]
			if !a.kinds.Has(v) {
				return value.Null, site.add(f.wrongKind(a.expected, v))
			}
			if n := v.Bulk(); n > 0 && !light {
				if fl := f.Spend(n); fl != nil {
					return value.Null, site.add(fl)
				}
			}
		}
		v, fl := run(f, stack)
		if fl == nil && v.IsContainer() {
			v, fl = f.sized(v)
		}
		if fl != nil {
			return value.Null, site.add(fl)
		}
		return v, nil
	}
}

// unaryCall is a runner for functions of one argument.
func unaryCall(base int, arg runArg, run Run, site *callSite, light bool) op {
	compute, kinds, expected := arg.run, arg.kinds, arg.expected
	return func(f *Frame) (value.Value, *Failure) {
		v, fl := compute(f)
		if fl != nil {
			return value.Null, site.add(fl)
		}
		if !kinds.Has(v) {
			return value.Null, site.add(f.wrongKind(expected, v))
		}
		if n := v.Bulk(); n > 0 && !light {
			if fl = f.Spend(n); fl != nil {
				return value.Null, site.add(fl)
			}
		}
		stack := f.stack[base : base+1 : base+1]
		stack[0] = v
		if v, fl = run(f, stack); fl == nil && v.IsContainer() {
			v, fl = f.sized(v)
		}
		if fl != nil {
			return value.Null, site.add(fl)
		}
		return v, nil
	}
}

// wrongKind is the failure of a value that is of none of the kinds expected.
func (f *Frame) wrongKind(expected, v value.Value) *Failure {
	_, fl := f.Fail("expected %s, got %k", expected, v)
	return fl
}

// add notes that a failure came through the call.
func (s *callSite) add(fl *Failure) *Failure {
	if fl.how == byError {
		fl.calls = append(fl.calls, s)
	}
	return fl
}
