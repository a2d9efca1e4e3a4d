package plan

import (
	"cmp"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Window adds a column per function, computed over the rows of each partition in order.
type Window struct {
	Input     Node
	Partition []expr.Expr
	Order     []expr.SortKey
	Funcs     []exec.WindowFunc
	Cols      []Column
	// First: only so many rows of each partition are looked at; N is 0 when it is all.
	First exec.First
}

// Columns are the input's, then one per function.
func (n *Window) Columns() []Column { return n.Cols }

// hasWindow reports whether a window function lies in x.
func hasWindow(x parse.Expr) bool {
	found := false
	parse.Walk(x, func(y parse.Expr) bool {
		c, ok := y.(*parse.Call)
		found = found || ok && c.Over != nil
		return !found
	})
	return found
}

// windows binds the window functions of all clauses: each becomes a column after the columns there are.
func (sel *selection) windows(q *parse.Query) error {
	var calls []*parse.Call
	add := func(x parse.Expr) {
		parse.Walk(x, func(y parse.Expr) bool {
			c, ok := y.(*parse.Call)
			if !ok || c.Over == nil {
				return true
			}
			calls = append(calls, c)
			return false
		})
	}
	for _, it := range sel.items {
		add(it.x)
	}
	for _, o := range q.OrderBy {
		add(o.X)
	}
	if sel.s.Qualify != nil {
		add(sel.s.Qualify)
	}
	if len(calls) == 0 {
		if sel.s.Qualify != nil {
			return planError("QUALIFY needs a window function")
		}
		return nil
	}
	at := map[string]int{} // text of a call to its column
	inner := sel.eb
	for _, c := range calls {
		if _, ok := at[parse.PrintExpr(c)]; ok {
			continue
		}
		column, err := sel.addWindow(inner, c)
		if err != nil {
			return err
		}
		at[parse.PrintExpr(c)] = column
	}
	out := &scope{cols: sel.node.Columns(), outer: sel.sc.outer}
	eb := &exprBinder{b: sel.b, sc: inner.sc, where: "this clause"}
	eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if c, ok := x.(*parse.Call); ok && c.Over != nil {
			if i, ok := at[parse.PrintExpr(c)]; ok {
				return out.column(i), true, nil
			}
		}
		if inner.special != nil {
			return inner.special(x)
		}
		return nil, false, nil
	}
	sel.eb = eb
	return sel.qualify()
}

func (sel *selection) qualify() error {
	if sel.s.Qualify == nil {
		return nil
	}
	cond, err := sel.bindAliased(sel.s.Qualify)
	if err != nil {
		return err
	}
	if cond, err = sel.b.boolean(cond, "QUALIFY"); err != nil {
		return err
	}
	sel.node = &Filter{Input: sel.node, Conds: splitAnd(cond, nil)}
	return nil
}

// addWindow binds a window call over the columns that eb knows and gives the number of its column. Calls with the
// same window share a node.
func (sel *selection) addWindow(eb *exprBinder, c *parse.Call) (int, error) {
	spec, err := sel.windowSpec(c.Over, 0)
	if err != nil {
		return 0, err
	}
	partition, err := eb.bindList(spec.Partition)
	if err != nil {
		return 0, err
	}
	var order []expr.SortKey
	for _, o := range spec.OrderBy {
		e, err := eb.bind(o.X)
		if err != nil {
			return 0, err
		}
		order = append(order, expr.SortKey{Expr: e, Desc: o.Desc, NullsFirst: o.NullsFirst()})
	}
	f, err := sel.windowFunc(eb, c, spec, order)
	if err != nil {
		return 0, err
	}
	w, ok := sel.node.(*Window)
	if !ok || !sameWindow(w, partition, order) {
		w = &Window{Input: sel.node, Partition: partition, Order: order,
			Cols: append([]Column(nil), sel.node.Columns()...)}
		sel.node = w
	}
	w.Funcs = append(w.Funcs, f)
	w.Cols = append(w.Cols, Column{Name: f.Text, Type: f.Type, Nullable: true})
	return len(w.Cols) - 1, nil
}

func sameWindow(w *Window, partition []expr.Expr, order []expr.SortKey) bool {
	if len(w.Partition) != len(partition) || len(w.Order) != len(order) {
		return false
	}
	for i := range partition {
		if !equal(w.Partition[i], partition[i]) {
			return false
		}
	}
	for i, k := range order {
		if o := w.Order[i]; !equal(o.Expr, k.Expr) || o.Desc != k.Desc || o.NullsFirst != k.NullsFirst {
			return false
		}
	}
	return true
}

