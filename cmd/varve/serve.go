package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/spare"
	"varve/engine/timefmt"
	"varve/engine/vfs"
	"varve/pipeline"
	"varve/server"
	"varve/server/admin"
	"varve/server/admin/standby"
	"varve/server/auth"
	"varve/server/dashboard"
	"varve/server/read/metricsapi"
	"varve/server/read/query"
	"varve/server/rules"
	"varve/server/web"
	"varve/server/write/ingest"
	"varve/server/write/lineproto"
	"varve/server/write/otlp"
	"varve/server/write/rows"
	"varve/server/write/rows/rejects"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql"
	"varve/sqlexec/spill"

	"varve/cmd/varve/client"
)

// serveCommand is varve serve.
type serveCommand struct {
	Config       string   `type:"path" env:"VARVE_CONFIG" placeholder:"FILE" help:"Configuration file (TOML)."`
	DataDir      string   `placeholder:"DIR" help:"Where the data is (storage.data_home)."`
	HTTPAddr     string   `name:"http-addr" placeholder:"HOST:PORT" help:"Where to listen (http.addr)."`
	PGAddr       string   `name:"pg-addr" placeholder:"HOST:PORT" help:"Where to listen for clients of PostgreSQL (pg.addr)."`
	Follow       string   `placeholder:"ADDRESS" help:"Be the standby of the server at this address (standby.follow)."`
	TLSCert      string   `name:"tls-cert" placeholder:"FILE" help:"The certificate of HTTP, PEM (http.tls_cert)."`
	TLSKey       string   `name:"tls-key" placeholder:"FILE" help:"Its key, PEM (http.tls_key)."`
	UserProvider string   `placeholder:"PROVIDER" help:"Where users come from (user_provider)."`
	DashboardDir string   `placeholder:"DIR" help:"Serve the dashboard from this directory (dashboard.dir)."`
	LogLevel     string   `placeholder:"LEVEL" help:"Log level (logging.level)."`
	Set          []string `sep:"none" placeholder:"SECTION.KEY=VALUE" help:"Set any key of the configuration. Repeatable."`
}

// settings are the flags as keys, in the order in which they beat each other.
func (s *serveCommand) settings() ([]setting, error) {
	var list []setting
	for _, one := range s.Set {
		key, value, ok := strings.Cut(one, "=")
		if !ok {
			return nil, &configError{fmt.Sprintf("--set %s: expected section.key=value", one)}
		}
		list = append(list, setting{"--set", strings.TrimSpace(key), value})
	}
	for _, f := range [...]setting{
		{"--data-dir", "storage.data_home", s.DataDir}, {"--http-addr", "http.addr", s.HTTPAddr},
		{"--pg-addr", "pg.addr", s.PGAddr}, {"--follow", "standby.follow", s.Follow},
		{"--tls-cert", "http.tls_cert", s.TLSCert}, {"--tls-key", "http.tls_key", s.TLSKey},
		{"--user-provider", "user_provider", s.UserProvider}, {"--log-level", "logging.level", s.LogLevel},
		{"--dashboard-dir", "dashboard.dir", s.DashboardDir},
	} {
		if f.value != "" {
			list = append(list, f)
		}
	}
	return list, nil
}

// load composes the configuration of the command line, the environment and the file.
func (s *serveCommand) load(environ []string) (*Config, error) {
	settings, err := s.settings()
	if err != nil {
		return nil, err
	}
	return loadConfig(s.Config, environ, settings)
}

func (s *serveCommand) Run(io streams) (err error) {
	config, err := s.load(io.environ)
	if err != nil {
		return err
	}
	level, err := parseFilter(config.Logging.Level)
	if err != nil {
		return &configError{fmt.Sprintf("logging.level: %v", err)}
	}
	logs, io, err := config.openLogs(io, level)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.close()) }()
	for _, w := range config.warnings {
		logs.logger("varve").Warn(w)
	}
	if err := config.checkDescriptors(descriptorLimit()); err != nil {
		return err
	}
	manager, err := newNotifier(io.environ)
	if err != nil {
		logs.logger("varve").Warn("the service manager cannot be told when the server is ready", "error", err)
	}
	manager.tell("STATUS=opening the data directory")
	for {
		n, err := open(config, logs)
		if err != nil {
			return err
		}
		n.notify = manager
		if err := n.serve(s, io, logs); !errors.Is(err, errTookOver) {
			return err
		}
	}
}

