package pgwire

import (
	"strings"

	"varve/sqlexec/parse"
)

// beside gives parameters directly inside an expression the type that the rest of it says.
func (f *inference) beside(x parse.Expr, sc *scope) {
	switch x := x.(type) {
	case *parse.Binary:
		f.binary(x, sc)
	case *parse.Unary:
		if x.Op == "not" {
			f.put(x.X, oidBool)
		} else {
			f.put(x.X, oidFloat8)
		}
	case *parse.Between:
		for _, end := range []parse.Expr{x.Lo, x.Hi} {
			f.spanBeside(end, x.X, sc)
		}
		f.alike(sc, x.X, x.Lo, x.Hi)
	case *parse.In:
		f.alike(sc, append([]parse.Expr{x.X}, x.List...)...)
		for _, item := range x.List {
			f.tuples(x.X, item, sc)
		}
	case *parse.Array:
		f.alike(sc, x.Items...)
	case *parse.Quantified:
		for _, item := range x.List {
			if n, ok := f.open(item); ok {
				if list := arrays[f.typeOf(x.X, sc)]; list != 0 {
					f.is(n, list)
				}
			}
		}
	case *parse.Case:
		f.cases(x, sc)
	case *parse.Call:
		f.call(x, sc)
	case *parse.Cast:
		if n, ok := f.open(x.X); ok {
			if t, err := x.Type.Resolve(); err == nil {
				f.is(n, oidAs(t, f.catalog))
			}
		}
	}
}

// put gives a parameter a type; other expressions stay.
func (f *inference) put(x parse.Expr, oid uint32) {
	if n, ok := f.open(x); ok && oid != 0 {
		f.is(n, oid)
	}
}

// alike gives the parameters among expressions of one type the type of the first of the others that says it.
func (f *inference) alike(sc *scope, list ...parse.Expr) {
	var open []parse.Expr
	for _, x := range list {
		if _, ok := f.open(x); ok {
			open = append(open, x)
		}
	}
	if len(open) == 0 {
		return
	}
	for _, x := range list {
		if oid := f.typeOf(x, sc); oid != 0 {
			for _, one := range open {
				f.put(one, oid)
			}
			return
		}
	}
}

// binary looks at an operator with a parameter on one side.
func (f *inference) binary(x *parse.Binary, sc *scope) {
	if isComparison(x.Op) {
		f.tuples(x.L, x.R, sc)
		f.spanBeside(x.L, x.R, sc)
		f.spanBeside(x.R, x.L, sc)
	}
	for _, pair := range [][2]parse.Expr{{x.L, x.R}, {x.R, x.L}} {
		n, ok := f.open(pair[0])
		if !ok {
			continue
		}
		switch x.Op {
		case "and", "or":
			f.is(n, oidBool)
			continue
		case "~", "~*", "!~", "!~*", "->", "->>":
			f.is(n, oidText)
			continue
		}
		if oid := operandOf(x.Op, f.typeOf(pair[1], sc)); oid != 0 {
			f.is(n, oid)
		}
	}
}

// operandOf is the type of an operand that is not known beside one of a known type.
func operandOf(op string, sibling uint32) uint32 {
	switch op {
	case "+":
		switch sibling {
		case oidTimestampTZ, oidDate, oidTime:
			return oidInterval
		}
	case "*", "/":
		if sibling == oidInterval {
			return oidFloat8
		}
	case "||":
		if elements[sibling] == 0 && sibling != oidBytea {
			return oidText
		}
	case "<<", ">>":
		return oidInt4
	}
	return sibling
}

func isComparison(op string) bool {
	switch op {
	case "=", "==", "<>", "!=", "<", "<=", ">", ">=", "is distinct from", "is not distinct from":
		return true
	}
	return false
}

// spanBeside makes the parameter of ts > now() - $1 an interval: a time is compared with a time. Alone, now() - $1 is
// the difference of two times.
func (f *inference) spanBeside(x, other parse.Expr, sc *scope) {
	b, ok := x.(*parse.Binary)
	if !ok || b.Op != "-" {
		return
	}
	if n, ok := f.open(b.R); ok && isTime(f.typeOf(b.L, sc)) && isTime(f.typeOf(other, sc)) {
		f.is(n, oidInterval)
	}
}

// tuples gives parameters in a tuple the types of what has their place in another one.
func (f *inference) tuples(x, other parse.Expr, sc *scope) {
	a, ok := x.(*parse.Tuple)
	b, both := other.(*parse.Tuple)
	if !ok || !both || len(a.Items) != len(b.Items) {
		return
	}
	for i := range a.Items {
		f.alike(sc, a.Items[i], b.Items[i])
	}
}

func isTime(oid uint32) bool { return oid == oidTimestampTZ || oid == oidDate }

// cases looks at the parameters of a CASE.
func (f *inference) cases(x *parse.Case, sc *scope) {
	results, compared := resultsOf(x), []parse.Expr{}
	for _, w := range x.Whens {
		if compared = append(compared, w.If); x.Operand == nil {
			f.put(w.If, oidBool)
		}
	}
	f.alike(sc, results...)
	if x.Operand != nil {
		f.alike(sc, append(compared, x.Operand)...)
	}
}

