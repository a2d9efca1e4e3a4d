package sqlexec

import (
	"cmp"
	"context"
	"strings"

	"varve/engine"
	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// Execute runs one statement. Rows of the result are streamed: they must be read or closed before the next statement
// of the session. ctx ends the statement early.
func (x *Executor) Execute(ctx context.Context, s *Session, st parse.Statement) (*Result, error) {
	if err := x.checkDatabase(s.database()); err != nil {
		return nil, err
	}
	ctx, done := x.start(ctx, s, st)
	ctx, done = x.allowed(ctx, s, done)
	if x.o.Memory != nil { // for constants, which the plan keeps
		budget, listed := x.o.Memory.Budget(ctx), done
		s.memory = budget
		done = func() {
			budget.Close()
			listed()
		}
	}
	_, several := st.(*parse.Copy) // of which a part may be written already
	if several {
		ctx = engine.WithStream(ctx, s.User)
	} else {
		ctx = engine.WithWriter(ctx, s.User)
	}
	seen := x.observe(s, st)
	s.observed = seen
	var r *Result
	err, rows := errPanicked, false
	moment, own := s.transaction, s.transaction == nil
	if own {
		moment = new(engine.Moment)
	}
	s.moment = moment
	defer func() { // a panic, too, takes it off the list
		s.memory, s.observed, s.moment = nil, nil, nil
		if !rows {
			if own {
				moment.Close()
			}
			done()
			seen.returned(r, err)
		}
	}()
	r, err = x.execute(ctx, s, st)
	// Nothing has been read or written, so the statement runs again: another table may have the name by now.
	for !several && engine.Overtaken(err) && ctx.Err() == nil {
		moment.Close()
		if !own { // what the transaction saw of other tables is gone as well
			if err = moment.Pin(); err != nil {
				break
			}
		}
		r, err = x.execute(ctx, s, st)
	}
	if err = cancelled(ctx, locate(st, err)); err != nil || r.Rows == nil {
		return r, err
	}
	rows = true
	if !own { // it ends with the transaction
		moment = nil
	}
	if s.memory != nil {
		r.Reserve = s.memory.Reserve
	}
	r.Rows, r.Context = &guarded{Reader: r.Rows, ctx: ctx, moment: moment, done: done, seen: seen}, ctx
	return r, nil
}

// locate adds the place of an error to its message: that of the name or expression at fault, else, for a table or
// database that is missing, that of the statement's own name.
func locate(st parse.Statement, err error) error {
	if code := status.Of(err); code == status.TableNotFound || code == status.DatabaseNotFound {
		if name := parse.Target(st); len(name) > 0 {
			err = parse.PlaceError(err, name[0].At)
		}
	}
	return parse.Locate(st, err)
}

// cancelled wraps the error of a statement whose context has ended: it was killed, is out of time, or its client is
// gone.
func cancelled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if over := engine.ReadBound(ctx); over != nil {
		return over
	}
	switch cause := context.Cause(ctx); {
	case cause == errKilled:
		return status.Wrap(err, status.Cancelled, "Query was killed")
	case cause == context.DeadlineExceeded:
		return status.Wrap(err, status.DeadlineExceeded, "Query ran longer than its time limit")
	}
	return status.Wrap(err, status.Cancelled, "Query was cancelled")
}

// guarded is a result's reader that takes the query off the list of running ones when it is closed.
type guarded struct {
	exec.Reader
	ctx    context.Context
	moment *engine.Moment
	done   func()
	seen   *observed
	closed bool
}

// Next returns rows. A panic ends the query before it goes on to whoever asked.
func (g *guarded) Next(b *vector.Batch) (bool, error) {
	returned := false
	defer func() {
		if !returned {
			g.seen.end(errPanicked)
			g.Close()
		}
	}()
	ok, err := g.Reader.Next(b)
	returned = true
	if err = cancelled(g.ctx, err); err != nil || !ok {
		g.seen.end(err)
		return ok, err
	}
	g.seen.made(b.N)
	return true, nil
}

func (g *guarded) Close() {
	if g.closed {
		return
	}
	g.closed = true
	g.seen.closed(g.ctx)
	defer g.done()
	defer g.moment.Close()
	g.Reader.Close()
}

