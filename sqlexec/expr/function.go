package expr

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/vector"
)

// kernel computes n rows of a function. Arguments are Flat with n rows, of the types that the function's bind asked
// for; out is empty, Flat and of the result type. For strict functions valid holds the rows whose arguments all have
// values (nil: all): values under other rows have no meaning and must not make errors. A kernel may set out.Valid to
// make further rows NULL.
type kernel func(n int, args []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error

// Function is one function or operator with all its overloads.
type Function struct {
	Name      string
	op        Op        // what planner and executor know it as
	infix     string    // printed between two arguments
	around    [2]string // printed around the only argument
	lazy      bool      // not strict: the kernel sees NULLs and decides
	makesNull bool
	volatile  bool // not folded
	min, max  int  // number of arguments; max -1: any
	// branches makes a CASE of a call whose arguments after the first may fail: they are computed for the rows that
	// need them. nil: every argument is computed for every row.
	branches func(c *Context, name string, args []Expr, t vector.Type) (Expr, error)
	// work is how many bytes the kernel takes for a row while it computes it, beside what it gives. nil: no more than
	// that.
	work func(a []*vector.Vector, i int) int64
	// bind checks and coerces arguments and picks the overload.
	bind func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error)
}

var functions = map[string]*Function{}

// register adds a function under all its names; the first is shown.
func register(f *Function, names ...string) {
	f.Name, f.op = names[0], opsByName[names[0]]
	for _, n := range names {
		if functions[n] != nil {
			panic("expr: function " + n + " is registered twice")
		}
		functions[n] = f
	}
}

// Names lists all functions and operators, sorted.
func Names() []string {
	names := make([]string, 0, len(functions))
	for n := range functions {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func planError(format string, args ...any) error {
	return status.New(status.PlanQuery, "Failed to plan SQL: "+format, args...)
}

// maxShown is how many bytes of a value an error shows.
const maxShown = 200

// cut shortens a value for an error.
func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

// shown is the value of a row for an error, of a long text what begins it.
func shown(v *vector.Vector, i int) []byte {
	if v.Type.IsText() {
		b := v.Bytes(i)
		return b[:min(len(b), maxShown+1)]
	}
	return AppendText(nil, v, i)
}

func execError(format string, args ...any) error {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = cut(a)
		case []byte:
			args[i] = cut(string(a[:min(len(a), maxShown+1)]))
		}
	}
	return status.New(status.EngineExecuteQuery, format, args...)
}

// Call binds a function or operator: "+", "=", "and", "like", "is null", "upper". It resolves the overload, inserts
// casts and computes constants.
func (c *Context) Call(name string, args ...Expr) (Expr, error) {
	if variable, ok := strings.CutPrefix(name, VariablePrefix); ok && variable != "" {
		return c.variable(variable)
	}
	f := functions[name]
	if f == nil && c != nil && c.Private[name] != nil {
		f = c.Private[name].f
	}
	if f == nil {
		hint := didYouMean(name)
		err := planError("Invalid function '%s'.%s", name, hint)
		return nil, status.Hinted(status.Because(err, status.NoFunction), hint)
	}
	if len(args) < f.min || f.max >= 0 && len(args) > f.max {
		return nil, planError("function '%s' takes %s, found %d", f.Name, arity(f), len(args))
	}
	given := args
	args, t, k, err := f.bind(c, args)
	if err != nil {
		return nil, err
	}
	if f.branches != nil && slices.ContainsFunc(args[1:], fails) {
		return f.branches(c, f.Name, args, t)
	}
	call := &Call{Fn: f, Args: args, T: t, k: k}
	if len(args) < len(given) {
		call.bound = boundKey(given)
	}
	if f.volatile {
		return call, nil
	}
	return c.fold(call)
}

func arity(f *Function) string {
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return strconv.Itoa(n) + " arguments"
	}
	switch {
	case f.max < 0:
		return "at least " + plural(f.min)
	case f.min == f.max:
		return plural(f.min)
	}
	return strconv.Itoa(f.min) + " to " + plural(f.max)
}

// fold computes an expression whose inputs are all constant. In a branch, an expression that fails stays unchanged,
// because the branch may never be taken.
func (c *Context) fold(e Expr) (Expr, error) {
	for _, a := range inputs(e) {
		if !IsConst(a) {
			return e, nil
		}
	}
	k, err := c.constant(e)
	if err != nil && c != nil && c.branch > 0 {
		return e, nil
	}
	return k, err
}

// smallText is the length of a constant up to which it is not counted.
const smallText = 64 << 10

