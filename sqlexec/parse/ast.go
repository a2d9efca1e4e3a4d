package parse

import "strings"

// Node is what every part of the tree has: its place in the text.
type Node struct{ At Pos }

// Position is where the node begins.
func (n Node) Position() Pos { return n.At }

// Ident is one identifier: folded to lower case unless quoted.
type Ident struct {
	Name  string
	Quote byte // 0, '"', '`' or '\''
	At    Pos
}

// Name is a dotted name, one to three identifiers for tables and up to four for columns.
type Name []Ident

// String is the name with dots, unquoted.
func (n Name) String() string {
	parts := make([]string, len(n))
	for i, id := range n {
		parts[i] = id.Name
	}
	return strings.Join(parts, ".")
}

// Expr is an expression.
type Expr interface {
	Position() Pos
	expr()
}

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The kinds of literal. Text of a Literal is the value for strings, the text as written for numbers, digits for hex.
const (
	NullLiteral LiteralKind = iota
	TrueLiteral
	FalseLiteral
	NumberLiteral
	StringLiteral
	HexLiteral
)

type (
	// Literal is a constant as written.
	Literal struct {
		Node
		Kind LiteralKind
		Text string
	}
	// Column is a name in an expression: column, table.column, db.table.column.
	Column struct {
		Node
		Parts Name
	}
	// Unary is -x, +x, ~x or not x.
	Unary struct {
		Node
		Op string
		X  Expr
	}
	// Binary is x op y. Op is lower case: "+", "and", "is distinct from", "~*", "@@".
	Binary struct {
		Node
		Op   string
		L, R Expr
	}
	// Is is x IS [NOT] {NULL|TRUE|FALSE|UNKNOWN}; What is the lower-case word.
	Is struct {
		Node
		X    Expr
		What string
		Not  bool
	}
	// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
	Between struct {
		Node
		X, Lo, Hi Expr
		Not       bool
		Symmetric bool // the ends may stand in either order
	}
	// In is x [NOT] IN (list) or (query): exactly one of List and Query is set.
	In struct {
		Node
		X     Expr
		List  []Expr
		Query *Query
		Not   bool
	}
	// Like is x [NOT] LIKE|ILIKE|SIMILAR TO pattern [ESCAPE c].
	Like struct {
		Node
		X, Pattern Expr
		Op         string // "like", "ilike", "similar to"
		Not        bool
		Escape     string // "" is the backslash
	}
	// Exists is [NOT] EXISTS (query); NOT is a Unary around it.
	Exists struct {
		Node
		Query *Query
	}
	// Quantified is x op ANY|ALL (query) or (list): exactly one of List and Query is set. Op is a comparison, or
	// "like", "ilike" or "similar to", with "not " before it. An array in the list stands for its elements.
	Quantified struct {
		Node
		X     Expr
		Op    string
		All   bool
		List  []Expr
		Query *Query
	}
	// All is the word ALL in GROUP BY ALL and ORDER BY ALL.
	All struct{ Node }
	// Subquery is a scalar subquery.
	Subquery struct {
		Node
		Query *Query
	}
	// When is one arm of a CASE.
	When struct{ If, Then Expr }
	// Case is CASE [operand] WHEN .. END.
	Case struct {
		Node
		Operand Expr
		Whens   []When
		Else    Expr
	}
	// Cast is CAST(x AS T), x::T, TRY_CAST(x AS T) or T 'text'.
	Cast struct {
		Node
		X    Expr
		Type DataType
		Try  bool
	}
	// Interval is an interval literal: its words, e.g. "1 day 2 hours".
	Interval struct {
		Node
		Text string
	}
	// Array is ARRAY[..] or [..].
	Array struct {
		Node
		Items []Expr
	}
	// Index is x[i].
	Index struct {
		Node
		X, I Expr
	}
	// Tuple is (a, b, ..).
	Tuple struct {
		Node
		Items []Expr
	}
	// Struct is {'k': v, ..}.
	Struct struct {
		Node
		Keys  []string
		Items []Expr
	}
	// Default is the word DEFAULT in VALUES.
	Default struct{ Node }
	// AtTimeZone is x AT TIME ZONE zone.
	AtTimeZone struct {
		Node
		X, Zone Expr
	}
	// Range is agg RANGE 'dur' [FILL f] of a range query.
	Range struct {
		Node
		X    Expr
		Span Expr // a string Literal or an expression in parentheses
		Fill *Fill
	}
	// Lambda is x -> body, (x, y) -> body or lambda x, y: body, an argument of some functions.
	Lambda struct {
		Node
		Params []Ident
		Body   Expr
	}
	// Columns is COLUMNS(..). It stands for the columns of a star, one after the other. Match, if not nil, chooses some
	// of them: a regular expression (a Literal) for their names, a list of names (an Array), or a Lambda of a name.
	Columns struct {
		Node
		Star  *Star
		Match Expr
	}
	// Call is a function, aggregate or window function call.
	Call struct {
		Node
		Name     string // lower case
		Args     []Expr
		Star     bool // count(*)
		Distinct bool
		OrderBy  []OrderItem // inside the parentheses or WITHIN GROUP
		Within   bool        // OrderBy came from WITHIN GROUP
		Filter   Expr
		// IgnoreNulls is IGNORE NULLS of window functions.
		IgnoreNulls bool
		Over        *Window
		// NoParens is a function written without parentheses: current_timestamp.
		NoParens bool
		// Outer marks an aggregate of an outer query. The grammar never sets it; the binder does, because it knows the
		// columns.
		Outer bool
	}
)

