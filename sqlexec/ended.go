package sqlexec

import (
	"cmp"
	"context"
	"errors"
	"time"

	"varve/sqlexec/parse"
	"varve/sqlexec/promql"
)

// Ended is a statement that is over, however it ended.
type Ended struct {
	DB, User, Client string
	// Text is the statement as it was sent, or an expression of the language of metrics by itself. It may be part of a
	// request's body.
	Text string
	// Metrics reports that the statement is in the metrics language. Grid is the times of its evaluation; nil if it did
	// not get so far.
	Metrics bool
	Grid    *Grid
	// Began is when it was begun. Took is how long it took until its last row was made, or until nobody wanted more of
	// them.
	Began time.Time
	Took  time.Duration
	// Rows were answered or written; below zero: it failed, or nobody counted them.
	Rows int64
	// Err is why it failed; nil: it did not.
	Err error
}

// Grid are the first and the last step of an expression and the time between two, ms. A step of zero: one instant.
type Grid struct{ Start, End, Step int64 }

// errPanicked is the end of statements that never returned.
var errPanicked = errors.New("panic in a statement")

// observed is a statement that Options.Ended wants to hear of; nil: nobody does.
type observed struct {
	x     *Executor
	st    parse.Statement
	ended Ended
	over  bool
}

// observe begins to observe a statement.
func (x *Executor) observe(s *Session, st parse.Statement) *observed {
	if x.o.Ended == nil || s.Attended {
		return nil
	}
	_, metrics := st.(*parse.TQL)
	return &observed{x: x, st: st, ended: Ended{DB: s.database(), User: s.User, Client: s.Client,
		Text:    cmp.Or(s.Shown, st.Source()),
		Metrics: metrics, Began: x.o.Now()}}
}

// attends begins to observe what an attended session does.
func (x *Executor) attends(s *Session, text string) *observed {
	if x.o.Ended == nil || !s.Attended {
		return nil
	}
	return &observed{x: x, ended: Ended{DB: s.database(), User: s.User, Client: s.Client, Text: text, Rows: -1,
		Metrics: s.Evaluated != nil, Grid: s.Evaluated, Began: x.o.Now()}}
}

// attended reports what an attended session did.
func (o *observed) attended(s *Session, err error) {
	if s.Answered != nil {
		o.ended.Rows = s.Answered()
	}
	o.end(err)
}

// evaluatedAt records the grid of an expression that is a whole statement, not a part of one.
func (o *observed) evaluatedAt(st *parse.TQL, q *promql.Query) {
	if o != nil && o.st == parse.Statement(st) {
		o.ended.Grid = &Grid{q.Start, q.End, q.Step}
	}
}

// made counts rows of the answer.
func (o *observed) made(rows int) {
	if o != nil {
		o.ended.Rows += int64(rows)
	}
}

// returned reports a statement that has ended, and its result.
func (o *observed) returned(r *Result, err error) {
	if o != nil && err == nil {
		o.ended.Rows = r.Affected
	}
	o.end(err)
}

// closed tells of a statement whose rows are closed, unless all were read: who asked wants no more of them, or it was
// killed or is out of time. A context that was merely cancelled says nothing, as that of an answered request is.
func (o *observed) closed(ctx context.Context) {
	err := context.Cause(ctx)
	if err == context.Canceled {
		err = nil
	}
	o.end(cancelled(ctx, err))
}

// end tells of a statement that is over; the first call counts.
func (o *observed) end(err error) {
	if o == nil || o.over {
		return
	}
	if o.over = true; err != nil {
		o.ended.Rows = -1
	}
	o.ended.Took, o.ended.Err = o.x.o.Now().Sub(o.ended.Began), err
	o.x.o.Ended(o.ended)
}
