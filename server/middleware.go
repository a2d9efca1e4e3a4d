package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/server/auth"
	"varve/server/read/metricsapi"
	"varve/server/web"
	"varve/server/write/bulk"
	"varve/server/write/hec"
	"varve/server/write/lineproto"
)

// otherPath is the path label of requests that match no route.
const otherPath = "other"

// drainBytes is how much of a body that a handler left unread is read away to keep the connection.
const drainBytes = 256 << 10

// serve is where every request begins.
func (s *Server) serve(rc *fasthttp.RequestCtx) {
	path := string(rc.Path())
	switch k := connOf(rc); {
	case k != nil && k.over && (k.l.api || path != "/health" && path != "/status" && path != "/metrics"):
		s.handle(&route{path: otherPath, access: accessOpen, handler: crowded})(rc)
	case k != nil && k.l.api && !ofAPI(path):
		s.handle(&route{path: otherPath, access: accessOpen, handler: absent})(rc)
	case s.preflight(rc, path):
		s.handle(&route{path: otherPath, access: accessOpen, handler: allowPage})(rc)
	case path == "/dashboard": // the router takes no path beside the one with a slash and all below it
		s.handle(&route{path: path, access: accessOpen, handler: s.dashboard.Redirect})(rc)
	case path == bulkPath && !rc.IsPost():
		s.handle(&route{path: path, access: accessWrite, handler: s.protocols.bulk.Info})(rc)
	default:
		s.router.Handler(rc)
	}
}

func connOf(rc *fasthttp.RequestCtx) *conn {
	k, _ := rc.Conn().(*conn)
	return k
}

// ofAPI reports whether a path is served at an address of the API alone.
func ofAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/dashboard/") || path == "/dashboard"
}

func absent(c *web.Ctx) error {
	c.Empty(404)
	return nil
}

func crowded(*web.Ctx) error {
	return &web.Reject{Status: 503, Text: "Too many connections", Close: true}
}

func allowPage(c *web.Ctx) error {
	c.Response.Header.Set("Access-Control-Allow-Methods", "GET,POST,PUT,DELETE,HEAD")
	c.Response.Header.Set("Access-Control-Allow-Headers", "*")
	c.Empty(200)
	return nil
}

// notFound answers 404. Under /v1/ a server with users first wants to know who asks.
func (s *Server) notFound(c *web.Ctx) error {
	if err := s.knockOnV1(c); err != nil {
		return err
	}
	// Libraries of bulk that were given a host alone ask for an index, or make one, before they write.
	if index := string(c.Path()[1:]); bulk.Library(c) && index != "" && !strings.Contains(index, "/") {
		c.SetUserValue("index", index)
		return s.protocols.bulk.Index(c)
	}
	c.Empty(404)
	return nil
}

// wrongMethod answers 405; the router has set Allow.
func (s *Server) wrongMethod(c *web.Ctx) error {
	c.Empty(405)
	return nil
}

func (s *Server) knockOnV1(c *web.Ctx) error {
	if s.o.Users == nil || !strings.HasPrefix(string(c.Path()), "/v1/") {
		return nil
	}
	_, err := s.authenticate(c)
	return err
}

// handle wraps a route's handler into all that every request needs.
func (s *Server) handle(rt *route) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		limit := time.Duration(0)
		if !strings.HasPrefix(rt.path, "/debug/") {
			limit = s.timeLimit(rc)
		}
		c := web.NewCtx(rc, s.ctx, limit)
		c.Log, c.Zone, c.BodyLimit, c.Intake = s.log, s.o.Zone, s.o.BodyLimit, s.o.Intake
		k := connOf(rc)
		if k != nil {
			k.busy.Store(true)
			k.sent() // the request may have come with the one before
			c.Watch = func() { s.watch(c, k) }
			c.Interrupt = k.interrupt
		}
		if s.o.Answers != nil && k != nil {
			c.Answers = s.answers(rt)
			c.Sending = func(bytes int64) error { return s.answering(rt, k).Made(c.Context, bytes) }
		}
		if s.o.Answers != nil {
			c.Crowded = func() { s.o.Answers.GiveWay(1) }
		}
		s.metrics.InFlight.Inc()
		c.Finally(s.metrics.InFlight.Dec)
		f, err := s.call(rt, c)
		if err != nil {
			s.fail(c, err)
		} else if err = s.count(rt, c, k); err != nil {
			c.Response.Reset()
			s.fail(c, err)
		}
		s.finish(rt, c, k, f)
	}
}

