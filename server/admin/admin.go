// Package admin serves operators: health, status, metrics, configuration, the log level and profiles.
package admin

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/manifest"
	"varve/engine/status"
	"varve/server/web"
)

// Levels changes log levels at run time.
type Levels interface {
	// Set takes "level" or "global,target=level,..." and gives the old and the new setting.
	Set(filter string) (from, to string, err error)
}

// Store is what /status and /metrics show of the store; engine.Engine is one.
type Store interface {
	Ready() error
	ReadOnly() error
	SetAside() []engine.SetAside
	TablesAside() []engine.TableAside
	DatabaseSizes() []engine.DatabaseSize
	Cold() engine.ColdStats
	Standing() manifest.Standing
	Standby() *engine.Standby
	Primary() *engine.Primary
	Collectors() []prometheus.Collector
}

// Options of a Handler.
type Options struct {
	Version, Commit, Branch string
	Store                   Store
	Levels                  Levels
	// Config returns the running configuration as TOML, secrets masked.
	Config func() string
	// Registry is what /metrics prints.
	Registry *prometheus.Registry
	// Dashboard says that there is one to link.
	Dashboard bool
}

// Handler answers the admin endpoints. Safe for concurrent use.
type Handler struct {
	o       Options
	figures http.Handler
	// profiling is set while a CPU profile is taken: the runtime takes one at a time.
	profiling atomic.Bool
	memOff    atomic.Bool
}

// New makes a handler.
func New(o Options) *Handler {
	return &Handler{o: o, figures: promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{DisableCompression: true})}
}

// Protocols are two: the state of the server, and the inside of its process. claimed wraps the handlers of addresses
// where a client of another protocol may ask, such as the root: the protocol answers it then.
func (h *Handler) Protocols(claimed func(otherwise web.Handler) web.Handler) []web.Protocol {
	return []web.Protocol{{
		Name: "state", Collectors: h.Collectors(),
		Routes: []web.Route{
			{Methods: web.Get, Path: "/", Access: web.AccessOpen, Handler: claimed(h.Index), Shared: true},
			{Methods: web.GetPost, Path: "/health", Access: web.AccessOpen, Handler: claimed(h.Health), Shared: true,
				Reserved: true},
			{Methods: web.GetPost, Path: "/ready", Access: web.AccessOpen, Handler: h.Ready, Shared: true},
			web.On(web.GetPost, "/v1/health", web.AccessOpen, h.Health),
			{Methods: web.Get, Path: "/status", Access: web.AccessOpen, Handler: h.Status, Reserved: true,
				Figures: true},
			{Methods: web.Get, Path: "/metrics", Access: web.AccessMetrics, Handler: h.Metrics, Reserved: true,
				Figures: true},
			web.On(web.Get, "/config", web.AccessAdmin, h.Config),
		},
		Owns: func(path string) bool { return path == "/config" || path == "/status" || path == "/metrics" },
	}, {
		Name: "debug", Inside: true,
		Routes: []web.Route{
			web.On(web.Post, "/debug/log_level", web.AccessAdmin, h.LogLevel),
			web.On(web.Post, "/debug/prof/cpu", web.AccessAdmin, h.CPUProfile),
			web.On(web.Post, "/debug/prof/mem", web.AccessAdmin, h.MemProfile),
			web.On(web.Get, "/debug/prof/mem/status", web.AccessAdmin, h.MemStatus),
			web.On(web.Post, "/debug/prof/mem/activate", web.AccessAdmin, h.MemActivate),
			web.On(web.Post, "/debug/prof/mem/deactivate", web.AccessAdmin, h.MemDeactivate),
		},
		Owns: func(path string) bool { return strings.HasPrefix(path, "/debug/") },
	}}
}

// Ready answers /ready: 503 while rows cannot be served or written, with the reason.
func (h *Handler) Ready(c *web.Ctx) error {
	if err := h.o.Store.Ready(); err != nil {
		return err
	}
	return h.Health(c)
}

// Health answers /health and /v1/health: the process lives.
func (h *Handler) Health(c *web.Ctx) error {
	c.JSON(200, []byte("{}"))
	return nil
}

// Status answers /status: who the server is, the damaged files and the tables of its own that it does not use, and the
// memory it has.
func (h *Handler) Status(c *web.Ctx) error {
	return c.Make(200, "application/json", func() ([]byte, error) { return h.state(), nil })
}

