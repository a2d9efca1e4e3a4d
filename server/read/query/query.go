// Package query serves the SQL endpoints: it runs statements and writes results in the format that the client asks for.
package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/result"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// Options of a Handler.
type Options struct {
	Executor web.Executor
	// MaxConcurrent is the number of requests that run at a time, those that query and those that write each; 0 means
	// no limit. Others wait, unless NoQueue has them refused.
	MaxConcurrent int
	NoQueue       bool
}

// Handler answers the SQL endpoints. Safe for concurrent use.
type Handler struct {
	o      Options
	gates  *gates
	shared *Shared

	seconds prometheus.Histogram
	running prometheus.GaugeFunc
	waiting prometheus.GaugeFunc
}

// New makes a handler.
func New(o Options) *Handler {
	g := newGates(&o)
	h := &Handler{
		o: o, gates: g, shared: newShared(o.Executor, g),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "varve_sql_request_seconds", Help: "Time of SQL requests until the last byte was handed over.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		running: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varve_sql_requests_running",
			Help: "SQL requests that are running."}, func() float64 {
			running, _ := g.figures()
			return float64(running)
		}),
		waiting: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varve_sql_requests_waiting",
			Help: "SQL requests that wait for a place among max_concurrent_queries."}, func() float64 {
			_, waiting := g.figures()
			return float64(waiting)
		}),
	}
	return h
}

// Protocols are SQL and the metrics language, and the analysis of a statement as a stream, which may be off.
func (h *Handler) Protocols(streamOff bool) []web.Protocol {
	return []web.Protocol{{
		Name: "query", Collectors: h.Collectors(), Features: []string{"error_position"},
		Routes: []web.Route{
			web.On(web.GetPost, "/v1/sql", web.AccessUser, h.SQL),
			web.On(web.GetPost, "/v1/mquery", web.AccessUser, h.MQuery),
			web.On(web.GetPost, "/v1/sql/format", web.AccessUser, h.Format),
			web.On(web.GetPost, "/v1/sql/parse", web.AccessUser, h.Parse),
		},
	}, {
		Name: "analyze_stream", Off: streamOff, Features: []string{"analyze_stream"},
		Routes: []web.Route{web.On(web.Post, "/v1/sql/analyze/stream", web.AccessUser, h.AnalyzeStream)},
	}}
}

// Shared is the way of statements that come over other protocols.
func (h *Handler) Shared() *Shared { return h.shared }

// Collectors are the handler's figures.
func (h *Handler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{h.shared.statements, h.seconds, h.running, h.waiting}
}

// SQL answers /v1/sql.
func (h *Handler) SQL(c *web.Ctx) error {
	p, err := parameters(c, "sql", "db", "format", "epoch", "limit", "compression", "time_format", "non_finite")
	if err != nil {
		return err
	}
	limit, err := p.Uint("limit", 1<<63-1)
	if err != nil {
		return err
	}
	return h.answer(c, p, limit, func(s *sqlexec.Session) ([]parse.Statement, error) { return h.read(c, p, s) })
}

// read reads the statements of a request.
func (h *Handler) read(c *web.Ctx, p *web.Params, s *sqlexec.Session) ([]parse.Statement, error) {
	text, err := sqlText(p)
	if err != nil {
		return nil, err
	}
	c.Statement = text
	statements, release, err := h.o.Executor.ParseWithin(c.Context, s, text)
	c.Finally(release)
	return statements, plusHint(c, err)
}

// session makes the session of a request, and looks from now on whether its client leaves.
func (h *Handler) session(c *web.Ctx, p *web.Params) (*sqlexec.Session, error) {
	s := h.shared.Session(c.User)
	s.Client, s.Network, s.Zone, s.ConnID = c.RemoteAddr().String(), c.Network(), c.RequestZone(), c.ConnID()
	s.DB, s.DBGiven = web.Database(p.String("db"), c.HeaderDB())
	if !h.o.Executor.HasDatabase(s.DB) {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", s.DB)
	}
	if err := c.Batch(); err != nil {
		return nil, err
	}
	if c.Watch != nil {
		c.Watch()
	}
	return s, nil
}

// begin takes a place for a request of statements, and measures it.
func (h *Handler) begin(c *web.Ctx, statements []parse.Statement) error {
	if err := h.gates.of(statements).enter(c); err != nil {
		return ended(err)
	}
	c.Finally(func() { h.seconds.Observe(time.Since(c.Start).Seconds()) })
	return nil
}