// call checks the request and runs the handler. A panic becomes an internal error.
func (s *Server) call(rt *route, c *web.Ctx) (f framing, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.metrics.Panics.Inc()
			s.log.Error("panic in a request", "method", string(c.Method()), "path", rt.path, "panic", p, "stack",
				string(debug.Stack()))
			c.Response.Reset()
			err = status.New(status.Internal, "panic: %v", p)
		}
	}()
	if f, err = checkFraming(c.Request.Header.RawHeaders()); err != nil {
		return f, err
	}
	c.Announce(f.length)
	if s.foreignPage(c.RequestCtx, string(c.Path())) {
		return f, foreign
	}
	if err = s.authorise(rt.access, c); err != nil {
		return f, err
	}
	return f, rt.handler(c)
}

// count counts the answer until the client has read it. What the request holds, it holds until there is room for its
// answer. The answer of a request that wrote rows waits for room as well, but is not refused: its client would send
// them again.
func (s *Server) count(rt *route, c *web.Ctx, k *conn) error {
	stream := c.Response.IsBodyStream()
	if k == nil || s.o.Answers == nil || !stream && len(c.Response.Body()) <= web.FreeAnswer {
		return nil
	}
	a := s.answering(rt, k)
	if stream {
		return a.Stream(c.Context, len(c.Response.Header.Peek("Content-Encoding")) > 0)
	}
	if err := a.Made(c.Context, int64(len(c.Response.Body()))); err != nil && rt.access != accessWrite {
		return err
	}
	return nil
}

// figuresBytes is room for answers with figures, besides that of all others.
const figuresBytes = 4 << 20

// answers counts the answers of a route. Figures of the server have places and room of their own: an operator needs
// them most while a crowd of readers keeps the room of the other answers.
func (s *Server) answers(rt *route) *web.Answers {
	if rt.path == "/metrics" || rt.path == "/status" {
		return s.figures
	}
	return s.o.Answers
}

// answering begins to count the answer to the request of a connection.
func (s *Server) answering(rt *route, k *conn) *web.Answer {
	if k.answer == nil {
		k.sends(s.answers(rt).Begin(k.address, k.interrupt))
	}
	return k.answer
}

// denial is an error of authentication: 401, whatever the code.
type denial struct{ error }

func (d denial) Unwrap() error { return d.error }

// authenticate finds the request's user.
func (s *Server) authenticate(c *web.Ctx) (web.User, error) {
	h := &c.Request.Header
	shown := auth.Credentials{Service: h.Peek("x-service-auth"), Authorization: h.Peek("Authorization"),
		Client: c.Network().String()}
	if isLines(string(c.Path())) {
		shown.Line, shown.User, shown.Password = true, c.QueryArgs().Peek("u"), c.QueryArgs().Peek("p")
	}
	present(c, &shown)
	u, err := s.o.Users.Authenticate(c.Context, shown)
	switch {
	case err != nil && (status.Of(err) == status.RateLimited || c.Context.Err() != nil):
		return u, err
	case err != nil:
		return u, denial{err}
	}
	return u, nil
}

// authorise decides by the matched route, not by the path as sent. What is not allowed here is denied.
func (s *Server) authorise(a access, c *web.Ctx) error {
	if s.o.Users == nil || a == accessOpen || a == accessMetrics && !s.o.MetricsNeedAuth {
		return nil
	}
	u, err := s.authenticate(c)
	if err != nil {
		return err
	}
	if c.User = u; u.Mode == web.WriteOnly {
		c.Context = nearest.Hide(c.Context)
	}
	switch {
	case u.Mode == web.ReadWrite, a == accessUser,
		u.Mode == web.ReadOnly && (a == accessRead || a == accessMetrics),
		u.Mode == web.WriteOnly && (a == accessWrite || a == accessMetrics):
		return nil
	}
	return web.Denied
}