// ballast is the room on the disk that the store keeps for emergencies.
const ballast = 16 << 20

// node is everything that runs: the store, the server, its listener.
type node struct {
	config  *Config
	store   *engine.Engine
	cold    *coldPlace                    // nil: there is none
	open    *openPlace                    // nil: there is none
	opened  atomic.Pointer[engine.Engine] // store, for goroutines that run before it is open; nil until then
	server  *server.Server
	rules   *rules.Manager // nil: there are none
	pool    *exec.Pool     // memory of queries
	intake  *web.Intake    // memory of bodies
	answers *web.Answers   // memory of answers
	users   *auth.Users
	zone    *time.Location                 // of requests that name none
	series  atomic.Pointer[samples.Tables] // of remote write; nil: none yet
	ln      net.Listener
	others  []listener // besides that of HTTP
	certs   []*certificate
	log     *slog.Logger
	notify  *notifier // nil: nobody wants to know

	promoted chan struct{} // has an element when a standby is to take over
	ready    bool          // all tables are served; it belongs to the goroutine of serve
}

// open opens the store and listens. Whatever fails is one sentence.
func open(c *Config, logs *logs) (*node, error) {
	n := &node{config: c, log: logs.logger("varve"), promoted: make(chan struct{}, 1)}
	if err := n.checkConfig(logs); err != nil {
		return nil, err
	}
	if err := n.listen(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.Storage.DataHome) // answers name it, to clients in other directories
	if err == nil {
		err = n.assemble(place{fs: vfs.OS(), dir: dir, ballast: ballast}, logs)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start: %w", err), n.unlisten())
	}
	return n, nil
}

// checkConfig reads what the configuration names: zone and users.
func (n *node) checkConfig(logs *logs) (err error) {
	if n.zone, err = timefmt.Zone(n.config.DefaultTimezone); err != nil {
		return &configError{fmt.Sprintf("default_timezone: %v", err)}
	}
	if n.config.UserProvider != "" {
		if n.users, err = auth.Open(n.config.UserProvider, logs.logger("server/auth")); err != nil {
			return &configError{err.Error()}
		}
	}
	return nil
}

// place is where a store is.
type place struct {
	fs      vfs.FS
	dir     string
	ballast int64 // bytes on its disk that are kept for emergencies
	still   bool  // nothing is flushed or merged but at the end
}

// assemble opens the store of a place and puts together what serves it.
func (n *node) assemble(p place, logs *logs) (err error) {
	c := n.config
	m := c.memory()
	spare.Bound(m.spare)
	collector := startCollector(c, n.heldBytes)
	memory := ledger.New(m.limits(c), func(held *admission.Control) { collector.follow(held.Heap()) })
	n.pool, n.answers = exec.PoolOf(memory), web.AnswersOf(memory, web.AnswerWait)
	if n.intake, err = c.intake(memory, m.bodies); err != nil {
		return err
	}
	if n.cold, err = c.openCold(context.Background()); err != nil {
		return err
	}
	follow, err := n.follow()
	if err != nil {
		return errors.Join(err, n.cold.close())
	}
	n.store, err = engine.Open(engine.Options{
		Follow: follow, StandbyWait: c.WAL.StandbyTimeout,
		FS: p.fs, Dir: p.dir, NoBackground: p.still, WALDir: c.WAL.Dir, WALSync: c.WAL.Sync,
		WALSyncPeriod: c.WAL.SyncPeriod,
		WALFileSize:   int64(c.WAL.FileSize), WALPurgeThreshold: int64(c.WAL.PurgeThreshold),
		Memory: memory, FlushBytes: m.flush, FlushAge: c.Storage.FlushAge, SeriesBytes: m.series,
		MaxValue:   m.value,
		MergeBytes: m.merge, BlockBytes: m.block, PartPages: m.pages,
		WriteWait: c.Storage.WriteWait, CacheBytes: m.cache, MinFree: c.minFree(),
		Ballast: p.ballast, MaxSeries: c.Storage.MaxSeries, MaxSeriesPerTable: c.Storage.MaxSeriesPerTable,
		MaxDatabaseBytes: int64(c.Storage.MaxDatabaseSize), ReadOnly: c.ReadOnly,
		Rates: c.rates(), Cold: n.cold.options(c),
		MaxTables: m.tables, MaxColumns: m.columns, PartKeys: m.keys,
		Parallelism: c.InitRegionsParallelism, InBackground: c.InitRegionsInBackground, Logger: logs.logger("engine"),
	})
	if err != nil {
		return errors.Join(err, n.cold.close())
	}
	n.opened.Store(n.store)
	n.askAtStart()
	if n.open, err = n.openTables(logs); err != nil {
		return errors.Join(err, n.closeStore(context.Background(), false))
	}
	if n.server, err = newServer(c, n, logs); err != nil {
		return errors.Join(err, n.closeStore(context.Background(), false))
	}
	return nil
}