// resultsOf are the values that a CASE may have.
func resultsOf(x *parse.Case) []parse.Expr {
	list := make([]parse.Expr, 0, len(x.Whens)+1)
	for _, w := range x.Whens {
		list = append(list, w.Then)
	}
	if x.Else != nil {
		list = append(list, x.Else)
	}
	return list
}

// alikeCalls are functions whose arguments have one type; floatCalls those of numbers, which are float8 where nothing
// says more.
var alikeCalls, floatCalls = map[string]bool{}, map[string]bool{}

// countCalls are functions whose arguments are whole numbers from the given place on.
var countCalls = map[string]int{"nth_value": 1, "ntile": 0, "substr": 1, "substring": 1, "left": 1, "right": 1,
	"repeat": 1, "split_part": 2, "chr": 0}

func init() {
	for _, name := range strings.Fields("coalesce greatest least nullif ifnull nvl mod gcd lcm") {
		alikeCalls[name] = true
	}
	for _, name := range strings.Fields(`abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log2 log10 power
		pow sin cos tan cot asin acos atan atan2 sinh cosh tanh degrees radians to_timestamp
		percentile_cont percentile_disc approx_percentile_cont approx_percentile_cont_with_weight`) {
		floatCalls[name] = true
	}
}

// call looks at the arguments of a function.
func (f *inference) call(c *parse.Call, sc *scope) {
	from, counts := countCalls[c.Name]
	switch {
	case counts && from < len(c.Args):
		for _, x := range c.Args[from:] {
			f.put(x, oidInt8)
		}
	case alikeCalls[c.Name]:
		f.alike(sc, c.Args...)
	case c.Name == "to_timestamp" && len(c.Args) == 2 || c.Name == "to_date":
		for _, x := range c.Args {
			f.put(x, oidText)
		}
	case floatCalls[c.Name]:
		for _, x := range c.Args {
			f.put(x, oidFloat8)
		}
	case (c.Name == "date_trunc" || c.Name == "date_part") && len(c.Args) > 1:
		f.put(c.Args[1], oidTimestampTZ)
	case c.Name == "generate_series":
		f.series(c, sc)
	case c.Name == "width_bucket":
		for i, x := range c.Args {
			f.put(x, map[bool]uint32{true: oidInt8, false: oidFloat8}[i == 3])
		}
	case c.Name == "lag" || c.Name == "lead":
		if len(c.Args) > 2 {
			f.alike(sc, c.Args[0], c.Args[2])
		}
		if len(c.Args) > 1 {
			f.put(c.Args[1], oidInt8)
		}
	case c.Name == "date_bin":
		for i, x := range c.Args {
			f.put(x, map[bool]uint32{true: oidInterval, false: oidTimestampTZ}[i == 0])
		}
	}
}

// series looks at the arguments of generate_series: two times and an interval, or whole numbers.
func (f *inference) series(c *parse.Call, sc *scope) {
	between := c.Args[:min(len(c.Args), 2)]
	f.alike(sc, between...)
	if len(c.Args) == 3 && f.typeOf(c.Args[2], sc) == oidInterval {
		f.put(c.Args[0], oidTimestampTZ)
		f.put(c.Args[1], oidTimestampTZ)
	}
	for _, x := range between {
		if isTime(f.typeOf(x, sc)) || f.isMark(x, oidTimestampTZ) {
			for _, step := range c.Args[len(between):] {
				f.put(step, oidInterval)
			}
		}
	}
	for _, x := range c.Args {
		f.put(x, oidInt8)
	}
}

// isMark reports whether an expression is a parameter of a type.
func (f *inference) isMark(x parse.Expr, oid uint32) bool {
	n, ok := f.marks[x]
	return ok && f.types[n-1] == oid
}

// typeOf is the type of an expression over tables; 0: it is not known. Of a row of operators whose last operand is a
// parameter it is that of the rest: each parameter of a + $1 + $2 .. looks at a.
func (f *inference) typeOf(x parse.Expr, sc *scope) uint32 {
	for {
		b, ok := x.(*parse.Binary)
		if !ok || !strings.Contains("+-*/%||", b.Op) {
			break
		}
		if _, mark := f.marks[b.R]; !mark {
			break
		}
		x = b.L
	}
	switch x := x.(type) {
	case nil:
		return 0
	case *parse.Literal:
		if x.Kind == parse.NullLiteral || x.Kind == parse.StringLiteral { // says nothing, as a parameter
			return 0
		}
	}
	text := parse.PrintExpr(x)
	oid, ok := sc.known[text]
	if !ok {
		oid = f.describe(x, sc)
		sc.known[text] = oid
	}
	return oid
}

// describe asks for the type of an expression.
func (f *inference) describe(x parse.Expr, sc *scope) uint32 {
	q := &parse.Query{With: sc.with, Body: &parse.Select{Items: []parse.SelectItem{{X: x}}, From: sc.from}}
	fields, err := f.k.s.o.Executor.Describe(f.ctx, f.k.session, &parse.SelectStmt{Query: q})
	if err != nil || len(fields) != 1 {
		return 0
	}
	return oidAs(fields[0].Type, f.catalog)
}