// answer executes the statements of a request, at most limit rows of each result.
func (h *Handler) answer(c *web.Ctx, p *web.Params, limit uint64,
	read func(s *sqlexec.Session) ([]parse.Statement, error)) error {
	texts, err := result.ParseTexts(p.String("time_format"), p.String("non_finite"), c.RequestZone())
	if err != nil {
		return err
	}
	session, err := h.session(c, p)
	if err != nil {
		return err
	}
	statements, err := read(session)
	if err != nil {
		return err
	}
	if err := h.begin(c, statements); err != nil {
		return err
	}
	format := result.ParseFormat(p.String("format")).Compressed(p.String("compression"))
	run := &run{h: h, c: c, session: session, statements: statements}
	if len(statements) > 1 && !format.Several() {
		return status.New(status.InvalidArguments,
			"cannot output multi-statements result in %s format: none of the %d statements was executed; "+
				"send them one by one, or with format=service_v1", format, len(statements))
	}
	if !limited(format) {
		limit = 1<<63 - 1
	}
	return result.Reply(c, format, result.ParseEpoch(p.String("epoch")), texts, int64(limit), run.next)
}

// Admit takes one of the places of queries that run at a time, which the request has until it is over.
func (h *Handler) Admit(c *web.Ctx) error { return h.gates.queries.enter(c) }

// limited reports whether the parameter limit cuts answers in the format.
func limited(f result.Format) bool {
	switch f {
	case result.InfluxV1, result.Null, result.Arrow, result.ArrowZstd, result.ArrowLZ4:
		return false
	}
	return true
}

func sqlText(p *web.Params) (string, error) {
	if !p.Has("sql") {
		return "", status.New(status.InvalidArguments, "sql parameter is required.")
	}
	return p.String("sql"), nil
}

// run is the execution of a request's statements.
type run struct {
	h          *Handler
	c          *web.Ctx
	session    *sqlexec.Session
	statements []parse.Statement
	at         int
}

// next executes the next statement.
func (r *run) next() (*result.Output, bool, error) {
	if r.at == len(r.statements) {
		return nil, true, nil
	}
	st := r.statements[r.at]
	r.at++
	r.c.Statement = st.Source()
	out, err := r.execute(st)
	return out, r.at == len(r.statements), err
}

func (r *run) execute(st parse.Statement) (*result.Output, error) {
	answer, err := r.h.shared.Execute(r.c.Context, r.c.User, r.session, st)
	if err != nil {
		return nil, err
	}
	out := &result.Output{Fields: answer.Fields, Affected: answer.Affected, Context: answer.Context,
		Reserve: answer.Reserve, Warnings: answer.Warnings}
	if answer.Rows != nil {
		out.Rows = answer.Rows
	}
	return out, nil
}

// maxFormatted bounds texts that are only looked at: what is made of them is longer, and lies in memory.
const maxFormatted = parse.MaxStatement

// parse reads the statements of a text that is shown, not run.
func (h *Handler) parse(c *web.Ctx, text string) ([]parse.Statement, error) {
	if len(text) > maxFormatted {
		return nil, status.New(status.InvalidArguments,
			"SQL text of %d bytes is longer than %d, which is the limit for texts that are not run", len(text),
			maxFormatted)
	}
	c.Statement = text
	session := &sqlexec.Session{User: c.User.Name, Client: c.RemoteAddr().String(), Network: c.Network()}
	statements, release, err := h.o.Executor.ParseWithin(c.Context, session, text)
	c.Finally(release)
	return statements, err
}

// Format answers /v1/sql/format.
func (h *Handler) Format(c *web.Ctx) error {
	p, err := c.QueryOrForm("sql")
	if err != nil {
		return err
	}
	text, err := sqlText(p)
	if err != nil {
		return err
	}
	return c.Make(200, "application/json", func() ([]byte, error) {
		statements, err := h.parse(c, text)
		if err != nil {
			return nil, err
		}
		return append(jsontext.AppendString([]byte(`{"formatted":`), parse.PrintAll(statements)), '}'), nil
	})
}

// Parse answers /v1/sql/parse: per statement its kind and its text as it was understood.
func (h *Handler) Parse(c *web.Ctx) error {
	p, err := c.QueryOrForm("sql")
	if err != nil {
		return err
	}
	if !p.Has("sql") {
		return status.New(status.InvalidArguments, "Invalid query: sql parameter is required.")
	}
	return c.Make(200, "application/json", func() ([]byte, error) {
		statements, err := h.parse(c, p.String("sql"))
		if err != nil {
			return nil, err
		}
		body := []byte{'['}
		for i, st := range statements {
			if i > 0 {
				body = append(body, ',')
			}
			body = jsontext.AppendString(append(body, '{'), kindOf(st))
			body = append(jsontext.AppendString(append(body, `:{"sql":`...), parse.Print(st)), `}}`...)
		}
		return append(body, ']'), nil
	})
}

// kindOf names the kind of a statement: Select, CreateTable, ...
func kindOf(st parse.Statement) string {
	name := fmt.Sprintf("%T", st)
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "Stmt")
}
