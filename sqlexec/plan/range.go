package plan

import (
	"strconv"
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// A range query is an ordinary aggregation over rows that have been repeated: Expand gives each row once for every
// slot it belongs to, Aggregate groups by slot and BY keys, FillSlots adds the slots between, and the items are
// computed from that.
type (
	// Expand repeats each row for every slot T = Origin + k*Step with T <= time < T + the longest range. It adds the
	// slot as a column, and for each shorter range a BOOLEAN column: whether the row lies in it too.
	Expand struct {
		Input        Node
		Time         int // the time index among the input's columns
		Origin, Step int64
		Ranges       []int64 // falling; all in the unit of the time index
		Cols         []Column
	}
	// FillSlots adds rows for the slots without rows between the first and last of each key. Input: slot, keys,
	// aggregates.
	FillSlots struct {
		Input  Node
		Keys   int // columns 1..Keys are the keys
		Origin int64
		Step   int64
		Fills  []exec.FillKind // one per aggregate
		Cols   []Column
	}
)

// Columns of the nodes.
func (n *Expand) Columns() []Column    { return n.Cols }
func (n *FillSlots) Columns() []Column { return n.Cols }

func hasRange(items []item) bool {
	found := false
	for _, it := range items {
		parse.Walk(it.x, func(x parse.Expr) bool {
			_, is := x.(*parse.Range)
			found = found || is
			return !found
		})
	}
	return found
}

// badRange is an InvalidSyntax error about RANGE or ALIGN.
func badRange(format string, args ...any) error {
	return status.New(status.InvalidSyntax, "Invalid SQL syntax: "+format, args...)
}

// rangeAgg is one aggregate of a range query.
type rangeAgg struct {
	call *parse.Call
	span int64 // in units of the time index
	fill *parse.Fill
	agg  *expr.Agg
}

// ranged is a range query while it is bound.
type ranged struct {
	b     *binder
	s     *parse.Select
	sc    *scope
	time  int   // the time index in sc
	unit  int64 // nanoseconds of the time index's unit
	step  int64
	aggs  []*rangeAgg
	calls map[*parse.Call]int // to aggs
	keys  []parse.Expr
	bound []expr.Expr // keys over sc
	out   *scope      // slot, keys, aggregates
}

// rangeSelect binds a SELECT with RANGE and ALIGN.
func (b *binder) rangeSelect(s *parse.Select, q *parse.Query, in Node, sc *scope, items []item) (Node, error) {
	switch {
	case s.Align == nil:
		return nil, placeRange(badRange("RANGE needs ALIGN"), items)
	case !hasRange(items):
		return nil, parse.PlaceError(badRange("ALIGN needs an expression with RANGE"), s.Align.At)
	case s.GroupBy != nil || s.Having != nil:
		return nil, badRange("a range query has ALIGN .. BY instead of GROUP BY and HAVING")
	}
	r := &ranged{b: b, s: s, sc: sc, time: -1, calls: map[*parse.Call]int{}}
	for i := range sc.cols {
		if sc.cols[i].Time && r.time < 0 {
			r.time = i
		}
	}
	if r.time < 0 {
		return nil, planError("a range query needs the time index of a table among the columns of FROM")
	}
	r.unit = 1_000_000_000 / sc.cols[r.time].Type.UnitsPerSecond()
	var err error
	if r.step, err = r.duration(s.Align.Step, "ALIGN"); err != nil {
		return nil, err
	}
	for _, it := range items {
		if err := r.collect(it.x, nil); err != nil {
			return nil, err
		}
	}
	if err := r.by(); err != nil {
		return nil, err
	}
	node, err := r.node(in)
	if err != nil {
		return nil, err
	}
	sel := &selection{b: b, s: &parse.Select{Distinct: s.Distinct, DistinctOn: s.DistinctOn}, sc: sc, items: items,
		node: node}
	sel.eb = &exprBinder{b: b, sc: r.out, special: r.special, where: "a range query"}
	return sel.finish(q)
}

// placeRange sets the place of an error to the first RANGE.
func placeRange(err error, items []item) error {
	for _, it := range items {
		parse.Walk(it.x, func(x parse.Expr) bool {
			if _, ok := x.(*parse.Range); ok {
				err = parse.PlaceError(err, x.Position())
			}
			return true
		})
	}
	return err
}

// collect finds the aggregates under RANGE in an item. over is the Range around x; nil: none.
func (r *ranged) collect(x parse.Expr, over *parse.Range) error {
	return parse.PlaceError(r.collectIn(x, over), x.Position())
}

func (r *ranged) collectIn(x parse.Expr, over *parse.Range) error {
	switch x := x.(type) {
	case *parse.Range:
		if over != nil {
			return badRange("RANGE inside RANGE: %s", parse.PrintExpr(x))
		}
		if !hasAggregate(x.X) {
			return badRange("RANGE needs an aggregate function: %s", parse.PrintExpr(x))
		}
		return r.collect(x.X, x)
	case *parse.Call:
		if x.Over != nil {
			return badRange("a window function in a range query: %s", parse.PrintExpr(x))
		}
		if !isAggregate(x) {
			break
		}
		for _, a := range parse.Children(x) {
			if hasRange([]item{{x: a}}) {
				return badRange("RANGE inside an aggregate: %s", parse.PrintExpr(x))
			}
		}
		if over == nil {
			return badRange("aggregate without RANGE in a range query: %s", parse.PrintExpr(x))
		}
		return r.add(x, over)
	}
	for _, c := range parse.Children(x) {
		if err := r.collect(c, over); err != nil {
			return err
		}
	}
	return nil
}

func (r *ranged) add(c *parse.Call, over *parse.Range) error {
	span, err := r.duration(over.Span, "RANGE")
	if err != nil {
		return err
	}
	fill := over.Fill
	if fill == nil {
		fill = r.s.Align.Fill
	}
	r.calls[c] = len(r.aggs)
	r.aggs = append(r.aggs, &rangeAgg{call: c, span: span, fill: fill})
	return nil
}

// duration reads a span: text in the metrics language's form, or an interval. It gives units of the time index, at
// least one.
func (r *ranged) duration(x parse.Expr, clause string) (int64, error) {
	n, err := r.span(x, clause)
	return n, parse.PlaceError(err, x.Position())
}

func (r *ranged) span(x parse.Expr, clause string) (int64, error) {
	var ns int64
	if lit, ok := x.(*parse.Literal); ok && lit.Kind == parse.StringLiteral {
		var err error
		if ns, err = promDuration(lit.Text); err != nil {
			return 0, badRange("%s: %q is not a duration", clause, lit.Text)
		}
	} else {
		eb := &exprBinder{b: r.b, sc: &scope{}, where: clause}
		e, err := eb.bind(x)
		if err != nil {
			return 0, err
		}
		c, ok := e.(*expr.Const)
		if !ok || c.Value.Type != vector.Interval || c.Value.IsNull(0) {
			return 0, planError("%s needs a duration, found %s", clause, parse.PrintExpr(x))
		}
		if months, _, _ := convert.Interval(c.Value.Bytes(0)); months != 0 {
			return 0, planError("%s: years and months have no fixed length", clause)
		}
		if ns, ok = convert.IntervalLength(c.Value.Bytes(0)); !ok {
			return 0, planError("%s: a duration is less than 292 years", clause)
		}
	}
	if ns <= 0 {
		return 0, planError("%s: the duration must be greater than zero", clause)
	}
	return max(1, ns/r.unit), nil
}

// promUnits are the units of durations in the metrics language, in nanoseconds.
var promUnits = map[string]int64{"ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9, "w": 7 * 86400e9,
	"y": 365 * 86400e9}

// promDuration reads 5s, 1h30m, 1d.
func promDuration(text string) (int64, error) {
	rest := strings.TrimSpace(text)
	var ns int64
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil {
			return 0, timefmt.ErrSyntax
		}
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "mshdwy"))
		unit := promUnits[rest[:letters]]
		if unit == 0 || n > (1<<62)/unit || ns > 1<<62-n*unit {
			return 0, timefmt.ErrSyntax
		}
		ns += n * unit
		rest = strings.TrimLeft(rest[letters:], " ")
	}
	if text == "" {
		return 0, timefmt.ErrSyntax
	}
	return ns, nil
}

