package traceapi

import (
	"strconv"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// request is a request in hand.
type request struct {
	h       *Handler
	c       *web.Ctx
	session sqlexec.Session // as it is before each statement
	table   string          // of spans
}

// begin begins a request: it reads the database and the table, which all endpoints have, and takes a place among
// queries.
func (h *Handler) begin(c *web.Ctx) (*request, error) {
	p, err := c.LastQuery("db")
	if err != nil {
		return nil, err
	}
	r := &request{h: h, c: c, session: sqlexec.Session{User: c.User.Name, Rights: "SELECT",
		Client: c.RemoteAddr().String(), Network: c.Network(), ConnID: c.ConnID()}}
	r.session.DB, r.session.DBGiven = web.Database(p.String("db"), c.HeaderDB())
	if !h.o.Executor.HasDatabase(r.session.DB) {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", r.session.DB)
	}
	if r.table, err = c.UTF8Header("x-service-trace-table-name"); err != nil {
		return nil, err
	}
	if r.table == "" {
		r.table = "opentelemetry_traces"
	}
	if err := h.o.Admit(c); err != nil {
		return nil, err
	}
	if c.Watch != nil {
		c.Watch()
	}
	return r, nil
}

// beside is the name of a table beside that of spans: the same with a suffix, quoted for SQL.
func (r *request) beside(suffix string) string { return parse.QuoteIdent(r.table + suffix) }

// atMost is the clause that limits a statement to one row more than the bound, so that too many rows are noticed.
func atMost(rows int) string { return " LIMIT " + strconv.Itoa(rows+1) }

// row is a row of a result.
type row struct {
	result *sqlexec.Result
	batch  *vector.Batch
	at     int
}

func (r *row) null(column int) bool    { return r.batch.Cols[column].IsNull(r.at) }
func (r *row) bytes(column int) []byte { return r.batch.Cols[column].Bytes(r.at) }

// text is a text of the row; NULL is an empty one.
func (r *row) text(column int) string {
	if r.null(column) {
		return ""
	}
	return string(r.bytes(column))
}

// int is an integer of the row; NULL is zero.
func (r *row) int(column int) int64 {
	if r.null(column) {
		return 0
	}
	return r.batch.Cols[column].Int(r.at)
}

// uint is an integer of the row that has no sign; NULL is zero.
func (r *row) uint(column int) uint64 {
	if r.null(column) {
		return 0
	}
	return r.batch.Cols[column].Uint(r.at)
}

// reserve counts the bytes that the row adds to the answer, twice: a list is copied while it grows, a trace into the
// answer.
func (r *row) reserve(bytes int) error {
	if r.result.Reserve == nil {
		return nil
	}
	return r.result.Reserve(2 * int64(bytes))
}

// rows runs a statement and calls each with its rows. The memory reserved for them is held until the request is over.
func (r *request) rows(statement string, each func(row *row) error) error {
	result, err := r.execute(statement)
	if err != nil {
		return err
	}
	r.c.Finally(result.Rows.Close)
	row := row{result: result, batch: &vector.Batch{}}
	for {
		more, err := result.Rows.Next(row.batch)
		if err != nil || !more {
			return err
		}
		for row.at = 0; row.at < row.batch.N; row.at++ {
			if err := each(&row); err != nil {
				return err
			}
		}
	}
}

// fields are the columns of the table of spans.
func (r *request) fields() ([]vector.Field, error) {
	result, err := r.execute("SELECT * FROM " + r.beside("") + " LIMIT 0")
	if err != nil {
		return nil, err
	}
	result.Rows.Close()
	return result.Fields, nil
}

// execute runs a statement.
func (r *request) execute(statement string) (*sqlexec.Result, error) {
	r.c.Statement = statement
	session := r.session
	list, release, err := r.h.o.Executor.ParseWithin(r.c.Context, &session, statement)
	r.c.Finally(release)
	if err != nil {
		return nil, err
	}
	return r.h.o.Executor.Execute(r.c.Context, &session, list[0])
}
