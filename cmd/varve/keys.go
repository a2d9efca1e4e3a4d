package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/server/auth"
	"varve/server/rules/notify"
)

// Config is everything that can be configured. The tags of a field say all there is to a key but its meaning, which
// docs/config.md has:
//
//	key      its name; that of a struct is the section
//	default  as text
//	min, max the least and the greatest value
//	enum     the values, with commas between
//	check    the name of one of checks
//	secret   how it is masked: provider, the password in a user provider; word, all of it; addresses, what may be secret
//	         in each
//
// The order is that of the printed configuration.
type Config struct {
	EnableTelemetry           bool   `key:"enable_telemetry" default:"false"`
	DefaultTimezone           string `key:"default_timezone" default:"UTC" check:"zone"`
	AutoCreateTable           bool   `key:"auto_create_table" default:"true"`
	UserProvider              string `key:"user_provider" secret:"provider"`
	ReadOnly                  bool   `key:"read_only" default:"false"`
	MemoryLimit               string `key:"memory_limit" default:"50%" check:"memory"`
	InitRegionsInBackground   bool   `key:"init_regions_in_background" default:"true"`
	InitRegionsParallelism    int    `key:"init_regions_parallelism" default:"16" min:"1"`
	MaxConcurrentQueries      int    `key:"max_concurrent_queries" default:"0" min:"0"`
	MaxInFlightWriteBytes     Size   `key:"max_in_flight_write_bytes" default:"0B"`
	WriteBytesExhaustedPolicy string `key:"write_bytes_exhausted_policy" default:"wait" check:"policy"`
	DefaultColumnPrefix       string `key:"default_column_prefix" default:"service"`
	HTTP                      struct {
		Addr            string        `key:"addr" default:"127.0.0.1:4000"`
		Timeout         time.Duration `key:"timeout" default:"0s"`
		BodyLimit       Size          `key:"body_limit" default:"64MiB"`
		IsStrictMode    bool          `key:"is_strict_mode" default:"false"`
		EnableCORS      bool          `key:"enable_cors" default:"true"`
		CORSOrigins     []string      `key:"cors_allowed_origins"`
		MetricsNeedAuth bool          `key:"metrics_need_auth" default:"false"`
		MaxConnections  int           `key:"max_connections" default:"1024" min:"1"`
		MaxPerAddress   int           `key:"max_connections_per_address" default:"0" min:"0"`
		Hosts           []string      `key:"hosts"`
		AnalyzeStream   bool          `key:"experimental_enable_explain_analyze_stream" default:"true"`
		EnableAPIServer bool          `key:"enable_api_server" default:"false"`
		APIServerAddr   string        `key:"api_server_addr" default:"127.0.0.1:4006"`
		TLSCert         string        `key:"tls_cert"`
		TLSKey          string        `key:"tls_key"`
	} `key:"http"`
	GRPC struct {
		Addr           string `key:"addr"`
		MaxConnections int    `key:"max_connections" default:"256" min:"1"`
		MaxPerAddress  int    `key:"max_connections_per_address" default:"0" min:"0"`
	} `key:"grpc"`
	Forward struct {
		Addr           string        `key:"addr"`
		TLSAddr        string        `key:"tls_addr"`
		TLSCert        string        `key:"tls_cert"`
		TLSKey         string        `key:"tls_key"`
		SharedKey      string        `key:"shared_key" secret:"word"`
		MaxMessage     Size          `key:"max_message" default:"16MiB" min:"64KiB" max:"64MiB"`
		MaxConnections int           `key:"max_connections" default:"256" min:"1"`
		MaxPerAddress  int           `key:"max_connections_per_address" default:"0" min:"0"`
		IdleTimeout    time.Duration `key:"idle_timeout" default:"10m" check:"positive"`
	} `key:"forward"`
	Syslog struct {
		TCPAddr        string        `key:"tcp_addr"`
		UDPAddr        string        `key:"udp_addr"`
		TLSAddr        string        `key:"tls_addr"`
		TLSCert        string        `key:"tls_cert"`
		TLSKey         string        `key:"tls_key"`
		Table          string        `key:"table" default:"syslog" check:"nonempty"`
		MaxMessage     Size          `key:"max_message" default:"64KiB" min:"1KiB" max:"1MiB"`
		MaxConnections int           `key:"max_connections" default:"256" min:"1"`
		MaxPerAddress  int           `key:"max_connections_per_address" default:"0" min:"0"`
		IdleTimeout    time.Duration `key:"idle_timeout" default:"10m" check:"positive"`
	} `key:"syslog"`
	PG struct {
		Addr           string        `key:"addr"`
		TLSCert        string        `key:"tls_cert"`
		TLSKey         string        `key:"tls_key"`
		RequireTLS     bool          `key:"require_tls" default:"false"`
		MaxMessage     Size          `key:"max_message" default:"16MiB" min:"64KiB" max:"64MiB"`
		MaxConnections int           `key:"max_connections" default:"256" min:"1"`
		MaxPerAddress  int           `key:"max_connections_per_address" default:"0" min:"0"`
		IdleTimeout    time.Duration `key:"idle_timeout" default:"1h" check:"positive"`
	} `key:"pg"`
	Storage struct {
		DataHome          string        `key:"data_home" default:"./data" check:"nonempty"`
		FlushBytes        Size          `key:"flush_bytes" default:"64MiB" min:"1MiB"`
		FlushAge          time.Duration `key:"flush_age" default:"5m" check:"positive"`
		MemtableLimit     Size          `key:"memtable_limit" default:"144MiB"`
		WriteWait         time.Duration `key:"write_wait" default:"5s" check:"positive"`
		CacheBytes        Size          `key:"cache_bytes" default:"512MiB"`
		MinFree           Size          `key:"min_free" default:"256MiB"`
		MaxDatabaseSize   Size          `key:"max_database_size" default:"0B"`
		MaxSeries         int           `key:"max_series" default:"0" min:"0"`
		MaxSeriesPerTable int           `key:"max_series_per_table" default:"0" min:"0"`

		Cold          bucketKeys    `prefix:"cold_"`
		ColdAfter     time.Duration `key:"cold_after" default:"0s"`
		ColdTimeout   time.Duration `key:"cold_timeout" default:"30s" check:"positive"`
		ColdCacheSize Size          `key:"cold_cache_size" default:"10GiB"`
		ColdCacheDir  string        `key:"cold_cache_dir"`
	} `key:"storage"`
	Open struct {
		Bucket       bucketKeys    `prefix:""`
		CloseAfter   time.Duration `key:"close_after" default:"1h" check:"positive"`
		RewriteEvery time.Duration `key:"rewrite_every" default:"1h" check:"positive"`
	} `key:"open"`
	WriteRate struct {
		Rows  int      `key:"rows" default:"0" min:"0"`
		Bytes Size     `key:"bytes" default:"0B"`
		Users []string `key:"users" check:"rates"`
	} `key:"write_rate"`
	WAL struct {
		Dir            string        `key:"dir"`
		FileSize       Size          `key:"file_size" default:"128MiB" min:"1MiB"`
		PurgeThreshold Size          `key:"purge_threshold" default:"1GiB" min:"1MiB"`
		PurgeInterval  time.Duration `key:"purge_interval" default:"1m" check:"positive"`
		Sync           string        `key:"sync" default:"always" enum:"always,interval,never,standby"`
		SyncPeriod     time.Duration `key:"sync_period" default:"1s" check:"positive"`
		StandbyTimeout time.Duration `key:"standby_timeout" default:"10s" check:"positive"`
	} `key:"wal"`
	Standby struct {
		Follow       string `key:"follow"`
		Address      string `key:"address"`
		User         string `key:"user"`
		Password     string `key:"password" secret:"word"`
		PasswordFile string `key:"password_file"`
		CAFile       string `key:"ca_file"`
	} `key:"standby"`
	Copy struct {
		Dir string `key:"dir"`
	} `key:"copy"`
	Ingest struct {
		WidenNumbers    bool `key:"widen_numbers" default:"true"`
		OptionVariables bool `key:"option_variables" default:"false"`
	} `key:"ingest"`
	Puts struct {
		Enable bool `key:"enable" default:"true"`
	} `key:"opentsdb"`
	Lines struct {
		Enable    bool   `key:"enable" default:"true"`
		MergeMode string `key:"default_merge_mode" default:"last_non_null" enum:"last_non_null,last_row"`
	} `key:"influxdb"`
	Metrics struct {
		Enable           bool          `key:"enable" default:"true"`
		WithMetricEngine bool          `key:"with_metric_engine" default:"true"`
		ValidationMode   string        `key:"prom_validation_mode" default:"strict" enum:"strict,lossy,unchecked"`
		QueryTimeout     time.Duration `key:"query_timeout" default:"2m"`
		Lookback         time.Duration `key:"lookback" default:"5m" check:"positive"`
		MaxSamples       int           `key:"max_samples" default:"50000000" min:"1"`
		MaxExemplars     int           `key:"max_exemplars" default:"100000" min:"0"`
		MaxConcurrent    int           `key:"max_concurrent_queries" default:"20" min:"0"`
	} `key:"prom_store"`
	Rules struct {
		Files           []string      `key:"files"`
		DB              string        `key:"db" default:"public" check:"nonempty"`
		Interval        time.Duration `key:"interval" default:"1m" check:"positive"`
		CatchUp         time.Duration `key:"catch_up" default:"0s"`
		OutageTolerance time.Duration `key:"outage_tolerance" default:"1h" check:"positive"`
		ResendDelay     time.Duration `key:"resend_delay" default:"1m" check:"positive"`
		Alertmanagers   []string      `key:"alertmanagers" secret:"addresses"`
		Webhooks        []string      `key:"webhooks" secret:"addresses"`
		WebhookTemplate string        `key:"webhook_template"`
		WebhookHeader   string        `key:"webhook_header" default:"X-Varve-Secret" check:"nonempty"`
		WebhookSecret   string        `key:"webhook_secret" secret:"word"`
		ExternalURL     string        `key:"external_url"`
		ExternalLabels  []string      `key:"external_labels"`
	} `key:"rules"`
	TraceQueries struct {
		Enable bool `key:"enable" default:"true"`
	} `key:"jaeger"`
	LogPush struct {
		Queries bool   `key:"queries" default:"true"`
		Tenants string `key:"tenants" default:"none" enum:"none,databases"`
	} `key:"logpush"`
	OTLP struct {
		Enable         bool `key:"enable" default:"true"`
		TraceChunkSize int  `key:"trace_ingest_chunk_size" default:"512" min:"1"`
	} `key:"otlp"`
	Logging struct {
		Level        string `key:"level" default:"info" check:"filter"`
		Dir          string `key:"dir"`
		AppendStdout bool   `key:"append_stdout" default:"true"`
		MaxFiles     int    `key:"max_log_files" default:"720" min:"1"`
		Format       string `key:"log_format" default:"text" enum:"text,json"`
	} `key:"logging"`
	SlowQuery struct {
		Enable      bool          `key:"enable" default:"true"`
		Threshold   time.Duration `key:"threshold" default:"10s"`
		RecordType  string        `key:"record_type" default:"system_table" enum:"system_table,log"`
		SampleRatio float64       `key:"sample_ratio" default:"1" min:"0" max:"1"`
		TTL         string        `key:"ttl" default:"30d" check:"ttl"`
	} `key:"slow_query"`
	Query struct {
		Parallelism  int      `key:"parallelism" default:"0" min:"0"`
		MemoryPool   string   `key:"memory_pool_size" default:"50%" check:"share"`
		SpillLimit   Size     `key:"spill_limit" default:"16GiB"`
		MaxReadRows  int      `key:"max_read_rows" default:"0" min:"0"`
		MaxReadBytes Size     `key:"max_read_bytes" default:"0B"`
		MaxReadUsers []string `key:"max_read_users" check:"rates"`
	} `key:"query"`
	Dashboard struct {
		Enable bool   `key:"enable" default:"true"`
		Dir    string `key:"dir"`
	} `key:"dashboard"`
	Process struct {
		HeapTarget Size `key:"heap_target" default:"480MiB" min:"32MiB"`
		GCPercent  int  `key:"gc_percent" default:"50" min:"10"`
	} `key:"process"`

	// Queues are the tables [[kafka]]: configurations of their own, see queues.go.
	Queues []*queueConfig

	// warnings are sentences about what was found and not used.
	warnings []string
}

