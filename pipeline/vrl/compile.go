package vrl

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"varve/pipeline/value"
)

const (
	// maxSourceBytes is the largest script.
	maxSourceBytes = 64 << 10
	// maxRegexSize bounds the regular expressions of a script together, in instructions: about 50 MB.
	maxRegexSize = 500_000
	// maxVariables is how many variables a script may declare: the types of all are kept for each branch.
	maxVariables = 1024
)

// Compile compiles a script that may call the functions of a library. The error is a *CompileError.
func Compile(source string, l *Library, o Options) (*Program, error) {
	return compileScript(source, l, o, false)
}

// compileScript is Compile; plain leaves out all ops made for frequent forms, so that tests can compare both.
func compileScript(source string, l *Library, o Options, plain bool) (*Program, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if len(source) > maxSourceBytes {
		d := []Diagnostic{{Code: codeSyntax, Title: titleSyntax,
			Labels: []Label{{maxSourceBytes, maxSourceBytes,
				fmt.Sprintf("the script has %d bytes, at most %d are allowed", len(source), maxSourceBytes)}}}}
		return nil, &CompileError{Diagnostics: d, text: Render(source, d)}
	}
	c := compiler{source: source, library: l, options: o, state: state{event: startType, meta: startType},
		broken: map[string]bool{}, plain: plain}
	p := c.program(parse(source))
	failed := slices.DeleteFunc(slices.Clone(c.diagnostics), func(d Diagnostic) bool { return d.Warning })
	if len(failed) > 0 {
		return nil, &CompileError{Diagnostics: c.diagnostics, text: Render(source, c.diagnostics)}
	}
	p.warnings = c.diagnostics
	return p, nil
}

// startType is the type of `.` and `%` before the program.
var startType = Type{kinds: Object}

// compiler checks the tree of one script and makes its program. Checking and making go together, expression by
// expression in the order of running, with the types of everything at that point in state.
type compiler struct {
	source      string
	library     *Library
	options     Options
	diagnostics []Diagnostic

	// pending are the failures of the statement under way that nothing has handled so far.
	pending []Diagnostic

	state
	// broken are variables whose value did not compile: that they are missing is not worth a second error.
	broken map[string]bool

	slots, hints    int
	stack, stackMax int
	regexSize       int  // of the expressions so far
	plain           bool // see compileScript

	// returns is the type of what return gives, of the closure being compiled or, outside of closures, of the program.
	returns Type

	// moving is the argument that the assignment being compiled takes away, see movable.
	moving node
}

// state holds the known types and constants of the event, the metadata and the variables at a point of the program.
type state struct {
	event, meta Type
	vars        []variable
}

// variable is a variable in scope.
type variable struct {
	name     string
	slot     *slot
	typ      Type
	constant value.Value
	isConst  bool
}

// slot is the place of a variable in the frame.
type slot struct {
	index int
	read  bool // the program looks at its value, not only whether it is null
}

func (s *state) save() state {
	return state{s.event, s.meta, slices.Clone(s.vars)}
}

// find returns the variable of a name; nil: it is not declared.
func (s *state) find(name string) *variable {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			return &s.vars[i]
		}
	}
	return nil
}

// join merges into s the state t of another branch, so that s holds for both. Both have the same variables.
func (s *state) join(t state) {
	s.event = Union(s.event, t.event)
	s.meta = Union(s.meta, t.meta)
	for i := range s.vars {
		v, w := &s.vars[i], &t.vars[i]
		v.typ = Union(v.typ, w.typ)
		v.isConst = v.isConst && w.isConst && value.Equal(v.constant, w.constant)
	}
}

// operand is a compiled expression.
type operand struct {
	node     node
	typ      Type
	fallible bool
	run      op

	// constant is the value if it is known.
	constant value.Value
	isConst  bool

	// parts are the terms of a sum of strings.
	parts []op

	// base returns the value that a path is read from if the path has no name: a call or a container; nil if there is
	// none.
	base *operand
}

func constOp(v value.Value) op {
	return func(*Frame) (value.Value, *Failure) { return v, nil }
}

// constOperand is the operand of a value; containers are frozen.
func constOperand(n node, v value.Value) operand {
	return operand{node: n, typ: TypeOf(v), run: constOp(v.Freeze()), constant: v, isConst: true}
}

func (c *compiler) report(code int, title string, at span, label string, notes ...string) {
	c.diagnostics = append(c.diagnostics,
		Diagnostic{Code: code, Title: title, Labels: []Label{{at.start, at.end, label}}, Notes: notes})
}

// text is the source of a node.
func (c *compiler) text(at span) string { return c.source[at.start:min(at.end, len(c.source))] }

