// Package forward accepts log entries in the forward protocol, which log collectors speak over TCP. The tag of an entry
// names its table.
package forward

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/flatten"
	"varve/pipeline"
	"varve/server/listen"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/entries"
	"varve/server/write/rows/rejects"
)

// Options of a Server.
type Options struct {
	rows.Deps
	Store web.Store
	// MaxMessage bounds the bytes of a message, and those of its entries when they are decompressed. Default 16 MiB.
	MaxMessage int
	// SharedKey is the key that senders have to know; empty: they need none.
	SharedKey string
	// Intake, MaxConnections, MaxPerAddress and IdleTimeout are those of package listen.
	Intake         *web.Intake
	MaxConnections int
	MaxPerAddress  int
	IdleTimeout    time.Duration
	Logger         *slog.Logger
}

// writers is the number of batches that become rows at a time. It is small because a batch may be large.
const writers = 2

// Server takes entries. Safe for concurrent use.
type Server struct {
	o       Options
	streams *listen.Server
	begun   *entries.Begun
	large   *web.Intake // of messages of more than smallBytes as they arrive
	ctx     context.Context
	cancel  context.CancelFunc
}

// New makes a server.
func New(o Options) *Server {
	if o.MaxMessage <= 0 {
		o.MaxMessage = 16 << 20
	}
	s := &Server{o: o, begun: entries.NewBegun(o.Pipelines),
		large: web.NewIntake(largeBytes, roomTime, status.RegionBusy)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.streams = listen.New(listen.Options{
		Name: "forward", Store: o.Store, Rows: s.rows, Rejects: o.Rejects, Intake: o.Intake, Writers: writers,
		MaxConnections: o.MaxConnections, MaxPerAddress: o.MaxPerAddress,
		IdleTimeout: o.IdleTimeout, Logger: o.Logger,
	})
	return s
}

// Collectors are the figures of the server.
func (s *Server) Collectors() []prometheus.Collector {
	return append(s.streams.Collectors(), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_forward_held_bytes",
		Help: "Bytes for which messages that arrive have room, beyond the first 64 KiB of each.",
	}, func() float64 { return float64(s.large.Bytes()) }))
}

// Serve takes the messages of the connections of ln until Shutdown.
func (s *Server) Serve(ln net.Listener) error {
	return s.streams.Serve(ln, func(r *bufio.Reader, from *listen.Conn) listen.Framer {
		return &frames{r: r, to: from, key: []byte(s.o.SharedKey), most: s.o.MaxMessage, ctx: s.ctx,
			share: func() *web.Stream {
				return s.large.Stream(r, from.Address(), leastRate, from.GiveUp)
			}}
	})
}

// Shutdown stops the server and writes the messages that have arrived.
func (s *Server) Shutdown(ctx context.Context) error {
	s.cancel()
	return s.streams.Shutdown(ctx)
}

// rows makes rows of messages: their records go through the pipeline that stores objects as they are. A record that
// cannot be stored is left out alone.
func (s *Server) rows(ctx context.Context, list []listen.Message, set *engine.WriteSet, hold func(int64) error,
	write func() error) (made listen.Made, err error) {
	var full error // that there is no room, which is no fault of the message
	all := entries.New(s.o.RowBytes, func(bytes int64) error {
		full = hold(bytes)
		return full
	})
	all.KeepTexts = true
	texts := make([][]byte, len(list))
	for i := range list {
		texts[i] = list[i].Text
	}
	all.SentAgain(s.begun, texts...)
	var left []rejects.Entry
	for _, one := range list {
		var m message
		err := m.parse(one.Text)
		table := ""
		if err == nil {
			var t *entries.Table
			table = tableOf(m.tag)
			if t, err = all.Table([]byte(table)); err != nil {
				return made, err
			}
			err = m.each(s.o.MaxMessage, func(ns int64, timed bool, r *reader) error {
				if !timed {
					ns = one.At.UnixNano()
				}
				from := r.p
				err := t.Make(func(dst []byte) ([]byte, error) { return appendRecord(dst, ns, r) })
				if err != nil && full == nil && r.pass(from) {
					left = append(left, rejects.Entry{Table: table, Why: err, Text: r.b[from:r.p]})
					return nil
				}
				return err
			})
		}
		if full != nil {
			return made, full
		}
		if err != nil {
			left = append(left, rejects.Entry{Table: table, Why: err, Text: one.Text})
		}
	}
	made.Rows, err = all.Run(ctx, s.o.Pipelines, &pipeline.Request{
		DB: "public", Pipeline: pipeline.Identity, CustomTimeIndex: entries.TimeIndex, NoAutoCreate: s.o.NoAutoCreate,
		SkipError: true, AllFailures: true,
		NoVariables: !s.o.Variables, Hold: hold,
	}, set, write)
	made.Left = func() []rejects.Entry {
		for _, t := range all.Tables() {
			for _, number := range slices.Sorted(maps.Keys(t.Failed)) {
				left = append(left, rejects.Entry{Table: t.Name, Why: t.Failed[number], Text: t.Text(number)})
			}
		}
		return left
	}
	return made, err
}

// tableOf is the table of a tag: the tag itself, or a legal name made of it if no table can have the tag as its name.
func tableOf(tag []byte) string {
	name := bytes.ToValidUTF8(tag, []byte("\uFFFD"))
	if schema.CheckName("table", string(name)) != nil {
		name = entries.LegalName(name)
	}
	return string(name)
}

// appendRecord appends the next value, a record, as a JSON object with its time. A field that is named as the time
// index is gets a prefix.
func appendRecord(dst []byte, ns int64, r *reader) ([]byte, error) {
	v := r.next()
	if r.err == nil && v.kind != object {
		return dst, status.New(status.InvalidArguments, "a record is not a map")
	}
	dst = strconv.AppendInt(append(dst, `{"`+flatten.DefaultTimeColumn+`":`...), ns, 10)
	for i := 0; i < v.n && r.err == nil; i++ {
		name := r.key()
		if string(name) == flatten.DefaultTimeColumn {
			name = []byte("record." + flatten.DefaultTimeColumn)
		}
		dst = jsontext.AppendString(append(dst, ','), name)
		dst = r.appendValue(append(dst, ':'), 1)
	}
	return append(dst, '}'), r.err
}
