package query

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// Shared is the way of a statement from any protocol: rights, places among those that run, figures. Safe for concurrent
// use.
type Shared struct {
	executor   web.Executor
	gates      *gates
	statements *prometheus.CounterVec
}

func newShared(executor web.Executor, g *gates) *Shared {
	return &Shared{executor: executor, gates: g, statements: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "varve_sql_statements_total", Help: "SQL statements executed, by kind and outcome.",
	}, []string{"kind", "outcome"})}
}

// Session makes the session of a user, with the rights of the user's mode.
func (s *Shared) Session(user web.User) *sqlexec.Session {
	return &sqlexec.Session{User: user.Name, Rights: grants[user.Mode], Blind: user.Mode == web.WriteOnly}
}

// Enter takes the place of a statement among those that run at a time, for which it waits until ctx ends. leave gives
// it back. crowded, if not nil, is called while there are more requests than places.
func (s *Shared) Enter(ctx context.Context, st parse.Statement, crowded func()) (leave func(), err error) {
	g := s.gates.of([]parse.Statement{st})
	if err := g.take(ctx, crowded); err != nil {
		return nil, ended(err)
	}
	return g.leave, nil
}

// Execute runs a statement of a user, if the user may.
func (s *Shared) Execute(ctx context.Context, user web.User, session *sqlexec.Session, st parse.Statement) (
	answer *sqlexec.Result, err error) {
	defer func() {
		outcome := "ok"
		if err != nil {
			outcome = "error"
		}
		s.statements.WithLabelValues(kindOf(st), outcome).Inc()
	}()
	if !allowed(user.Mode, st) {
		return nil, web.Denied
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.executor.Execute(ctx, session, st)
}

// Allows returns why a user may not run a statement, nil if the user may.
func (s *Shared) Allows(user web.User, st parse.Statement) error {
	if !allowed(user.Mode, st) {
		return web.Denied
	}
	return nil
}

// Writes reports whether a statement changes the store.
func (s *Shared) Writes(st parse.Statement) bool {
	switch st.(type) {
	case *parse.Use, *parse.Kill, *parse.Set:
		return false
	}
	return needs(st)&writes != 0
}