func (c *compiler) program(items []rootItem) *Program {
	var statements []operand
	for i, item := range items {
		if item.fault != nil {
			c.diagnostics = append(c.diagnostics, *item.fault)
			continue
		}
		c.pending = c.pending[:0]
		x, ok := c.statement(item.expr, i == len(items)-1)
		c.diagnostics = append(c.diagnostics, c.pending...)
		if ok {
			statements = append(statements, x)
		}
	}
	c.orderDiagnostics()
	if len(statements) == 0 {
		statements = []operand{constOperand(&literalNode{}, value.Null)}
	}
	return &Program{
		run: sequence(statements), zone: c.options.Zone,
		result: statements[len(statements)-1].typ.settled(), returned: c.returns.settled(),
		slots: c.slots, stack: c.stackMax, hints: c.hints,
	}
}

// orderDiagnostics brings the diagnostics in the order of the source.
func (c *compiler) orderDiagnostics() {
	sort.SliceStable(c.diagnostics, func(i, j int) bool {
		return c.diagnostics[i].Labels[0].Start < c.diagnostics[j].Labels[0].Start
	})
}

// statement compiles an expression of a program or block; used says whether anybody takes its value.
func (c *compiler) statement(n node, used bool) (operand, bool) {
	if used {
		return c.expr(n)
	}
	switch n := n.(type) {
	case *assignNode:
		return c.assign(n, false)
	case *blockNode:
		return c.block(n, false)
	case *ifNode:
		return c.ifExpr(n, false)
	}
	return c.expr(n)
}

// expr compiles an expression. If it fails without that one of its parts is to blame, it is pending itself.
func (c *compiler) expr(n node) (operand, bool) {
	before := len(c.pending)
	x, ok := c.compile(n)
	if ok && x.fallible && len(c.pending) == before {
		c.pending = append(c.pending, Diagnostic{Code: codeUnhandled, Title: titleUnhandled,
			Labels: labelled(n.at(), unhandledTexts[:]...),
			Notes:  []string{"handle the error with `value, err = ...`, with `?? default`, or end the program with `!`"}})
	}
	return x, ok
}

func (c *compiler) compile(n node) (operand, bool) {
	switch n := n.(type) {
	case *literalNode:
		return constOperand(n, n.value), true
	case *patternNode:
		return c.pattern(n)
	case *templateNode:
		return c.expr(n.expanded())
	case *arrayNode:
		return c.array(n)
	case *objectNode:
		return c.object(n)
	case *blockNode:
		return c.block(n, true)
	case *groupNode:
		x, ok := c.expr(n.inner)
		x.node = n
		return x, ok
	case *ifNode:
		return c.ifExpr(n, true)
	case *abortNode:
		return c.abort(n)
	case *returnNode:
		return c.returnExpr(n)
	case *assignNode:
		return c.assign(n, true)
	case *opNode:
		return c.operation(n)
	case *notNode:
		return c.not(n)
	case *variableNode:
		return c.variable(n, nil, n.span)
	case *pathNode:
		return c.pathExpr(n)
	case *callNode:
		return c.call(n)
	}
	panic(fmt.Sprintf("vrl: no rule for %T", n))
}

// block compiles { ... }: what is declared inside is gone after it. used says whether anybody takes its value.
func (c *compiler) block(n *blockNode, used bool) (operand, bool) {
	declared := len(c.vars)
	x := operand{node: n}
	statements := make([]operand, 0, len(n.body))
	ended := false
	for i, s := range n.body {
		before := len(c.pending)
		m, ok := c.statement(s, used && i == len(n.body)-1)
		if !ok {
			c.vars = c.vars[:declared]
			return operand{}, false
		}
		if ended {
			c.pending = c.pending[:before] // never runs
		} else {
			x.fallible = x.fallible || m.fallible
		}
		ended = ended || m.typ.Never()
		x.typ = m.typ
		statements = append(statements, m)
	}
	c.vars = c.vars[:declared]
	x.run = sequence(statements)
	if len(statements) == 1 {
		x.constant, x.isConst = statements[0].constant, statements[0].isConst
	}
	return x, true
}

// sequence runs expressions in order; its value is the value of the last.
func sequence(list []operand) op {
	runs := make([]op, 0, len(list))
	for i := range list {
		if list[i].isConst && i < len(list)-1 {
			continue
		}
		runs = append(runs, list[i].run)
	}
	if len(runs) == 1 {
		return runs[0]
	}
	last := runs[len(runs)-1]
	runs = runs[:len(runs)-1]
	return func(f *Frame) (value.Value, *Failure) {
		for _, run := range runs {
			if _, fl := run(f); fl != nil {
				return value.Null, fl
			}
		}
		return last(f)
	}
}