// by binds the keys: those of BY, or the primary key.
func (r *ranged) by() error {
	a := r.s.Align
	if a.HasBy {
		r.keys = a.By
	} else {
		if len(r.s.From) == 1 {
			if _, derived := r.s.From[0].(*parse.Derived); derived {
				return parse.PlaceError(badRange("a range query over a subquery needs BY"), a.At)
			}
		}
		for i := range r.sc.cols {
			if r.sc.cols[i].Tag {
				r.keys = append(r.keys, &parse.Slot{Index: i, Name: r.sc.cols[i].Name})
			}
		}
	}
	eb := &exprBinder{b: r.b, sc: r.sc, where: "BY"}
	var err error
	r.bound, err = eb.bindList(r.keys)
	return err
}

// origin is the time that slots are counted from, in units.
func (r *ranged) origin() (int64, error) {
	n, err := r.alignTo()
	if to := r.s.Align.To; to != nil {
		err = parse.PlaceError(err, to.Position())
	}
	return n, err
}

func (r *ranged) alignTo() (int64, error) {
	word := ""
	switch to := r.s.Align.To.(type) {
	case nil:
		word = "calendar"
	case *parse.Column:
		word = strings.ToLower(to.Parts.String())
	case *parse.Call:
		if roleOf[to.Name] == theTime && len(to.Args) == 0 {
			word = to.Name
		}
	}
	at := func(sec, nanos int64) (int64, error) {
		n, ok := Count(sec, nanos, r.sc.cols[r.time].Type)
		if !ok {
			return 0, planError("the origin of ALIGN TO is out of range")
		}
		return n, nil
	}
	switch {
	case word == "calendar":
		_, offset := time.Unix(0, 0).In(r.b.ctx.Zone).Zone()
		return at(int64(offset), 0)
	case roleOf[word] == theTime:
		return at(r.b.ctx.Now.Unix(), int64(r.b.ctx.Now.Nanosecond()))
	}
	eb := &exprBinder{b: r.b, sc: &scope{}, where: "ALIGN TO"}
	e, err := eb.bind(r.s.Align.To)
	if err != nil {
		return 0, err
	}
	c, ok := e.(*expr.Const)
	if !ok || c.Value.IsNull(0) {
		return 0, planError("ALIGN TO needs a constant, found %s", parse.PrintExpr(r.s.Align.To))
	}
	if t := c.Value.Type; t == vector.Interval || t.ID == vector.TypeDuration { // from the epoch on
		epoch, err := r.b.ctx.Call("+", &expr.Const{Value: vector.ConstInt(vector.Timestamp(9), 0)}, c)
		if err != nil {
			return 0, err
		}
		if c, ok = epoch.(*expr.Const); !ok {
			return 0, planError("ALIGN TO needs a constant, found %s", parse.PrintExpr(r.s.Align.To))
		}
	}
	switch t := c.Value.Type; {
	case t.IsText():
		sec, nanos, err := timefmt.ParseTimestamp(c.Value.Str(0), r.b.ctx.Zone)
		if err != nil {
			return 0, planError("ALIGN TO: %q is not a timestamp", c.Value.Str(0))
		}
		return at(sec, int64(nanos))
	case t.IsTimestamp():
		sec, rest := timefmt.FloorDiv(c.Value.Int(0), t.UnitsPerSecond()),
			timefmt.FloorMod(c.Value.Int(0), t.UnitsPerSecond())
		return at(sec, rest*(1_000_000_000/t.UnitsPerSecond()))
	case t.ID == vector.TypeDate:
		return at(c.Value.Int(0)*86400, 0)
	}
	return 0, planError("ALIGN TO needs a time, found %s", parse.PrintExpr(r.s.Align.To))
}

