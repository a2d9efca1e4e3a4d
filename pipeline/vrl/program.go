// Package vrl compiles and runs scripts of VRL, the language of the vrl processor. A program is a list of expressions
// that read and change an event. The compiler makes sure that a script handles every failure that can happen.
//
// Source text becomes tokens (lex.go) and a tree (parse.go, ast.go). The compiler walks the tree in the order of
// execution, tracks the type of every value at each point (types.go, typepath.go), reports errors (diagnostic.go) and
// makes Go closures over a Frame: compile.go, literal.go, query.go, assign.go, operate.go, call.go and closure.go. The
// functions of the language itself are in own.go and iterate.go; all others are in package stdlib, which imports this
// one, and Compile takes them as a Library. func.go explains how to declare a function.
package vrl

import (
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

// Options of Compile. The zero value is what a pipeline takes.
type Options struct {
	// Zone is the time zone of texts that name none; nil is UTC.
	Zone *time.Location
	// ReadOnly are paths the script may not change: their first segment is Field("%") for metadata, else below the
	// event.
	ReadOnly []ReadOnlyPath
	// Room is what its regular expressions may take while it is compiled; nil: as much as they do.
	Room *regex.Room
}

// ReadOnlyPath is a path that a script may not assign to or delete, nor what is above it.
type ReadOnlyPath struct {
	// Meta says that the path is below `%`, not below `.`.
	Meta bool
	Path value.Path
	// Recursive protects everything below as well.
	Recursive bool
}

// Program is a compiled script. It is never changed and may be run by many goroutines, each with its own Frame.
type Program struct {
	run  op
	zone *time.Location

	// result is the type of the last expression, returned that of what return gives anywhere outside of closures.
	result, returned Type

	slots, stack, hints int

	warnings []Diagnostic
}

// op computes a value, or fails.
type op func(f *Frame) (value.Value, *Failure)

// Result is the known type of the program's value. It is the type of the last expression or, if that never yields a
// value, as in "return .", the type of the returned value. A pipeline can use the program if
// Result().May(Object|Array).
func (p *Program) Result() Type {
	if p.result.Never() {
		return p.returned
	}
	return p.result
}

// HoldsRegex reports whether the program's value is known to hold a regular expression, by its last expression or a
// return.
func (p *Program) HoldsRegex() bool { return p.result.Holds(Regex) || p.returned.Holds(Regex) }

// Warnings are the compiler's warnings.
func (p *Program) Warnings() []Diagnostic { return p.warnings }

// Run runs the program on an event and changes the event in place; after a failed run the event has the changes made so
// far. The result and the event use memory of the frame's arena or of the event, and may be the same object. If one of
// them is changed by value.Set or Delete and both are needed, that copies. A failed or aborted run returns a
// *RuntimeError.
func (p *Program) Run(f *Frame, event *value.Value) (value.Value, error) {
	if f.program != p {
		f.prepare(p)
	}
	f.event, f.steps, f.now = *event, MaxSteps, time.Time{}
	f.Meta = f.Arena.Object(0).Of()
	clear(f.slots)
	v, fl := f.run(p)
	*event = f.event
	if fl == nil {
		return v, nil
	}
	if fl.how == byReturn {
		return f.result, nil
	}
	return value.Null, &RuntimeError{Message: string(fl.Append(nil)), Aborted: fl.how == byAbort}
}

// run runs a program; values that take more than an event may are a failure.
func (f *Frame) run(p *Program) (v value.Value, fl *Failure) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case value.ErrEventTooLarge:
			v, fl = value.Null, f.failText(tooMuchMemory)
		case value.ErrTooManySteps:
			v, fl = value.Null, f.failText(value.ErrTooManySteps.Msg)
		default:
			panic(cause)
		}
	}()
	return p.run(f)
}

// prepare makes a frame fit a program.
func (f *Frame) prepare(p *Program) {
	f.program = p
	f.slots = make([]value.Value, p.slots)
	f.stack = make([]value.Value, p.stack)
	f.hints = make([]int32, p.hints)
}