// constant is Constant within the memory of the statement.
func (c *Context) constant(e Expr) (Expr, error) {
	if c == nil || c.Memory == nil {
		return Constant(e)
	}
	k, counted, err := constantWithin(e, c.Memory)
	if err != nil {
		return nil, err
	}
	if v := k.Value; v.Type.Kind() == vector.Bytes && !v.IsNull(0) && len(v.Heap) > smallText {
		// The memory that the program counted while it ran is garbage by now: the constant takes its place.
		if more := int64(len(v.Heap)) - counted; more > 0 {
			err = c.Memory.Reserve(more)
		}
	}
	return k, err
}

// Constant computes an expression that refers to no columns.
func Constant(e Expr) (Expr, error) {
	k, _, err := constantWithin(e, nil)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// constantWithin computes a constant; counted are the bytes that memory was told of meanwhile.
func constantWithin(e Expr, memory Memory) (k *Const, counted int64, err error) {
	p, err := CompileWithin([]Expr{e}, memory)
	if err != nil {
		return nil, 0, err
	}
	out := make([]*vector.Vector, 1)
	if err := p.Eval(&vector.Batch{N: 1}, out); err != nil {
		return nil, 0, err
	}
	if v := out[0]; v.Form == vector.Const && v.Type.Kind() == vector.Bytes && len(v.Heap) > smallText {
		return &Const{Value: v}, p.run.told, nil // it is the program's, which ends here
	}
	v := &vector.Vector{Type: e.Type()}
	v.Append(0, out[0], 0, 1)
	v.Form = vector.Const
	return &Const{Value: v}, p.run.told, nil
}

// InBranch runs f, which binds expressions that some rows may not need. Constant expressions among them that fail do so
// only when a row needs them.
func (c *Context) InBranch(f func() error) error {
	c.branch++
	defer func() { c.branch-- }()
	return f()
}

// fails reports whether computing an expression may be an error.
func fails(e Expr) bool {
	switch e := e.(type) {
	case *Column, *Const:
		return false
	case *Cast:
		return !convert.Retypes(e.Arg.Type(), e.To) || fails(e.Arg)
	}
	return true
}

// Branches reports whether a function computes its arguments after the first for those rows only that need them.
func Branches(name string) bool {
	f := functions[name]
	return f != nil && f.branches != nil
}

// inputs are the expressions directly inside e.
func inputs(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	case *In:
		return append([]Expr{e.Arg}, e.List...)
	case *Case:
		all := append(append([]Expr{}, e.When...), e.Then...)
		if e.Else != nil {
			all = append(all, e.Else)
		}
		return all
	case *Pending:
		return e.Args
	case *Column:
		return []Expr{e}
	}
	return nil
}

// IsVolatile reports whether a function gives something else each time.
func IsVolatile(name string) bool {
	f := functions[name]
	return f != nil && f.volatile
}

// Varies reports whether an expression has a volatile function in it: then it gives something else each time.
func Varies(e Expr) bool {
	if c, ok := e.(*Call); ok && c.Fn.volatile {
		return true
	}
	return slices.ContainsFunc(inputs(e), func(in Expr) bool { return in != e && Varies(in) })
}

// EachColumn calls f for each occurrence of a column in an expression.
func EachColumn(e Expr, f func(*Column)) {
	if c, ok := e.(*Column); ok {
		f(c)
		return
	}
	for _, in := range inputs(e) {
		EachColumn(in, f)
	}
}

// maxHintDistance is how many letters of a function's name may be wrong: names of functions are long and few.
const maxHintDistance = 3

// didYouMean names the nearest function, if one is near.
func didYouMean(name string) string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(functions)), maps.Keys(aggregates))
	slices.Sort(names) // of equally near ones the first counts
	f := nearest.Finder{To: name, Most: maxHintDistance}
	for _, n := range names {
		if !strings.ContainsAny(n, " +-*/%<>=~|&^!#@") {
			f.Look(n, n)
		}
	}
	return f.Hint()
}

// In binds membership in a list.
func (c *Context) In(e Expr, list []Expr, not bool) (Expr, error) {
	t := e.Type()
	for _, x := range list {
		if e.Type() == vector.Uint64Type && signed(x.Type()) && !literalFits(x, e) {
			t = vector.Type{ID: vector.TypeDecimal, Precision: integerDigits}
		}
	}
	for _, x := range list {
		if literalFits(x, e) {
			continue
		}
		u, ok := common(t, x.Type(), IsConst(e), IsConst(x))
		if !ok {
			return nil, planError("IN: %s and %s cannot be compared", t, x.Type())
		}
		t = u
	}
	in := &In{Not: not, List: make([]Expr, len(list))}
	var err error
	if in.Arg, err = c.Cast(e, t, false); err != nil {
		return nil, err
	}
	for i, x := range list {
		if in.List[i], err = c.Cast(x, t, false); err != nil {
			return nil, err
		}
	}
	return c.fold(in)
}