// node makes Expand, Aggregate and, where something is filled, FillSlots.
func (r *ranged) node(in Node) (Node, error) {
	origin, err := r.origin()
	if err != nil {
		return nil, err
	}
	e := &Expand{Input: in, Time: r.time, Origin: origin, Step: r.step, Cols: append([]Column(nil), r.sc.cols...)}
	for _, a := range r.aggs {
		e.addRange(a.span)
	}
	slot := len(e.Cols)
	timeCol := r.sc.cols[r.time]
	e.Cols = append(e.Cols, Column{Name: timeCol.Name, Type: timeCol.Type, Time: true})
	for range e.Ranges[1:] {
		e.Cols = append(e.Cols, Column{Type: vector.BoolType})
	}
	over := &scope{cols: e.Cols, outer: r.sc.outer}
	out := []Column{{Table: timeCol.Table, DB: timeCol.DB, Name: timeCol.Name, Type: timeCol.Type, Time: true}}
	agg := &Aggregate{Input: e, Keys: append([]expr.Expr{over.column(slot)}, r.bound...)}
	for i, k := range r.bound {
		col := Column{Name: outputName(r.keys[i], r.sc), Type: k.Type(), Nullable: k.Nullable()}
		if c, ok := k.(*expr.Column); ok {
			col = r.sc.cols[c.Index]
			col.Time = false
		}
		out = append(out, col)
	}
	for _, a := range r.aggs {
		if err := r.bindAgg(a, e, slot); err != nil {
			return nil, err
		}
		agg.Aggs = append(agg.Aggs, a.agg)
		out = append(out, Column{Name: parse.PrintExpr(a.call), Type: a.agg.Type(), Nullable: true})
	}
	agg.Cols = out
	return r.fill(agg, origin)
}

