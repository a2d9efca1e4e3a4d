package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"varve/cmd/varve/client"
	"varve/server/auth"
)

// TestHealth: 0 for an answer of 200, 1 for another, 4 for none; --wait asks until then.
func TestHealth(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			t.Errorf("%s was asked", r.URL.Path)
		}
		if asked.Add(1) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	if code, _, errs := command("health", "--url", s.URL); code != exitFailed || !strings.Contains(errs, "503") {
		t.Errorf("busy: %d %s", code, errs)
	}
	if code, out, errs := command("health", "--url", s.URL, "--wait", "20s"); code != 0 ||
		out != s.URL+" is healthy\n" || asked.Load() != 4 {
		t.Errorf("waited: %d %s%s after %d", code, out, errs, asked.Load())
	}
	if code, out, _ := command("health", "--url", s.URL, "-q"); code != 0 || out != "" {
		t.Errorf("quiet: %d %s", code, out)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer silent.Close()
	if code, _, errs := command("health", "--url", silent.URL, "--wait", "50ms"); code != exitUnreachable ||
		!strings.HasPrefix(errs, "varve: not healthy within 50ms: ") ||
		!strings.Contains(errs, "no answer within 50ms") {
		t.Errorf("silent: %d %s", code, errs)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + free.Addr().String()
	free.Close()
	if code, _, errs := command("health", "--url", url, "--wait", "2s"); code != exitUnreachable ||
		!strings.HasPrefix(errs, "varve: not healthy within 2s: cannot reach "+url+": connection refused") {
		t.Errorf("nobody: %d %s", code, errs)
	}
}

// TestHealthReady: a server that recovers is healthy, and ready only afterwards.
func TestHealthReady(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ready" && asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"code":4008,"error":"the server is starting"}`)) //nolint:errcheck // the client notices
		}
	}))
	defer s.Close()
	if code, out, errs := command("health", "--url", s.URL); code != 0 || out != s.URL+" is healthy\n" {
		t.Errorf("healthy: %d %s%s", code, out, errs)
	}
	if code, out, errs := command("health", "--url", s.URL, "--ready"); code != exitFailed || out != "" ||
		!strings.Contains(errs, "the server is starting") {
		t.Errorf("not ready: %d %s%s", code, out, errs)
	}
	if code, out, errs := command("health", "--url", s.URL, "--ready", "--wait", "20s"); code != 0 ||
		out != s.URL+" is ready\n" || asked.Load() != 3 {
		t.Errorf("waited: %d %s%s after %d", code, out, errs, asked.Load())
	}
}

// TestConfigCommands: the default file loads as it is and with every key taken, and files are checked as serve does.
func TestConfigCommands(t *testing.T) {
	code, out, errs := command("config", "default")
	if code != 0 || errs != "" {
		t.Fatalf("default: %d %s", code, errs)
	}
	plain := new(Config)
	loaded, err := loadConfig(writeFile(t, out), nil, nil)
	if err == nil {
		plain, err = loadConfig("", nil, nil)
	}
	if err != nil || loaded.TOML() != plain.TOML() {
		t.Errorf("the default file: %v", err)
	}
	var taken []string
	keys := 0
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			keys, line = keys+1, rest
		}
		if len(line) > 121 {
			t.Errorf("long line %q", line)
		}
		taken = append(taken, line)
	}
	all, err := loadConfig(writeFile(t, strings.Join(taken, "")), nil, nil)
	if err != nil || all.TOML() != plain.TOML() || keys != len(plain.keys()) {
		t.Errorf("the default file with all %d keys taken: %v", keys, err)
	}
	if strings.Contains(out, "`") || strings.Contains(out, "](") || strings.Contains(out, "#\n") {
		t.Error("the default file has marks of a document")
	}

	users := writeFile(t, "ann=a\n")
	cert, key := writeCertificate(t, t.TempDir(), "x")
	for _, c := range []struct {
		text string
		code int
		want string
	}{
		{"[http]\naddr = \"127.0.0.1:0\"\n", 0, "a server starts with it"},
		{"[http]\nadress = \"x\"\n", exitUsage, "http.adress"},
		{"[http]\nbody_limit = \"many\"\n", exitUsage, "many"},
		{"user_provider = \"static_user_provider:file:" + users + "\"\n", 0, "a server starts with it"},
		{"user_provider = \"static_user_provider:file:/nonexistent\"\n", exitUsage, "/nonexistent"},
		{"[http]\ntls_cert = \"" + cert + "\"\ntls_key = \"" + key + "\"\n", 0, "a server starts with it"},
		{"[http]\ntls_cert = \"" + cert + "\"\ntls_key = \"" + cert + "\"\n", exitUsage, "http.tls_key"},
		{"[syslog]\ntls_addr = \"127.0.0.1:0\"\ntls_cert = \"/nonexistent\"\ntls_key = \"/nonexistent\"\n", exitUsage,
			"syslog.tls_cert"},
		{"[forward]\ntls_addr = \"127.0.0.1:0\"\n", exitUsage, "forward.tls_addr needs forward.tls_cert"},
		// Nobody gets to see the certificate of a section without an address.
		{"[syslog]\ntls_cert = \"/nonexistent\"\n", 0, "a server starts with it"},
		{"[forward]\ntls_cert = \"/nonexistent\"\n", 0, "a server starts with it"},
	} {
		file := writeFile(t, c.text)
		code, out, errs := command("config", "check", file)
		if code != c.code || !strings.Contains(out+errs, c.want) || !strings.Contains(out+errs, file) {
			t.Errorf("%s: exit code %d, %s%s, want %q", c.text, code, out, errs, c.want)
		}
	}
}

