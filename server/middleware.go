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

	"varve/engine"
	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/server/web"
)

// drainBytes is how much of a body that a handler left unread is read away to keep the connection.
const drainBytes = 256 << 10

// handle wraps a route's handler into all that every request needs.
func (s *Server) handle(rt *route) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		limit := time.Duration(0)
		p := s.of(rt, rc)
		if !p.Inside {
			limit = s.timeLimit(rc)
		}
		c := web.NewCtx(rc, s.ctx, limit)
		s.equip(c)
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
		f, err := s.call(rt, p, c)
		if err != nil {
			s.fail(c, p, err)
		} else if err = s.count(rt, c, k); err != nil {
			c.Response.Reset()
			s.fail(c, p, err)
		}
		s.finish(rt, p, c, k, f)
	}
}

// equip gives a request what is the same for all.
func (s *Server) equip(c *web.Ctx) {
	c.Log, c.Zone, c.BodyLimit, c.Intake, c.HidePath = s.log, s.o.Zone, s.o.BodyLimit, s.o.Intake, s.hidePath
}

// call checks the request and runs the handler. A panic becomes an internal error.
func (s *Server) call(rt *route, p *web.Protocol, c *web.Ctx) (f framing, err error) {
	defer func() {
		if why := recover(); why != nil {
			s.metrics.Panics.Inc()
			s.log.Error("panic in a request", "method", string(c.Method()), "path", rt.Path, "panic", why, "stack",
				string(debug.Stack()))
			c.Response.Reset()
			err = status.New(status.Internal, "panic: %v", why)
		}
	}()
	if f, err = checkFraming(c.Request.Header.RawHeaders()); err != nil {
		return f, err
	}
	c.Announce(f.length)
	if !s.shared(rt, c.RequestCtx) && s.foreignPage(c.RequestCtx) {
		return f, foreign
	}
	if err = s.authorise(rt.Access, p, c); err != nil {
		return f, err
	}
	if s.o.ReadOnly && rt.Access == web.AccessWrite && !c.IsGet() && !c.IsHead() && !c.IsOptions() {
		return f, engine.ErrReadOnly
	}
	if rt.Access == web.AccessWrite {
		c.Context = engine.WithWriter(c.Context, c.User.Name)
	}
	return f, rt.Handler(c)
}

// count counts the answer until the client has read it. The request keeps what it holds until there is room for its
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
	if err := a.Made(c.Context, int64(len(c.Response.Body()))); err != nil && rt.Access != web.AccessWrite {
		return err
	}
	return nil
}

// figuresBytes is room for answers with figures, and copiesBytes for what a standby copies, besides that of all others.
const (
	figuresBytes = 4 << 20
	copiesBytes  = 16 << 20
)

// answers counts the answers of a route. Figures of the server have places and room of their own: an operator needs
// them most while a crowd of readers keeps the room of the other answers. So has what a standby copies: writes may wait
// until it is on the standby's disk.
func (s *Server) answers(rt *route) *web.Answers {
	switch {
	case rt.Figures:
		return s.figures
	case rt.Copies:
		return s.copies
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

// authenticate finds the user of a request of a protocol.
func (s *Server) authenticate(c *web.Ctx, p *web.Protocol) (web.User, error) {
	h := &c.Request.Header
	shown := web.Credentials{Service: h.Peek("x-service-auth"), Authorization: h.Peek("Authorization"),
		Client: c.Network().String()}
	if p.Credentials != nil {
		if err := p.Credentials(c, &shown); err != nil {
			return web.User{}, denial{err}
		}
	}
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
func (s *Server) authorise(a web.Access, p *web.Protocol, c *web.Ctx) error {
	if s.o.Users == nil || a == web.AccessOpen || a == web.AccessMetrics && !s.o.MetricsNeedAuth {
		return nil
	}
	u, err := s.authenticate(c, p)
	if err != nil {
		return err
	}
	if c.User = u; u.Mode == web.WriteOnly {
		c.Context = nearest.Hide(c.Context)
	}
	if !a.Allows(u.Mode) {
		return web.Denied
	}
	return nil
}

// fail answers a request of a protocol with an error.
func (s *Server) fail(c *web.Ctx, p *web.Protocol, err error) {
	if p.Fail != nil {
		p.Fail(c, err, plainError)
		return
	}
	plainError(c, err)
}

// plainError answers with an error in the form of the server.
func plainError(c *web.Ctx, err error) {
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
func (s *Server) finish(rt *route, p *web.Protocol, c *web.Ctx, k *conn, f framing) {
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
	s.cors(c.RequestCtx, p)
	c.Compress()
	code := strconv.Itoa(c.Response.StatusCode())
	method := string(c.Method())
	if rt.Path == otherPath && !known[method] {
		method = otherPath
	}
	s.metrics.Requests.WithLabelValues(rt.Path, method, code).Inc()
	s.metrics.Latency.WithLabelValues(rt.Path).Observe(time.Since(c.Start).Seconds())
	s.metrics.BodyBytes.Add(float64(c.BodyBytes()))
	c.Done()
}

// known are the methods that have a label of their own.
var known = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "OPTIONS": true,
	"PATCH": true}

// timeLimit is that of the header x-service-timeout, or else the server's. A server without a limit ignores the header.
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

// headerReceived sets how the body of a request is read before its handler begins. A body whose announced length is
// over the limit is not waited for, so that it is refused at once: the request goes on without a body, and the raw
// header still holds the announced length.
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