// fail answers with an error.
func (s *Server) fail(c *web.Ctx, err error) {
	switch {
	case isCollector(c):
		hec.Refuse(c, err)
		return
	case isLines(string(c.Path())) && lineproto.Named(c):
		defer lineproto.Restate(c, err)
	case s.asksMetrics(string(c.Path())):
		defer metricsapi.Restate(c, err)
	}
	var d denial
	if !errors.As(err, &d) {
		web.ReplyError(c, err)
		return
	}
	web.ReplyErrorStatus(c, 401, err)
	// A page's own script handles 401 itself; for everybody else this opens the browser's dialogue. On plain HTTP at an
	// address of the network browsers send no Sec-Fetch-Mode, so that the dashboard names itself.
	mode := string(c.Request.Header.Peek("Sec-Fetch-Mode"))
	if client, _, _ := strings.Cut(c.HeaderText("x-service-client"), "/"); client != "dashboard" &&
		(mode == "" || mode == "navigate") {
		c.Response.Header.Set("WWW-Authenticate", `Basic realm="varve"`)
	}
}

// finish leaves the connection at the beginning of the next request, or closes it, and counts.
func (s *Server) finish(rt *route, c *web.Ctx, k *conn, f framing) {
	if f.body && !c.Response.ConnectionClose() && !c.BodyDrained(drainBytes) {
		c.SetConnectionClose()
	}
	if s.state.draining.Load() {
		c.SetConnectionClose()
	}
	if k != nil {
		if c.Response.ConnectionClose() {
			k.linger.Store(true)
		}
		k.answered.Store(true)
	}
	s.cors(c.RequestCtx, string(c.Path()))
	c.Compress()
	code := strconv.Itoa(c.Response.StatusCode())
	method := string(c.Method())
	if rt.path == otherPath && !known[method] {
		method = otherPath
	}
	s.metrics.Requests.WithLabelValues(rt.path, method, code).Inc()
	s.metrics.Latency.WithLabelValues(rt.path).Observe(time.Since(c.Start).Seconds())
	s.metrics.BodyBytes.Add(float64(c.BodyBytes()))
	c.Done()
}

// known are the methods that have a label of their own.
var known = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "OPTIONS": true,
	"PATCH": true}

// timeLimit is the request's time limit: its header's where the server has one at all.
func (s *Server) timeLimit(rc *fasthttp.RequestCtx) time.Duration {
	if s.o.Timeout <= 0 {
		return 0
	}
	if text := rc.Request.Header.Peek("x-service-timeout"); text != nil {
		if ns, err := timefmt.ParseDuration(strings.TrimSpace(string(text))); err == nil && ns >= 0 {
			return time.Duration(ns)
		}
	}
	return s.o.Timeout
}

// headerReceived sets how the body of a request is read before its handler begins. One that is announced to be over the
// limit is not waited for at all, so that it is refused at once: its request goes on as one without a body, and the raw
// header reports how much was announced.
func (s *Server) headerReceived(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if s.o.BodyLimit > 0 && int64(h.ContentLength()) > s.o.BodyLimit {
		h.SetContentLength(0)
		h.Del("Expect")
	}
	return fasthttp.RequestConfig{ReadTimeout: bodyTimeout}
}

// readError answers requests that could not be read at all. The connection is closed after it.
func (s *Server) readError(rc *fasthttp.RequestCtx, err error) {
	code, text := 400, "Bad request"
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		code, text = 431, fmt.Sprintf("The request header is larger than %d bytes", readBuffer)
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		code, text = 413, web.TooLarge.Text
	case errors.As(err, &timeout) && timeout.Timeout():
		code, text = 408, ""
	case errors.Is(err, io.ErrUnexpectedEOF):
		text = "Bad request: the request ended early"
	}
	rc.Response.Reset()
	rc.SetStatusCode(code)
	rc.SetBodyString(text)
	if text != "" {
		rc.SetContentType("text/plain; charset=utf-8")
	}
	rc.SetConnectionClose()
	s.metrics.Requests.WithLabelValues(otherPath, otherPath, strconv.Itoa(code)).Inc()
	if k := connOf(rc); k != nil {
		k.linger.Store(true)
	}
}