// closeStore ends exports, closes the store, and then the bucket of its old parts.
func (n *node) closeStore(ctx context.Context, flush bool) error {
	return errors.Join(n.open.close(), n.store.Close(ctx, flush), n.cold.close())
}

// listen opens the addresses.
func (n *node) listen() (err error) {
	if n.certs, err = n.config.certificates(); err != nil {
		return err
	}
	if n.ln, err = net.Listen("tcp", n.config.HTTP.Addr); err != nil {
		return listenError(n.config.HTTP.Addr, "--http-addr", err)
	}
	n.ln = n.encrypt(n.ln, "http")
	if err = n.listenMore(); err != nil {
		return errors.Join(err, n.unlisten())
	}
	return nil
}

// unlisten closes the addresses of a server that does not start.
func (n *node) unlisten() error {
	err := n.ln.Close()
	for _, l := range n.others {
		err = errors.Join(err, l.Close())
	}
	return err
}

// minFree is what the store is told of storage.min_free, to which 0 would mean the default.
func (c *Config) minFree() int64 {
	if c.Storage.MinFree == 0 {
		return -1
	}
	return int64(c.Storage.MinFree)
}

// heldBytes is the memory that the store and what knows its series hold for long; 0 while it is being opened.
func (n *node) heldBytes() int64 {
	store := n.opened.Load()
	if store == nil {
		return 0
	}
	held := store.HeldBytes()
	if t := n.series.Load(); t != nil {
		held += t.Bytes()
	}
	return held
}

// listenError says why an address cannot be listened on.
func listenError(addr, setting string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"cannot listen on %s: the address is in use. Is another server running? Choose another with %s", addr,
			setting)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("cannot listen on %s: permission denied. Ports below 1024 need a privilege", addr)
	}
	return fmt.Errorf("cannot listen on %s: %w", addr, err)
}

