package vrl

import (
	"fmt"
	"maps"
	"slices"

	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

// # How a function is declared
//
// A function is an entry of a table; NewLibrary makes a library of tables, and Compile takes one. The tables of all
// functions are those of package stdlib. The simplest kind is a plain function of values:
//
//	{
//		Name:    "upcase",
//		Params:  []Param{{Name: "value", Kinds: String}},
//		Returns: Of(String),
//		Run:     upcase,
//	}
//
//	func upcase(f *Frame, args []value.Value) (value.Value, *Failure) {
//		return f.Arena.Copy(strings.ToUpper(args[0].Str())), nil
//	}
//
// The compiler checks arity, keywords and kinds and fills in defaults. When Run is called, args has one value for each
// parameter, in their order, each of a kind its parameter allows; an optional parameter without a default that was not
// given is null. Run never sees a value of a wrong kind: the call failed with "expected string, got integer" before.
//
// # Failing
//
// A function that can fail says so in Fails, and Run returns f.Fail(format, values...): nothing is formatted until
// somebody reads the message. f.FailErr(err) passes an error on. The prefix `function call error for ...` is added by
// the call.
//
// # Preparing constants
//
// What can be computed once per program is done by Compile, which returns the Run of this call:
//
//	Compile: func(c *Call) (Run, error) {
//		if format, ok := c.Const("format"); ok {
//			layout, err := timefmt.Compile(format.Str())
//			if err != nil {
//				return nil, c.Invalid("format", "%v", err)
//			}
//			return func(f *Frame, args []value.Value) (value.Value, *Failure) { ... }, nil
//		}
//		return parseTimestampByAnyFormat, nil
//	},
//
// A parameter with Const set is a constant in every call that compiles, one with Enum one of the words.
//
// # Types
//
// Returns is the type of every result; ReturnsFor computes it from the types and constants of a call. The more is
// known, the less a script has to check, so parsers with known fields say which: ObjectOf(Known{"status", Of(Integer,
// Null)}, ...).
//
// # Closures
//
// A function with a closure has Closure and RunClosure instead of Run, see iterate.go.
//
// # Paths
//
// A parameter with Path set takes a path itself, not its value. Only the functions of the language's own (del, exists,
// unnest) have one. The language's own functions, which every library has, are: del, exists, unnest, type_def, assert,
// assert_eq, for_each, map_values, map_keys, filter and replace_with.
//
// # Memory
//
// Results come from f.Arena, or are views of arguments; they are gone after the event. Arguments are read only:
// containers may be shared with the event. A container to be changed is made anew, or copied by Copy. Programs are
// shared by goroutines; what Compile returns must not keep state.
//
// What grows with its input asks f.Spend for the steps of a loop and f.Room for the bytes of a result before making
// them.

// Function declares one function of the library.
type Function struct {
	Name   string
	Params []Param

	// Fails says when a call can fail although all arguments are of the kinds of their parameters.
	Fails Fails

	// Returns is the type of the result, ReturnsFor computes it where it depends on the call.
	Returns    Type
	ReturnsFor func(c *Call) Type

	// Light functions do not walk through their arguments: long arguments cost a run no steps.
	Light bool

	// Exactly one of the following three runs the function. Compile creates the Run of one call.
	Run        Run
	Compile    func(c *Call) (Run, error)
	RunClosure func(f *Frame, args []value.Value, body *Body) (value.Value, *Failure)

	// Closure declares the closure of RunClosure.
	Closure *Closure

	// special compiles calls of the language's own functions that work on paths, types or source text.
	special func(c *compiler, b *boundCall) (operand, bool)
}

// Run computes a function of values. args must not be kept.
type Run func(f *Frame, args []value.Value) (value.Value, *Failure)

// Param declares a parameter.
type Param struct {
	Name  string
	Kinds Kinds // what the argument may be

	// Default is taken when the argument is not given; Optional lets it be left out without one and gives null.
	Default  value.Value
	Optional bool

	// Const wants a constant, Enum one of these words, Path a path instead of a value.
	Const bool
	Enum  []string
	Path  bool

	// alias is a second name.
	alias string
}

// required reports whether every call has to give the argument.
func (p *Param) required() bool { return !p.Optional && p.Default.IsNull() }

// Fails is the rule by which a call can fail although all arguments fit their parameters.
type Fails func(c *Call) bool

// Always is for functions whose failure depends on values. A nil Fails is: never.
func Always(*Call) bool { return true }

// Unless is for functions that can fail unless the first argument is of these kinds only.
func Unless(kinds Kinds) Fails {
	return func(c *Call) bool { return !c.args[0].typ.Within(kinds) }
}

// If is for functions that can fail if the first argument may be of one of these kinds.
func If(kinds Kinds) Fails {
	return func(c *Call) bool { return c.args[0].typ.May(kinds) }
}

// UnlessConst is for functions that fail only because of the value of one argument: a call can fail unless that
// argument is a constant and ok is true for it. A default counts as a constant.
func UnlessConst(name string, ok func(value.Value) bool) Fails {
	return func(c *Call) bool {
		v, constant := c.Const(name)
		return !constant || !ok(v)
	}
}

// Call describes a call while it is compiled.
type Call struct {
	function *Function
	args     []callArg // one for each parameter
	options  *Options
}

// Room is what the regular expressions of the script may take.
func (c *Call) Room() *regex.Room { return c.options.Room }

// callArg is the argument of one parameter.
type callArg struct {
	given    bool
	typ      Type
	constant value.Value
	isConst  bool
}

// index is the position of a parameter.
func (c *Call) index(name string) int {
	for i := range c.function.Params {
		if c.function.Params[i].Name == name {
			return i
		}
	}
	panic("vrl: function " + c.function.Name + " has no parameter " + name)
}

// Given reports whether the script gives the argument.
func (c *Call) Given(name string) bool { return c.args[c.index(name)].given }

// Type returns the known type of an argument; for an argument that is not given, the type of its default.
func (c *Call) Type(name string) Type { return c.args[c.index(name)].typ }

// Const is the value of an argument if it is known now: a constant, or the default of an argument not given.
func (c *Call) Const(name string) (v value.Value, ok bool) {
	a := &c.args[c.index(name)]
	return a.constant, a.isConst
}

// Invalid is the error of an argument whose value cannot be used, found while compiling (E403 inside of E610).
func (c *Call) Invalid(name, format string, args ...any) error {
	return &argumentError{name, fmt.Sprintf(format, args...), codeInvalidArgument, titleInvalidArgument}
}

// InvalidGrok is Invalid for a grok pattern that cannot be used (E112 inside of E610).
func (c *Call) InvalidGrok(name, format string, args ...any) error {
	return &argumentError{name, fmt.Sprintf(format, args...), codeInvalidGrok, titleInvalidGrok}
}

// Refused is the error of a function that the language has and this program does not (E403 inside of E610).
func (c *Call) Refused(format string, args ...any) error {
	return &argumentError{"", fmt.Sprintf(format, args...), codeInvalidArgument, titleInvalidArgument}
}

// argumentError is found by the Compile of a function; parameter is empty when it is about the whole call.
type argumentError struct {
	parameter, text string
	code            int
	title           string
}

func (e *argumentError) Error() string { return e.text }

// Closure declares the closure of a function.
type Closure struct {
	// Over is the parameter that is iterated over; it has to be known to be of the kinds of that parameter only (E121).
	Over string
	// Params returns the types of the closure's parameters for the type of what is iterated over; their number is the
	// arity.
	Params func(over Type, c *Call) []Type
	// Result is what the body has to give (E122); zero: anything.
	Result Kinds
	// ReturnsFor, if set, computes the type of the call's result with the type of the body's.
	ReturnsFor func(c *Call, body Type) Type
}

// Body is the block of a closure.
type Body struct {
	slots []int // slots of the parameters, -1 for those not used
	run   op
	steps int // cost of a call: one step for every two expressions inside
}

// Call runs the block once with the values of its parameters. Every call spends steps of the run's budget. A return in
// it is a failure.
func (b *Body) Call(f *Frame, params ...value.Value) (value.Value, *Failure) {
	v, fl := b.call(f, params)
	if fl != nil && fl.how == byReturn {
		fl.how = byError // with the message it was made with
	}
	return v, fl
}

// CallMember is Call with the key and the value of a member of an object. A return in it ends the call with its value.
func (b *Body) CallMember(f *Frame, key, member value.Value) (value.Value, *Failure) {
	v, fl := b.call(f, []value.Value{key, member})
	if fl != nil && fl.how == byReturn {
		return f.result, nil
	}
	return v, fl
}

func (b *Body) call(f *Frame, params []value.Value) (value.Value, *Failure) {
	if fl := f.Spend(b.steps); fl != nil {
		return value.Null, fl
	}
	for i, slot := range b.slots {
		if slot >= 0 {
			f.slots[slot] = params[i].Share()
		}
	}
	return b.run(f)
}

// Library is functions by name: those of the language itself, and others. It is never changed.
type Library struct{ functions map[string]*Function }

// NewLibrary makes a library of tables of functions. It keeps the tables.
func NewLibrary(tables ...[]Function) *Library {
	l := &Library{map[string]*Function{}}
	for _, table := range append(tables, ownFunctions) {
		for i := range table {
			fn := &table[i]
			if l.functions[fn.Name] != nil {
				panic("vrl: function " + fn.Name + " is declared twice")
			}
			for i := range fn.Params {
				fn.Params[i].Default.Freeze() // shared by all programs
			}
			l.functions[fn.Name] = fn
		}
	}
	return l
}

// Names lists the names of all functions, in order.
func (l *Library) Names() []string { return slices.Sorted(maps.Keys(l.functions)) }

// Function returns the function with a name; nil if it does not exist.
func (l *Library) Function(name string) *Function { return l.functions[name] }
