package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/server/auth"
)

// key is one key of the configuration: where it is kept, its default as text, and what it accepts.
type key struct {
	name string
	into any // *string, *bool, *int, *float64, *Size, *time.Duration or *[]string
	def  string
	// ok refuses values that the type lets through; may be nil.
	ok func() error
}

// keys lists all keys, top-level ones first, then section by section. docs/config.md says what they mean.
func (c *Config) keys() []key {
	h, f, l, s, w, q := &c.HTTP, &c.Forward, &c.Syslog, &c.Storage, &c.WAL, &c.SlowQuery
	return []key{
		{"enable_telemetry", &c.EnableTelemetry, "false", nil},
		{"default_timezone", &c.DefaultTimezone, "UTC",
			func() error { _, err := timefmt.Zone(c.DefaultTimezone); return err }},
		{"auto_create_table", &c.AutoCreateTable, "true", nil},
		{"user_provider", &c.UserProvider, "", nil},
		{"memory_limit", &c.MemoryLimit, "50%", c.checkMemory},
		{"init_regions_in_background", &c.InitRegionsInBackground, "true", nil},
		{"init_regions_parallelism", &c.InitRegionsParallelism, "16", atLeast(&c.InitRegionsParallelism, 1)},
		{"max_concurrent_queries", &c.MaxConcurrentQueries, "0", atLeast(&c.MaxConcurrentQueries, 0)},
		{"max_in_flight_write_bytes", &c.MaxInFlightWriteBytes, "0B", nil},
		{"write_bytes_exhausted_policy", &c.WriteBytesExhaustedPolicy, "wait",
			func() error { _, err := writePolicy(c.WriteBytesExhaustedPolicy); return err }},
		{"default_column_prefix", &c.DefaultColumnPrefix, "service", nil},

		{"http.addr", &h.Addr, "127.0.0.1:4000", nil},
		{"http.timeout", &h.Timeout, "0s", nil},
		{"http.body_limit", &h.BodyLimit, "64MiB", nil},
		{"http.is_strict_mode", &h.IsStrictMode, "false", nil},
		{"http.enable_cors", &h.EnableCORS, "true", nil},
		{"http.cors_allowed_origins", &h.CORSOrigins, "", nil},
		{"http.metrics_need_auth", &h.MetricsNeedAuth, "false", nil},
		{"http.max_connections", &h.MaxConnections, "1024", atLeast(&h.MaxConnections, 1)},
		{"http.max_connections_per_address", &h.MaxPerAddress, "0", atLeast(&h.MaxPerAddress, 0)},
		{"http.hosts", &h.Hosts, "", nil},
		{"http.experimental_enable_explain_analyze_stream", &h.AnalyzeStream, "true", nil},
		{"http.enable_api_server", &h.EnableAPIServer, "false", nil},
		{"http.api_server_addr", &h.APIServerAddr, "127.0.0.1:4006", nil},
		{"http.tls_cert", &h.TLSCert, "", nil},
		{"http.tls_key", &h.TLSKey, "", nil},

		{"grpc.addr", &c.GRPC.Addr, "", nil},
		{"grpc.max_connections", &c.GRPC.MaxConnections, "256", atLeast(&c.GRPC.MaxConnections, 1)},
		{"grpc.max_connections_per_address", &c.GRPC.MaxPerAddress, "0", atLeast(&c.GRPC.MaxPerAddress, 0)},

		{"forward.addr", &f.Addr, "", nil},
		{"forward.tls_addr", &f.TLSAddr, "", nil},
		{"forward.tls_cert", &f.TLSCert, "", nil},
		{"forward.tls_key", &f.TLSKey, "", nil},
		{"forward.shared_key", &f.SharedKey, "", nil},
		{"forward.max_message", &f.MaxMessage, "16MiB", sizeWithin(&f.MaxMessage, 64<<10, 64<<20)},
		{"forward.max_connections", &f.MaxConnections, "256", atLeast(&f.MaxConnections, 1)},
		{"forward.max_connections_per_address", &f.MaxPerAddress, "0", atLeast(&f.MaxPerAddress, 0)},
		{"forward.idle_timeout", &f.IdleTimeout, "10m", positive(&f.IdleTimeout)},

		{"syslog.tcp_addr", &l.TCPAddr, "", nil},
		{"syslog.udp_addr", &l.UDPAddr, "", nil},
		{"syslog.tls_addr", &l.TLSAddr, "", nil},
		{"syslog.tls_cert", &l.TLSCert, "", nil},
		{"syslog.tls_key", &l.TLSKey, "", nil},
		{"syslog.table", &l.Table, "syslog", notEmpty(&l.Table)},
		{"syslog.max_message", &l.MaxMessage, "64KiB", sizeWithin(&l.MaxMessage, 1<<10, 1<<20)},
		{"syslog.max_connections", &l.MaxConnections, "256", atLeast(&l.MaxConnections, 1)},
		{"syslog.max_connections_per_address", &l.MaxPerAddress, "0", atLeast(&l.MaxPerAddress, 0)},
		{"syslog.idle_timeout", &l.IdleTimeout, "10m", positive(&l.IdleTimeout)},

		{"storage.data_home", &s.DataHome, "./data", notEmpty(&s.DataHome)},
		{"storage.flush_bytes", &s.FlushBytes, "64MiB", sizeAtLeast(&s.FlushBytes, 1<<20)},
		{"storage.flush_age", &s.FlushAge, "5m", positive(&s.FlushAge)},
		{"storage.memtable_limit", &s.MemtableLimit, "144MiB", nil},
		{"storage.write_wait", &s.WriteWait, "5s", positive(&s.WriteWait)},
		{"storage.cache_bytes", &s.CacheBytes, "512MiB", nil},
		{"storage.min_free", &s.MinFree, "256MiB", nil},
		{"storage.max_series", &s.MaxSeries, "0", atLeast(&s.MaxSeries, 0)},
		{"storage.max_series_per_table", &s.MaxSeriesPerTable, "0", atLeast(&s.MaxSeriesPerTable, 0)},

		{"wal.dir", &w.Dir, "", nil},
		{"wal.file_size", &w.FileSize, "128MiB", sizeAtLeast(&w.FileSize, 1<<20)},
		{"wal.purge_threshold", &w.PurgeThreshold, "1GiB", sizeAtLeast(&w.PurgeThreshold, 1<<20)},
		{"wal.purge_interval", &w.PurgeInterval, "1m", positive(&w.PurgeInterval)},
		{"wal.sync", &w.Sync, "always", oneOf(&w.Sync, "always", "interval", "never")},
		{"wal.sync_period", &w.SyncPeriod, "1s", positive(&w.SyncPeriod)},

		{"copy.dir", &c.Copy.Dir, "", nil},

		{"ingest.widen_numbers", &c.Ingest.WidenNumbers, "true", nil},
		{"ingest.option_variables", &c.Ingest.OptionVariables, "false", nil},

		{"opentsdb.enable", &c.Puts.Enable, "true", nil},

		{"influxdb.enable", &c.Lines.Enable, "true", nil},
		{"influxdb.default_merge_mode", &c.Lines.MergeMode, "last_non_null",
			oneOf(&c.Lines.MergeMode, "last_non_null", "last_row")},

		{"prom_store.enable", &c.Metrics.Enable, "true", nil},
		{"prom_store.with_metric_engine", &c.Metrics.WithMetricEngine, "true", nil},
		{"prom_store.prom_validation_mode", &c.Metrics.ValidationMode, "strict",
			oneOf(&c.Metrics.ValidationMode, "strict", "lossy", "unchecked")},
		{"prom_store.query_timeout", &c.Metrics.QueryTimeout, "2m", nil},
		{"prom_store.lookback", &c.Metrics.Lookback, "5m", positive(&c.Metrics.Lookback)},
		{"prom_store.max_samples", &c.Metrics.MaxSamples, "50000000", atLeast(&c.Metrics.MaxSamples, 1)},
		{"prom_store.max_exemplars", &c.Metrics.MaxExemplars, "100000", atLeast(&c.Metrics.MaxExemplars, 0)},
		{"prom_store.max_concurrent_queries", &c.Metrics.MaxConcurrent, "20", atLeast(&c.Metrics.MaxConcurrent, 0)},

		{"jaeger.enable", &c.TraceQueries.Enable, "true", nil},

		{"otlp.enable", &c.OTLP.Enable, "true", nil},
		{"otlp.trace_ingest_chunk_size", &c.OTLP.TraceChunkSize, "512", atLeast(&c.OTLP.TraceChunkSize, 1)},

		{"logging.level", &c.Logging.Level, "info",
			func() error { _, err := parseFilter(c.Logging.Level); return err }},
		{"logging.dir", &c.Logging.Dir, "", nil},
		{"logging.append_stdout", &c.Logging.AppendStdout, "true", nil},
		{"logging.max_log_files", &c.Logging.MaxFiles, "720", atLeast(&c.Logging.MaxFiles, 1)},
		{"logging.log_format", &c.Logging.Format, "text", oneOf(&c.Logging.Format, "text", "json")},

		{"slow_query.enable", &q.Enable, "true", nil},
		{"slow_query.threshold", &q.Threshold, "10s", nil},
		{"slow_query.record_type", &q.RecordType, "system_table", oneOf(&q.RecordType, "system_table", "log")},
		{"slow_query.sample_ratio", &q.SampleRatio, "1", within(&q.SampleRatio, 0, 1)},
		{"slow_query.ttl", &q.TTL, "30d", func() error { _, _, err := schema.ParseTTL(q.TTL); return err }},

		{"query.parallelism", &c.Query.Parallelism, "0", atLeast(&c.Query.Parallelism, 0)},
		{"query.memory_pool_size", &c.Query.MemoryPool, "50%", func() error { return checkShare(c.Query.MemoryPool) }},
		{"query.spill_limit", &c.Query.SpillLimit, "16GiB", nil},

		{"dashboard.enable", &c.Dashboard.Enable, "true", nil},
		{"dashboard.dir", &c.Dashboard.Dir, "", nil},

		{"process.heap_target", &c.Process.HeapTarget, "480MiB", sizeAtLeast(&c.Process.HeapTarget, 32<<20)},
		{"process.gc_percent", &c.Process.GCPercent, "50", atLeast(&c.Process.GCPercent, 10)},
	}
}