// addRange puts a range in, keeping them falling and distinct.
func (n *Expand) addRange(span int64) {
	at := 0
	for at < len(n.Ranges) && n.Ranges[at] > span {
		at++
	}
	if at < len(n.Ranges) && n.Ranges[at] == span {
		return
	}
	n.Ranges = append(n.Ranges[:at], append([]int64{span}, n.Ranges[at:]...)...)
}

// bindAgg binds an aggregate over the expanded rows; an aggregate with a shorter range takes only the rows in that
// range.
func (r *ranged) bindAgg(a *rangeAgg, e *Expand, slot int) error {
	eb := &exprBinder{b: r.b, sc: &scope{cols: e.Cols[:slot], outer: r.sc.outer}, where: "an aggregate"}
	for k, span := range e.Ranges {
		if span != a.span || k == 0 {
			continue
		}
		inside := *a.call
		in := &parse.Slot{Index: slot + k}
		inside.Filter = in
		if a.call.Filter != nil {
			inside.Filter = &parse.Binary{Op: "and", L: in, R: a.call.Filter}
		}
		eb.sc = &scope{cols: append([]Column(nil), e.Cols...), outer: r.sc.outer}
		for i := slot; i < len(eb.sc.cols); i++ { // not by name, and the slot is not the time that rows are ordered by
			eb.sc.cols[i].Shadow, eb.sc.cols[i].Time, eb.sc.cols[i].Name = true, false, ""
		}
		var err error
		a.agg, err = r.b.aggregate(&inside, eb)
		return err
	}
	var err error
	a.agg, err = r.b.aggregate(a.call, eb)
	return err
}