// checks refuse values that the type of a key lets through.
var checks = map[string]func(c *Config, into any) error{
	"positive": func(_ *Config, into any) error {
		if *into.(*time.Duration) <= 0 {
			return errors.New("expected a duration above zero")
		}
		return nil
	},
	"nonempty": func(_ *Config, into any) error {
		if *into.(*string) == "" {
			return errors.New("it must not be empty")
		}
		return nil
	},
	"memory": func(c *Config, _ any) error { return c.checkMemory() },
	"share":  func(_ *Config, into any) error { return checkShare(*into.(*string)) },
	"zone":   func(_ *Config, into any) error { _, err := timefmt.Zone(*into.(*string)); return err },
	"policy": func(_ *Config, into any) error { _, err := writePolicy(*into.(*string)); return err },
	"filter": func(_ *Config, into any) error { _, err := parseFilter(*into.(*string)); return err },
	"rates":  func(_ *Config, into any) error { _, err := parseRates(*into.(*[]string)); return err },
	"ttl":    func(_ *Config, into any) error { _, _, err := schema.ParseTTL(*into.(*string)); return err },
}

// key is one key of the configuration.
type key struct {
	config *Config
	name   string // with its section
	into   any    // *string, *bool, *int, *float64, *Size, *time.Duration or *[]string
	tag    reflect.StructTag
}

