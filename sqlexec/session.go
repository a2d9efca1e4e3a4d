// Package sqlexec runs SQL. It parses statements (parse), binds and plans queries (plan), runs them over batches (exec,
// expr), and carries out all other statements: definitions, INSERT, DELETE, SHOW, ADMIN. An Executor is safe for
// concurrent use; a Session runs one statement at a time.
//
//	session.go names.go running.go ended.go        sessions, names, statements that run and that are over
//	reads.go                                       what statements may read
//	execute.go describe.go explain.go tql.go       statements, their columns, plans, the language of metrics
//	insert.go delete.go value.go                   rows
//	copy.go copydir.go copyfrom.go copyvalue.go    files
//	ddl.go alter.go createtable.go createas.go     definitions
//	catalog.go views.go                            what planning sees of the store, views
//	show.go showcreate.go showtable.go nearest.go  SHOW and DESC, hints in errors
package sqlexec

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
	"varve/sqlexec/promql"
	"varve/sqlexec/spill"
)

// DefaultDB is the database of a request that names none.
const DefaultDB = engine.PublicDB

// Catalog is the one catalog that names may begin with.
const Catalog = "service"

// Session is the state that the statements of one request share. USE and SET time_zone change it for the following
// statements. One goroutine at a time.
type Session struct {
	// DB is the current database; empty means DefaultDB.
	DB string
	// DBGiven says that the request named the database itself.
	DBGiven bool
	User    string
	// Rights are what the user may do as GRANT would name it; empty means everything.
	Rights string
	// Blind says that the user must not see what is stored. Errors do not quote it either.
	Blind bool
	// Client is the client's address, for the list of running queries; Application is the name that it gives itself.
	Client      string
	Application string
	// Network is the network whose clients share turns with Client: its address, or the part of it that networks assign
	// as one.
	Network netip.Addr
	// Reads is what each statement may read, where that is less than Options.Reads say.
	Reads engine.ReadLimit
	// Zone is the request's time zone; nil means UTC.
	Zone *time.Location
	// Settings are the parameters that pg_settings shows; nil: none.
	Settings func() []infoschema.Setting
	// Now is read once per statement; nil means the executor's clock.
	Now func() time.Time
	// ConnID is what connection_id() answers.
	ConnID uint64
	// Backend is the number by which other connections of PostgreSQL's protocol end this one; 0: none can.
	Backend uint32
	// Private are functions that only statements of this session can call, by name.
	Private map[string]*expr.Private
	// Shown is the text that lists of statements and logs show in place of a statement that the server made of another
	// language; empty: the statement.
	Shown string
	// Attended says that Executor.Attend runs what the statements of the session are part of: it is on the list of
	// running statements and Options.Ended hears of it; they are not, and it hears of none of them.
	Attended bool
	// Answered is the number of rows that an attended session has answered, for Options.Ended; nil: nobody counts.
	Answered func() int64
	// Evaluated is the grid of the expression of the metrics language that an attended session evaluates; nil: it does
	// something else.
	Evaluated *Grid
	// Analyzing is called when EXPLAIN ANALYZE begins to run a query. Its argument returns the figures of the query so
	// far; it may be called from any goroutine, also after the query has ended. nil: no call.
	Analyzing func(sofar func() Measured)

	listed *query       // of the request whose text was read; nil: each statement is on the list by itself
	memory *exec.Budget // of the statement that is being planned; nil: none is
	// moment is what the scans of the statement that is being planned see; nil: each scan sees what is there when it
	// begins.
	moment      *engine.Moment
	transaction *engine.Moment // what all statements see, see Begin; nil: each sees its own moment

	observed *observed // the statement that is being planned, for Options.Ended; nil: nobody listens
}

// database is the current database.
func (s *Session) database() string {
	if s.DB == "" {
		return DefaultDB
	}
	return s.DB
}

// setZone changes the zone of the following statements. Unknown names are InvalidArguments.
func (s *Session) setZone(name string) error {
	zone, err := timefmt.Zone(name)
	if err != nil {
		return status.Wrap(err, status.InvalidArguments, "Invalid timezone: %s", name)
	}
	s.Zone = zone
	return nil
}

// Result is the outcome of one statement.
type Result struct {
	Fields []vector.Field
	// Rows streams the answer; nil for statements that only count rows. The caller closes it.
	Rows exec.Reader
	// Context of Rows ends when the statement is ended from outside, and when they are closed.
	Context context.Context
	// Reserve takes memory for the answer, which the statement holds until Rows are closed; nil: it is not counted.
	Reserve func(bytes int64) error
	// Affected is the number of rows written or deleted, for statements without rows.
	Affected int64
	// Warnings are what is odd about a statement that is not wrong.
	Warnings []string
}