// newServer wires the rooms together.
func newServer(c *Config, n *node, logs *logs) (*server.Server, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_memory_limit_bytes", Help: "Bytes of memory that the process may have: memory_limit.",
	}, func() float64 { return float64(c.memoryLimit()) }))
	registry.MustRegister(budgetCollectors(n.budgets(c.memory()), n.pool.Waiting)...)
	if logs.files != nil {
		registry.MustRegister(logs.files.collector())
	}
	if n.cold != nil {
		registry.MustRegister(n.cold)
	}
	if n.open != nil {
		registry.MustRegister(n.open.exporter)
	}
	disk, err := spillDisk(c, registry, logs)
	if err != nil {
		return nil, err
	}
	slow := c.slowQueries(n.store, logs)
	queries := c.metricQueries()
	sql := sqlexec.New(n.store, sqlexec.Options{
		Metrics: queries, Workers: c.Query.Parallelism, Memory: n.pool, Version: version, Reads: c.reads(),
		Export:  n.open.export(),
		Logger:  logs.logger("sqlexec"),
		CopyDir: c.copyDir(), KeepFree: int64(c.Storage.MinFree), Spill: disk, Ended: ended(slow),
	})
	pipelines := pipeline.New(pipeline.Options{Store: n.store, RowBytes: c.memory().rows,
		StrictNumbers: !c.Ingest.WidenNumbers, Logger: logs.logger("pipeline")})
	left := rejects.New(n.store, logs.logger("server"))
	registry.MustRegister(left.Collectors()...)
	deps := rows.Deps{
		Writer: web.NewWriter(n.store), Tables: n.store, Pipelines: pipelines, Rejects: left,
		Prefix: c.DefaultColumnPrefix, NoAutoCreate: !c.AutoCreateTable, RowBytes: c.memory().rows,
		Variables: c.Ingest.OptionVariables, StrictNumbers: !c.Ingest.WidenNumbers,
	}
	metrics := c.metrics(n)
	metrics.Queries, metrics.Ended = queries, ended(slow)
	if n.rules, err = c.newRules(n, &metrics, sql, logs.logger("server/rules")); err != nil {
		return nil, err
	}
	return server.New(server.Options{
		BodyLimit: int64(c.HTTP.BodyLimit), Intake: n.intake, Answers: n.answers, Timeout: c.HTTP.Timeout, Zone: n.zone,
		EnableCORS: c.HTTP.EnableCORS, CORSOrigins: c.HTTP.CORSOrigins,
		Users: n.users, ReadOnly: c.ReadOnly, MetricsNeedAuth: c.HTTP.MetricsNeedAuth,
		MaxConnections: c.HTTP.MaxConnections,
		MaxPerAddress:  c.HTTP.MaxPerAddress, MaxGRPCConnections: c.GRPC.MaxConnections,
		MaxGRPCPerAddress: c.GRPC.MaxPerAddress, Hosts: c.HTTP.Hosts,
		Off: server.Protocols{Lines: !c.Lines.Enable, Puts: !c.Puts.Enable, Metrics: !c.Metrics.Enable,
			OTLP: !c.OTLP.Enable, TraceQueries: !c.TraceQueries.Enable, AnalyzeStream: !c.HTTP.AnalyzeStream,
			LogQueries: !c.LogPush.Queries},
		TenantsAreDatabases: c.LogPush.Tenants == "databases",
		Rows:                deps,
		Ingest:              ingest.Options{Documents: pipelines, Store: n.store},
		Lines:               lineproto.Options{Databases: n.store.Databases, MergeMode: c.Lines.MergeMode, Version: version},
		OTLP:                otlp.Options{Samples: metrics.Samples},
		Query:               query.Options{Executor: sql, MaxConcurrent: c.MaxConcurrentQueries},
		Metrics:             metrics,
		Admin: admin.Options{
			Version: version, Commit: commit, Branch: branch, Store: n.store, Levels: logs,
			Config: func() string { return c.running(logs) }, Registry: registry,
		},
		Standby:   standby.Options{Store: n.store, Promote: n.promotable()},
		Forward:   c.forward(n.store),
		Syslog:    c.syslog(n.store),
		Queues:    c.queues(n.store, logs.logger("server/write/kafka")),
		PG:        c.pg(n, sql),
		Slow:      slow,
		Saved:     n.store,
		Open:      n.open.catalog(c),
		Rules:     n.rules,
		Dashboard: c.dashboard(),
		Logger:    logs.logger("server"),
	}, registry)
}

// dashboard is the web application that was built in, or the one in dashboard.dir; none when it is switched off.
func (c *Config) dashboard() dashboard.Options {
	if !c.Dashboard.Enable {
		return dashboard.Options{}
	}
	return dashboard.Options{Files: dashboard.Assets(), Documents: dashboard.Documents(), Dir: c.Dashboard.Dir}
}

// metrics are the endpoints of metrics, whose tables OTLP has as well.
func (c *Config) metrics(n *node) metricsapi.Options {
	m := &c.Metrics
	tables := samples.New(samples.Options{
		Store: n.store, Prefix: c.DefaultColumnPrefix, OwnStorage: !m.WithMetricEngine,
		NoAutoCreate: !c.AutoCreateTable,
		CacheBytes:   c.memoryLimit() / 8, MaxExemplars: m.MaxExemplars, Lossy: m.ValidationMode != "strict",
	})
	n.series.Store(tables)
	return metricsapi.Options{Store: n.store, Memory: n.pool, Timeout: m.QueryTimeout, Version: version, Commit: commit,
		Branch: branch, Samples: tables}
}

// metricQueries runs queries of metrics, of the HTTP API and of TQL.
func (c *Config) metricQueries() *promql.Service {
	m := &c.Metrics
	return promql.NewService(promql.Limits{Lookback: m.Lookback, MaxSamples: int64(m.MaxSamples),
		Workers: c.Query.Parallelism, MaxConcurrent: m.MaxConcurrent, Reads: c.reads()})
}

