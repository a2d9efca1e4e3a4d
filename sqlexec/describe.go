package sqlexec

import (
	"cmp"
	"context"
	"slices"

	"varve/engine"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// Describe returns the columns that a statement answers with, and no columns for a statement without rows. A query is
// not run, but for subqueries on whose answers its columns depend. Statements that look at the catalog are run. NULL in
// place of a constant that a function needs, such as the unit of date_trunc, stands for a parameter without a value.
func (x *Executor) Describe(ctx context.Context, s *Session, st parse.Statement) ([]vector.Field, error) {
	defer placeholders(st)()
	switch st := st.(type) {
	case *parse.SelectStmt:
		return x.shape(ctx, s, st)
	case *parse.Explain:
		if st.Analyze { // which would run the statement
			only := *st
			only.Analyze = false
			if _, err := x.columns(ctx, s, &only); err != nil {
				return nil, err
			}
			return analyzeTable().fields, nil
		}
		return x.columns(ctx, s, st)
	case *parse.Show, *parse.Describe, *parse.TQL:
		return x.columns(ctx, s, st)
	case *parse.Admin:
		t := vector.Uint64Type
		if st.Call.Name == "backup" { // the directory
			t = vector.StringType
		}
		return []vector.Field{{Name: cmp.Or(st.Column, st.Source()), Type: t}}, nil
	}
	return nil, nil
}

// constant is an argument of a function that must be a constant, and a valid one. more: so are all after it.
type constant struct {
	arg  int
	text string
	more bool
}

// constants are the functions that need one.
var constants = map[string]constant{
	"date_trunc": {0, "day", false}, "date_part": {0, "day", false}, "datepart": {0, "day", false},
	"extract": {0, "day", false}, "date_diff": {0, "day", false}, "datediff": {0, "day", false},
	"date_bin": {0, "1 day", false}, "time_bucket": {0, "1 day", false},
	"to_char": {1, "YYYY", false}, "date_format": {1, "%Y", false}, "strftime": {1, "%Y", false},
	"strptime": {1, "%Y", true}, "to_timestamp": {1, "%Y", true}, "to_date": {1, "%Y", true},
	"at_time_zone": {1, "UTC", false},
}

// placeholders puts constants in the place of NULL where functions need constants. restore takes them out again.
func placeholders(st parse.Statement) (restore func()) {
	if of, ok := st.(*parse.Explain); ok {
		st = of.Of
	}
	var undo []func()
	put := func(at *parse.Expr, text string) {
		if was := *at; isNull(was) {
			*at = &parse.Literal{Node: parse.Node{At: was.Position()}, Kind: parse.StringLiteral, Text: text}
			undo = append(undo, func() { *at = was })
		}
	}
	if s, ok := st.(*parse.SelectStmt); ok {
		parse.WalkQuery(s.Query, func(x parse.Expr) bool {
			switch x := x.(type) {
			case *parse.AtTimeZone:
				put(&x.Zone, constants["at_time_zone"].text)
			case *parse.Call:
				one, ok := constants[x.Name]
				if !ok || x.Name == "datediff" && len(x.Args) == 2 {
					break
				}
				for i := one.arg; i < len(x.Args) && (i == one.arg || one.more); i++ {
					put(&x.Args[i], one.text)
				}
			}
			return true
		})
	}
	return func() {
		for _, one := range slices.Backward(undo) {
			one()
		}
	}
}

// isNull reports whether an expression is NULL or a cast of it.
func isNull(x parse.Expr) bool {
	for {
		c, ok := x.(*parse.Cast)
		if !ok {
			break
		}
		x = c.X
	}
	lit, ok := x.(*parse.Literal)
	return ok && lit.Kind == parse.NullLiteral
}

// shape plans a query and returns its columns.
func (x *Executor) shape(ctx context.Context, s *Session, st *parse.SelectStmt) ([]vector.Field, error) {
	if err := x.checkDatabase(s.database()); err != nil {
		return nil, err
	}
	ctx, done := x.start(ctx, s, st)
	defer done()
	if x.o.Memory != nil {
		s.memory = x.o.Memory.Budget(ctx)
		defer func() {
			s.memory.Close()
			s.memory = nil
		}()
	}
	n, err := x.statement(s, x.context(s)).Shape(ctx, st.Query)
	if err != nil {
		return nil, cancelled(ctx, locate(st, err))
	}
	return plan.Fields(n), nil
}

// columns runs a statement and returns its columns.
func (x *Executor) columns(ctx context.Context, s *Session, st parse.Statement) ([]vector.Field, error) {
	r, err := x.Execute(ctx, s, st)
	if err != nil || r.Rows == nil {
		return nil, err
	}
	r.Rows.Close()
	return r.Fields, nil
}

// ParseDialect is ParseWithin for a text in a dialect. The list of running statements does not show the text.
func (x *Executor) ParseDialect(ctx context.Context, text string, d *parse.Dialect) (list []parse.Statement,
	release func(), err error) {
	held := x.held(ctx)
	list, err = parse.ParseDialect(text, held, d)
	return list, held.Close, cancelled(ctx, err)
}

// Allowance begins what a client may have of the memory of queries for what it keeps between statements, such as
// values of parameters.
func (x *Executor) Allowance() *exec.Allowance {
	if x.o.Memory == nil {
		return exec.NewPool(0).Allowance()
	}
	return x.o.Memory.Allowance()
}

// Attend runs part of a statement that is no SQL of ours, such as rows that come from a client. Meanwhile the list of
// running statements shows the text, and KILL ends the context of part. Options.Ended hears of it if the session is
// attended.
func (x *Executor) Attend(ctx context.Context, s *Session, text string, part func(ctx context.Context) error) (
	err error) {
	q := x.list(s, text)
	defer x.unlist(q)
	ctx, done := q.begin(engine.WithStream(ctx, s.User))
	defer done()
	if seen := x.attends(s, text); seen != nil {
		err = errPanicked
		defer func() { seen.attended(s, err) }()
	}
	err = cancelled(ctx, part(ctx))
	return err
}

// Begin begins a transaction: until End, all statements of the session see each table as the first of them saw it.
func (s *Session) Begin() error {
	s.End()
	s.transaction = new(engine.Moment)
	return s.transaction.Pin()
}

// End ends a transaction, if there is one.
func (s *Session) End() {
	if s.transaction != nil {
		s.transaction.Close()
		s.transaction = nil
	}
}
