package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "varve.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigPrecedence(t *testing.T) {
	file := writeFile(t,
		"[http]\naddr = \"a:1\"\nbody_limit = \"1MiB\"\ntimeout = \"1m 30s\"\ncors_allowed_origins = [\"x\", \"y\"]\n[wal]\nsync = \"never\"\n")
	c, err := loadConfig(file, []string{"VARVE_HTTP__ADDR=b:2", "VARVE_WAL__SYNC=interval", "HOME=/x",
		"VARVE_URL=ignored"},
		[]setting{{"--set", "http.addr", "c:3"}, {"--set", "prom_store.max_samples", "3000000000"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Addr != "c:3" || c.WAL.Sync != "interval" || c.HTTP.BodyLimit != 1<<20 ||
		c.HTTP.Timeout != 90*time.Second || len(c.HTTP.CORSOrigins) != 2 || c.Metrics.MaxSamples != 3_000_000_000 {
		t.Errorf("got %+v", c)
	}
	if c.Storage.DataHome != "./data" || !c.HTTP.EnableCORS {
		t.Errorf("the defaults are %+v", c)
	}
}

func TestConfigRefusals(t *testing.T) {
	for _, c := range []struct {
		name, file string
		environ    []string
		settings   []setting
		want       []string
	}{
		{"unknown key", "[http]\nadress = \"x\"\n", nil, nil, []string{"varve.toml", "http.adress", "http.addr"}},
		{"unknown table", "[htp]\naddr = \"x\"\n", nil, nil, []string{"htp.addr", "http.addr"}},
		{"key without its table", "addr = \"x\"\n", nil, nil, []string{"addr", "http.addr"}},
		{"bad size", "", []string{"VARVE_HTTP__BODY_LIMIT=many"}, nil,
			[]string{"VARVE_HTTP__BODY_LIMIT", "http.body_limit", "many", "64MiB"}},
		{"bad mode", "[wal]\nsync = \"sometimes\"\n", nil, nil,
			[]string{"wal.sync", "sometimes", "always, interval, never"}},
		{"bad type", "[http]\nenable_cors = 1\n", nil, nil, []string{"http.enable_cors", "true or false"}},
		{"bad duration", "", nil, []setting{{"--set", "storage.flush_age", "soon"}},
			[]string{"--set", "storage.flush_age", "soon"}},
		{"bad address", "", nil, []setting{{"--http-addr", "http.addr", "nowhere"}}, []string{"http.addr", "nowhere"}},
		{"bad port", "", []string{"VARVE_HTTP__ADDR=127.0.0.1:65536"}, nil,
			[]string{"http.addr", "127.0.0.1:65536", "65535"}},
		{"bad level", "", nil, []setting{{"--log-level", "logging.level", "loud"}}, []string{"logging.level", "loud"}},
		{"bad zone", "default_timezone = \"Mars/Olympus\"\n", nil, nil, []string{"default_timezone", "Mars/Olympus"}},
		{"bad ratio", "[slow_query]\nsample_ratio = 1.5\n", nil, nil,
			[]string{"slow_query.sample_ratio", "1.5", "0 to 1"}},
		{"ratio that is not a number", "", nil, []setting{{"--set", "slow_query.sample_ratio", "NaN"}},
			[]string{"slow_query.sample_ratio", "NaN", "0 to 1"}},
		{"bad ttl", "", []string{"VARVE_SLOW_QUERY__TTL=soon"}, nil,
			[]string{"VARVE_SLOW_QUERY__TTL", "slow_query.ttl", "soon"}},
		{"syntax", "[http\n", nil, nil, []string{"varve.toml", "line 1"}},
		{"secret", "", nil, []setting{{"--set", "user_provider.x", "y"}}, []string{"user_provider"}},
		{"memtables", "[storage]\nmemtable_limit = \"1MiB\"\n", nil, nil,
			[]string{"storage.memtable_limit", "storage.flush_bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := ""
			if c.file != "" {
				file = writeFile(t, c.file)
			}
			_, err := loadConfig(file, c.environ, c.settings)
			var config *configError
			if !errors.As(err, &config) {
				t.Fatalf("got %v, want a refusal", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// TestVariablesOfOthers: what typing errors leave in the environment is warned of and stops nothing; what schedulers
// set for a service called varve is not worth a word.
func TestVariablesOfOthers(t *testing.T) {
	c, err := loadConfig("", []string{
		"VARVE_PORT=tcp://10.0.0.1:4000", "VARVE_SERVICE_HOST=10.0.0.1", "VARVE_SERVICE_PORT=4000",
		"VARVE_SERVICE_PORT_HTTP=4000",
		"VARVE_PORT_4000_TCP=tcp://10.0.0.1:4000", "VARVE_PORT_4000_TCP_PROTO=tcp", "VARVE_PORT_4000_TCP_PORT=4000",
		"VARVE_PORT_4000_TCP_ADDR=10.0.0.1",
		"VARVE_HTTP_PORT=1", "VARVE_PORTS=1", "VARVE_HTTP__BODYLIMIT=1", "VARVE_=x", "VARVE_HTTP__ADDR=b:2",
		"VARVE_URL=x", "VARVELESS=1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Addr != "b:2" || c.HTTP.BodyLimit != 64<<20 {
		t.Errorf("got %+v", c.HTTP)
	}
	for i, want := range []string{
		"environment variable VARVE_HTTP_PORT is ignored: there is no key http_port.",
		"environment variable VARVE_PORTS is ignored", "no key http.bodylimit. Did you mean 'http.body_limit'?",
		"environment variable VARVE_ is ignored",
	} {
		if len(c.warnings) != 4 || !strings.Contains(c.warnings[i], want) {
			t.Errorf("warnings are %q, want one with %q", c.warnings, want)
		}
	}
	if _, err := loadConfig("", []string{"VARVE_HTTP__BODY_LIMIT=many"}, nil); err == nil {
		t.Error("a bad value of a key that is known does not stop the start")
	}
}

func TestConfigPrintsItself(t *testing.T) {
	c, err := loadConfig("", nil, []setting{
		{"--set", "user_provider", "static_user_provider:cmd:admin=hidden"},
		{"--set", "forward.shared_key", "also hidden"},
		{"--set", "rules.webhook_secret", "hidden too"},
		{"--set", "http.cors_allowed_origins", "https://a, https://b"},
		{"--set", "http.timeout", "1m 30s"}, {"--set", "storage.cache_bytes", "3000000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := c.TOML()
	if strings.Contains(text, "hidden") || !strings.Contains(text, "***") {
		t.Errorf("the password is shown:\n%s", text)
	}
	if !strings.HasPrefix(text, "enable_telemetry = false\n") ||
		!strings.Contains(text, "\n[http]\naddr = \"127.0.0.1:4000\"\ntimeout = \"1m 30s\"\nbody_limit = \"64MiB\"\n") {
		t.Errorf("got\n%s", text)
	}
	again, err := loadConfig(writeFile(t, text), nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got := again.TOML(); got != text {
		t.Errorf("read back it is\n%s\nnot\n%s", got, text)
	}
}

// TestConfigIsDocumented keeps docs/config.md and the keys together.
func TestConfigIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := (&Config{}).keys()
	for _, k := range keys {
		def := k.tag.Get("default")
		if _, list := k.into.(*[]string); list {
			def = "[]"
		}
		row := "| `" + k.name + "` | "
		if def != "" {
			row += "`" + def + "` "
		}
		if !strings.Contains(string(doc), row+"|") {
			t.Errorf("docs/config.md has no row %q", row+"|")
		}
	}
	if rows := strings.Count(string(doc), "\n| `"); rows != len(keys) {
		t.Errorf("docs/config.md has %d rows, there are %d keys", rows, len(keys))
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		size Size
		back string
	}{
		{"64MiB", 64 << 20, "64MiB"}, {"1GB", 1e9, "1000000000B"}, {"1.5 KiB", 1536, "1536B"}, {"0", 0, "0B"},
		{"2tib", 2 << 40, "2TiB"}, {"1024", 1024, "1KiB"},
	} {
		got, err := parseSize(c.text)
		if err != nil || got != c.size || got.String() != c.back {
			t.Errorf("ParseSize(%q) = %d %s, %v; want %d %s", c.text, got, got, err, c.size, c.back)
		}
	}
	for _, bad := range []string{"", "MiB", "1 mile", "-1", "9999PiB", "1..2"} {
		if got, err := parseSize(bad); err == nil {
			t.Errorf("ParseSize(%q) = %d", bad, got)
		}
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		text, target string
		level        slog.Level
	}{
		{"debug", "server", slog.LevelDebug},
		{"info,server=trace", "server", levelTrace},
		{"info,server=trace", "engine", slog.LevelInfo},
		{"WARN, server/auth=debug", "server", slog.LevelWarn},
		{"server=error", "server/auth", slog.LevelError},
		{"off", "engine", levelOff},
	} {
		f, err := parseFilter(c.text)
		if err != nil {
			t.Errorf("parseFilter(%q): %v", c.text, err)
			continue
		}
		if got := f.level(c.target); got != c.level {
			t.Errorf("%q: the level of %s is %v, want %v", c.text, c.target, got, c.level)
		}
	}
	for _, bad := range []string{"", "loud", "info,debug", "=info", "server=", "info,"} {
		if _, err := parseFilter(bad); err == nil {
			t.Errorf("parseFilter(%q) is accepted", bad)
		}
	}
}

func TestLogLevelAtRunTime(t *testing.T) {
	f, err := parseFilter("info")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	l := newLogs(&out, "json", f)
	log := l.logger("server")
	log.Debug("one")
	if from, to, err := l.Set("warn,server=debug"); err != nil || from != "info" || to != "warn,server=debug" {
		t.Errorf("Set: %q, %q, %v", from, to, err)
	}
	log.Debug("two")
	l.logger("engine").Info("three")
	if got := new(Config).running(l); !strings.Contains(got, "\nlevel = \"warn,server=debug\"\n") {
		t.Errorf("the running configuration is\n%s", got)
	}
	if _, _, err := l.Set("shout"); err == nil {
		t.Error("a bad level is accepted")
	}
	if got := out.String(); strings.Contains(got, "one") || !strings.Contains(got, `"two"`) ||
		strings.Contains(got, "three") || !strings.Contains(got, `"target":"server"`) {
		t.Errorf("logged %s", got)
	}
}
