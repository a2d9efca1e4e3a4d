package logapi

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// The bounds of tails: of a user, of all; seconds that a client may have lines held back; how often lines are looked
// for, and how far back for lines that come late.
const (
	maxTailsOfUser = 10
	maxTails       = 100
	maxDelay       = 5
	tailEvery      = time.Second
	tailOverlap    = 15 * time.Second
	tailWrite      = 5 * time.Second
	tailTimeout    = 30 * time.Second // of one look
	maxTailMessage = 4 << 10          // from a client, who has nothing to say
)

// tails counts the tails that run. Safe for concurrent use.
type tails struct {
	mu      sync.Mutex
	running map[string]int // by user
	all     int
}

// begin takes a place.
func (t *tails) begin(user string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.running[user]; n >= maxTailsOfUser || t.all >= maxTails {
		return status.New(status.RateLimited, "max concurrent tail requests limit exceeded, limit (%d), current (%d)",
			maxTailsOfUser, n)
	}
	t.running[user]++
	t.all++
	return nil
}

// end gives a place back.
func (t *tails) end(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.running[user]--; t.running[user] == 0 {
		delete(t.running, user)
	}
}

// upgrader makes a WebSocket of a request.
var upgrader = websocket.FastHTTPUpgrader{HandshakeTimeout: tailWrite}

// tail answers tail: lines as they come, over a WebSocket.
func (h *Handler) tail(c *web.Ctx) error {
	r, err := h.prepare(c)
	if err != nil {
		return reply(c, err)
	}
	t, err := r.newTail()
	if err != nil {
		return reply(c, err)
	}
	if !websocket.FastHTTPIsWebSocketUpgrade(c.RequestCtx) {
		c.Text(400, "Bad Request: the client did not ask for a WebSocket\n")
		return nil
	}
	user := c.User.Name
	if err := h.tails.begin(user); err != nil {
		return reply(c, err)
	}
	err = upgrader.Upgrade(c.RequestCtx, func(conn *websocket.Conn) {
		defer h.tails.end(user)
		t.serve(conn)
	})
	if err != nil { // the answer says why
		h.tails.end(user)
	}
	return nil
}

// tail is the lines of a query as they come.
type tail struct {
	r           request // of which each look is a copy
	query       *syntax.LogQuery
	delay       time.Duration
	limit       int
	start       int64 // ns
	categorized bool
	flags       []string

	seed maphash.Seed
	seen map[uint64]int // lines of the overlap that were sent, and how often
}

// newTail reads the parameters of a tail. A query of numbers is refused once the connection is there.
func (r *request) newTail() (*tail, error) {
	t := &tail{seed: maphash.MakeSeed(), flags: r.flags()}
	t.categorized = slices.Contains(t.flags, categorize)
	q, err := r.parse()
	if err != nil {
		return nil, err
	}
	t.query, _ = q.(*syntax.LogQuery)
	delay := 0
	if text := r.p.text("delay_for"); text != "" {
		if delay, err = strconv.Atoi(text); err != nil || delay < 0 {
			return nil, invalid("could not parse 'delay_for' parameter: %q is not a number of seconds", text)
		}
	}
	if delay > maxDelay {
		return nil, invalid("delay_for can't be greater than %d", maxDelay)
	}
	t.delay = time.Duration(delay) * time.Second
	if t.limit, err = r.p.count("limit", usualLines); err != nil {
		return nil, err
	}
	if t.limit > maxLines {
		return nil, invalid("max entries limit per query exceeded, limit > max_entries_limit_per_query (%d > %d)",
			t.limit, maxLines)
	}
	if t.start, err = r.p.time("start", r.now-usualSince); err != nil {
		return nil, err
	}
	t.r = request{h: r.h, p: r.p, session: r.session}
	return t, nil
}

// serve sends lines until the client leaves or the server stops, which closes the connection.
func (t *tail) serve(conn *websocket.Conn) {
	defer conn.Close()
	if t.query == nil {
		closing(conn, websocket.CloseInternalServerErr, "only log selector is supported")
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel()
		conn.SetReadLimit(maxTailMessage)
		for {
			if _, _, err := conn.NextReader(); err != nil {
				return
			}
		}
	})
	if err := t.follow(ctx, conn); err != nil && ctx.Err() == nil {
		_, text := web.Message(err)
		closing(conn, websocket.CloseInternalServerErr, text)
	}
	conn.Close() // ends the reader
	reading.Wait()
}

