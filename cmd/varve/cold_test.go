package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/bucket/buckettest"
)

// TestColdRefusals: keys of the bucket that do not fit together stop the start, without showing a secret.
func TestColdRefusals(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"nowhere":      {`cold_after = "7d"`, "storage.cold_url"},
		"bad url":      {`cold_url = "https://a:topsecret@b"`, "storage.cold_url"},
		"keys in url":  {`cold_url = "s3://a:topsecret@bucket"`, "holds no keys"},
		"bad endpoint": {"cold_url = \"s3://logs\"\ncold_endpoint = \"host:9000\"", "storage.cold_endpoint"},
		"half a key":   {"cold_url = \"s3://logs\"\ncold_access_key = \"a\"", "storage.cold_secret_key"},
		"other half":   {"cold_url = \"s3://logs\"\ncold_secret_key = \"topsecret\"", "storage.cold_access_key"},
		"two secrets": {"cold_url = \"s3://logs\"\ncold_access_key = \"a\"\ncold_secret_key = \"topsecret\"\n" +
			"cold_secret_key_file = \"f\"", "only one"},
		"small cache":  {`cold_cache_size = "1MiB"`, "16MiB"},
		"no time":      {`cold_timeout = "0s"`, "storage.cold_timeout"},
		"negative age": {`cold_after = "-1d"`, "storage.cold_after"},
	} {
		_, err := loadConfig(writeFile(t, "[storage]\n"+c.file+"\n"), nil, nil)
		var refused *configError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestColdPlace opens a bucket with the key of a file, shows no secret, and counts.
func TestColdPlace(t *testing.T) {
	store := buckettest.Store(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("topsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	load := func(more ...setting) *Config {
		t.Helper()
		c, err := loadConfig("", []string{"VARVE_STORAGE__COLD_URL=" + store.URL}, append([]setting{
			{"--set", "storage.data_home", home}, {"--set", "storage.cold_endpoint", store.Endpoint},
			{"--set", "storage.cold_access_key", "a"}, {"--set", "storage.cold_cache_size", "16MiB"}}, more...))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := load(setting{"--set", "storage.cold_secret_key_file", secret})
	o, err := c.bucketOptions()
	if err != nil || o.SecretKey != "topsecret" {
		t.Fatalf("secret %q, %v", o.SecretKey, err)
	}
	text := load(setting{"--set", "storage.cold_secret_key", "topsecret"}).TOML()
	if strings.Contains(text, "topsecret") || !strings.Contains(text, "cold_secret_key = \"***\"") {
		t.Errorf("the secret is shown:\n%s", text)
	}
	p, err := c.openCold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	buckettest.Put(t, p.bucket, "x", []byte("some bytes"))
	b, release, err := p.cache.Get(t.Context(), "x", 5, 5, func(ctx context.Context, b []byte, off int64) error {
		return p.bucket.Read(ctx, "x", b, off)
	})
	if err != nil || string(b) != "bytes" {
		t.Fatalf("%q, %v", b, err)
	}
	release()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(p)
	all, err := registry.Gather()
	if err != nil || len(all) != 8 {
		t.Errorf("%d figures, %v", len(all), err)
	}
	for _, f := range all {
		if *f.Name != "varve_cold_requests_total" {
			continue
		}
		for _, m := range f.Metric {
			want := map[string]float64{"put": 1, "read": 1, "stat": 1}[*m.Label[0].Value]
			if got := m.Counter.GetValue(); got != want {
				t.Errorf("%s: %v requests, want %v", *m.Label[0].Value, got, want)
			}
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "coldcache")); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{secret + ".no": "cold_secret_key_file", home: "is no file"} {
		_, err := load(setting{"--set", "storage.cold_secret_key_file", file}).openCold(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	c = load(setting{"--set", "storage.cold_access_key", ""}, setting{"--set", "storage.cold_url", ""})
	if p, err := c.openCold(t.Context()); p != nil || err != nil || p.close() != nil {
		t.Errorf("without a bucket: %v, %v", p, err)
	}
}

// TestCheckCold: varve check reads the bucket that the configuration names, if it is asked to.
func TestCheckCold(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		command checkCommand
		environ []string
		want    string // the bucket
		refused string
	}{
		"not asked":  {checkCommand{}, []string{"VARVE_STORAGE__COLD_URL=" + dir}, "", ""},
		"no bucket":  {checkCommand{Cold: true}, nil, "", "storage.cold_url"},
		"a variable": {checkCommand{Cold: true}, []string{"VARVE_STORAGE__COLD_URL=" + dir}, "file://" + dir, ""},
		"a file": {checkCommand{Cold: true, Config: writeFile(t, "[storage]\ncold_url = \""+dir+"\"\n")}, nil,
			"file://" + dir, ""},
		"no file": {checkCommand{Cold: true, Config: dir + "/none"}, nil, "", "configuration file"},
	} {
		b, err := c.command.bucket(c.environ)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", name, err, c.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && b != nil || c.want != "" && b.String() != c.want:
			t.Errorf("%s: %v, want %q", name, b, c.want)
		}
	}
}