// windowSpec puts a named window's definition in.
func (sel *selection) windowSpec(w *parse.Window, depth int) (*parse.Window, error) {
	if w.Ref == "" {
		return w, nil
	}
	for _, named := range sel.s.Windows {
		if named.Name.Name != w.Ref || depth > len(sel.s.Windows) {
			continue
		}
		base, err := sel.windowSpec(named.Window, depth+1)
		if err != nil {
			return nil, err
		}
		if len(w.Partition) > 0 {
			return nil, parse.PlaceError(planError("cannot override PARTITION BY clause of window %q", w.Ref),
				w.Partition[0].Position())
		}
		if len(w.OrderBy) > 0 && len(base.OrderBy) > 0 {
			return nil, parse.PlaceError(planError("cannot override ORDER BY clause of window %q", w.Ref),
				w.OrderBy[0].X.Position())
		}
		merged := *base
		merged.Ref = ""
		if len(w.OrderBy) > 0 {
			merged.OrderBy = w.OrderBy
		}
		if w.Frame != nil {
			merged.Frame = w.Frame
		}
		return &merged, nil
	}
	return nil, planError("The window %s is not defined", w.Ref)
}

func (sel *selection) windowFunc(eb *exprBinder, c *parse.Call, spec *parse.Window,
	order []expr.SortKey) (exec.WindowFunc, error) {
	f := exec.WindowFunc{Name: c.Name, Text: parse.PrintExpr(c), Star: c.Star, IgnoreNulls: c.IgnoreNulls}
	fn := exec.WindowFunctionOf(c.Name)
	loops := fn != nil && (fn.Ranks || !c.Distinct && len(c.OrderBy) == 0)
	if spec.Frame != nil && spec.Frame.Exclude != "" {
		loops = fn != nil && (fn.Ranks || fn.Picks)
	}
	if !loops && !expr.IsAggregate(c.Name) {
		return f, parse.PlaceError(status.Because(planError("Invalid function '%s'.", c.Name), status.NoFunction),
			c.Position())
	}
	var err error
	if !loops {
		if f.Agg, err = sel.b.windowAggregate(c, eb); err != nil {
			return f, err
		}
		f.Args, f.Type = f.Agg.Inputs(), f.Agg.Type()
	} else if f.Args, err = eb.bindList(c.Args); err != nil {
		return f, err
	}
	if c.Filter != nil {
		if f.Filter, err = eb.bind(c.Filter); err != nil {
			return f, err
		}
		if f.Filter, err = sel.b.boolean(f.Filter, "FILTER"); err != nil {
			return f, err
		}
	}
	if f.Agg == nil {
		if err = sel.windowType(&f, fn); err != nil {
			return f, parse.PlaceError(err, c.Position())
		}
	}
	return f, parse.PlaceError(sel.frame(&f, spec, order), c.Position())
}

// windowAggregate binds the aggregate of a call, whose FILTER and window are looked after elsewhere.
func (b *binder) windowAggregate(c *parse.Call, eb *exprBinder) (*expr.Agg, error) {
	plain := *c
	plain.Over, plain.Filter = nil, nil
	return b.aggregate(&plain, eb)
}

// windowType checks the arguments of a function with a loop of its own and gives it its type.
func (sel *selection) windowType(f *exec.WindowFunc, fn *exec.WindowFunction) error {
	lo, hi := fn.Least, fn.Most
	if f.Star && fn.Bare {
		lo, hi = 0, 0
	}
	if len(f.Args) < lo || len(f.Args) > hi {
		return planError("%s: wrong number of arguments: %d", f.Name, len(f.Args))
	}
	switch {
	case fn.Aggregates:
		a, err := sel.b.ctx.Aggregate(f.Name, f.Args, false, nil, nil)
		if err != nil {
			return err
		}
		f.Type = a.Type()
		if fn.Adds && (f.Args[0].Type().Kind() == vector.Bytes || f.Args[0].Type().ID == vector.TypeDuration) {
			f.Agg = a // decimals, intervals, durations, and texts that are numbers
		}
		f.Args = a.Inputs()
	case fn.Type == vector.NullType:
		f.Type = f.Args[0].Type()
	default:
		f.Type = fn.Type
	}
	if len(f.Args) == 3 { // lag's default takes the type of the value
		var err error
		f.Args[2], err = sel.b.ctx.Cast(f.Args[2], f.Type, false)
		return err
	}
	return nil
}

// frame binds a function's frame; without one it is all up to the current row and its peers, or the whole partition
// where nothing is ordered.
func (sel *selection) frame(f *exec.WindowFunc, w *parse.Window, order []expr.SortKey) error {
	f.Frame = exec.Frame{Mode: "range", From: exec.FrameBound{Unbounded: true}}
	if w.Frame == nil {
		f.Frame.To.Unbounded = len(order) == 0
		return nil
	}
	f.Frame.Mode, f.Frame.Exclude = w.Frame.Mode, w.Frame.Exclude
	var err error
	if f.Frame.From, err = sel.bound(f, w.Frame.From, order, true); err != nil {
		return err
	}
	if f.Frame.To, err = sel.bound(f, w.Frame.To, order, false); err != nil {
		return err
	}
	for i := len(f.Args) - f.Targets; i < len(f.Args); i++ { // an offset of the other end may have widened the key
		if f.Args[i], err = sel.b.ctx.Cast(f.Args[i], order[0].Expr.Type(), false); err != nil {
			return err
		}
	}
	return nil
}