// TestUserCommands: lines that are made are those that servers take, and bad ones are named.
func TestUserCommands(t *testing.T) {
	var out strings.Builder
	for user, word := range map[string]string{"ann": "secret\n", "ben:ro": "mit = und : und ä"} {
		if err := (&userHashCommand{User: user}).Run(streams{in: strings.NewReader(word), out: &out}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("the password is shown:\n%s", &out)
	}
	file := writeFile(t, out.String())
	u, err := auth.Open("static_user_provider:file:"+file, nil)
	if err != nil || u.Len() != 2 {
		t.Fatal(err)
	}
	for user, word := range map[string]string{"ann": "secret", "ben": "mit = und : und ä"} {
		if _, err := u.Login(t.Context(), user, word, ""); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
	if code, said, errs := command("user", "check", file); code != 0 || said != file+": 2 users\n" {
		t.Errorf("check: %d %s%s", code, said, errs)
	}
	bad := writeFile(t, "# people\nann=a\nbob:xx=y\nno line\nann=b\n")
	code, said, errs := command("user", "check", bad)
	want := bad + ":3: user bob: the mode is \"xx\", expected rw, ro or wo\n" + bad +
		":4: a line is user[:mode]=verifier with exactly one =\n" + bad +
		":5: user ann stands in line 2 already: this line counts\n"
	if code != exitUsage || said != want || strings.Count(errs, "\n") != 1 {
		t.Errorf("check: %d\n got %s\nwant %s", code, said, want)
	}
	if code, _, errs := command("user", "check", filepath.Join(t.TempDir(), "missing")); code != exitUsage ||
		!strings.Contains(errs, "missing") {
		t.Errorf("check of a missing file: %d %s", code, errs)
	}
	for _, user := range []string{"a=b", "#a", ":ro", "a:zz", "a\nb"} {
		var usage *client.UsageError
		err := (&userHashCommand{User: user}).Run(streams{in: strings.NewReader("x"), out: &out})
		if !errors.As(err, &usage) {
			t.Errorf("user %q: %v", user, err)
		}
	}
	if err := (&userHashCommand{}).Run(streams{in: strings.NewReader("\n"), out: &out}); err == nil {
		t.Error("an empty password is taken")
	}
}

// TestOutputClosed: a reader that leaves ends a command silently, with 0.
func TestOutputClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	for _, args := range [][]string{{"config", "default"}, {"version"}, {"help"},
		{"user", "check", writeFile(t, "a=b\n")}} {
		c := program(nil, args...)
		var errs strings.Builder
		c.Stdout, c.Stderr = w, &errs
		if err := c.Run(); err != nil || errs.Len() > 0 {
			t.Errorf("%v: %v, %s", args, err, errs.String())
		}
	}
	w.Close()
}
