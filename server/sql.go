package server

import (
	"context"

	"varve/engine"
	"varve/server/query"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// SQL makes the executor of SQL what the query handlers need.
func SQL(e *engine.Engine, x *sqlexec.Executor) query.Executor { return &sqlExecutor{e, x} }

type sqlExecutor struct {
	e *engine.Engine
	x *sqlexec.Executor
}

// HasDatabase tells whether a database exists; information_schema always does.
func (s *sqlExecutor) HasDatabase(name string) bool {
	if name == "information_schema" {
		return true
	}
	for _, d := range s.e.Databases() {
		if d.Name == name {
			return true
		}
	}
	return false
}

// Parse reads statements.
func (s *sqlExecutor) Parse(ctx context.Context, text string) ([]parse.Statement, func(), error) {
	return s.x.ParseWithin(ctx, text)
}

// Open begins a request's session.
func (s *sqlExecutor) Open(q query.Session) query.Conn {
	return &sqlConn{s.x, sqlexec.Session{DB: q.DB, DBGiven: q.DBGiven, User: q.User.Name, Rights: rightsOf[q.User.Mode],
		Blind: q.User.Mode == web.WriteOnly, Client: q.Client, Zone: q.Zone, ConnID: q.ConnID}}
}

// rightsOf are the rights of the users of a mode, as GRANT would name them.
var rightsOf = map[web.Mode]string{
	web.ReadWrite: "ALL PRIVILEGES", web.ReadOnly: "SELECT", web.WriteOnly: "INSERT, CREATE, ALTER, DROP",
}

type sqlConn struct {
	x       *sqlexec.Executor
	session sqlexec.Session
}

// Run executes one statement.
func (c *sqlConn) Run(ctx context.Context, st parse.Statement) (*web.Output, error) {
	r, err := c.x.Execute(ctx, &c.session, st)
	if err != nil {
		return nil, err
	}
	out := &web.Output{Fields: r.Fields, Affected: r.Affected, Context: r.Context, Reserve: r.Reserve}
	if r.Rows != nil {
		out.Rows = r.Rows
	}
	return out, nil
}