// spillDisk opens the directory for the temporary files of queries; nil when there are to be none.
func spillDisk(c *Config, registry *prometheus.Registry, logs *logs) (*spill.Disk, error) {
	if c.Query.SpillLimit == 0 {
		return nil, nil
	}
	d, err := spill.Open(spill.Options{
		FS: vfs.OS(), Dir: filepath.Join(c.Storage.DataHome, "tmp"), Limit: int64(c.Query.SpillLimit),
		KeepFree: int64(c.Storage.MinFree), Logger: logs.logger("sqlexec"),
	})
	if vfs.IsReadOnly(err) {
		logs.logger("varve").Warn("queries put no rows into temporary files: the file system is read-only", "error",
			err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_query_spilled_bytes_total",
			Help: "Bytes that queries wrote to temporary files."},
			func() float64 { bytes, _ := d.Written(); return float64(bytes) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_query_spilled_files_total",
			Help: "Temporary files that queries wrote."},
			func() float64 { _, files := d.Written(); return float64(files) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varve_query_spill_bytes",
			Help: "Bytes that running queries have in temporary files."},
			func() float64 { return float64(d.Held()) }))
	return d, nil
}

// banner tells in a few lines what was found and where the server listens.
func (n *node) banner(io streams, recovered bool) {
	r := n.store.Recovery()
	addr := n.url()
	if n.config.Logging.Format == "json" {
		n.log.Info("started", "version", version, "data", n.config.Storage.DataHome, "tables", r.Tables, "parts",
			r.Parts, "bytes", r.DiskBytes,
			"replayed_bytes", r.ReplayedBytes, "replayed_rows", r.ReplayedRows, "recovery_ms", r.Took.Milliseconds(),
			"listening", addr, "grpc", n.config.GRPC.Addr,
			"memory_limit", n.config.memoryLimit(), "heap_limit", n.config.heapLimit(), "processors",
			runtime.GOMAXPROCS(0))
		if n.exposed() {
			n.log.Warn("no users are configured: everybody who can reach this address may read and write", "listening",
				addr)
		}
		return
	}
	fmt.Fprintf(io.err, "varve %s (%s, %s)\n", version, runtime.Version(), runtime.GOARCH)
	about := describe(r)
	if !recovered {
		about = "recovering: until that is done rows are neither read nor written"
	}
	fmt.Fprintf(io.err, "data      %s  (%s)\n", n.config.Storage.DataHome, about)
	for _, d := range r.SetAside {
		fmt.Fprintf(io.err, "damaged   %s: %s (set aside, not served)\n", d.File, d.Reason)
	}
	if limits := n.config.limits(); limits != "" {
		fmt.Fprintf(io.err, "limits    %s\n", limits)
	}
	fmt.Fprintf(io.err, "listening %s", addr)
	if d := n.config.dashboard(); d.Files != nil || d.Dir != "" {
		fmt.Fprintf(io.err, "   dashboard %s/dashboard/", addr)
	}
	fmt.Fprintln(io.err)
	for _, l := range n.others {
		fmt.Fprintf(io.err, "%-9s %s\n", l.name, l.addr)
	}
	switch {
	case n.users != nil:
		fmt.Fprintf(io.err, "users     %d\n", n.users.Len())
	case n.exposed():
		fmt.Fprintf(io.err,
			"users     none: WARNING: everybody who can reach this address may read and write; see user_provider\n")
	default:
		fmt.Fprintf(io.err, "users     none: everybody who can reach this address may read and write\n")
	}
}

// url is the address of HTTP.
func (n *node) url() string {
	if n.config.HTTP.TLSCert != "" {
		return "https://" + n.ln.Addr().String()
	}
	return "http://" + n.ln.Addr().String()
}

// describe says what was found and how long that took.
func describe(r engine.Recovery) string {
	replayed := "nothing to replay"
	if r.ReplayedBytes > 0 {
		replayed = fmt.Sprintf("replayed %s of log with %d rows", client.Bytes(r.ReplayedBytes), r.ReplayedRows)
	}
	return fmt.Sprintf("%s, %s, %s in %s", count(r.Tables, "table"), client.Bytes(r.DiskBytes), replayed,
		r.Took.Round(time.Millisecond))
}

// exposed reports whether others than this machine reach a server without users.
func (n *node) exposed() bool {
	if n.users != nil {
		return false
	}
	addresses := []net.Addr{n.ln.Addr()}
	for _, l := range n.others {
		addresses = append(addresses, l.addr)
	}
	return slices.ContainsFunc(addresses, isRemote)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
