// Package rules evaluates recording and alerting rules by themselves, and tells Alertmanagers and webhooks of alerts.
//
//	rules.go      options, the manager, its life
//	load.go       files and documents into groups, and what is kept of the groups before
//	group.go      when a group is evaluated
//	evaluate.go   a rule at one time
//	alert.go      the states of alerts
//	ask.go        the two languages
//	write.go      samples and staleness markers into the store
//	restore.go    what a restart finds in the store
//	kept.go       the table of alerts that fired
//	documents.go  rules that people save in the server
//	tell.go       what is sent of alerts, and what was delivered
//	try.go        a rule over the past, without any effect
//	silences.go   silences of Alertmanagers, and the alerts that they are for
//	show.go       what the HTTP API shows
//	figures.go    figures
//
// # Promises
//
// A group is never evaluated twice at a time, and its rules in order: a rule sees what those before it wrote. An alert
// that fires is in the table of alerts before anybody is told, and what was delivered is noted there, so that a restart
// tells nobody twice and forgets nobody.
package rules

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/server/rules/file"
	"varve/server/rules/notify"
	"varve/server/web"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql"
)

// Options of a Manager. Zero values mean the documented default.
type Options struct {
	// Store has the series and the documents, Samples writes what rules make, Queries and SQL evaluate expressions.
	Store   *engine.Engine
	Samples *samples.Tables
	Queries *promql.Service
	SQL     web.Executor
	// Attend shows expressions of PromQL among the running statements while part evaluates them, so that KILL ends
	// them. nil: nobody sees them.
	Attend func(ctx context.Context, s *sqlexec.Session, text string, part func(ctx context.Context) error) error
	Memory *exec.Pool // of queries; nil: no bound

	DB             string   // that rules read and write; default public
	Files          []string // patterns
	Interval       time.Duration
	Timeout        time.Duration // of the evaluation of a rule; 0: none
	CatchUp        time.Duration // how far back recording rules are evaluated after a stop
	Tolerance      time.Duration // how old the state of a pending alert may be at a start
	ResendDelay    time.Duration // after which Alertmanagers are told again
	ExternalLabels map[string]string
	ExternalURL    string

	Notify notify.Options
	Now    func() time.Time
	Logger *slog.Logger
}

// The defaults.
const (
	DefaultInterval    = time.Minute
	DefaultTolerance   = time.Hour
	DefaultResendDelay = time.Minute
)

// concurrent is the number of groups that are evaluated at a time: others wait, and ask the store no more than a few
// users would.
const concurrent = 4

// Manager evaluates rules. Safe for concurrent use.
type Manager struct {
	o        Options
	log      *slog.Logger
	notifier *notify.Notifier
	sets     engine.SpareSets
	places   chan struct{}
	keeping  keeping

	changing sync.Mutex // held while rules are loaded, started and stopped
	running  bool
	started  chan struct{}   // is closed when the rules are loaded for the first time
	ctx      context.Context // of the groups; ends at Stop
	cancel   context.CancelFunc
	begun    sync.WaitGroup
	ended    sync.Once
	found    *found // what the start found in the store and is not taken over yet; nil: nothing

	groups  atomic.Pointer[[]*group] // sorted by file and name of the group
	sources atomic.Pointer[sources]
}

// New makes a manager, whose rules wait for Start. The error says which option is wrong.
func New(o Options) (*Manager, error) {
	if o.DB == "" {
		o.DB = engine.PublicDB
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Tolerance <= 0 {
		o.Tolerance = DefaultTolerance
	}
	if o.ResendDelay <= 0 {
		o.ResendDelay = DefaultResendDelay
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Queries == nil {
		o.Queries = promql.NewService(promql.Limits{})
	}
	m := &Manager{o: o, log: o.Logger, places: make(chan struct{}, concurrent),
		started: make(chan struct{})}
	o.Notify.Delivered, o.Notify.Logger = m.delivered, o.Logger
	var err error
	if m.notifier, err = notify.New(o.Notify); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.groups.Store(new([]*group))
	m.sources.Store(&sources{})
	return m, nil
}

// Start waits until the store has all tables, restores the state of alerts, loads the rules and evaluates them until
// Stop. It returns at once.
func (m *Manager) Start() {
	m.notifier.Start()
	m.begun.Go(func() {
		if err := m.begin(m.ctx); err != nil && m.ctx.Err() == nil {
			m.log.Error("rules cannot be started", "error", err)
		}
	})
}

func (m *Manager) begin(ctx context.Context) error {
	if err := m.o.Store.Wait(ctx); err != nil {
		return err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	if err := m.restore(ctx); err != nil {
		m.log.Error("the state of alerts before the start cannot be read: alerts begin anew", "error", err)
	}
	m.running = ctx.Err() == nil
	defer close(m.started)
	return m.load(ctx)
}

// startWait is how long a change of rules waits for a server that starts.
const startWait = 5 * time.Second

// ready waits until the rules are started, and refuses where that takes long.
func (m *Manager) ready(ctx context.Context) error {
	limit := time.NewTimer(startWait)
	defer limit.Stop()
	select {
	case <-m.started:
		return nil
	case <-limit.C:
	case <-ctx.Done():
	case <-m.ctx.Done():
	}
	return status.New(status.RegionNotReady, "the rules are not started yet")
}

// Reload reads files and documents again. The error says what is wrong with them; what is right is taken over.
func (m *Manager) Reload(ctx context.Context) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.load(context.WithoutCancel(ctx)) // what ends is noted, whoever asked is gone or not
}

// Use evaluates groups of files that are given, for trials: nothing is started, Evaluate runs them.
func (m *Manager) Use(ctx context.Context, files []*file.File) {
	m.changing.Lock()
	defer m.changing.Unlock()
	m.exchange(ctx, files)
}

// Evaluate evaluates each group once at a time, one after the other, whatever its interval.
func (m *Manager) Evaluate(ctx context.Context, at time.Time, only func(file, group string) bool) {
	for _, g := range *m.groups.Load() {
		if only == nil || only(g.file, g.def.Name) {
			g.evaluate(ctx, at, false)
		}
	}
}

// Stop ends the evaluations in hand and waits for them, then for the notifications, until ctx ends.
func (m *Manager) Stop(ctx context.Context) {
	m.ended.Do(func() {
		m.cancel()
		m.begun.Wait()
		m.changing.Lock()
		m.running = false
		for _, g := range *m.groups.Load() {
			g.stop()
		}
		m.changing.Unlock()
		m.notifier.Stop(ctx)
	})
}