// Options of an Executor.
type Options struct {
	// Workers is the number of goroutines of one query. Default: the number of processors.
	Workers int
	// Memory is what all queries together may keep. Default: exec's.
	Memory *exec.Pool
	// Spill is where queries put rows that do not fit into memory; nil: such queries fail.
	Spill *spill.Disk
	// Metrics runs the queries of TQL; nil: by the default limits.
	Metrics *promql.Service
	// Reads bounds what statements read.
	Reads engine.ReadLimits
	// Version is what version() and build_info answer.
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
	// CopyDir is the directory that COPY reads and writes below; empty: COPY is an error.
	CopyDir string
	// KeepFree is the room on its disk that COPY TO leaves; 0: none.
	KeepFree int64
	// Export writes a table as an open table, as it is now; nil: ADMIN export_table is an error.
	Export func(ctx context.Context, n schema.Name) error
	// Ended is called for each statement that has ended, by the goroutine that ran it or read its rows; nil: no call.
	Ended func(Ended)
}

// Executor runs statements on an engine. Safe for concurrent use; a session is not.
type Executor struct {
	e       *engine.Engine
	o       Options
	running running
	views   views
	sets    engine.SpareSets
	// mostInserted bounds the bytes of one INSERT .. SELECT; tests make it small.
	mostInserted int64
	without      plan.Rewrites // that plans are made without; tests compare the answers
}

// New makes an executor on e.
func New(e *engine.Engine, o Options) *Executor {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = promql.NewService(promql.Limits{Workers: o.Workers})
	}
	x := &Executor{e: e, o: o, mostInserted: engine.MaxWriteBytes}
	e.Views().KnownBy(x.isView)
	return x
}

// Parse reads the statements of a text.
func (x *Executor) Parse(text string) ([]parse.Statement, error) { return parse.Parse(text) }

// ParseWithin is Parse for texts of any length. The memory of the statements counts towards the memory of queries until
// release is called. Until then the list of running statements shows the request: its text while it is read, then the
// statement that the session executes.
func (x *Executor) ParseWithin(ctx context.Context, s *Session, text string) (list []parse.Statement, release func(),
	err error) {
	if s.Attended {
		held := x.held(ctx)
		list, err = parse.ParseWithin(text, held)
		return list, held.Close, cancelled(ctx, err)
	}
	s.listed = x.list(s, cmp.Or(s.Shown, text))
	ctx, done := s.listed.begin(ctx)
	defer done()
	held := x.held(ctx)
	release = func() {
		held.Close()
		x.unlist(s.listed)
		s.listed = nil
	}
	list, err = parse.ParseWithin(text, held)
	return list, release, cancelled(ctx, err)
}

// now is the time of a statement.
func (x *Executor) now(s *Session) time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return x.o.Now()
}

// context returns the context of the expressions of one statement.
func (x *Executor) context(s *Session) *expr.Context {
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	return &expr.Context{Zone: zone, Now: x.now(s), DB: s.database(), User: s.User, ConnID: s.ConnID,
		Version: x.o.Version, Memory: s.memory.Memory(), Private: s.Private}
}

// tableName resolves a name of one to three parts against the session.
func (s *Session) tableName(n parse.Name) (schema.Name, error) {
	switch len(n) {
	case 1:
		return schema.Name{DB: s.database(), Table: n[0].Name}, nil
	case 2:
		return schema.Name{DB: foldInfo(n[0].Name), Table: n[1].Name}, nil
	case 3:
		if n[0].Name != Catalog {
			return schema.Name{}, status.New(status.DatabaseNotFound, "Catalog not found: %s", n[0].Name)
		}
		return schema.Name{DB: foldInfo(n[1].Name), Table: n[2].Name}, nil
	}
	return schema.Name{}, status.New(status.InvalidSyntax,
		"Invalid SQL syntax: a table name has one to three parts: %s", n)
}

// databaseName resolves a name of one or two parts.
func databaseName(n parse.Name) (string, error) {
	if len(n) == 2 {
		if n[0].Name != Catalog {
			return "", status.New(status.DatabaseNotFound, "Catalog not found: %s", n[0].Name)
		}
		n = n[1:]
	}
	if len(n) != 1 {
		return "", status.New(status.InvalidSyntax, "Invalid SQL syntax: a database name has one or two parts: %s", n)
	}
	return foldInfo(n[0].Name), nil
}
