package query

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/status"
	"varve/server/result"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// Snapshots of a running query come this often; other values are brought within the bounds.
const (
	defaultSnapshotMS = 5000
	leastSnapshotMS   = 1000
	mostSnapshotMS    = 60_000
)

// AnalyzeStream answers /v1/sql/analyze/stream: it runs a query as EXPLAIN ANALYZE VERBOSE does, and tells by events
// what each node of its plan did so far. What is refused before the query runs is an error like that of /v1/sql.
func (h *Handler) AnalyzeStream(c *web.Ctx) error {
	p, err := parameters(c, "sql", "db", "snapshot_interval_ms")
	if err != nil {
		return err
	}
	interval, err := snapshotInterval(p)
	if err != nil {
		return err
	}
	session, err := h.session(c, p)
	if err != nil {
		return err
	}
	statements, err := h.read(c, p, session)
	if err != nil {
		return err
	}
	st, err := analyzed(statements)
	if err != nil {
		return err
	}
	if !allowed(c.User.Mode, st) {
		return web.Denied
	}
	if err := h.begin(c, []parse.Statement{st}); err != nil {
		return err
	}
	c.Statement = st.Source()
	c.Events(func(send func(string, []byte)) {
		a := &analysis{h: h, c: c, send: send}
		a.run(session, st, interval)
	})
	return nil
}

// snapshotInterval is how often figures are sent.
func snapshotInterval(p *web.Params) (time.Duration, error) {
	ms := uint64(defaultSnapshotMS)
	if text := p.String("snapshot_interval_ms"); text != "" {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return 0, status.New(status.InvalidArguments, "snapshot_interval_ms: %q is not a number of milliseconds",
				text)
		}
		ms = min(max(n, leastSnapshotMS), mostSnapshotMS)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// analyzed is the statement that is run: EXPLAIN ANALYZE VERBOSE of the query, whether that is written or not.
func analyzed(list []parse.Statement) (parse.Statement, error) {
	if len(list) != 1 {
		return nil, status.New(status.InvalidArguments, "expected one query, the text has %d statements",
			len(list))
	}
	switch st := list[0].(type) {
	case *parse.SelectStmt:
		return &parse.Explain{Stmt: st.Stmt, Analyze: true, Verbose: true, Of: st}, nil
	case *parse.Explain:
		if st.Analyze {
			whole := *st
			whole.Verbose = true
			return &whole, nil
		}
	}
	return nil, status.New(status.InvalidArguments, "expected a query or EXPLAIN ANALYZE of one, found %s",
		kindOf(list[0]))
}

// analysis is a query that runs while its figures are sent.
type analysis struct {
	h    *Handler
	c    *web.Ctx
	send func(event string, data []byte)
	seq  int
	// sofar is what the query did; nil: it has not begun. A query that a change of its tables overtook begins again,
	// with another.
	sofar atomic.Pointer[func() sqlexec.Measured]
}

// run runs the query to its end, and sends figures meanwhile.
func (a *analysis) run(session *sqlexec.Session, st parse.Statement, interval time.Duration) {
	var snapshots sync.WaitGroup
	var first sync.Once
	over := make(chan struct{})
	session.Analyzing = func(sofar func() sqlexec.Measured) {
		a.sofar.Store(&sofar)
		first.Do(func() {
			snapshots.Go(func() {
				a.c.Guarded(func() error {
					a.snapshots(interval, over)
					return nil
				})
			})
		})
	}
	answer, err := a.execute(session, st)
	close(over)
	snapshots.Wait()
	switch {
	case err == nil:
		a.tell("final", append([]byte(`,"output":`), answer...))
	case status.Of(err) == status.Cancelled:
		a.failed("canceled", err)
	default:
		a.failed("error", err)
	}
}

// execute runs the query and gives its answer.
func (a *analysis) execute(session *sqlexec.Session, st parse.Statement) (answer []byte, err error) {
	err = a.c.Guarded(func() error {
		r := &run{h: a.h, c: a.c, session: session, statements: []parse.Statement{st}}
		out, _, err := r.next()
		if err != nil {
			return ended(err)
		}
		answer, err = result.Append(a.c, nil, out)
		return err
	})
	return answer, err
}

// ended says of a query that did not begin why its request was over.
func ended(err error) error {
	switch err {
	case context.DeadlineExceeded:
		return status.Wrap(err, status.DeadlineExceeded, "The request took longer than its time limit")
	case context.Canceled:
		return status.Wrap(err, status.Cancelled,
			"The request was cancelled: the client left or the server is stopping")
	}
	return err
}

// snapshots sends figures at once, and again until the query is over.
func (a *analysis) snapshots(interval time.Duration, over <-chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		a.tell("metrics", nil)
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// failed sends why there is no answer.
func (a *analysis) failed(state string, err error) {
	code, text := web.Message(err)
	a.c.LogError(err)
	more := append(strconv.AppendInt([]byte(`,"code":`), int64(code), 10), `,"reason":`...)
	quoted, _ := json.Marshal(a.c.Conceal(text))
	a.tell(state, web.AppendPlace(append(more, quoted...), err))
}

// tell sends an event with the figures as they are now. more are further members, each behind a comma.
func (a *analysis) tell(state string, more []byte) {
	a.seq++
	data := []byte(`{"seq":` + strconv.Itoa(a.seq) + `,"state":"` + state + `","partial":` +
		strconv.FormatBool(state != "final") + `,"elapsed_ms":`)
	data = strconv.AppendInt(data, a.c.ElapsedMS(), 10)
	if sofar := a.sofar.Load(); sofar != nil {
		if figures, err := json.Marshal((*sofar)()); err == nil {
			data = append(append(data, `,"metrics":`...), figures...)
		}
	}
	a.send(state, append(append(data, more...), '}'))
}
