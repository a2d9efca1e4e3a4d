package pgwire

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// errTerminated is the reason why the statement of a connection ends that another connection ends.
var errTerminated = errors.New("terminated by another connection")

// The functions that end what other connections do. The pid of a connection is its number, as pg_backend_pid() and
// pg_stat_activity have it; a statement of another protocol has the negative of its id, which KILL takes.
const (
	cancelBackend    = "pg_cancel_backend"
	terminateBackend = "pg_terminate_backend"
)

// addBackendCalls adds the functions to the dialect: their arguments are integers, also where they are parameters.
func addBackendCalls() {
	for name, most := range map[string]int{cancelBackend: 1, terminateBackend: 2} {
		catalogCalls[name] = func(_ *conn, c *parse.Call) parse.Expr {
			if len(c.Args) == 0 || len(c.Args) > most {
				return nil
			}
			return callOf(c.Node, name, &parse.Cast{Node: c.Node, X: c.Args[0], Type: sqlType(c.Node, "BIGINT")})
		}
	}
	catalogCalls[sleepCall] = (*conn).sleepCall
}

// backendFunctions are the functions for the session of the connection.
func (k *conn) backendFunctions() map[string]*expr.Private {
	made := map[string]*expr.Private{}
	for name, end := range map[string]func(pid int64) (bool, error){
		cancelBackend:    func(pid int64) (bool, error) { return k.endOther(pid, false) },
		terminateBackend: func(pid int64) (bool, error) { return k.endOther(pid, true) },
	} {
		made[name] = expr.NewPrivate(name, vector.BoolType, func() expr.PrivateRows { return &backendRows{end: end} }).
			Volatile()
	}
	return made
}

// backendRows computes calls of one of the functions.
type backendRows struct {
	end func(pid int64) (bool, error)
	pid *vector.Vector
}

func (r *backendRows) Begin(_ int, args []*vector.Vector) error {
	if len(args) != 1 || args[0].Type != vector.Int64Type {
		return fail("42883", "the argument is the pid of a connection, an integer")
	}
	r.pid = args[0]
	return nil
}

func (r *backendRows) Row(i int) (value []byte, ok bool, err error) {
	if r.pid.IsNull(i) {
		return nil, false, nil
	}
	ok, err = r.end(r.pid.Ints[i])
	return nil, ok, err
}

func (r *backendRows) End() { r.pid = nil }

// endOther ends the statement of another connection, or the connection, and reports whether there is one. Connections
// of the same user may be ended; others need the right of KILL, as statements of other protocols do.
func (k *conn) endOther(pid int64, terminate bool) (bool, error) {
	kill := &parse.Kill{ID: strconv.FormatInt(-pid, 10)}
	right := k.s.o.Statements.Allows(k.user, kill)
	if pid < 0 {
		if right != nil {
			return false, right
		}
		return k.s.o.Executor.Kill(kill) == nil, nil // its only error: no such statement runs
	}
	if pid > math.MaxUint32 {
		return false, nil
	}
	k.s.mu.Lock()
	other := k.s.conns[uint32(pid)]
	k.s.mu.Unlock()
	if other == nil {
		return false, nil
	}
	other.mu.Lock()
	defer other.mu.Unlock()
	switch {
	case !other.opened:
		return false, nil
	case right != nil && other.name != k.user.Name:
		return false, right
	}
	cause := errCancelled
	if terminate {
		cause, other.terminated = errTerminated, true
		other.raw.SetReadDeadline(past) // of a closed connection reads fail already
	}
	if other.cancel != nil {
		other.cancel(cause)
	}
	return true, nil
}

// isTerminated reports whether another connection has ended this one.
func (k *conn) isTerminated() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.terminated
}

const (
	sleepCall = "pg_sleep"
	maxSleep  = time.Hour
)

// sleepCall stands in for a call of pg_sleep: the connection waits when the statement runs, see configure.
func (k *conn) sleepCall(c *parse.Call) parse.Expr {
	if len(c.Args) != 1 {
		return nil
	}
	if !k.binding { // of the type of the call, with a parameter that is a number
		return &parse.Case{Node: c.Node, Whens: []parse.When{{If: &parse.Binary{Node: c.Node, Op: ">",
			L: &parse.Cast{Node: c.Node, X: c.Args[0], Type: sqlType(c.Node, "DOUBLE")}, R: numberOf(c.Node, "0")},
			Then: textOf(c.Node, "")}}, Else: textOf(c.Node, "")}
	}
	one := config{text: textOf(c.Node, ""), wait: new(time.Duration)}
	if isNull(c.Args[0]) {
		one.text, one.name = nullText(c.Node), sleepCall
	} else if text, ok := literalOf(c.Args[0], parse.NumberLiteral, parse.StringLiteral); ok {
		if s, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(s) {
			one.name, one.value = sleepCall, text
			*one.wait = time.Duration(min(max(s, 0), maxSleep.Seconds()) * float64(time.Second))
		}
	}
	k.configs = append(k.configs, one)
	return one.text
}

// sleep waits for a call of pg_sleep. The list of running statements shows the statement meanwhile, and what ends a
// statement ends it.
func (k *conn) sleep(ctx context.Context, st parse.Statement, d time.Duration) error {
	return k.s.o.Executor.Attend(ctx, k.session, st.Source(), func(ctx context.Context) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}
