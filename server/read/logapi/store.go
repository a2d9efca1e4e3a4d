package logapi

import (
	"cmp"
	"context"
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql"
)

// request is a request in hand, and the tables of its database.
type request struct {
	h       *Handler
	c       *web.Ctx
	ctx     context.Context // that of c, which KILL ends as well
	p       params
	session sqlexec.Session // as it is before each statement
	memory  *exec.Budget    // nil: no bound
	now     int64           // ns
	began   time.Time
	stats   *logql.Stats
	queued  time.Duration
	rows    int64 // lines or series of the answer; below zero: it has neither
}

// noTenant is the error of a request without a tenant where tenants are databases.
var noTenant = web.NewReject(401, "no org id")

// begin reads the parameters and takes a place among queries.
func (h *Handler) begin(c *web.Ctx) (*request, error) {
	r, err := h.prepare(c)
	if err != nil {
		return nil, err
	}
	if c.Watch != nil {
		c.Watch()
	}
	return r, r.admit()
}

// prepare reads the parameters and finds the database.
func (h *Handler) prepare(c *web.Ctx) (*request, error) {
	r := &request{h: h, c: c, ctx: c.Context, now: h.o.Now().UnixNano(), began: time.Now(), stats: new(logql.Stats)}
	var err error
	if r.p, err = readParams(c); err != nil {
		return nil, err
	}
	r.session = sqlexec.Session{User: c.User.Name, Rights: "SELECT", Client: c.RemoteAddr().String(),
		Network: c.Network(), ConnID: c.ConnID(), Shown: r.p.text("query")}
	c.Statement = r.session.Shown
	r.session.DB, r.session.DBGiven = web.Database(r.p.text("db"), c.HeaderDB())
	if h.o.TenantsAreDatabases {
		if r.session.DB = c.HeaderText("X-Scope-OrgID"); r.session.DB == "" {
			return nil, noTenant
		}
		r.session.DBGiven = true
	}
	r.session.DB = cmp.Or(r.session.DB, sqlexec.DefaultDB)
	if !h.o.Executor.HasDatabase(r.session.DB) {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", r.session.DB)
	}
	return r, nil
}

// admit takes a place among queries, until the request is over.
func (r *request) admit() error {
	if err := r.h.o.Admit(r.c); err != nil {
		return err
	}
	r.queued = time.Since(r.began)
	if r.h.o.Memory != nil {
		r.memory = r.h.o.Memory.Budget(r.c.Context)
		r.c.Finally(r.memory.Close)
	}
	return nil
}

// attended runs what answers the request: all its statements see a table as the first of them saw it. The list of
// running statements shows it as one, which KILL ends wherever it is, and so does the record of slow statements.
func (r *request) attended(part func() error) error {
	if err := r.session.Begin(); err != nil {
		return err
	}
	defer r.session.End()
	r.rows = -1
	r.session.Attended, r.session.Answered = true, func() int64 { return r.rows }
	text := cmp.Or(r.session.Shown, string(r.c.Path()))
	return r.h.o.Executor.Attend(r.c.Context, &r.session, text, func(ctx context.Context) error {
		r.ctx = ctx
		return part()
	})
}

// Tables lists the tables of the database.
func (r *request) Tables() ([]*engine.Table, error) { return r.h.o.Store.Tables(r.session.DB) }

// Reserve takes memory for what the request keeps.
func (r *request) Reserve(bytes int64) error {
	if r.memory == nil {
		return nil
	}
	return r.memory.Reserve(bytes)
}

// TextSizes sums up the bytes of texts of a table.
func (r *request) TextSizes(ctx context.Context, s engine.SizeRequest) error {
	if r.memory != nil {
		s.Reserve = r.memory.Reserve
	}
	return r.h.o.Store.TextSizes(ctx, s)
}

// Run runs a statement.
func (r *request) Run(ctx context.Context, statement string, f *expr.Private) (logql.Rows, error) {
	session := r.session
	if f != nil {
		session.Private = map[string]*expr.Private{f.Name(): f}
	}
	list, release, err := r.h.o.Executor.ParseWithin(ctx, &session, statement)
	if err != nil {
		release()
		return nil, err
	}
	result, err := r.h.o.Executor.Execute(ctx, &session, list[0])
	if err != nil {
		release()
		return nil, err
	}
	return &rows{result.Rows, release}, nil
}

// rows are the rows of a statement, which leaves the list of statements when they are closed.
type rows struct {
	exec.Reader
	release func()
}

// Next gives the next batch.
func (r *rows) Next(b *vector.Batch) (bool, error) { return r.Reader.Next(b) }

// Close ends the statement.
func (r *rows) Close() {
	r.Reader.Close()
	r.release()
}