// keys lists all keys, top-level ones first, then section by section.
func (c *Config) keys() []key { return c.appendKeys(nil, "", reflect.ValueOf(c).Elem()) }

func (c *Config) appendKeys(list []key, section string, fields reflect.Value) []key {
	for i := range fields.NumField() {
		f := fields.Type().Field(i)
		name, isKey := f.Tag.Lookup("key")
		prefix, isPart := f.Tag.Lookup("prefix") // keys of the same section, which others have as well
		switch {
		case isPart:
			list = c.appendKeys(list, section+prefix, fields.Field(i))
		case !isKey:
		case f.Type.Kind() == reflect.Struct:
			list = c.appendKeys(list, name+".", fields.Field(i))
		default:
			list = append(list, key{c, section + name, fields.Field(i).Addr().Interface(), f.Tag})
		}
	}
	return list
}

// reset sets the default.
func (k *key) reset() {
	if err := k.set(k.tag.Get("default")); err != nil {
		panic(fmt.Sprintf("the default of %s is wrong: %v", k.name, err))
	}
}

// set takes a value of a TOML file, or the text of a variable or flag.
func (k *key) set(value any) error {
	if err := convert(value, k.into); err != nil {
		return err
	}
	if values := k.tag.Get("enum"); values != "" && !slices.Contains(strings.Split(values, ","), *k.into.(*string)) {
		return fmt.Errorf("expected one of %s", strings.ReplaceAll(values, ",", ", "))
	}
	if err := k.bounded(); err != nil {
		return err
	}
	if check := checks[k.tag.Get("check")]; check != nil {
		return check(k.config, k.into)
	}
	return nil
}