func (x *Executor) execute(ctx context.Context, s *Session, st parse.Statement) (*Result, error) {
	switch st := st.(type) {
	case *parse.SelectStmt:
		return x.query(ctx, s, st.Query)
	case *parse.Insert:
		return x.insert(ctx, s, st)
	case *parse.Delete:
		return x.deleteFrom(ctx, s, st)
	case *parse.CreateTable:
		return x.createTable(ctx, s, st)
	case *parse.AlterTable:
		return x.alterTable(ctx, s, st)
	case *parse.DropTable:
		return x.dropTable(ctx, s, st)
	case *parse.CreateView:
		return x.createView(ctx, s, st)
	case *parse.Truncate:
		return x.truncate(ctx, s, st)
	case *parse.Comment:
		return x.comment(ctx, s, st)
	case *parse.CreateDatabase:
		return x.createDatabase(ctx, st)
	case *parse.AlterDatabase:
		return x.alterDatabase(ctx, st)
	case *parse.DropDatabase:
		return x.dropDatabase(ctx, s, st)
	case *parse.Show:
		return x.show(ctx, s, st)
	case *parse.Describe:
		return x.describe(ctx, s, st)
	case *parse.Explain:
		return x.explain(ctx, s, st)
	case *parse.TQL:
		return x.tql(ctx, s, st)
	case *parse.Admin:
		return x.admin(ctx, s, st)
	case *parse.Use:
		return x.use(s, st)
	case *parse.Set:
		return x.set(ctx, s, st)
	case *parse.Kill:
		return x.kill(st)
	case *parse.Copy:
		return x.copy(ctx, s, st)
	}
	return nil, status.New(status.Unsupported, "SQL statement is not supported: %s", firstWords(st.Source()))
}

// firstWords names a statement in errors.
func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.ToUpper(strings.Join(words[:min(2, len(words))], " "))
}

// query plans and runs a SELECT; its rows stream.
func (x *Executor) query(ctx context.Context, s *Session, q *parse.Query) (*Result, error) {
	ectx := x.context(s)
	n, err := x.statement(s, ectx).Complete(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := x.stream(ctx, s, n)
	if err != nil {
		return nil, err
	}
	return &Result{Fields: plan.Fields(n), Rows: rows, Warnings: ectx.Warnings()}, nil
}

func (x *Executor) use(s *Session, st *parse.Use) (*Result, error) {
	name, err := databaseName(st.Name)
	if err != nil {
		return nil, err
	}
	if err := x.checkDatabase(name); err != nil {
		return nil, err
	}
	s.DB, s.DBGiven = name, true
	return &Result{}, nil
}

// set changes the time zone and what statements may read; every other variable is taken and has no effect, because
// clients send many.
func (x *Executor) set(ctx context.Context, s *Session, st *parse.Set) (*Result, error) {
	if st.Name == maxReadRows || st.Name == maxReadBytes {
		return &Result{}, x.setReads(s, st)
	}
	if st.Name != "time_zone" && st.Name != "timezone" || len(st.Values) != 1 {
		return &Result{}, nil
	}
	name := ""
	switch v := st.Values[0].(type) {
	case *parse.Column:
		name = v.Parts.String()
	case *parse.Literal:
		name = v.Text
	default:
		e, err := x.statement(s, x.context(s)).Scalar(ctx, v)
		if err != nil {
			return nil, err
		}
		if c, ok := e.(*expr.Const); ok && c.Value.Type.IsText() && !c.Value.IsNull(0) {
			name = c.Value.Str(0)
		}
	}
	switch strings.ToLower(name) {
	case "system", "default", "local":
		name = "UTC"
	}
	return &Result{}, s.setZone(name)
}

// admin runs ADMIN f(..): one row with 0, its column named by the statement's text.
func (x *Executor) admin(ctx context.Context, s *Session, st *parse.Admin) (*Result, error) {
	args := make([]string, len(st.Call.Args))
	for i, a := range st.Call.Args {
		switch a := a.(type) {
		case *parse.Literal:
			args[i] = a.Text
		case *parse.Column:
			args[i] = a.Parts.String()
		default:
			return nil, status.New(status.InvalidArguments, "argument %d of %s must be a constant", i+1, st.Call.Name)
		}
	}
	var err error
	switch st.Call.Name {
	case "backup":
		return x.adminBackup(ctx, st, args)
	case "drop_backup":
		if len(args) != 1 {
			return nil, status.New(status.InvalidArguments,
				"ADMIN drop_backup needs the name of the backup, found %d arguments", len(args))
		}
		err = x.e.Backups().Drop(ctx, args[0])
	case "flush_table", "compact_table", "build_index", "export_table":
		err = x.adminTable(ctx, s, st.Call.Name, args)
	case "flush_region", "compact_region":
		err = x.adminRegion(ctx, st.Call.Name, args)
	case "migrate_region", "reconcile_table", "reconcile_database", "reconcile_catalog", "flush_flow",
		"procedure_state",
		"add_region_follower", "remove_region_follower", "gc_table", "gc_regions":
		return nil, status.New(status.Unsupported, "ADMIN %s is not supported: the server has one node", st.Call.Name)
	default:
		return nil, status.Because(status.New(status.PlanQuery, "Failed to plan SQL: Invalid function '%s' of ADMIN.%s",
			st.Call.Name, nearest.Hint(st.Call.Name, parse.AdminFunctions)), status.NoFunction)
	}
	if err != nil {
		return nil, err
	}
	f := vector.Field{Name: cmp.Or(st.Column, st.Source()), Type: vector.Uint64Type}
	return rowsResult([]vector.Field{f},
		&vector.Batch{N: 1, Cols: []*vector.Vector{{Type: f.Type, Uints: []uint64{0}}}}), nil
}

// adminBackup answers with the directory of the backup.
func (x *Executor) adminBackup(ctx context.Context, st *parse.Admin, args []string) (*Result, error) {
	if len(args) != 1 {
		return nil, status.New(status.InvalidArguments, "ADMIN backup needs a name for the backup, found %d arguments",
			len(args))
	}
	b, err := x.e.Backups().Make(ctx, args[0])
	if err != nil {
		return nil, err
	}
	f := vector.Field{Name: cmp.Or(st.Column, st.Source()), Type: vector.StringType}
	return rowsResult([]vector.Field{f},
		&vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstString(b.Dir).Flatten(1)}}), nil
}

