package server

import (
	"context"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/kafka"
)

// Messages of queues become requests of HTTP, for the same handlers. Nobody waits for an answer: what counts is whether
// the request was refused.

// queueLimit is the time limit of a request that carries messages: a handler that hangs does not hold up its queue for
// good.
const queueLimit = 2 * time.Minute

// deliver answers a request of a queue. Its error is a *kafka.Refusal.
func (s *Server) deliver(ctx context.Context, r *kafka.Request) (err error) {
	rt := s.doors[r.Path]
	if rt == nil {
		return &kafka.Refusal{Status: 404, Text: "the protocol of " + r.Path + " is off: see the configuration"}
	}
	query := url.Values{}
	for _, q := range r.Query {
		query.Set(q[0], q[1])
	}
	rc := &fasthttp.RequestCtx{}
	rc.Init(&fasthttp.Request{}, nil, quiet{s.log})
	rc.Request.Header.SetMethod("POST")
	rc.Request.SetRequestURI(r.Path + "?" + query.Encode())
	for _, h := range r.Headers {
		rc.Request.Header.Set(h[0], h[1])
	}
	rc.Request.SetBodyRaw(r.Body)
	c := web.NewCtx(rc, ctx, queueLimit)
	defer c.Done()
	s.equip(c)
	c.BodyLimit = 0 // messages have a bound of their own
	c.Context = engine.WithWriter(c.Context, "")
	defer func() {
		if why := recover(); why != nil {
			s.metrics.Panics.Inc()
			s.log.Error("panic in a request of a queue", "path", rt.Path, "panic", why, "stack", string(debug.Stack()))
			err = &kafka.Refusal{Status: 500, Text: "Internal error"}
		}
	}()
	if err := rt.Handler(c); err != nil {
		s.fail(c, rt.protocol, err)
	}
	return refusal(&rc.Response)
}

// refusal is the error of an answer; nil: it is none.
func refusal(r *fasthttp.Response) error {
	at := r.StatusCode()
	if at < 300 {
		return nil
	}
	code, _ := strconv.Atoi(string(r.Header.Peek("x-service-err-code"))) // 0: it has none
	text := string(r.Header.Peek("x-service-err-msg"))
	if text, _, _ = strings.Cut(strings.TrimPrefix(text, "error: "), ", execution_time_ms: "); text == "" {
		if text = string(r.Body()); strings.HasPrefix(string(r.Header.ContentType()), "application/x-protobuf") {
			text = protowire.StatusText(r.Body())
		}
	}
	return &kafka.Refusal{Status: at, Code: code, Text: text}
}

// ReadQueues reads the queues of the configuration until Shutdown.
func (s *Server) ReadQueues() { s.queues.Start() }