// InValues binds membership in values: that of a constant is known.
func (c *Context) InValues(in *In) (Expr, error) { return c.fold(in) }

// Case binds CASE WHEN when THEN then ... ELSE otherwise; otherwise may be nil. Conditions are BOOLEAN.
func (c *Context) Case(when, then []Expr, otherwise Expr) (Expr, error) {
	results := then
	if otherwise != nil {
		results = append(append([]Expr{}, then...), otherwise)
	}
	t, err := commonOf("CASE", results)
	if err != nil {
		return nil, err
	}
	e := &Case{When: make([]Expr, len(when)), Then: make([]Expr, len(then)), T: t}
	for i := range when {
		if when[i].Type() != vector.BoolType && when[i].Type() != vector.NullType {
			return nil, planError("CASE WHEN needs a boolean expression, found %s", when[i].Type())
		}
		if e.When[i], err = c.Cast(when[i], vector.BoolType, false); err != nil {
			return nil, err
		}
		if e.Then[i], err = c.Cast(then[i], t, false); err != nil {
			return nil, err
		}
	}
	if otherwise != nil {
		if e.Else, err = c.Cast(otherwise, t, false); err != nil {
			return nil, err
		}
	}
	return c.fold(e)
}

// Cast converts e to a type; e itself when it has it already. JSON becomes a number, a boolean or a time by its text.
// Errors: PlanQuery for pairs of types that do not convert, EngineExecuteQuery for constants that do not.
func (c *Context) Cast(e Expr, to vector.Type, try bool) (Expr, error) {
	if e.Type() == to {
		return e, nil
	}
	if k, ok := e.(*Const); ok && k.Value.IsNull(0) {
		return Null(to), nil
	}
	if to.ID == vector.TypeList && isEmptyList(e) {
		return &Const{Value: vector.ConstBytes(to, []byte("[]"))}, nil
	}
	if get, ok := c.jsonGetAs(e, to); ok {
		return c.Cast(get, to, try)
	}
	if convert.ByScalar(e.Type(), to) {
		text, err := c.Call("->>", e, Text("$"))
		if err != nil {
			return nil, err
		}
		return c.Cast(text, to, try)
	}
	if !castable(e.Type(), to) {
		return nil, planError("Cannot cast %s to %s", e.Type(), to)
	}
	return c.fold(&Cast{Arg: e, To: to, Try: try})
}

// isEmptyList reports whether an expression is the literal of a list without elements, which is a list of any type.
func isEmptyList(e Expr) bool {
	k, ok := e.(*Const)
	return ok && !k.Typed && k.Value.Type.ID == vector.TypeList && !k.Value.IsNull(0) &&
		string(k.Value.Bytes(0)) == "[]"
}

// CastLocal is Cast, but texts that become timestamps are read in the zone of the request.
func (c *Context) CastLocal(e Expr, to vector.Type) (Expr, error) {
	if e.Type().IsText() && to.IsTimestamp() {
		return c.fold(&Cast{Arg: e, To: to, zone: c.zone()})
	}
	return c.Cast(e, to, false)
}

// jsonGetAs returns json_get(j, path) that is cast to a number or a boolean as the function of that type: the value
// where it is of that kind, else NULL.
func (c *Context) jsonGetAs(e Expr, to vector.Type) (Expr, bool) {
	call, ok := e.(*Call)
	if !ok || call.Fn.op != JSONGet {
		return nil, false
	}
	name := "json_get_int"
	switch {
	case to.ID == vector.TypeBool:
		name = "json_get_bool"
	case float(to):
		name = "json_get_float"
	case !to.IsInteger():
		return nil, false
	}
	get, err := c.Call(name, call.Args...)
	return get, err == nil
}

// commonOf is the type that all expressions widen to.
func commonOf(what string, list []Expr) (vector.Type, error) {
	t := vector.NullType
	lit := true
	for _, e := range list {
		if k, ok := e.(*Const); ok && !k.Typed && t == vector.Uint64Type && fits(k.Value, t) {
			continue
		}
		if t.ID == vector.TypeList && isEmptyList(e) {
			continue
		}
		u, ok := common(t, e.Type(), lit, IsConst(e))
		if !ok {
			return t, planError("%s: %s and %s have no common type", what, t, e.Type())
		}
		lit = lit && IsConst(e)
		t = u
	}
	return t, nil
}
