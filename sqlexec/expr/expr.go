// Package expr holds bound expressions: typed trees over the columns of a batch. They are resolved, coerced and folded
// when they are made, and evaluated a batch at a time. Aggregates and sort keys are here too, because their arguments
// are expressions.
//
// The rules for types, NULL, overflow and time are those of the SQL contract. Binding errors have code PlanQuery,
// evaluation errors EngineExecuteQuery.
package expr

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/vector"
)

// Expr is a bound expression. Immutable.
type Expr interface {
	Type() vector.Type
	Nullable() bool
	String() string
}

// Column is a column of the input batch.
type Column struct {
	Index int
	Name  string
	T     vector.Type
	Null  bool
}

// Const is a value: a Const vector of one row.
type Const struct {
	Value *vector.Vector
	// Typed marks a value whose type the query fixes, by a cast or as a column of an enclosing query. A literal takes
	// the type of the column that it is compared with; such a value does not.
	Typed bool
}

// Call applies a function to arguments that have the types it wants.
type Call struct {
	Fn   *Function
	Args []Expr
	T    vector.Type
	k    kernel
	// bound is the further input to the choice of the kernel, besides Args: the constants, if it does not take all
	// arguments.
	bound string
	// lambda is the lambda of a function of lists; nil for all other functions.
	lambda *Lambda
}

// Cast converts to another type; with Try a value that does not convert becomes NULL instead of an error.
type Cast struct {
	Arg  Expr
	To   vector.Type
	Try  bool
	zone *time.Location // zone of texts without a zone; nil: UTC
}

// Case is the Then of the first When that is true, else Else or NULL. All results have one type.
type Case struct {
	When, Then []Expr
	Else       Expr
	T          vector.Type
	// Shown is the written form of the expression, if that is not CASE.
	Shown string
}

// In is whether a value is among some of its type.
type In struct {
	Arg  Expr
	List []Expr
	// Values are further members, Count of them: Flat, rising, without NULL and repetitions. nil: none.
	Values *vector.Vector
	Count  int
	Not    bool
}

// SortKey is one key of an order. ASC puts NULL last and DESC first unless NullsFirst says otherwise.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// KeyExprs are the expressions of an order.
func KeyExprs(keys []SortKey) []Expr {
	out := make([]Expr, len(keys))
	for i, k := range keys {
		out[i] = k.Expr
	}
	return out
}

// Context is shared by the expressions of one statement.
type Context struct {
	Zone   *time.Location // nil: UTC
	Now    time.Time
	DB     string
	User   string
	ConnID uint64
	// Version is the server's.
	Version string
	Memory  Memory // for constants that are computed; nil: they are not counted
	// Private are the functions of the session, by name.
	Private map[string]*Private

	branch int // branches around what is being bound, see InBranch

	warnings []string
}

// maxWarnings bounds the warnings of one statement.
const maxWarnings = 10

// Warn notes once, for the user, an oddity of a statement that is not wrong.
func (c *Context) Warn(text string) {
	if len(c.warnings) < maxWarnings && !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// Warnings are what Warn noted.
func (c *Context) Warnings() []string { return c.warnings }

func (c *Context) zone() *time.Location {
	if c == nil || c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Type is the column's type.
func (c *Column) Type() vector.Type { return c.T }

// Nullable reports whether the column may hold NULL.
func (c *Column) Nullable() bool { return c.Null }

// String is the column's name.
func (c *Column) String() string { return c.Name }

// Type is the value's type.
func (c *Const) Type() vector.Type { return c.Value.Type }

// Nullable reports whether the value is NULL.
func (c *Const) Nullable() bool { return c.Value.IsNull(0) }

// String prints the value with its type, as result columns are named: Int64(1), Utf8("a").
func (c *Const) String() string {
	if c.Value.IsNull(0) {
		return "NULL"
	}
	text := string(AppendText(nil, c.Value, 0))
	switch c.Value.Type.ID {
	case vector.TypeString:
		return `Utf8("` + text + `")`
	case vector.TypeInterval:
		return `IntervalMonthDayNano("` + text + `")`
	}
	return c.Value.Type.String() + "(" + text + ")"
}

// Type is the result's type.
func (c *Call) Type() vector.Type { return c.T }

// Nullable is true when an argument is, or when the function makes NULL itself.
func (c *Call) Nullable() bool {
	if c.Fn.makesNull {
		return true
	}
	for _, a := range c.Args {
		if a.Nullable() {
			return true
		}
	}
	return false
}

// String is name(args) or the operator between its arguments.
func (c *Call) String() string {
	if c.Fn.infix != "" && len(c.Args) == 2 {
		return c.Args[0].String() + " " + c.Fn.infix + " " + c.Args[1].String()
	}
	if around := c.Fn.around; around != [2]string{} {
		return around[0] + c.Args[0].String() + around[1]
	}
	if c.lambda != nil {
		return c.Fn.Name + "(" + join(c.Args) + "," + c.lambda.Text + ")"
	}
	return c.Fn.Name + "(" + join(c.Args) + ")"
}

func join(list []Expr) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
	}
	return strings.Join(texts, ",")
}

// Type is the target type.
func (c *Cast) Type() vector.Type { return c.To }

// Nullable is the argument's, or true for TRY_CAST.
func (c *Cast) Nullable() bool { return c.Try || c.Arg.Nullable() }

// String is the name of what is cast.
func (c *Cast) String() string { return c.Arg.String() }

// Type is the common type of the results.
func (c *Case) Type() vector.Type { return c.T }

// Nullable is true if a result is nullable, or if there is no ELSE.
func (c *Case) Nullable() bool {
	if c.Else == nil || c.Else.Nullable() {
		return true
	}
	for _, t := range c.Then {
		if t.Nullable() {
			return true
		}
	}
	return false
}

func (c *Case) String() string {
	if c.Shown != "" {
		return c.Shown
	}
	var s strings.Builder
	s.WriteString("CASE")
	for i := range c.When {
		s.WriteString(" WHEN " + c.When[i].String() + " THEN " + c.Then[i].String())
	}
	if c.Else != nil {
		s.WriteString(" ELSE " + c.Else.String())
	}
	return s.String() + " END"
}

// Type is BOOLEAN.
func (c *In) Type() vector.Type { return vector.BoolType }

// Nullable is true when the value or a member of the list may be NULL.
func (c *In) Nullable() bool {
	if c.Arg.Nullable() {
		return true
	}
	for _, x := range c.List {
		if x.Nullable() {
			return true
		}
	}
	return false
}

func (c *In) String() string {
	op := " IN ("
	if c.Not {
		op = " NOT IN ("
	}
	list := join(c.List)
	if c.Values != nil {
		if list != "" {
			list += ","
		}
		list += strconv.Itoa(c.Count) + " values"
	}
	return c.Arg.String() + op + list + ")"
}

// IsConst reports whether e is a constant.
func IsConst(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}

// Int makes a BIGINT constant.
func Int(x int64) *Const { return &Const{Value: vector.ConstInt(vector.Int64Type, x)} }

// Text makes a STRING constant.
func Text(s string) *Const { return &Const{Value: vector.ConstString(s)} }

// Null makes a NULL of a type.
func Null(t vector.Type) *Const { return &Const{Value: vector.ConstNull(t)} }
