// Package standby lets another server follow this one, and this one take over. The other end is client.go.
package standby

import (
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/parts"
	"varve/server/web"
	"varve/wal"
)

// The paths.
const (
	pathState   = "/v1/standby/state"
	pathPart    = "/v1/standby/part"
	pathLog     = "/v1/standby/log"
	pathEpoch   = "/v1/standby/epoch"
	pathPromote = "/v1/standby/promote"
)

// The headers of answers.
const (
	headerEdit      = "X-Varve-Edit"
	headerSize      = "X-Varve-Size"
	headerSum       = "X-Varve-Sum" // CRC-32C of the body, eight hex digits
	headerSegment   = "X-Varve-Segment"
	headerOffset    = "X-Varve-Offset"
	headerNext      = "X-Varve-Next"
	headerFirst     = "X-Varve-First"
	headerEnd       = "X-Varve-End"
	headerRedefined = "X-Varve-Redefined"
	headerWaited    = "X-Varve-Waited-Us"
	headerUnsynced  = "X-Varve-Unsynced-Us"
)

const (
	// maxStretch bounds what is sent of a part or of the log at a time, in bytes.
	maxStretch = 4 << 20
	// maxWait bounds how long an answer waits for news.
	maxWait = 10 * time.Second
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumOf(b []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli)) }

// Options of a Handler.
type Options struct {
	Store *engine.Engine
	// Promote makes the process take over; nil: the server is no standby.
	Promote func() error
}

// Handler answers the standby of this server. Safe for concurrent use.
type Handler struct{ o Options }

// New makes a handler.
func New(o Options) *Handler { return &Handler{o} }

// Protocol is what a standby and its operators ask.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "standby",
		Routes: []web.Route{
			{Methods: web.Get, Path: pathState, Access: web.AccessAdmin, Handler: h.State, Copies: true},
			{Methods: web.Get, Path: pathPart, Access: web.AccessAdmin, Handler: h.Part, Copies: true},
			{Methods: web.Get, Path: pathLog, Access: web.AccessAdmin, Handler: h.Log, Copies: true},
			web.On(web.Get, pathEpoch, web.AccessOpen, h.Epoch),
			web.On(web.Post, pathPromote, web.AccessAdmin, h.Promote),
		},
	}
}

// octets is the media type of what is copied.
const octets = "application/octet-stream"

// waitOf is how long an answer waits for news, as the request says.
func waitOf(p *web.Params) (time.Duration, error) {
	ms, err := p.Uint("wait_ms", 0)
	return min(time.Duration(min(ms, 1<<20))*time.Millisecond, maxWait), err
}

// State answers GET /v1/standby/state: frames that lead from the manifest after an edit to the present one.
func (h *Handler) State(c *web.Ctx) error {
	p, err := c.Query("edit", "wait_ms")
	if err != nil {
		return err
	}
	edit, err := p.Uint("edit", 0)
	if err != nil {
		return err
	}
	wait, err := waitOf(p)
	if err != nil {
		return err
	}
	s, err := h.o.Store.Primary().State(c.Context, edit, wait)
	if err != nil {
		return err
	}
	c.Response.Header.Set(headerEdit, strconv.FormatUint(s.Edit, 10))
	return c.Make(200, octets, func() ([]byte, error) { return s.Frames, nil })
}

// Part answers GET /v1/standby/part: a range of the bytes of a part, or of its stub.
func (h *Handler) Part(c *web.Ctx) error {
	p, err := c.Query("file", "cold", "offset", "bytes")
	if err != nil {
		return err
	}
	e := parts.Entry{}
	var offset, most uint64
	for _, f := range [...]struct {
		name string
		to   *uint64
	}{{"file", &e.File}, {"offset", &offset}, {"bytes", &most}} {
		if *f.to, err = p.Uint(f.name, 0); err != nil {
			return err
		}
	}
	if e.Cold, err = p.Bool("cold", false); err != nil {
		return err
	}
	return c.Make(200, octets, func() ([]byte, error) {
		b, size, err := h.o.Store.Primary().Part(c.Context, e, int64(min(offset, 1<<62)), int(min(most, maxStretch)))
		if errors.Is(err, engine.ErrNoPart) {
			return nil, web.NewReject(404, err.Error())
		}
		if err != nil {
			return nil, err
		}
		c.Response.Header.Set(headerSize, strconv.FormatInt(size, 10))
		c.Response.Header.Set(headerSum, sumOf(b))
		return b, nil
	})
}

// Log answers GET /v1/standby/log: a range of the log. The request says what the standby has.
func (h *Handler) Log(c *web.Ctx) error {
	p, err := c.Query("at", "bytes", "wait_ms", "has", "edit", "address")
	if err != nil {
		return err
	}
	var at, most, has, edit uint64
	for _, f := range [...]struct {
		name string
		to   *uint64
	}{{"at", &at}, {"bytes", &most}, {"has", &has}, {"edit", &edit}} {
		if *f.to, err = p.Uint(f.name, 0); err != nil {
			return err
		}
	}
	address, err := addressOf(p.String("address"), c.RemoteIP().String())
	if err != nil {
		return web.NewReject(400, err.Error())
	}
	wait, err := waitOf(p)
	if err != nil {
		return err
	}
	l, err := h.o.Store.Primary().Log(c.Context, wal.LSN(at), int(min(most, maxStretch)), wait,
		engine.Progress{Address: address, At: wal.LSN(has), Edit: edit})
	if err != nil {
		return err
	}
	for name, n := range map[string]uint64{
		headerSegment: l.At.Segment(), headerOffset: uint64(l.At.Offset()), headerNext: l.Next, headerFirst: l.First,
		headerEnd: uint64(l.End), headerRedefined: l.Redefined, headerWaited: uint64(l.Waited.Microseconds()),
		headerUnsynced: uint64(l.Unsynced.Microseconds()),
	} {
		c.Response.Header.Set(name, strconv.FormatUint(n, 10))
	}
	c.Response.Header.Set(headerSum, sumOf(l.Bytes))
	return c.Make(200, octets, func() ([]byte, error) { return l.Bytes, nil })
}

// addressOf completes the address of a standby that knows only its port: it is where the request came from.
func addressOf(text, from string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(text) > 1<<10 {
		return "", fmt.Errorf("address %q: expected the address of the standby, such as https://standby:4000", text)
	}
	if u.Hostname() == "" {
		u.Host = net.JoinHostPort(from, u.Port())
	}
	return u.Scheme + "://" + u.Host, nil
}

// Epoch answers GET /v1/standby/epoch: which store this is, and whether this server takes its writes. It is open: a
// former primary asks for it, which has no user here.
func (h *Handler) Epoch(c *web.Ctx) error {
	s := h.o.Store.Standing()
	body := jsontext.AppendString([]byte(`{"store":`), h.o.Store.Store())
	c.JSON(200, fmt.Appendf(body, `,"epoch":%d,"standby":%v}`, s.Epoch, s.Follows != ""))
	return nil
}

// Promote answers POST /v1/standby/promote: the process takes over, and serves again when it has.
func (h *Handler) Promote(c *web.Ctx) error {
	if h.o.Promote == nil || h.o.Store.Standby() == nil {
		return web.NewReject(409, "this server is no standby: it takes writes already")
	}
	if err := h.o.Store.Standby().Ready(); err != nil {
		return err
	}
	if err := h.o.Promote(); err != nil {
		return err
	}
	c.JSON(202, []byte(`{"promoting":true}`))
	return nil
}

// hostless is the address of a server that knows only its port.
func hostless(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		return strings.TrimSuffix(u.Scheme+"://:"+u.Port(), ":")
	}
	return address
}