// set takes a value of a TOML file, or the text of a variable or flag.
func (k *key) set(value any) error {
	if err := k.convert(value); err != nil {
		return err
	}
	if k.ok != nil {
		return k.ok()
	}
	return nil
}

func (k *key) convert(value any) error {
	text, isText := value.(string)
	switch into := k.into.(type) {
	case *string:
		if !isText {
			return fmt.Errorf("text in quotes is wanted")
		}
		*into = text
	case *bool:
		b, isBool := value.(bool)
		if isText {
			isBool, b = text == "true" || text == "false", text == "true"
		}
		if !isBool {
			return fmt.Errorf("true or false is wanted")
		}
		*into = b
	case *int:
		n, err := wholeNumber(value)
		if err != nil {
			return err
		}
		*into = int(n)
	case *float64:
		x, err := number(value)
		if err != nil {
			return err
		}
		*into = x
	case *Size:
		if n, ok := value.(int64); ok && n >= 0 {
			*into = Size(n)
			return nil
		}
		if !isText {
			return fmt.Errorf("a size such as 64MiB is wanted")
		}
		size, err := parseSize(text)
		if err != nil {
			return err
		}
		*into = size
	case *time.Duration:
		if !isText {
			return fmt.Errorf("a duration in quotes such as \"30s\" is wanted")
		}
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*into = d
	case *[]string:
		return convertList(value, into)
	}
	return nil
}