// bounded refuses what lies outside of the bounds.
func (k *key) bounded() error {
	least, hasLeast := k.tag.Lookup("min")
	most, hasMost := k.tag.Lookup("max")
	x := magnitude(k.into)
	switch {
	case (!hasLeast || x >= k.bound(least)) && (!hasMost || x <= k.bound(most)):
		return nil
	case !hasMost:
		return fmt.Errorf("expected at least %s", least)
	case !hasLeast:
		return fmt.Errorf("expected at most %s", most)
	}
	return fmt.Errorf("expected %s to %s", least, most)
}

// bound reads a bound of the key.
func (k *key) bound(text string) float64 {
	into := reflect.New(reflect.TypeOf(k.into).Elem()).Interface()
	if err := convert(text, into); err != nil {
		panic(fmt.Sprintf("the bound %s of %s is wrong: %v", text, k.name, err))
	}
	return magnitude(into)
}

// magnitude is a value that has bounds as a number.
func magnitude(into any) float64 {
	switch v := into.(type) {
	case *int:
		return float64(*v)
	case *Size:
		return float64(*v)
	case *float64:
		return *v
	}
	return 0
}

// convert takes a value into where a key is kept.
func convert(value, into any) error {
	text, isText := value.(string)
	switch into := into.(type) {
	case *string:
		if !isText {
			return fmt.Errorf("expected text in quotes")
		}
		*into = text
	case *bool:
		b, isBool := value.(bool)
		if isText {
			isBool, b = text == "true" || text == "false", text == "true"
		}
		if !isBool {
			return fmt.Errorf("expected true or false")
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
			return fmt.Errorf("expected a size such as 64MiB")
		}
		size, err := parseSize(text)
		if err != nil {
			return err
		}
		*into = size
	case *time.Duration:
		if !isText {
			return fmt.Errorf("expected a duration in quotes such as \"30s\"")
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
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("expected a whole number")
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
	return 0, fmt.Errorf("expected a number")
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
				return fmt.Errorf("expected a list of texts")
			}
			*into = append(*into, text)
		}
		return nil
	}
	return fmt.Errorf("expected a list of texts")
}

// masked is a text of the key as others may see it.
func (k *key) masked(text string) string {
	switch secret := k.tag.Get("secret"); {
	case secret == "provider":
		return auth.Mask(text)
	case secret == "word" && text != "":
		return "***"
	case secret == "addresses":
		return notify.Hidden(text)
	}
	return text
}

// print is the value as TOML.
func (k *key) print() string {
	switch v := k.into.(type) {
	case *string:
		return strconv.Quote(k.masked(*v))
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
			quoted[i] = strconv.Quote(k.masked(s))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	panic(fmt.Sprintf("the key %s has the type %T", k.name, k.into))
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
	return 0, fmt.Errorf("expected one of wait, wait(30s), fail")
}