// closing tells the client why the connection ends.
func closing(conn *websocket.Conn, code int, text string) {
	const most = 120 // of the text of a control frame
	message := websocket.FormatCloseMessage(code, text[:min(len(text), most)])
	conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(tailWrite)) // the connection ends in any case
}

// follow sends the newest lines since the start, then those that come.
func (t *tail) follow(ctx context.Context, conn *websocket.Conn) error {
	from, most := t.start, t.limit
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		now := t.r.h.o.Now().UnixNano()
		to := now - int64(t.delay)
		if from < to {
			if err := t.look(ctx, conn, from, to, most); err != nil {
				return err
			}
		}
		from, most = max(t.start, to-int64(tailOverlap)), maxLines
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(tailWrite)); err != nil {
			return err
		}
	}
}

// look sends the lines of a time that were not sent yet. At the start, older ones than the newest are left out; later,
// those are told as dropped.
func (t *tail) look(ctx context.Context, conn *websocket.Conn, from, to int64, most int) error {
	streams, err := t.lines(ctx, from, to, most)
	if err != nil {
		return err
	}
	first := t.seen == nil
	found, oldest := 0, to
	for i := range streams {
		found += len(streams[i].Lines)
		for _, l := range streams[i].Lines {
			oldest = min(oldest, l.At)
		}
	}
	seen, joined := map[uint64]int{}, false // joined: the oldest line was sent before, nothing lies between
	for i := range streams {
		s := &streams[i]
		slices.SortStableFunc(s.Lines, func(a, b logql.Line) int { return cmp.Compare(a.At, b.At) })
		s.Lines = slices.DeleteFunc(s.Lines, func(l logql.Line) bool {
			key := t.key(s.Labels, &l)
			seen[key]++
			again := seen[key] <= t.seen[key]
			joined = joined || again && l.At == oldest
			return again
		})
	}
	t.seen = seen
	streams = slices.DeleteFunc(streams, func(s logql.Stream) bool { return len(s.Lines) == 0 })
	if first && found >= most {
		t.start = oldest // older lines are not sent later, either
	}
	dropped := !first && found >= most && !joined
	if len(streams) == 0 && !dropped {
		return nil
	}
	body, _ := appendStreams([]byte(`{"streams":`), streams, t.categorized)
	if len(t.flags) > 0 {
		body = appendTexts(append(body, `,"encodingFlags":`...), t.flags)
	}
	if dropped {
		body = strconv.AppendInt(append(body, `,"dropped_entries":[{"timestamp":"`...), oldest, 10)
		body = append(body, `","labels":{}}]`...)
	}
	if err := conn.SetWriteDeadline(time.Now().Add(tailWrite)); err != nil {
		return err
	}
	return conn.WriteMessage(websocket.TextMessage, append(body, '}'))
}

// lines are the newest lines of a time.
func (t *tail) lines(ctx context.Context, from, to int64, most int) (list []logql.Stream, err error) {
	r := t.r
	r.began, r.now, r.stats = time.Now(), to, new(logql.Stats)
	r.c = web.NewCtx(&fasthttp.RequestCtx{}, ctx, tailTimeout)
	defer r.c.Done()
	if err := r.admit(); err != nil {
		return nil, err
	}
	q := &logql.LineQuery{Query: t.query, From: from, To: to, Limit: most, Categorized: t.categorized, Stats: r.stats}
	err = r.attended(func() (err error) {
		list, err = q.Run(r.ctx, &r)
		r.rows = r.stats.Kept.Load()
		return err
	})
	return list, err
}

// key tells lines apart.
func (t *tail) key(labels logql.Labels, l *logql.Line) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for i := range labels {
		h.WriteString(labels[i].Name)
		h.WriteByte(0)
		h.WriteString(labels[i].Value)
		h.WriteByte(0)
	}
	var at [8]byte
	for i := range at {
		at[i] = byte(l.At >> (8 * i))
	}
	h.Write(at[:])
	h.WriteString(l.Text)
	return h.Sum64()
}
