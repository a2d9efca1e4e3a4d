// Package kafka reads topics of a queue that speaks Kafka's protocol, and stores each message exactly once: the log
// record of the rows says up to which offset they were taken (engine.Taking), so that after a crash rows and offset are
// there together or not at all.
//
//	kafka.go      options, the sources together
//	source.go     a source: its client, its partitions, reading
//	place.go      where a partition is begun
//	connect.go    options of the client: TLS, SASL
//	lane.go       the messages of a topic on their way into the store
//	format.go     messages as requests to the write door
//	rejects.go    messages that cannot be stored
//	commit.go     what the brokers are told: offsets, for tools that show lag
//	figures.go    metrics, and the state of sources as JSON
//
// A source has one client of the brokers and one lane a topic, so that a topic whose table refuses rows holds up no
// other. Messages go through the handlers of the protocols that take them over HTTP: a format is the body of a request.
package kafka

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/server/web"
)

// Config is one source. The configuration has filled in the defaults.
type Config struct {
	// Name finds the positions of the source again. Sources of one server have different names.
	Name    string
	Brokers []string
	// Topics are read, or those that TopicsRegex matches wholly.
	Topics      []string
	TopicsRegex string
	Group       string
	DB          string
	// Table takes the rows; empty: the table of the topic's name. Line protocol and metrics name their tables.
	Table    string
	Pipeline string
	Format   string
	// TimeIndex is the time index of formats of entries, as the parameter custom_time_index.
	TimeIndex string
	// Precision is the unit of times of line protocol.
	Precision string
	// Begin is where a partition begins that neither the store nor the group knows: earliest or latest.
	Begin string
	// Columns of the message that become members of its entries: key, headers, topic, partition, offset, timestamp.
	Columns []string
	// Rejects is the table of messages that cannot be stored.
	Rejects string
	// MaxMessage bounds the value of a message, bytes.
	MaxMessage int64
	// FetchBytes bounds what a broker sends at a time, BatchBytes what is written at a time.
	FetchBytes, BatchBytes int64
	// SessionTimeout is how long the group waits for a server that does not say that it lives.
	SessionTimeout time.Duration
	TLS            TLS
	SASL           SASL
}

// Store takes rows and positions; engine.Engine does.
type Store interface {
	web.Store
	Wait(ctx context.Context) error
	Store() string
	Take(ctx context.Context, t *engine.Taking) error
	Positions(source string) ([]engine.Position, error)
}

// Request is a batch of messages as a request of the protocol that takes such bodies.
type Request struct {
	Path           string
	Query, Headers [][2]string
	Body           []byte
}

// Door answers requests as the server does those that come over HTTP. A request that is refused is a *Refusal.
type Door func(ctx context.Context, r *Request) error

// Refusal says why a request was refused.
type Refusal struct {
	Status int // of HTTP
	Code   int // of the server; 0: none
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// Options of Sources.
type Options struct {
	Sources []Config
	Store   Store
	Door    Door
	// Intake counts the bytes that are fetched and not written yet; nil: nothing does.
	Intake *web.Intake
	Logger *slog.Logger

	commitEvery, lookEvery time.Duration // of tests; 0: the usual ones
}

// Sources read queues. Safe for concurrent use.
type Sources struct {
	o       Options
	list    []*source
	figures *figures
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New makes sources, which Start starts.
func New(o Options) *Sources {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.commitEvery == 0 {
		o.commitEvery, o.lookEvery = time.Second, 5*time.Second
	}
	s := &Sources{o: o, figures: newFigures()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for i := range o.Sources {
		s.list = append(s.list, newSource(s, &o.Sources[i]))
	}
	s.figures.sources = s.list
	return s
}

// Start reads until Shutdown. Brokers that are away stop nothing: a source tries again.
func (s *Sources) Start() {
	for _, one := range s.list {
		s.running.Go(func() { one.run(s.ctx) })
	}
}

// Shutdown stops reading. What is on its way into the store is stored or not taken.
func (s *Sources) Shutdown(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Collectors are the figures of all sources.
func (s *Sources) Collectors() []prometheus.Collector { return s.figures.collectors() }

// Protocol shows the state of the sources.
func (s *Sources) Protocol() web.Protocol {
	return web.Protocol{Name: "queues", Collectors: s.Collectors(),
		Routes: []web.Route{{Methods: web.Get, Path: "/v1/queues", Access: web.AccessRead, Handler: s.State,
			Figures: true}}}
}
