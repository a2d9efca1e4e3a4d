package query

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/parse"
)

const (
	// waitingEach is how many requests may wait for a place for each that runs, at least leastWaiting.
	waitingEach  = 4
	leastWaiting = 16
	// gateWait is how long a request waits for a place, to be refused then.
	gateWait = 10 * time.Second
	// gateLook is how often a request that waits tells that there is a crowd.
	gateLook = 250 * time.Millisecond
)

// gate lets so many requests run at a time. Others wait in order, so many. Safe for concurrent use.
type gate struct {
	most, waiting int // most 0: no bound

	mu      sync.Mutex
	running int
	queue   []chan struct{} // closed when it is its turn: the place is its own then
}

// enter takes a place, which the request has until it is over.
func (g *gate) enter(c *web.Ctx) error {
	err := g.take(c.Context, c.Crowded)
	if err == nil {
		c.Finally(g.leave)
	}
	return err
}

// take takes a place, for which it waits until ctx ends; leave gives it back. crowded, if not nil, is called while
// there are more requests than places: answers whose clients do not read give way.
func (g *gate) take(ctx context.Context, crowded func()) error {
	if crowded == nil {
		crowded = func() {}
	}
	g.mu.Lock()
	if g.most == 0 || g.running < g.most {
		g.running++
		g.mu.Unlock()
		return nil
	}
	if len(g.queue) >= g.waiting {
		g.mu.Unlock()
		crowded()
		return g.full()
	}
	turn := make(chan struct{})
	g.queue = append(g.queue, turn)
	g.mu.Unlock()
	return g.wait(ctx, turn, crowded)
}

// wait waits for a turn.
func (g *gate) wait(ctx context.Context, turn chan struct{}, crowded func()) error {
	patience := time.NewTimer(gateWait)
	defer patience.Stop()
	look := time.NewTicker(gateLook)
	defer look.Stop()
	for {
		crowded()
		select {
		case <-turn:
			return nil
		case <-look.C:
		case <-patience.C:
			return g.giveUp(turn, g.full())
		case <-ctx.Done():
			return g.giveUp(turn, ctx.Err())
		}
	}
}

// giveUp takes a request out of the queue; its place, if it has got one by now, goes to the next.
func (g *gate) giveUp(turn chan struct{}, why error) error {
	g.mu.Lock()
	at := slices.Index(g.queue, turn)
	if at >= 0 {
		g.queue = slices.Delete(g.queue, at, at+1)
	}
	g.mu.Unlock()
	if at < 0 {
		g.leave()
	}
	return why
}

// leave gives the place to the request that has waited longest.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.running--
		return
	}
	close(g.queue[0])
	g.queue = slices.Delete(g.queue, 0, 1)
}

// figures are how many run, and how many wait.
func (g *gate) figures() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, len(g.queue)
}

func (g *gate) full() error {
	return status.New(status.RateLimited,
		"Too many queries are running: at most %d (max_concurrent_queries), and at most %d wait", g.most, g.waiting)
}

// gates are those of the kinds of requests: none waits for those of another kind.
type gates struct {
	queries gate // what reads tables
	changes gate // what writes without reading: rows do not wait behind queries
	watch   gate // what administrators look with at a server that is full, and end queries with: it has no bound
}

func newGates(o *Options) *gates {
	waiting := max(waitingEach*o.MaxConcurrent, leastWaiting)
	if o.NoQueue {
		waiting = 0
	}
	return &gates{queries: gate{most: o.MaxConcurrent, waiting: waiting},
		changes: gate{most: o.MaxConcurrent, waiting: waiting}}
}

// of is the gate of a request: that of its heaviest statement.
func (g *gates) of(statements []parse.Statement) *gate {
	passes := &g.watch
	for _, st := range statements {
		switch {
		case watches(st):
		case needs(st)&reads == 0:
			passes = &g.changes
		default:
			return &g.queries
		}
	}
	return passes
}

// watches reports whether a statement looks at what runs, or ends it.
func watches(st parse.Statement) bool {
	switch s := st.(type) {
	case *parse.Kill, *parse.Use:
		return true
	case *parse.Show:
		return s.What == "processlist" && constants(s.Where)
	case *parse.SelectStmt:
		return ofProcesses(s) || endsConnections(s)
	}
	return false
}

// ofProcesses reports whether a query reads the list of statements that run, and nothing else.
func ofProcesses(s *parse.SelectStmt) bool {
	body, ok := s.Query.Body.(*parse.Select)
	if !ok || len(s.Query.With) > 0 || len(body.From) != 1 || !constants(body.Where, body.Having) {
		return false
	}
	for _, item := range body.Items {
		if !constants(item.X) {
			return false
		}
	}
	t, ok := body.From[0].(*parse.Table)
	return ok && len(t.Name) == 2 && strings.EqualFold(t.Name[0].Name, "information_schema") &&
		strings.EqualFold(t.Name[1].Name, "process_list")
}

// endsConnections reports whether a query only ends connections of PostgreSQL's protocol, or their statements.
func endsConnections(s *parse.SelectStmt) bool {
	body, ok := s.Query.Body.(*parse.Select)
	if !ok || len(s.Query.With) > 0 || len(body.From) > 0 || !constants(body.Where, body.Having) {
		return false
	}
	for _, item := range body.Items {
		c, ok := item.X.(*parse.Call)
		if !ok || c.Name != "pg_cancel_backend" && c.Name != "pg_terminate_backend" || !constants(c) {
			return false
		}
	}
	return true
}

func (g *gates) figures() (running, waiting int) {
	for _, one := range []*gate{&g.queries, &g.changes, &g.watch} {
		r, w := one.figures()
		running, waiting = running+r, waiting+w
	}
	return running, waiting
}
