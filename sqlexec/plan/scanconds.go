package plan

import (
	"maps"
	"math"
	"slices"

	"varve/engine/filter"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// pushScan moves into a scan what it can decide itself and leaves the rest as its residual.
func (o *optimizer) pushScan(n *Scan, conds []expr.Expr) Node {
	s := *n
	s.Filter, s.Residual, s.Equal = slices.Clip(n.Filter), slices.Clip(n.Residual), maps.Clone(n.Equal)
	for _, c := range conds {
		if k, ok := c.(*expr.Const); ok {
			if k.Value.IsNull(0) || !k.Value.Bool(0) {
				s.Never = true
			}
			continue
		}
		if s.Rel.Table == nil {
			o.virtualCond(&s, c)
			continue
		}
		if !o.pushCond(&s, c) {
			s.Residual = append(s.Residual, c)
		}
	}
	return &s
}

// virtualCond keeps a condition as residual and notes column = 'text', which virtual tables use.
func (o *optimizer) virtualCond(s *Scan, c expr.Expr) {
	s.Residual = append(s.Residual, c)
	col, op, value, ok := columnOpConst(c)
	if ok && op == expr.Equal && value.Type.IsText() && !value.IsNull(0) {
		if s.Equal == nil {
			s.Equal = map[string]string{}
		}
		s.Equal[s.Cols[col.Index].Name] = string(value.Bytes(0))
	}
}

// textOnly are the operators that runs evaluate on STRING columns.
var textOnly = map[filter.Op]bool{filter.Like: true, filter.NotLike: true, filter.ILike: true, filter.NotILike: true,
	filter.Regex:    true,
	filter.NotRegex: true, filter.Term: true, filter.Prefix: true, filter.Contains: true}

// negations are the negative operators of those that SQL negates by a NOT around the condition. Neither operator holds
// for NULL.
var negations = map[filter.Op]filter.Op{filter.Term: filter.NotTerm, filter.Contains: filter.NotContains,
	filter.Prefix: filter.NotPrefix,
	filter.Like:   filter.NotLike, filter.ILike: filter.NotILike, filter.Regex: filter.NotRegex}

// pushCond moves one condition into the scan; false when the scan cannot decide it exactly.
func (o *optimizer) pushCond(s *Scan, c expr.Expr) bool {
	in, isIn := c.(*expr.In)
	if op, _ := operator(c); op == expr.Or { // a = 1 OR a = 2
		in, isIn = oneOf(c)
	}
	if isIn {
		if done := s.decideIn(in); done {
			return true
		}
	}
	if col, op, value, ok := columnOpConst(c); ok && !value.IsNull(0) && value.Type == col.T &&
		s.Positions[col.Index] == s.Rel.Table.Schema.Time && s.narrow(op, value.Int(0)) {
		return true
	}
	f, ok := s.condOf(c)
	if !ok {
		return false
	}
	s.Filter = append(s.Filter, f)
	return true
}

// condOf returns a condition as runs evaluate it: the rows for which it is true.
func (s *Scan) condOf(c expr.Expr) (filter.Cond, bool) {
	switch c := c.(type) {
	case *expr.Column: // a BOOLEAN column alone
		return s.boolean(c, true), true
	case *expr.In:
		return s.inOf(c)
	}
	op, args := operator(c)
	switch {
	case op == expr.Or:
		if in, ok := oneOf(c); ok {
			if f, ok := s.inOf(in); ok {
				return f, true
			}
		}
		return s.anyOf(args)
	case len(args) == 1:
		col, ok := args[0].(*expr.Column)
		switch {
		case ok && op == expr.IsNull:
			return filter.Cond{Column: s.columnID(col), Op: filter.IsNull}, true
		case ok && op == expr.IsNotNull:
			return filter.Cond{Column: s.columnID(col), Op: filter.IsNotNull}, true
		case ok && op == expr.Not && col.T == vector.BoolType:
			return s.boolean(col, false), true
		case op == expr.Not:
			f, ok := s.comparisonOf(args[0])
			f.Op = negations[f.Op]
			return searches(f), ok && f.Op != 0
		}
		return filter.Cond{}, false
	}
	f, ok := s.comparisonOf(c)
	return searches(f), ok
}

func (s *Scan) columnID(c *expr.Column) schema.ColumnID {
	return s.Rel.Table.Schema.Columns[s.Positions[c.Index]].ID
}

func (s *Scan) boolean(c *expr.Column, want bool) filter.Cond {
	return filter.Cond{Column: s.columnID(c), Op: filter.Equal, Args: flat(vector.ConstBool(want)), NArgs: 1}
}

// comparisonOf takes column op constant.
func (s *Scan) comparisonOf(c expr.Expr) (f filter.Cond, ok bool) {
	col, op, value, ok := columnOpConst(c)
	if !ok {
		return s.loweredOf(c)
	}
	if value.IsNull(0) || value.Type != col.T {
		return f, false
	}
	fop, value := op.Filter(value)
	if fop == 0 || textOnly[fop] && !col.T.IsText() ||
		!orderable(col.T) && fop != filter.Equal && fop != filter.NotEqual {
		return f, false
	}
	return filter.Cond{Column: s.columnID(col), Op: fop, Args: flat(value), NArgs: 1}, true
}

// searches takes a regular expression that is a choice among texts apart: searches for them need no decoded text.
func searches(f filter.Cond) filter.Cond {
	op := map[filter.Op]filter.Op{filter.Regex: filter.Contains, filter.NotRegex: filter.NotContains}[f.Op]
	if op == 0 || f.Lower {
		return f
	}
	texts, ok := filter.Texts(string(f.Args.Bytes(0)))
	if !ok {
		return f
	}
	var all filter.And
	for _, text := range texts {
		all = append(all, filter.Cond{Column: f.Column, Op: op, Args: flat(vector.ConstBytes(f.Args.Type, text)),
			NArgs: 1})
	}
	if len(all) == 1 {
		return all[0]
	}
	if op == filter.NotContains {
		return filter.Cond{Op: filter.AnyOf, Any: []filter.And{all}}
	}
	any := filter.Cond{Op: filter.AnyOf}
	for _, one := range all {
		any.Any = append(any.Any, filter.And{one})
	}
	return any
}

// loweredOf takes lower(column) op constant: a search without regard to case.
func (s *Scan) loweredOf(c expr.Expr) (f filter.Cond, ok bool) {
	op, args := operator(c)
	if len(args) != 2 {
		return f, false
	}
	fn, of := operator(args[0])
	k, isConst := args[1].(*expr.Const)
	if fn != expr.Lower || len(of) != 1 || !isConst || k.Value.IsNull(0) {
		return f, false
	}
	col, isColumn := of[0].(*expr.Column)
	if !isColumn || !col.T.IsText() || k.Value.Type != col.T {
		return f, false
	}
	switch fop, value := op.Filter(k.Value); fop {
	case filter.Equal, filter.NotEqual, filter.Like, filter.NotLike, filter.Regex, filter.NotRegex, filter.Term,
		filter.Prefix, filter.Contains:
		return filter.Cond{Column: s.columnID(col), Op: fop, Args: flat(value), NArgs: 1, Lower: true}, true
	}
	return f, false
}

// anyOf takes the operands of an OR, each a conjunction of conditions; false when runs cannot evaluate one of them.
func (s *Scan) anyOf(operands []expr.Expr) (f filter.Cond, ok bool) {
	f.Op = filter.AnyOf
	for len(operands) > 0 {
		c := operands[0]
		operands = operands[1:]
		op, args := operator(c)
		if op == expr.Or {
			operands = append(args[:len(args):len(args)], operands...)
			continue
		}
		var and filter.And
		for _, x := range splitAnd(c, nil) {
			one, ok := s.condOf(x)
			if !ok {
				return f, false
			}
			and = append(and, one)
		}
		f.Any = append(f.Any, and)
	}
	return f, true
}

// oneOf returns an OR of equalities of one column with constants as a list.
func oneOf(c expr.Expr) (*expr.In, bool) {
	in := &expr.In{}
	for rest := []expr.Expr{c}; len(rest) > 0; {
		e := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		var arg expr.Expr
		if op, args := operator(e); op == expr.Or {
			rest = append(rest, args...)
			continue
		}
		if list, ok := e.(*expr.In); ok && !list.Not && list.Values == nil {
			arg = list.Arg
			in.List = append(in.List, list.List...)
		} else {
			col, op, value, ok := columnOpConst(e)
			if !ok || op != expr.Equal || value.Type != col.T {
				return nil, false
			}
			arg = col
			in.List = append(in.List, &expr.Const{Value: value})
		}
		if in.Arg != nil && !equal(in.Arg, arg) {
			return nil, false
		}
		in.Arg = arg
	}
	return in, true
}

// orderable reports whether runs compare values of the type as the executor does.
func orderable(t vector.Type) bool {
	switch t.ID {
	case vector.TypeInterval, vector.TypeDecimal, vector.TypeJSON, vector.TypeList, vector.TypeNull:
		return false
	}
	return true
}

// narrow cuts the time range by a comparison of the time index with a count of its unit; false when the operator is
// no range.
func (s *Scan) narrow(op expr.Op, v int64) bool {
	from, to := s.Time.From, s.Time.To
	switch op {
	case expr.Equal:
		from, to = max(from, v), min(to, v)
	case expr.Less:
		if v == math.MinInt64 {
			s.Never = true
			return true
		}
		to = min(to, v-1)
	case expr.LessEqual:
		to = min(to, v)
	case expr.Greater:
		if v == math.MaxInt64 {
			s.Never = true
			return true
		}
		from = max(from, v+1)
	case expr.GreaterEqual:
		from = max(from, v)
	default:
		return false
	}
	s.Time.From, s.Time.To = from, to
	s.Never = s.Never || from > to
	return true
}

// flat turns a Const vector of one row into a Flat vector, as filters require.
func flat(v *vector.Vector) *vector.Vector {
	f := &vector.Vector{Type: v.Type}
	f.Append(0, v, 0, 1)
	return f
}

// decideIn cuts the time range by a list on the time index, and decides lists that let no row pass; false when rows
// must be looked at. A NULL in the list lets IN pass the same rows and NOT IN none.
func (s *Scan) decideIn(in *expr.In) bool {
	col, ok := in.Arg.(*expr.Column)
	if !ok || !orderable(col.T) {
		return false
	}
	args, hasNull, ok := inArgs(in, col.T)
	if !ok {
		return false
	}
	n := args.n
	if in.Not && hasNull || !in.Not && n == 0 {
		s.Never = true
		return true
	}
	if s.Positions[col.Index] == s.Rel.Table.Schema.Time && !in.Not { // the range prunes, the list decides
		s.narrow(expr.GreaterEqual, args.v.Ints[0])
		s.narrow(expr.LessEqual, args.v.Ints[n-1])
	}
	return false
}

// inOf takes column IN (constants).
func (s *Scan) inOf(in *expr.In) (f filter.Cond, ok bool) {
	col, ok := in.Arg.(*expr.Column)
	if !ok || !orderable(col.T) {
		return f, false
	}
	args, hasNull, ok := inArgs(in, col.T)
	if !ok || args.n == 0 || in.Not && hasNull {
		return f, false
	}
	f = filter.Cond{Column: s.columnID(col), Op: filter.In, Args: args.v, NArgs: args.n}
	switch one := f.NArgs == 1; { // a list with one element is compared faster as a constant
	case one && in.Not:
		f.Op = filter.NotEqual
	case one:
		f.Op = filter.Equal
	case in.Not:
		f.Op = filter.NotIn
	}
	return f, true
}

// sorted is a Flat vector with rising values.
type sorted struct {
	v *vector.Vector
	n int
}

// inArgs returns the constants of a list sorted, without NULL and repetitions; ok false when one is of another type.
func inArgs(in *expr.In, t vector.Type) (args sorted, hasNull, ok bool) {
	all := &vector.Vector{Type: t}
	n := 0
	for _, e := range in.List {
		c, isConst := e.(*expr.Const)
		if !isConst || c.Value.Type != t {
			return args, false, false
		}
		if c.Value.IsNull(0) {
			hasNull = true
			continue
		}
		all.Append(n, c.Value, 0, 1)
		n++
	}
	if in.Values != nil {
		if in.Values.Type != t {
			return args, false, false
		}
		if n == 0 {
			return sorted{in.Values, in.Count}, hasNull, true
		}
		all.Append(n, in.Values, 0, in.Count)
		n += in.Count
	}
	return sortValues(all, n), hasNull, true
}

// sortValues sorts values that are not NULL, and drops repetitions.
func sortValues(all *vector.Vector, n int) sorted {
	s := sorted{v: &vector.Vector{Type: all.Type}}
	switch all.Type.Kind() {
	case vector.Int64:
		slices.Sort(all.Ints[:n])
		s.v.Ints = slices.Compact(all.Ints[:n])
		s.n = len(s.v.Ints)
		return s
	case vector.Uint64:
		slices.Sort(all.Uints[:n])
		s.v.Uints = slices.Compact(all.Uints[:n])
		s.n = len(s.v.Uints)
		return s
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return expr.Compare(all, a, all, b) })
	for k, i := range order {
		if k > 0 && expr.Compare(all, order[k-1], all, i) == 0 {
			continue
		}
		s.v.Append(s.n, all, i, i+1)
		s.n++
	}
	return s
}

// columnOpConst takes c apart as column op constant; the constant may have stood on the left.
func columnOpConst(c expr.Expr) (*expr.Column, expr.Op, *vector.Vector, bool) {
	op, args := operator(c)
	if len(args) != 2 {
		return nil, expr.NoOp, nil, false
	}
	if col, ok := args[0].(*expr.Column); ok {
		if k, ok := args[1].(*expr.Const); ok {
			return col, op, k.Value, true
		}
	}
	if col, ok := args[1].(*expr.Column); ok && op.Flipped() != expr.NoOp {
		if k, ok := args[0].(*expr.Const); ok {
			return col, op.Flipped(), k.Value, true
		}
	}
	return nil, expr.NoOp, nil, false
}