func (c *compiler) ifExpr(n *ifNode, used bool) (operand, bool) {
	predicate, ok := c.predicate(n)
	if !ok {
		return operand{}, false
	}
	before := c.save()
	then, ok := c.block(n.then, used)
	if !ok {
		return operand{}, false
	}
	after := c.save()
	c.state = before
	otherwise := constOperand(n, value.Null)
	if n.orElse != nil {
		if otherwise, ok = c.block(n.orElse, used); !ok {
			return operand{}, false
		}
	}
	c.join(after)
	x := operand{node: n, typ: Union(then.typ, otherwise.typ), fallible: then.fallible || otherwise.fallible}
	test, yes, no := predicate.run, then.run, otherwise.run
	x.run = func(f *Frame) (value.Value, *Failure) {
		v, fl := test(f)
		if fl != nil {
			return value.Null, fl
		}
		if v.True() {
			return yes(f)
		}
		return no(f)
	}
	return x, true
}

// predicate compiles what `if` tests: infallible and exactly boolean.
func (c *compiler) predicate(n *ifNode) (operand, bool) {
	before := len(c.pending)
	list := make([]operand, 0, len(n.predicate))
	for _, e := range n.predicate {
		x, ok := c.expr(e)
		if !ok {
			c.pending = c.pending[:before]
			return operand{}, false
		}
		list = append(list, x)
	}
	if len(c.pending) > before {
		d := c.pending[before]
		d.Title = titleFalliblePredicate
		c.diagnostics = append(c.diagnostics, d)
		c.pending = c.pending[:before]
		return operand{}, false
	}
	last := list[len(list)-1]
	if !last.typ.exactly(Boolean) {
		c.reportLabels(codeNonBooleanPredicate, titleNonBooleanPredicate,
			labelled(n.predicateSpan, "this predicate must resolve to a boolean",
				"instead it resolves to "+last.typ.String()), coerceNote)
		return operand{}, false
	}
	last.run = sequence(list)
	return last, true
}

// exactly reports whether every value of the type, if there is any, is of one kind.
func (t Type) exactly(kind Kinds) bool { return t.kinds == kind || t.Never() }

func (c *compiler) abort(n *abortNode) (operand, bool) {
	x := operand{node: n}
	message := constOp(value.String("aborted"))
	if n.message != nil {
		m, ok := c.quiet(n.message)
		if !ok {
			return operand{}, false
		}
		if m.fallible {
			c.report(codeFallibleExpression, titleFallibleExpression, n.message.at(),
				"abort only accepts an infallible expression argument")
			c.add(n.message.at(), "handle errors before using the expression as an abort message")
			return operand{}, false
		}
		if !m.typ.exactly(String) {
			c.reportLabels(codeNonStringAbort, titleNonStringAbort,
				labelled(n.message.at(), "abort only accepts an expression argument resolving to a string",
					"this expression resolves to "+m.typ.String()), coerceNote)
			return operand{}, false
		}
		message = m.run
	}
	x.run = func(f *Frame) (value.Value, *Failure) {
		v, fl := message(f)
		if fl == nil {
			_, fl = f.Fail("%s", v)
			fl.how = byAbort
		}
		return value.Null, fl
	}
	return x, true
}

// quiet compiles an expression whose failure is judged by the caller.
func (c *compiler) quiet(n node) (operand, bool) {
	before := len(c.pending)
	x, ok := c.expr(n)
	c.pending = c.pending[:before]
	return x, ok
}

func (c *compiler) returnExpr(n *returnNode) (operand, bool) {
	r, ok := c.quiet(n.result)
	if !ok {
		return operand{}, false
	}
	if r.fallible {
		c.report(codeFallibleExpression, titleFallibleExpression, n.result.at(),
			"return only accepts an infallible expression argument")
		c.add(n.result.at(), "handle errors before using the expression as a return value")
		return operand{}, false
	}
	c.returns = Union(c.returns, r.typ)
	x := operand{node: n}
	x.run = func(f *Frame) (value.Value, *Failure) {
		v, fl := r.run(f)
		if fl == nil {
			f.result = v
			_, fl = f.Fail("return cannot be used inside closures")
			fl.how = byReturn
		}
		return value.Null, fl
	}
	return x, true
}

func (c *compiler) not(n *notNode) (operand, bool) {
	x, ok := c.expr(n.operand)
	if !ok {
		return operand{}, false
	}
	if !x.typ.exactly(Boolean) {
		c.report(codeNonBooleanNegation, titleNonBooleanNegation, span{n.start, n.start + 1},
			"negation only works on boolean values")
		c.add(n.operand.at(), "this expression resolves to "+x.typ.String())
		return operand{}, false
	}
	run := x.run
	y := operand{node: n, typ: x.typ, fallible: x.fallible}
	if x.isConst {
		return constOperand(n, value.Bool(!x.constant.True())), true
	}
	y.run = func(f *Frame) (value.Value, *Failure) {
		v, fl := run(f)
		if fl != nil {
			return value.Null, fl
		}
		return value.Bool(!v.True()), nil
	}
	return y, true
}
