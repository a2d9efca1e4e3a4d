// Package web is the frame of every HTTP handler: the request with its user, time limit and body, parameters, answers
// and errors. No other package knows the HTTP status of an error code. Bodies and answers stay within their bounds of
// memory and time, whatever a client sends.
//
//	protocol.go                               protocols and routes
//	ctx.go params.go batch.go                 requests and their parameters, batches that are sent twice
//	body.go intake.go share.go pace.go block.go        bodies: decompressed, counted, paced, their buffers
//	answers.go                                answers while they are sent: counted, paced
//	write.go                                  rows of a body into the store, for all protocols
//	reply.go errors.go static.go compress.go  answers
//	make.go pieces.go events.go               long answers, made when it is their turn or piece by piece
//	stream.go                                 messages of protocols without requests
//	places.go stop.go                         connections served at a time, and how long a stopping server waits
package web

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
)

// Handler answers one request. An error becomes the answer through ReplyError.
type Handler func(c *Ctx) error

// Mode says what a user may do.
type Mode uint8

// The modes of users. ReadWrite is the mode of everybody on a server without users.
const (
	ReadWrite Mode = iota
	ReadOnly
	WriteOnly
)

// User is who sent a request. Name is empty when no user was named.
type User struct {
	Name string
	Mode Mode
}

// Denied is the error of everything that a user's mode does not allow.
var Denied = status.New(status.PermissionDenied, "User is not authorized to perform this action")

// Ctx is one request. It belongs to the goroutine of the handler; a body that is sent as a stream keeps it until the
// stream is closed.
type Ctx struct {
	*fasthttp.RequestCtx
	// Context ends with the request's time limit, when the client leaves (see Watch) and when the server stops.
	Context context.Context
	User    User
	// Statement is the SQL that is being executed, for the log.
	Statement string
	// Warnings are part of the answer when it is an error.
	Warnings []string
	// Start is when the handler began.
	Start time.Time
	// BodyLimit is the number of bytes a body may have after decompression; 0 means no limit.
	BodyLimit int64
	// Intake bounds the bytes of all bodies in hand; nil: nothing does.
	Intake *Intake
	// Zone is the zone of requests that name none.
	Zone *time.Location
	// Log takes what the client does not see.
	Log *slog.Logger
	// HidePath returns the path without its secrets. nil: it has none.
	HidePath func(path string) string
	// Watch starts looking for a client that leaves, which then ends Context. May be nil.
	Watch func()
	// Interrupt makes the connection's writes fail, also one that waits for a client that does not read. May be nil.
	Interrupt func()
	// Answers bounds the answers that are not read yet; nil: nothing does. Sending counts the answer to this request,
	// of bytes bytes with the data it is made of, and waits for room. May be nil.
	Answers *Answers
	Sending func(bytes int64) error
	// Crowded is called while requests wait or are refused because so many run: answers to slow readers give way. May
	// be nil.
	Crowded func()

	cancel   context.CancelFunc
	length   int64 // of the body, as the header announced it
	body     *bodyReader
	finally  []func()
	buffers  []*[]byte // of the body
	streamed bool
	batch    bool // the writes are those of a batch, whose id Context has
	plus     bool // a plus sign was in a form
}

// NewCtx makes the frame of a request. A limit above zero ends Context after that time.
func NewCtx(rc *fasthttp.RequestCtx, parent context.Context, limit time.Duration) *Ctx {
	c := &Ctx{RequestCtx: rc, Start: time.Now(), Log: slog.New(slog.DiscardHandler), Zone: time.UTC}
	if limit > 0 {
		c.Context, c.cancel = context.WithTimeout(parent, limit)
	} else {
		c.Context, c.cancel = context.WithCancel(parent)
	}
	return c
}

// Finally runs f when the request is over: after the handler, or after the last byte of a streamed body.
func (c *Ctx) Finally(f func()) { c.finally = append(c.finally, f) }

// Done ends the request: the middleware calls it once the handler has returned. A streamed body puts it off.
func (c *Ctx) Done() {
	if !c.streamed {
		c.end()
	}
}

func (c *Ctx) end() {
	c.cancel()
	for i := len(c.finally) - 1; i >= 0; i-- {
		c.finally[i]()
	}
	c.finally = nil
	c.giveBuffers()
	if c.body != nil {
		c.body.release()
	}
}

// Cancel ends Context, for a client that left.
func (c *Ctx) Cancel() { c.cancel() }

// Network is the network by which limits tell clients apart, see NetworkOf.
func (c *Ctx) Network() netip.Addr { return NetworkOf(c.RemoteAddr()) }

// ElapsedMS is the age of the request, ms.
func (c *Ctx) ElapsedMS() int64 { return time.Since(c.Start).Milliseconds() }

// HeaderText is a request header as text without blanks around it; the copy outlives the request.
func (c *Ctx) HeaderText(name string) string {
	return strings.TrimSpace(string(c.Request.Header.Peek(name)))
}

// RequestZone is the zone that header x-service-timezone names; without the header, or if the zone is unknown, the
// server's.
func (c *Ctx) RequestZone() *time.Location {
	name := c.HeaderText("x-service-timezone")
	if name == "" {
		return c.Zone
	}
	zone, err := timefmt.Zone(name)
	if err != nil {
		return c.Zone
	}
	return zone
}

// Hints are the table hints of the headers: x-service-hints, else one header per hint. Nil when there are none.
func (c *Ctx) Hints() map[string]string {
	if list := c.Request.Header.Peek("x-service-hints"); list != nil {
		hints := map[string]string{}
		for part := range strings.SplitSeq(string(list), ",") {
			if k, v, ok := strings.Cut(part, "="); ok {
				hints[strings.TrimSpace(k)] = strings.TrimSpace(v)
			}
		}
		return hints
	}
	var hints map[string]string
	for _, k := range hintHeaders {
		if v := c.Request.Header.Peek("x-service-hint-" + k); v != nil {
			if hints == nil {
				hints = map[string]string{}
			}
			hints[k] = strings.TrimSpace(string(v))
		}
	}
	return hints
}

var hintHeaders = schema.Hints(schema.HeaderHint)
