package plan

import (
	"context"
	"fmt"
	"strings"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Runner runs an optimized plan and returns all its rows.
type Runner func(ctx context.Context, n Node, maxRows int) (*vector.Batch, error)

// Statement is what the parts of one statement are bound with, and what is known of its subqueries.
//
// Bind runs no subquery that stands for itself. It asks for the answer and, where nothing is known yet, goes on with an
// expression that stands for it: such a plan can be shown, but not run. Complete runs what was asked for and binds the
// query again, which now finds constants, and the rules for constants, where the subqueries were. Equal subqueries run
// once. For one goroutine.
type Statement struct {
	Context *expr.Context
	Catalog Catalog
	DB      string
	Without Rewrites // that no plan of it is made with
	Run     Runner
	// Moment is the snapshot that its scans share once a subquery has run; nil: each reads what is there.
	Moment *engine.Moment

	asked     []*Asked // in the order in which binding came to them
	now       []*Asked // those that this round came to and that have no answer
	named     map[string]*Asked
	recursive map[*parse.Query]*Values
	round     int   // of binding
	open      int   // stand-ins that this round has given out
	blank     bool  // stand-ins are NULL
	sketching bool  // the plan is only shown: nothing runs, see binder.run
	kept      int64 // bytes that this round keeps
	relations map[string]*Relation
	metrics   map[*parse.TQL]metrics
}

// metrics are the rows of a common table expression in the language of metrics.
type metrics struct {
	fields []vector.Field
	rows   *vector.Batch
}

// Asked is a subquery whose answer is part of a statement's plan. It is bound in each round until it has run.
type Asked struct {
	name   string // in the plan
	text   string
	kind   askKind
	bound  Node
	best   Node // as it ran; nil: it has not
	closed bool // it has no stand-ins, so that it can run
	round  int  // that asked for it last
	done   bool
	rows   *vector.Batch
	err    error
	null   *bool // whether a value is NULL; nil: it was not asked for, see hasNull
}

// askKind is what is wanted of a subquery.
type askKind int

const (
	askValue  askKind = iota // its only value
	askExists                // whether it has rows
	askList                  // its different values
	askTuples                // its different rows
)

// most is the number of rows after which a subquery need not run on.
func (k askKind) most() int {
	return [...]int{askValue: 2, askExists: 1, askList: maxList + 1, askTuples: maxTuples + 1}[k]
}

// over is the plan that gives the answer, over that of the subquery.
func (k askKind) over(n Node) Node {
	switch k {
	case askExists:
		return &Limit{Input: n, Limit: 1}
	case askList, askTuples:
		return &Distinct{Input: n}
	}
	return n
}

// check is an error if a subquery gave too many rows. A list that is too long may become a join: see exprBinder.list.
func (k askKind) check(rows int) error {
	switch {
	case rows < k.most():
	case k == askValue:
		return status.New(status.EngineExecuteQuery, "scalar subquery returned more than one row")
	case k == askTuples:
		return status.New(status.RuntimeResourcesExhausted,
			"the subquery of IN has more than %d rows, which only a condition of WHERE may have", maxTuples)
	}
	return nil
}

// errOpen is the error of binding where rows are needed that depend on subqueries without an answer.
var errOpen = status.New(status.Internal, "the plan depends on subqueries that have not run")

// maxRounds bounds the rounds of binding: each answers a subquery at least, the innermost first.
const maxRounds = maxNodes

// Bind returns the logical plan of a query, with stand-ins for the subqueries that have not run.
func (s *Statement) Bind(ctx context.Context, q *parse.Query) (n Node, err error) {
	return s.binder(ctx).query(q, nil)
}

// Complete returns the logical plan of a query, without stand-ins.
func (s *Statement) Complete(ctx context.Context, q *parse.Query) (n Node, err error) {
	err = s.complete(ctx, func() error {
		n, err = s.Bind(ctx, q)
		return err
	})
	return n, err
}

// Scalar binds an expression without columns: the value of an INSERT, a default, a setting. Its subqueries run.
func (s *Statement) Scalar(ctx context.Context, x parse.Expr) (e expr.Expr, err error) {
	err = s.complete(ctx, func() error {
		eb := &exprBinder{b: s.binder(ctx), sc: &scope{}, where: "this statement"}
		e, err = eb.bind(x)
		return err
	})
	return e, err
}

// Shape is Bind for the columns of a query alone: subqueries run only if the columns depend on their answers.
func (s *Statement) Shape(ctx context.Context, q *parse.Query) (Node, error) {
	n, err := s.Bind(ctx, q)
	if err != nil && len(s.ready()) > 0 {
		return s.Complete(ctx, q)
	}
	return n, err
}

// Sketch is Bind for a plan that is shown. It runs nothing: not what Bind would run for each row of the query around
// it, nor recursive queries, whose plans are noted instead. Where a plan cannot be made without the answer of a
// subquery, as of one in LIMIT, the answers are taken to be NULL. Where it cannot be made of NULL either, as of the
// interval of date_bin, everything runs that a plan needs. So do the values of PIVOT without IN, which are columns.
func (s *Statement) Sketch(ctx context.Context, q *parse.Query) (Node, error) {
	s.sketching = true
	n, err := s.Bind(ctx, q)
	ready := len(s.ready()) > 0
	if err != nil && ready {
		s.blank = true
		n, err = s.Bind(ctx, q)
		s.blank = false
	}
	if s.sketching = false; err == nil || !ready {
		return n, err
	}
	return s.Complete(ctx, q)
}

// sketch notes a plan that would run while the query is bound.
func (s *Statement) sketch(text string, n Node) {
	key := "sketch " + text
	if a := s.named[key]; a == nil || a.round != s.round {
		s.note(key, text, askValue, n, false)
	}
}

// binder begins a round of binding.
func (s *Statement) binder(ctx context.Context) *binder {
	if s.kept > 0 {
		s.Context.Memory.Release(s.kept)
	}
	s.round, s.open, s.kept, s.now = s.round+1, 0, 0, s.now[:0]
	return &binder{goctx: ctx, ctx: s.Context, st: s, db: s.DB}
}

// complete binds until no subquery is left that has no answer. What binding says of a statement with stand-ins counts
// only if there are none.
func (s *Statement) complete(ctx context.Context, bind func() error) error {
	for range maxRounds {
		err := bind()
		ready := s.ready()
		if len(ready) == 0 {
			return err
		}
		for _, a := range ready {
			if err := s.answer(ctx, a); err != nil {
				return err
			}
			if a.err != nil { // binding gives it its place
				break
			}
		}
	}
	return planError("the query has more than %d subqueries", maxRounds)
}

// ready lists the subqueries that the last round asked for and that can run.
func (s *Statement) ready() (list []*Asked) {
	for _, a := range s.now {
		if !a.done && a.closed {
			list = append(list, a)
		}
	}
	return list
}

// answer runs a subquery. Its own error is part of the answer; an error is that of the statement.
func (s *Statement) answer(ctx context.Context, a *Asked) error {
	rows, best, err := s.run(ctx, a.kind.over(a.bound), a.kind.most())
	if err == nil {
		err = a.kind.check(rows.N)
	}
	if err != nil && (ctx.Err() != nil || engine.Overtaken(err)) {
		return err
	}
	a.rows, a.err, a.best, a.done = rows, err, best, true
	return nil
}

// run optimizes and runs a plan, at the moment of the statement.
func (s *Statement) run(ctx context.Context, n Node, most int) (rows *vector.Batch, best Node, err error) {
	var tables []*engine.Table
	for _, r := range s.relations {
		if r.Table != nil {
			tables = append(tables, r.Table)
		}
	}
	if err := s.Moment.Pin(tables...); err != nil {
		return nil, nil, err
	}
	best = Optimize(s.Context, n, s.Without)
	rows, err = s.Run(ctx, best, most)
	return rows, best, err
}

// ask finds a subquery by its key; nil: binding comes to it for the first time in this round, and it has no answer.
func (s *Statement) ask(key string) *Asked {
	a := s.named[key]
	if a == nil || !a.done && a.round != s.round {
		return nil
	}
	return a
}

// note notes a subquery that was bound.
func (s *Statement) note(key, text string, kind askKind, n Node, closed bool) *Asked {
	a := s.named[key]
	if a == nil {
		a = &Asked{name: fmt.Sprintf("subquery %d", len(s.asked)+1), text: text, kind: kind}
		if s.named == nil {
			s.named = map[string]*Asked{}
		}
		s.named[key] = a
		s.asked = append(s.asked, a)
	}
	a.bound, a.closed, a.round = n, closed, s.round
	s.now = append(s.now, a)
	return a
}

// relation finds a table: the same one for all of a statement.
func (s *Statement) relation(n parse.Name, db string) (*Relation, error) {
	key := fmt.Sprintf("%q %q", db, n)
	if r := s.relations[key]; r != nil {
		return r, nil
	}
	r, err := s.Catalog.Relation(n, db)
	if err != nil {
		return nil, err
	}
	if s.relations == nil {
		s.relations = map[string]*Relation{}
	}
	s.relations[key] = r
	return r, nil
}

// tql evaluates an expression in the language of metrics, once.
func (s *Statement) tql(ctx context.Context, t *parse.TQL) ([]vector.Field, *vector.Batch, error) {
	if m, ok := s.metrics[t]; ok {
		return m.fields, m.rows, nil
	}
	fields, rows, err := s.Catalog.TQL(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	if s.metrics == nil {
		s.metrics = map[*parse.TQL]metrics{}
	}
	s.metrics[t] = metrics{fields, rows}
	return fields, rows, nil
}

// Shown is a plan of the statement with the plans of its subqueries, as EXPLAIN shows them; best asks for the optimized
// ones.
func (s *Statement) Shown(n Node, best bool) Node {
	all := &Subqueries{Input: n}
	for _, a := range s.asked {
		sub := &Subquery{Name: a.name, Text: a.text, Input: a.kind.over(a.bound)}
		switch {
		case a.best != nil:
			sub.Input = a.best
		case a.round != s.round:
			continue
		case best:
			sub.Input = Optimize(s.Context, sub.Input, s.Without)
		}
		all.List = append(all.List, sub)
	}
	if len(all.List) == 0 {
		return n
	}
	return all
}

type (
	// Subqueries is a plan with the subqueries that run before it. It is only shown.
	Subqueries struct {
		Input Node
		List  []Node
	}
	// Subquery is the plan of one. It is only shown.
	Subquery struct {
		Input      Node
		Name, Text string
	}
)

// shownOnly reports whether a node does not run itself.
func shownOnly(n Node) bool {
	switch n.(type) {
	case *Subqueries, *Subquery:
		return true
	}
	return false
}

// Columns of the nodes.
func (n *Subqueries) Columns() []Column { return n.Input.Columns() }
func (n *Subquery) Columns() []Column   { return n.Input.Columns() }

func (n *Subqueries) inputs() []Node { return append([]Node{n.Input}, n.List...) }
func (n *Subquery) inputs() []Node   { return []Node{n.Input} }

func (n *Subqueries) over(in []Node) Node { return &Subqueries{Input: in[0], List: in[1:]} }
func (n *Subquery) over(in []Node) Node   { return &Subquery{Input: in[0], Name: n.Name, Text: n.Text} }

func (n *Subqueries) line() string { return fmt.Sprintf("Subqueries: %d", len(n.List)) }
func (n *Subquery) line() string {
	return strings.ToUpper(n.Name[:1]) + n.Name[1:] + ": " + n.Text
}