func (sel *selection) bound(f *exec.WindowFunc, p parse.Bound, order []expr.SortKey, start bool) (exec.FrameBound,
	error) {
	switch p.Kind {
	case "unbounded preceding", "unbounded following":
		if (p.Kind == "unbounded preceding") != start {
			return exec.FrameBound{},
				planError("a frame cannot begin with UNBOUNDED FOLLOWING or end with UNBOUNDED PRECEDING")
		}
		return exec.FrameBound{Unbounded: true}, nil
	case "current row":
		return exec.FrameBound{}, nil
	}
	if f.Frame.Mode == "range" {
		return sel.rangeBound(f, p, order)
	}
	n, err := sel.b.count(p.N, "a window frame")
	if err != nil {
		return exec.FrameBound{}, err
	}
	if p.Kind == "preceding" {
		n = -n
	}
	return exec.FrameBound{Offset: n}, nil
}

// rangeBound binds the end of a RANGE frame with an offset: the value of the one order key that lies so far before or
// after the current row's.
func (sel *selection) rangeBound(f *exec.WindowFunc, p parse.Bound, order []expr.SortKey) (exec.FrameBound, error) {
	if len(order) != 1 {
		return exec.FrameBound{}, planError("RANGE frames with an offset need one ORDER BY expression, found %d",
			len(order))
	}
	key := order[0].Expr
	eb := &exprBinder{b: sel.b, sc: &scope{}, where: "a window frame"}
	offset, err := eb.bind(p.N)
	if err != nil {
		return exec.FrameBound{}, err
	}
	timed := key.Type().IsTimestamp() || key.Type().ID == vector.TypeDate
	if timed && offset.Type().IsText() {
		if offset, err = sel.b.ctx.Cast(offset, vector.Interval, false); err != nil {
			return exec.FrameBound{}, err
		}
	}
	c, ok := offset.(*expr.Const)
	switch {
	case !ok || c.Value.IsNull(0):
		return exec.FrameBound{}, planError("a window frame needs a constant, found %s", parse.PrintExpr(p.N))
	case timed != (c.Value.Type == vector.Interval) || !timed && !(key.Type().IsNumber() && c.Value.Type.IsNumber()):
		return exec.FrameBound{}, planError("a RANGE frame over %s cannot have an offset of %s", key.Type(),
			c.Value.Type)
	}
	op := "+"
	if (p.Kind == "preceding") != order[0].Desc {
		op = "-"
	}
	target, err := sel.b.ctx.Call(op, key, offset)
	if err != nil {
		return exec.FrameBound{}, err
	}
	if target.Type() != key.Type() && key.Type().ID != vector.TypeDecimal { // the wider of the two is compared
		order[0].Expr, err = sel.b.ctx.Cast(key, target.Type(), false)
	} else {
		target, err = sel.b.ctx.Cast(target, key.Type(), false)
	}
	f.Args = append(f.Args, target)
	f.Targets++
	return exec.FrameBound{Target: f.Targets, Side: sideOf(p.Kind, c.Value)}, err
}

// sideOf says on which side of a key the end of a RANGE frame lies, see exec.FrameBound.
func sideOf(kind string, offset *vector.Vector) int {
	if !offset.Type.IsNumber() {
		return 0
	}
	side := 0
	switch offset.Type.Kind() {
	case vector.Int64:
		side = cmp.Compare(offset.Int(0), 0)
	case vector.Uint64:
		side = cmp.Compare(offset.Uint(0), 0)
	case vector.Float64:
		side = cmp.Compare(offset.Float(0), 0)
	default: // decimals
		side = convert.DecimalInt(offset.Bytes(0)).Sign()
	}
	if kind == "preceding" {
		side = -side
	}
	return side
}

func (o *optimizer) pruneWindow(w *Window, need []bool) (Node, []int) {
	n := len(w.Input.Columns())
	below := widen(append([]bool(nil), need[:n]...), w.Partition...)
	below = widen(below, expr.KeyExprs(w.Order)...)
	for _, f := range w.Funcs {
		below = widen(below, f.Args...)
		if f.Filter != nil {
			below = widen(below, f.Filter)
		}
	}
	in, m := o.prune(w.Input, below)
	out := *w
	out.Input, out.Partition, out.Order, out.Funcs = in, remapAll(w.Partition, m), remapKeys(w.Order, m), nil
	out.Cols = append(append([]Column(nil), in.Columns()...), w.Cols[n:]...)
	for i, f := range w.Funcs {
		f.Args = remapAll(f.Args, m)
		if f.Filter != nil {
			f.Filter = remap(f.Filter, m)
		}
		out.Funcs = append(out.Funcs, f)
		m = append(m, len(in.Columns())+i)
	}
	return &out, m
}