func (x *Executor) adminTable(ctx context.Context, s *Session, name string, args []string) error {
	if len(args) == 0 || len(args) > 1 && name != "compact_table" || len(args) > 3 {
		return status.New(status.InvalidArguments, "ADMIN %s needs the name of a table, found %d arguments", name,
			len(args))
	}
	n, err := parseName(args[0])
	if err != nil {
		return err
	}
	t, err := x.table(s, n)
	if err != nil {
		return err
	}
	switch name {
	case "flush_table":
		return x.e.Flush(ctx, t.Schema.Name)
	case "compact_table":
		return x.e.Compact(ctx, t.Schema.Name)
	case "export_table":
		if x.o.Export == nil {
			return status.New(status.Unsupported, "ADMIN export_table needs open.url in the configuration of the server")
		}
		return x.o.Export(ctx, t.Schema.Name)
	}
	return x.e.BuildIndexes(ctx, t.Schema.Name)
}

// parseName takes a text apart as a name: what it cannot be read as is a table's plain name.
func parseName(text string) (parse.Name, error) {
	if e, err := parse.ParseExpr(text); err == nil {
		if c, ok := e.(*parse.Column); ok && len(c.Parts) <= 3 {
			return c.Parts, nil
		}
	}
	return parse.Name{{Name: text, Quote: '\''}}, nil
}

// adminRegion does the same for the one region of a table, given by its id.
func (x *Executor) adminRegion(ctx context.Context, name string, args []string) error {
	if len(args) != 1 {
		return status.New(status.InvalidArguments, "ADMIN %s needs the id of a region", name)
	}
	t, err := infoschema.TableOfRegion(x.env(ctx, &Session{}), args[0])
	if err != nil {
		return err
	}
	if name == "flush_region" {
		return x.e.Flush(ctx, t)
	}
	return x.e.Compact(ctx, t)
}

// rowsResult is a result of rows that are all there.
func rowsResult(fields []vector.Field, b *vector.Batch) *Result {
	return &Result{Fields: fields, Rows: exec.Values(b).Reader(0)}
}