// Window is OVER name or OVER (spec).
type Window struct {
	At        Pos
	Ref       string // a named window, alone or as base
	Partition []Expr
	OrderBy   []OrderItem
	Frame     *Frame
}

// Frame is a window frame.
type Frame struct {
	Mode     string // rows, range, groups
	From, To Bound
	// Exclude is what EXCLUDE takes out: "", "current row", "group" or "ties".
	Exclude string
}

// Bound is one end of a frame.
type Bound struct {
	Kind string // "unbounded preceding", "preceding", "current row", "following", "unbounded following"
	N    Expr
}

// Fill is FILL NULL|PREV|LINEAR|constant of a range query.
type Fill struct {
	Kind  string // null, prev, linear, value
	Value Expr
}

func (*Literal) expr()    {}
func (*Column) expr()     {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*Is) expr()         {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Like) expr()       {}
func (*Exists) expr()     {}
func (*Quantified) expr() {}
func (*Subquery) expr()   {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
func (*Interval) expr()   {}
func (*Array) expr()      {}
func (*Index) expr()      {}
func (*Tuple) expr()      {}
func (*Struct) expr()     {}
func (*Default) expr()    {}
func (*All) expr()        {}
func (*AtTimeZone) expr() {}
func (*Range) expr()      {}
func (*Call) expr()       {}
func (*Lambda) expr()     {}
func (*Columns) expr()    {}

// OrderItem is one key of an ORDER BY.
type OrderItem struct {
	X    Expr
	Desc bool
	// Nulls is "first", "last" or "" for the default: last ascending, first descending.
	Nulls string
}

// NullsFirst is the position of NULLs.
func (o OrderItem) NullsFirst() bool { return o.Nulls == "first" || o.Nulls == "" && o.Desc }

// Query is a SELECT with what surrounds it.
type Query struct {
	Node
	With      []CTE
	Recursive bool
	Body      Body
	OrderBy   []OrderItem
	Limit     Expr // nil: none, also LIMIT ALL
	Offset    Expr
}

// CTE is one common table expression; exactly one of Query and TQL is set.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
	TQL     *TQL
	// Materialized is the hint between AS and the query: "", "materialized" or "not materialized".
	Materialized string
}

// Body is the middle of a query: *Select, *SetOp, *Values or *Query in parentheses.
type Body interface{ body() }

func (*Select) body() {}
func (*SetOp) body()  {}
func (*Values) body() {}
func (*Query) body()  {}

// SetOp is UNION, EXCEPT or INTERSECT.
type SetOp struct {
	Node
	Op  string // union, except, intersect
	All bool
	// ByName matches the columns of a union by their names.
	ByName bool
	L, R   Body
}

// Values is VALUES (..), (..).
type Values struct {
	Node
	Rows [][]Expr
}

// Select is one SELECT block.
type Select struct {
	Node
	Distinct   bool
	DistinctOn []Expr
	Items      []SelectItem
	From       []TableRef
	Where      Expr
	GroupBy    []GroupItem
	Having     Expr
	Windows    []NamedWindow
	Qualify    Expr
	Align      *Align
}

// SelectItem is an expression with an optional alias, or a star.
type SelectItem struct {
	X     Expr   // nil for a star
	Alias *Ident // nil: none
	Star  *Star
}

// Star is * or t.* with its modifiers.
type Star struct {
	At      Pos
	Table   Name // empty: all tables
	Exclude []Ident
	Replace []SelectItem
	Rename  []SelectItem // X is the column, Alias its new name
}

// GroupItem is an element of GROUP BY. Sets has the grouping sets of ROLLUP, CUBE and GROUPING SETS; nil for a plain
// expression.
type GroupItem struct {
	X    Expr
	Kind string // "", "rollup", "cube", "grouping sets"
	Sets [][]Expr
	// Nested[i] is the element in place of set i, such as a ROLLUP inside GROUPING SETS; nil for a plain set.
	Nested []*GroupItem
}

// NamedWindow is WINDOW w AS (..).
type NamedWindow struct {
	Name   Ident
	Window *Window
}

// Align is the ALIGN clause of a range query.
type Align struct {
	At   Pos
	Step Expr
	To   Expr   // nil: default
	By   []Expr // with HasBy
	// HasBy tells BY () from no BY.
	HasBy bool
	Fill  *Fill
}

// TableRef is an element of FROM: *Table, *Derived, *TableFunc, *Join, *Pivot, *Unpivot or *Summary.
type TableRef interface{ tableRef() }

// Alias names a table of FROM and, at will, its columns.
type Alias struct {
	Name    Ident
	Columns []Ident
}

type (
	// Table is a table, view or CTE by name.
	Table struct {
		Node
		Name  Name
		Alias *Alias
	}
	// Derived is a subquery in FROM.
	Derived struct {
		Node
		Query   *Query
		Lateral bool
		Alias   *Alias
	}
	// TableFunc is a function in FROM: generate_series(..), unnest(..).
	TableFunc struct {
		Node
		Call  *Call
		Alias *Alias
		// Ordinality is WITH ORDINALITY: a further column has the number of each row, from 1.
		Ordinality bool
	}
	// Join joins two table references.
	Join struct {
		Node
		Kind    JoinKind
		L, R    TableRef
		On      Expr
		Using   []Ident
		Natural bool
	}
)

func (*Table) tableRef()     {}
func (*Derived) tableRef()   {}
func (*TableFunc) tableRef() {}
func (*Join) tableRef()      {}
