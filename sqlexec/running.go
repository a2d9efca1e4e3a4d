package sqlexec

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/engine/status"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// errKilled is the cause of contexts that KILL cancelled.
var errKilled = errors.New("killed")

// running is the list of statements at work, for SHOW PROCESSLIST and KILL.
type running struct {
	mu   sync.Mutex
	next uint64
	list map[uint64]*query
}

type query struct {
	id      uint64
	db      string
	text    string
	client  string
	started time.Time
	kill    context.CancelCauseFunc
}

// maxQueryText is how much of a statement the list keeps.
const maxQueryText = 4096

// start puts a statement on the list; done takes it off and frees its context.
func (x *Executor) start(ctx context.Context, s *Session, st parse.Statement) (_ context.Context, done func()) {
	ctx, kill := context.WithCancelCause(ctx)
	text := st.Source()
	if len(text) > maxQueryText {
		text = strings.ToValidUTF8(text[:maxQueryText], "") + "..."
	}
	r := &x.running
	r.mu.Lock()
	r.next++
	q := &query{id: r.next, db: s.Database(), text: text, client: s.Client, started: x.o.Now(), kill: kill}
	if r.list == nil {
		r.list = map[uint64]*query{}
	}
	r.list[q.id] = q
	r.mu.Unlock()
	return ctx, func() {
		r.mu.Lock()
		delete(r.list, q.id)
		r.mu.Unlock()
		kill(nil)
	}
}

// Running lists the statements at work, oldest first.
func (x *Executor) Running() []infoschema.Process {
	now := x.o.Now()
	x.running.mu.Lock()
	defer x.running.mu.Unlock()
	var list []infoschema.Process
	for _, q := range x.running.list {
		list = append(list, infoschema.Process{
			ID: strconv.FormatUint(q.id, 10), DB: q.db, Query: q.text, Client: q.client, Started: q.started, Elapsed: now.Sub(q.started),
		})
	}
	slices.SortFunc(list, func(a, b infoschema.Process) int {
		return len(a.ID)*100 - len(b.ID)*100 + strings.Compare(a.ID, b.ID)
	})
	return list
}

func (x *Executor) kill(s *parse.Kill) (*Result, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(s.ID[strings.LastIndexByte(s.ID, '/')+1:], "#"), 10, 64)
	if err != nil {
		return nil, status.New(status.InvalidArguments, "%q is not the id of a query", s.ID)
	}
	x.running.mu.Lock()
	q := x.running.list[id]
	x.running.mu.Unlock()
	if q == nil {
		return nil, status.New(status.InvalidArguments, "no query with the id %d is running", id)
	}
	q.kill(errKilled)
	return &Result{Affected: 1}, nil
}
