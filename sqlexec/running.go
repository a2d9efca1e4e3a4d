package sqlexec

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/engine/secret"
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

// query is an entry of the list. The list's lock protects what changes.
type query struct {
	id      uint64
	client  string
	user    string
	app     string // what the client calls itself
	backend uint32 // see Session
	list    *running
	db      string
	text    string
	started time.Time
	killed  bool
	kill    context.CancelCauseFunc // ends what is at work; nil: nothing is
}

// maxQueryText is how much of a statement the list keeps.
const maxQueryText = 4096

func shownText(text string) string {
	if len(text) > maxQueryText {
		return strings.ToValidUTF8(text[:maxQueryText], "") + "..."
	}
	return text
}

// list puts a text on the list.
func (x *Executor) list(s *Session, text string) *query {
	r := &x.running
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	q := &query{id: r.next, list: r, db: s.database(), text: shownText(text), client: s.Client, user: s.User,
		app: s.Application, backend: s.Backend, started: x.o.Now()}
	if r.list == nil {
		r.list = map[uint64]*query{}
	}
	r.list[q.id] = q
	return q
}

// unlist takes an entry off the list.
func (x *Executor) unlist(q *query) {
	x.running.mu.Lock()
	defer x.running.mu.Unlock()
	delete(x.running.list, q.id)
}

// begin returns a context that ends when the entry is killed, at once if it was. done frees it.
func (q *query) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, kill := context.WithCancelCause(ctx)
	q.list.mu.Lock()
	defer q.list.mu.Unlock()
	if q.killed {
		kill(errKilled)
	}
	q.kill = kill
	return ctx, func() {
		q.list.mu.Lock()
		q.kill = nil
		q.list.mu.Unlock()
		kill(nil)
	}
}

// start puts a statement on the list, in the place of the text that it was read from; done takes it off and frees its
// context.
func (x *Executor) start(ctx context.Context, s *Session, st parse.Statement) (_ context.Context, done func()) {
	if s.Attended {
		return context.WithCancel(ctx)
	}
	if q := s.listed; q != nil {
		x.running.mu.Lock()
		q.db, q.text = s.database(), shownText(cmp.Or(s.Shown, st.Source()))
		x.running.mu.Unlock()
		return q.begin(ctx)
	}
	q := x.list(s, cmp.Or(s.Shown, st.Source()))
	ctx, end := q.begin(ctx)
	return ctx, func() {
		x.unlist(q)
		end()
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
			ID: strconv.FormatUint(q.id, 10), DB: q.db, Query: secret.Hide(q.text), Client: q.client, User: q.user,
			Application: q.app, Backend: q.backend, Started: q.started, Elapsed: now.Sub(q.started),
		})
	}
	slices.SortFunc(list, func(a, b infoschema.Process) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID)) // decimal numbers
	})
	return list
}

// Kill ends a statement. An error says that it does not run.
func (x *Executor) Kill(s *parse.Kill) error {
	_, err := x.kill(s)
	return err
}

func (x *Executor) kill(s *parse.Kill) (*Result, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(s.ID[strings.LastIndexByte(s.ID, '/')+1:], "#"), 10, 64)
	if err != nil {
		return nil, status.New(status.InvalidArguments, "%q is not the id of a query", s.ID)
	}
	x.running.mu.Lock()
	defer x.running.mu.Unlock()
	q := x.running.list[id]
	if q == nil {
		return nil, status.New(status.InvalidArguments, "no query with the id %d is running", id)
	}
	if q.killed = true; q.kill != nil {
		q.kill(errKilled)
	}
	return &Result{Affected: 1}, nil
}