// fill puts FillSlots over the aggregate when an expression has FILL.
func (r *ranged) fill(agg *Aggregate, origin int64) (Node, error) {
	f := &FillSlots{Input: agg, Keys: len(r.bound), Origin: origin, Step: r.step,
		Cols: append([]Column(nil), agg.Cols...)}
	some := false
	var casts []vector.Type
	for i, a := range r.aggs {
		c := &f.Cols[1+f.Keys+i]
		kind := exec.FillKind{}
		if a.fill != nil {
			some = true
			kind.Kind = a.fill.Kind
			switch a.fill.Kind {
			case "linear":
				if !c.Type.IsNumber() {
					return nil, planError("FILL LINEAR needs a number, found %s", c.Type)
				}
				c.Type = vector.FloatType
			case "value":
				v, err := r.fillValue(a.fill.Value, c.Type)
				if err != nil {
					return nil, err
				}
				kind.Value = v
			}
		}
		casts = append(casts, c.Type)
		f.Fills = append(f.Fills, kind)
	}
	r.out = &scope{cols: f.Cols, outer: r.sc.outer}
	if !some {
		return agg, nil
	}
	types := types(f.Cols[:1+f.Keys])
	in, err := r.b.castTo(agg, append(types, casts...))
	if err != nil {
		return nil, err
	}
	sc := &scope{cols: in.Columns()}
	var keys []expr.SortKey
	for i := 1; i <= f.Keys; i++ {
		keys = append(keys, expr.SortKey{Expr: sc.column(i)})
	}
	keys = append(keys, expr.SortKey{Expr: sc.column(0)})
	f.Input = &Sort{Input: in, Keys: keys, Limit: -1}
	return f, nil
}

// fillValue reads FILL's constant as a type.
func (r *ranged) fillValue(x parse.Expr, t vector.Type) (*vector.Vector, error) {
	eb := &exprBinder{b: r.b, sc: &scope{}, where: "FILL"}
	e, err := eb.bind(x)
	if err != nil {
		return nil, err
	}
	if k, ok := e.(*expr.Const); ok && k.Value.Type.IsNumber() && t.IsInteger() && !k.Value.IsNull(0) {
		if n, exact := exactNumber(k.Value, t); exact && k.Value.Type.IsInteger() {
			return n.Value, nil
		}
	} else if e, err = r.b.ctx.Cast(e, t, false); err == nil {
		if c, ok := e.(*expr.Const); ok {
			return c.Value, nil
		}
	}
	return nil, planError("FILL: %s is not a value of type %s", parse.PrintExpr(x), t)
}

// special finds what became a column: the time index is the slot; aggregates and keys stay as they are.
func (r *ranged) special(x parse.Expr) (expr.Expr, bool, error) {
	switch x := x.(type) {
	case *parse.Range:
		e, err := (&exprBinder{b: r.b, sc: r.out, special: r.special, where: "a range query"}).bind(x.X)
		return e, true, err
	case *parse.Call:
		if i, ok := r.calls[x]; ok {
			return r.out.column(1 + len(r.bound) + i), true, nil
		}
		if isAggregate(x) { // the same aggregate in ORDER BY
			for i, a := range r.aggs {
				if parse.PrintExpr(a.call) == parse.PrintExpr(x) {
					return r.out.column(1 + len(r.bound) + i), true, nil
				}
			}
		}
	case *parse.Literal, *parse.Interval, *parse.Subquery, *parse.Exists:
		return nil, false, nil
	}
	if hasAggregate(x) || hasRange([]item{{x: x}}) {
		return nil, false, nil
	}
	in := &exprBinder{b: r.b, sc: r.sc, where: "a range query"}
	e, err := in.bind(x)
	if err != nil {
		if _, ok := x.(*parse.Column); ok {
			return nil, false, err
		}
		return nil, false, nil
	}
	for i, k := range r.bound {
		if equal(k, e) {
			return r.out.column(1 + i), true, nil
		}
	}
	switch e := e.(type) {
	case *expr.Const:
		return e, true, nil
	case *expr.Column:
		if e.Index == r.time {
			return r.out.column(0), true, nil
		}
		return nil, false, planError("Column must be a key of BY or inside an aggregate with RANGE: %s",
			r.sc.cols[e.Index].label())
	}
	return nil, false, nil
}
