package metricsapi

import (
	"context"
	"time"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/promql"
)

// Query answers query: an expression at one time.
func (h *Handler) Query(c *web.Ctx) error {
	return h.evaluate(c, func(p *params, q *promql.Query) error {
		at, err := p.time("time", h.o.Now().UnixMilli())
		q.Start, q.End = at, at
		return err
	})
}

// QueryRange answers query_range: an expression at every step between two times.
func (h *Handler) QueryRange(c *web.Ctx) error {
	return h.evaluate(c, func(p *params, q *promql.Query) (err error) {
		if err := p.needed("start", "end", "step"); err != nil {
			return err
		}
		if q.Start, err = p.time("start", 0); err != nil {
			return err
		}
		if q.End, err = p.time("end", 0); err != nil {
			return err
		}
		if q.End < q.Start {
			return invalid("end", "end timestamp must not be before start time")
		}
		step, err := p.duration("step", 0)
		if err != nil {
			return err
		}
		if q.Step = step.Milliseconds(); q.Step <= 0 {
			return invalid("step",
				"zero or negative query resolution step widths are not accepted. Try a positive integer")
		}
		return nil
	})
}

// evaluate answers with the value of an expression at the times that grid reads.
func (h *Handler) evaluate(c *web.Ctx, grid func(p *params, q *promql.Query) error) error {
	p, err := read(c)
	if err != nil {
		return reply(c, err)
	}
	q := promql.Query{Expr: p.text("query")}
	c.Statement = q.Expr
	if err := h.options(c, p, &q, grid); err != nil {
		return reply(c, err)
	}
	explain, err := p.flag("explain")
	if err != nil {
		return reply(c, err)
	}
	if explain {
		return explained(c, &q)
	}
	answer, err := h.run(c, p, q)
	if err != nil {
		return reply(c, err)
	}
	c.Pieces(answer.Append)
	return nil
}

// explained answers with the plan of a query, which does not run: the expression as it was understood, and a line for
// each node.
func explained(c *web.Ctx, q *promql.Query) error {
	plan, err := q.Compile()
	if err != nil {
		return reply(c, err)
	}
	formatted, err := promql.Format(q.Expr)
	if err != nil {
		return reply(c, err)
	}
	body := jsontext.AppendString([]byte(success+`{"query":`), formatted)
	c.JSON(200, append(appendTexts(body, `,"plan":`, plan.Lines()), `}}`...))
	return nil
}

var errPanicked = status.New(status.Internal, "panic in a query")

// run evaluates a query when its turn comes, and reports its end to Options.Ended.
func (h *Handler) run(c *web.Ctx, p *params, q promql.Query) (*promql.Answer, error) {
	if h.o.Ended == nil {
		return h.answer(c, p, q)
	}
	began, err := h.o.Now(), error(errPanicked)
	defer func() {
		h.o.Ended(sqlexec.Ended{
			DB: p.db, User: c.User.Name, Client: c.RemoteAddr().String(), Text: q.Expr, Metrics: true,
			Grid:  &sqlexec.Grid{Start: q.Start, End: q.End, Step: q.Step},
			Began: began, Took: h.o.Now().Sub(began), Rows: -1, Err: err,
		})
	}()
	var answer *promql.Answer
	answer, err = h.answer(c, p, q)
	return answer, err
}

func (h *Handler) answer(c *web.Ctx, p *params, q promql.Query) (answer *promql.Answer, err error) {
	q.User = c.User.Name
	err = h.o.Queries.Evaluate(c.Context, q, h.storage(c, p.db), func(r *promql.Result) (err error) {
		answer, err = r.Answer(c.Context, p.text("stats") != "")
		return err
	})
	return answer, err
}

// storage is the series of a database, as one request sees them.
func (h *Handler) storage(c *web.Ctx, db string) *promql.Tables {
	t := &promql.Tables{Engine: h.o.Store, DB: db}
	if h.o.Memory != nil {
		budget := h.o.Memory.Budget(c.Context)
		c.Finally(budget.Close)
		t.Memory = budget
	}
	return t
}

// options reads the parameters of a query besides its expression.
func (h *Handler) options(c *web.Ctx, p *params, q *promql.Query,
	grid func(p *params, q *promql.Query) error) (err error) {
	if q.Limit, err = p.limit("limit"); err != nil {
		return err
	}
	if err := grid(p, q); err != nil {
		return err
	}
	for _, name := range [...]string{"lookback_delta", "lookback"} {
		lookback, err := p.duration(name, 0)
		if err != nil {
			return err
		}
		if lookback > 0 {
			q.Lookback = lookback
			break
		}
	}
	limit, err := p.duration("timeout", h.o.Timeout)
	if err != nil {
		return err
	}
	if p.text("timeout") != "" {
		limit = max(limit, 1) // 0 asks for no time at all, not for no limit
		if h.o.Timeout > 0 {
			limit = min(limit, h.o.Timeout)
		}
	}
	h.limitTime(c, limit)
	return nil
}

// limitTime ends the request's context after a time; 0: never.
func (h *Handler) limitTime(c *web.Ctx, limit time.Duration) {
	if limit > 0 {
		var cancel context.CancelFunc
		c.Context, cancel = context.WithTimeout(c.Context, limit)
		c.Finally(cancel)
	}
	if c.Watch != nil {
		c.Watch()
	}
}
