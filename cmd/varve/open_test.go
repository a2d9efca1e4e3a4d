package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpenRefusals: keys of [open] that contradict each other.
func TestOpenRefusals(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no place":     {`url = "ftp://x"`, "open.url"},
		"outside":      {`url = "../open"`, "open.url"},
		"keys in it":   {`url = "s3://a:b@bucket"`, "open.url"},
		"two secrets":  {"url = \"s3://bucket\"\naccess_key = \"a\"\nsecret_key = \"b\"\nsecret_key_file = \"c\"", "only one"},
		"half a key":   {"url = \"s3://bucket\"\naccess_key = \"a\"", "open.secret_key"},
		"endpoint":     {"url = \"s3://bucket\"\nendpoint = \"example\"", "open.endpoint"},
		"never closes": {`close_after = "0s"`, "open.close_after"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(file, []byte("[open]\n"+c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := loadConfig(file, nil, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestOpenSecret: the secret is not shown.
func TestOpenSecret(t *testing.T) {
	c, err := loadConfig("", nil, []setting{{"--set", "open.url", "s3://bucket"}, {"--set", "open.access_key", "a"},
		{"--set", "open.secret_key", "topsecret"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := c.TOML(); strings.Contains(text, "topsecret") || !strings.Contains(text, `secret_key = "***"`) {
		t.Errorf("the secret is shown:\n%s", text)
	}
	o, err := c.openBucket()
	if err != nil || o.SecretKey != "topsecret" {
		t.Errorf("secret %q, %v", o.SecretKey, err)
	}
}

// TestOpenKilled: a server that is killed while it exports has each day in the open table once in the end.
func TestOpenKilled(t *testing.T) {
	const rounds, rows = 5, 20_000
	dir := filepath.Join(t.TempDir(), "data")
	environ := []string{"VARVE_OPEN__URL=" + filepath.Join(t.TempDir(), "open")}
	ask := func(s *served, statement string) string {
		return s.get("/v1/sql?sql=" + url.QueryEscape(statement))
	}
	for round := range rounds {
		s := serve(t, environ, "--data-dir", dir)
		ask(s, "CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX, n BIGINT) WITH (append_mode = 'true', "+
			"open_format = 'iceberg')")
		from := time.Date(2026, 1, 1+round, 0, 0, 0, 0, time.UTC).UnixMilli()
		ask(s, fmt.Sprintf("INSERT INTO t SELECT %d + value, value FROM generate_series(0, %d)", from, rows-1))
		go func() {
			r, err := http.Get(s.url + "/v1/sql?sql=" + url.QueryEscape("ADMIN export_table('t')"))
			if err == nil {
				r.Body.Close() //nolint:errcheck // the server is killed meanwhile
			}
		}()
		<-time.After(time.Duration(rand.IntN(200)) * time.Millisecond)
		s.signal(syscall.SIGKILL)
		<-s.ended
	}
	s := serve(t, environ, "--data-dir", dir)
	ask(s, "ADMIN export_table('t')")
	ask(s, "ADMIN export_table('t')")
	var table struct {
		Metadata struct {
			Snapshots []struct {
				Summary map[string]string `json:"summary"`
			} `json:"snapshots"`
		} `json:"metadata"`
	}
	text := s.get("/v1/iceberg/v1/namespaces/public/tables/t")
	if err := json.Unmarshal([]byte(text), &table); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got := len(table.Metadata.Snapshots); got != rounds {
		t.Fatalf("%d snapshots, want %d", got, rounds)
	}
	for i, snap := range table.Metadata.Snapshots {
		for key, want := range map[string]string{
			"operation": "append", "varve.window": fmt.Sprintf("2026-01-%02d", i+1),
			"added-records": fmt.Sprint(rows), "total-records": fmt.Sprint(rows * (i + 1)),
		} {
			if got := snap.Summary[key]; got != want {
				t.Errorf("snapshot %d: %s is %q, want %q", i, key, got, want)
			}
		}
	}
}