func wholeNumber(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case string:
		if n, err := strconv.ParseInt(v, 10, 32); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("a whole number is wanted")
}

func number(value any) (float64, error) {
	switch v := value.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case string:
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			return x, nil
		}
	}
	return 0, fmt.Errorf("a number is wanted")
}

// convertList takes a list of texts, or one text with commas.
func convertList(value any, into *[]string) error {
	*into = nil
	switch v := value.(type) {
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*into = append(*into, part)
			}
		}
		return nil
	case []any:
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return fmt.Errorf("a list of texts is wanted")
			}
			*into = append(*into, text)
		}
		return nil
	}
	return fmt.Errorf("a list of texts is wanted")
}

// print is the value as TOML.
func (k *key) print() string {
	switch v := k.into.(type) {
	case *string:
		if k.name == "user_provider" {
			return strconv.Quote(auth.Mask(*v))
		}
		if k.name == "forward.shared_key" && *v != "" {
			return `"***"`
		}
		return strconv.Quote(*v)
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *float64:
		return strconv.FormatFloat(*v, 'f', -1, 64)
	case *Size:
		return strconv.Quote(v.String())
	case *time.Duration:
		return strconv.Quote(printDuration(*v))
	case *[]string:
		quoted := make([]string, len(*v))
		for i, s := range *v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	panic(fmt.Sprintf("the key %s has the type %T", k.name, k.into))
}

func atLeast(n *int, least int) func() error {
	return func() error {
		if *n < least {
			return fmt.Errorf("at least %d is wanted", least)
		}
		return nil
	}
}

// within accepts numbers from least to most, and no NaN.
func within(x *float64, least, most float64) func() error {
	return func() error {
		if !(*x >= least && *x <= most) {
			return fmt.Errorf("%g to %g are wanted", least, most)
		}
		return nil
	}
}

func sizeAtLeast(n *Size, least Size) func() error {
	return func() error {
		if *n < least {
			return fmt.Errorf("at least %s is wanted", least)
		}
		return nil
	}
}

// sizeWithin accepts sizes from least to most.
func sizeWithin(n *Size, least, most Size) func() error {
	return func() error {
		if *n < least || *n > most {
			return fmt.Errorf("%s to %s are wanted", least, most)
		}
		return nil
	}
}

func positive(d *time.Duration) func() error {
	return func() error {
		if *d <= 0 {
			return fmt.Errorf("a duration above zero is wanted")
		}
		return nil
	}
}

func notEmpty(s *string) func() error {
	return func() error {
		if *s == "" {
			return fmt.Errorf("it must not be empty")
		}
		return nil
	}
}

func oneOf(s *string, values ...string) func() error {
	return func() error {
		if !slices.Contains(values, *s) {
			return fmt.Errorf("one of %s is wanted", strings.Join(values, ", "))
		}
		return nil
	}
}

// writePolicy reads wait, wait(30s) or fail: how long a write may wait for room.
func writePolicy(text string) (time.Duration, error) {
	switch text {
	case "wait":
		return 10 * time.Second, nil
	case "fail":
		return 0, nil
	}
	if inner, ok := strings.CutPrefix(text, "wait("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			return parseDuration(inner)
		}
	}
	return 0, fmt.Errorf("one of wait, wait(30s), fail is wanted")
}
