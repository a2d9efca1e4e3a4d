package pgwire

import (
	"fmt"
	"strings"

	"varve/sqlexec/parse"
)

// vectors are the columns of the catalog that are lists of numbers which clients read as texts such as "1 2", whose
// elements count from 0. All other lists count from 1. listCalls are the functions that take one as a list.
var vectors, listCalls = map[string]bool{}, map[string]bool{}

func init() {
	for _, name := range strings.Fields("indkey indclass indcollation indoption i_indoption partattrs partclass proargtypes") {
		vectors[name] = true
	}
	for _, name := range strings.Fields(`unnest generate_subscripts _pg_expandarray cardinality array_length array_upper
		array_lower array_position array_to_string array_contains`) {
		listCalls[name] = true
	}
}

// itemsOf is a list, or the list of a text of the catalog.
func itemsOf(x parse.Expr) parse.Expr {
	if !fromZero(x) {
		return x
	}
	at := parse.Node{At: x.Position()}
	numbers := parse.DataType{At: at.At, Name: "BIGINT", IsArray: true}
	return &parse.Cast{Node: at, X: callOf(at, "string_to_array", x, textOf(at, " ")), Type: numbers}
}

// fromZero reports whether the elements of a list count from 0.
func fromZero(x parse.Expr) bool {
	for c, ok := x.(*parse.Cast); ok; c, ok = x.(*parse.Cast) {
		x = c.X
	}
	c, ok := x.(*parse.Column)
	return ok && vectors[strings.ToLower(c.Parts[len(c.Parts)-1].Name)]
}

func callOf(at parse.Node, name string, args ...parse.Expr) *parse.Call {
	return &parse.Call{Node: at, Name: name, Args: args}
}

// lists adds the functions that take lists of the catalog apart.
func lists() {
	catalogCalls["generate_subscripts"] = func(_ *conn, c *parse.Call) parse.Expr {
		if len(c.Args) != 2 {
			return nil
		}
		return subscripts(c.Node, itemsOf(c.Args[0]), fromZero(c.Args[0]))
	}
	bound := func(c *parse.Call, first bool) parse.Expr {
		if len(c.Args) != 2 {
			return nil
		}
		zero, list := fromZero(c.Args[0]), itemsOf(c.Args[0])
		if first {
			return &parse.Case{Node: c.Node, Whens: []parse.When{{If: &parse.Binary{Node: c.Node, Op: ">",
				L: callOf(c.Node, "cardinality", list), R: numberOf(c.Node, "0")},
				Then: numberOf(c.Node, map[bool]string{true: "0", false: "1"}[zero])}}}
		}
		last := parse.Expr(callOf(c.Node, "array_length", list, numberOf(c.Node, "1")))
		if zero {
			last = &parse.Binary{Node: c.Node, Op: "-", L: last, R: numberOf(c.Node, "1")}
		}
		return last
	}
	catalogCalls["array_lower"] = func(_ *conn, c *parse.Call) parse.Expr { return bound(c, true) }
	catalogCalls["array_upper"] = func(_ *conn, c *parse.Call) parse.Expr { return bound(c, false) }
}

// series makes rows of the numbers or times of generate_series where it is an item of a SELECT: it is a list there.
func series(s *parse.Select) {
	for i := range s.Items {
		c, ok := s.Items[i].X.(*parse.Call)
		if !ok || c.Name != "generate_series" {
			continue
		}
		if s.Items[i].X = callOf(c.Node, "unnest", c); s.Items[i].Alias == nil {
			s.Items[i].Alias = &parse.Ident{Name: c.Name, At: c.At}
		}
	}
}

// subscripts are the numbers of the elements of a list, as rows.
func subscripts(at parse.Node, list parse.Expr, zero bool) parse.Expr {
	first, last := "1", parse.Expr(callOf(at, "cardinality", list))
	if zero {
		first, last = "0", &parse.Binary{Node: at, Op: "-", L: last, R: numberOf(at, "1")}
	}
	return callOf(at, "unnest", callOf(at, "generate_series", numberOf(at, first), last))
}

// index is x[i], whose elements count from 1 in our SQL.
func index(x *parse.Index) parse.Expr {
	if fromZero(x.X) {
		x.X = itemsOf(x.X)
		x.I = &parse.Binary{Node: x.Node, Op: "+", L: x.I, R: numberOf(x.Node, "1")}
	}
	return x
}

// expanded are the calls of information_schema._pg_expandarray in a text. One makes a row (x, n) of each element of a
// list and its number. What stands for the call is x; its field n is known where it is asked of the call itself.
type expanded map[parse.Expr]parse.Expr // the list of what stands for a call

// call is what stands for a call.
func (e expanded) call(c *parse.Call) parse.Expr {
	if c.Name != "_pg_expandarray" || len(c.Args) != 1 {
		return c
	}
	list := itemsOf(c.Args[0])
	x := callOf(c.Node, "unnest", list)
	e[x] = list
	return x
}

// rightFields are the fields of the rows of aclexplode, of which there are none, with their types.
var rightFields = map[string]string{"grantor": "INT UNSIGNED", "grantee": "INT UNSIGNED", "privilege_type": "STRING",
	"is_grantable": "BOOLEAN"}

// field is (x).name.
func (e expanded) field(x parse.Expr, name string) (parse.Expr, error) {
	list, made := e[x]
	switch {
	case name == "x":
		return x, nil
	case name == "n" && made:
		return subscripts(parse.Node{At: x.Position()}, list, false), nil
	case rightFields[name] != "":
		at := parse.Node{At: x.Position()}
		return &parse.Cast{Node: at, X: &parse.Literal{Node: at, Kind: parse.NullLiteral},
			Type: sqlType(at, rightFields[name])}, nil
	}
	return nil, fail("0A000", fmt.Sprintf("field %q of an expression is not supported", name))
}