// state is the answer of Status.
func (h *Handler) state() []byte {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	body := []byte{'{'}
	for i, m := range [...][2]string{
		{"commit", h.o.Commit}, {"branch", h.o.Branch}, {"rustc_version", runtime.Version()},
		{"go_version", runtime.Version()},
		{"hostname", host}, {"version", h.o.Version},
	} {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(jsontext.AppendString(body, m[0]), ':')
		body = jsontext.AppendString(body, m[1])
	}
	body = append(body, `,"damaged":[`...)
	for i, d := range h.o.Store.SetAside() {
		if i > 0 {
			body = append(body, ',')
		}
		body = jsontext.AppendString(append(body, `{"file":`...), d.File)
		body = append(jsontext.AppendString(append(body, `,"reason":`...), d.Reason), '}')
	}
	body = append(body, `],"tables_aside":[`...)
	for i, t := range h.o.Store.TablesAside() {
		if i > 0 {
			body = append(body, ',')
		}
		body = jsontext.AppendString(append(body, `{"table":`...), t.Name.DB+"."+t.Name.Table)
		body = append(jsontext.AppendString(append(body, `,"reason":`...), t.Reason), '}')
	}
	body = append(body, ']')
	if err := h.o.Store.ReadOnly(); err != nil {
		body = jsontext.AppendString(append(body, `,"read_only":`...), err.Error())
	}
	body = h.appendStandby(appendCold(h.appendBounds(body), h.o.Store.Cold()))
	if r, ok := residentNow(); ok {
		body = strconv.AppendInt(append(body, `,"memory":{"anonymous_bytes":`...), r.anonymous, 10)
		body = append(strconv.AppendInt(append(body, `,"mapped_bytes":`...), r.mapped, 10), '}')
	}
	return append(body, '}')
}

// appendBounds appends how many databases have a max_size, how many are near it or above, and what that had dropped.
// The answer is open to everybody: it names no database.
func (h *Handler) appendBounds(body []byte) []byte {
	var bounded, near, parts, bytes int64
	for _, s := range h.o.Store.DatabaseSizes() {
		if s.Max > 0 {
			bounded++
		}
		if s.Near {
			near++
		}
		parts, bytes = parts+s.DroppedParts, bytes+s.DroppedBytes
	}
	return fmt.Appendf(body,
		`,"max_size":{"databases":%d,"databases_near":%d,"dropped_parts":%d,"dropped_bytes":%d}`, bounded, near, parts, bytes)
}

// appendCold appends where old parts are, if there is a bucket or any part in one. It names neither.
func appendCold(body []byte, s engine.ColdStats) []byte {
	if s.Bucket == "" && s.Parts == 0 {
		return body
	}
	return fmt.Appendf(body, `,"cold":{"parts":%d,"bytes":%d,"local_bytes":%d,"waiting":%d,"to_remove":%d,`+
		`"moved":%d,"failures":%d,"failing":%v}`, s.Parts, s.Bytes, s.LocalBytes, s.Waiting, s.ToRemove, s.Moved,
		s.Failures, s.LastFailure != "")
}

// Config answers /config.
func (h *Handler) Config(c *web.Ctx) error {
	c.Text(200, h.o.Config())
	return nil
}

// maxLevelText bounds the body of a log level request.
const maxLevelText = 4096

// LogLevel answers POST /debug/log_level.
func (h *Handler) LogLevel(c *web.Ctx) error {
	c.LimitBody(maxLevelText)
	body, err := c.ReadBody()
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(body))
	if text != strings.ToValidUTF8(text, "") {
		return web.NewReject(400, "the log level is not valid UTF-8")
	}
	from, to, err := h.o.Levels.Set(text)
	if err != nil {
		return status.New(status.InvalidArguments, "Invalid request parameter: Invalid filter %q: %v", text, err)
	}
	c.Text(200, "Log Level changed from "+from+" to "+to)
	return nil
}

// Index answers / with links.
func (h *Handler) Index(c *web.Ctx) error {
	board := ""
	if h.o.Dashboard {
		board = "<li><a href=\"/dashboard/\">dashboard</a></li>\n"
	}
	c.Text(200, strings.Replace(index, "<ul>\n", "<ul>\n"+board, 1))
	c.SetContentType("text/html; charset=utf-8")
	return nil
}

const index = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Varve</title></head>
<body><h1>Varve</h1>
<ul>
<li><a href="/status">status</a></li>
<li><a href="/health">health</a></li>
<li><a href="/metrics">metrics</a></li>
<li><a href="/config">configuration</a></li>
<li><a href="/v1/sql?sql=SHOW+TABLES">tables</a></li>
</ul></body></html>
`
