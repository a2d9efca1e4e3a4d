package query

import (
	"errors"

	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// MQuery answers /v1/mquery: an expression of the language of metrics over a range, in the formats of SQL.
func (h *Handler) MQuery(c *web.Ctx) error {
	p, err := c.QueryOrForm("query", "start", "end", "step", "lookback", "db", "format", "epoch", "compression",
		"time_format", "non_finite")
	if err != nil {
		return err
	}
	for _, name := range [...]string{"query", "start", "end", "step"} {
		if !p.Has(name) {
			return web.NewReject(400, "Failed to deserialize query string: missing field `"+name+"`")
		}
	}
	text := func(name string) parse.Expr { return &parse.Literal{Kind: parse.StringLiteral, Text: p.String(name)} }
	st := &parse.TQL{Kind: "eval", Start: text("start"), End: text("end"), Step: text("step"), Expr: p.String("query")}
	st.Text = st.Expr
	if p.String("lookback") != "" {
		st.Lookback = text("lookback")
	}
	c.Statement = st.Expr
	return argument(h.answer(c, p, 1<<63-1,
		func(*sqlexec.Session) ([]parse.Statement, error) { return []parse.Statement{st}, nil }))
}

// argument makes an expression that cannot be read an argument that is wrong: here it is one.
func argument(err error) error {
	var e *status.Error
	if errors.As(err, &e) && e.Code == status.InvalidSyntax {
		return status.Wrap(err, status.InvalidArguments, "%s", e.Msg)
	}
	return err
}
