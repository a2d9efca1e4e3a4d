package client

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// profiles writes client.toml and gives an environment in which it is found.
func profiles(t *testing.T, mode os.FileMode, text string) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "varve")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.toml"), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_CONFIG_HOME=" + filepath.Dir(dir), "PATH=" + os.Getenv("PATH")}
}

const twoProfiles = `default = "local"
[local]
url = "http://127.0.0.1:1"
db = "logs"
[prod]
url = "https://logs.example.com/"
user = "ops"
password_command = "echo secret; echo more"
production = true
timezone = "Europe/Berlin"
`

// TestPrecedence: flag, environment, profile, default.
func TestPrecedence(t *testing.T) {
	file := profiles(t, 0o644, twoProfiles)
	word := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(word, []byte("of a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		flags   Flags
		environ []string
		want    Client
		note    string
	}{
		{"nothing", Flags{}, nil, Client{Base: "http://127.0.0.1:4000", DB: "public"}, ""},
		{"profile that the file names", Flags{}, file,
			Client{Base: "http://127.0.0.1:1", DB: "logs", Profile: Profile{Name: "local"}}, ""},
		{"profile by flag", Flags{Profile: "prod"}, file,
			Client{Base: "https://logs.example.com", DB: "public", user: "ops", password: "secret",
				Timezone: "Europe/Berlin", Profile: Profile{Name: "prod", Production: true}}, ""},
		{"profile by environment", Flags{}, append(file, "VARVE_PROFILE=prod"),
			Client{Base: "https://logs.example.com", DB: "public", user: "ops", password: "secret",
				Timezone: "Europe/Berlin", Profile: Profile{Name: "prod", Production: true}}, ""},
		{"environment beats profile", Flags{}, append(file, "VARVE_URL=http://e:2", "VARVE_DB=d", "VARVE_TIMEZONE=UTC"),
			Client{Base: "http://e:2", DB: "d", Timezone: "UTC"}, ""},
		{"environment beats a named profile, which keeps its password", Flags{Profile: "prod"},
			append(file, "VARVE_URL=http://e:2"),
			Client{Base: "http://e:2", DB: "public", Timezone: "Europe/Berlin", Profile: Profile{Production: true}},
			"VARVE_URL comes before the address of the profile prod"},
		{"flag beats all", Flags{URL: "http://f:3/", Profile: "prod"}, append(file, "VARVE_URL=http://e:2"),
			Client{Base: "http://f:3", DB: "public", Timezone: "Europe/Berlin", Profile: Profile{Production: true}},
			""},
		{"the profile's address, written otherwise", Flags{URL: "https://LOGS.example.com:443", Profile: "prod"}, file,
			Client{Base: "https://LOGS.example.com:443", DB: "public", user: "ops", password: "secret",
				Timezone: "Europe/Berlin", Profile: Profile{Name: "prod", Production: true}}, ""},
		{"another port", Flags{URL: "https://logs.example.com:8443", Profile: "prod"}, file,
			Client{Base: "https://logs.example.com:8443", DB: "public", Timezone: "Europe/Berlin",
				Profile: Profile{Production: true}}, ""},
		{"another scheme", Flags{URL: "http://logs.example.com:443", Profile: "prod"}, file,
			Client{Base: "http://logs.example.com:443", DB: "public", Timezone: "Europe/Berlin",
				Profile: Profile{Production: true}}, ""},
		{"password by environment", Flags{Profile: "prod"}, append(file, "VARVE_PASSWORD=w"),
			Client{Base: "https://logs.example.com", DB: "public", user: "ops", password: "w",
				Timezone: "Europe/Berlin", Profile: Profile{Name: "prod", Production: true}}, ""},
		{"password by file", Flags{User: "u", PasswordFile: word}, []string{"VARVE_PASSWORD=w"},
			Client{Base: "http://127.0.0.1:4000", DB: "public", user: "u", password: "of a file"}, ""},
		{"password file by environment", Flags{}, []string{"VARVE_USER=u", "VARVE_PASSWORD_FILE=" + word},
			Client{Base: "http://127.0.0.1:4000", DB: "public", user: "u", password: "of a file"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var notes strings.Builder
			got, err := c.flags.Connect(c.environ, &notes)
			if err != nil {
				t.Fatal(err)
			}
			if got.Base != c.want.Base || got.DB != c.want.DB || got.Timezone != c.want.Timezone ||
				got.user != c.want.user || got.password != c.want.password ||
				got.Profile.Name != c.want.Profile.Name || got.Profile.Production != c.want.Profile.Production {
				t.Errorf("got %+v", got)
			}
			if !strings.Contains(notes.String(), c.note) || c.note == "" && notes.Len() > 0 {
				t.Errorf("said %q", notes.String())
			}
		})
	}
}

func TestConnectRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		flags   Flags
		environ []string
		want    string
	}{
		{"address", Flags{URL: "localhost:4000"}, nil, "--url localhost:4000"},
		{"address of the environment", Flags{}, []string{"VARVE_URL=localhost:4000"},
			"VARVE_URL localhost:4000: expected an address that begins"},
		{"address of the profile", Flags{}, profiles(t, 0o600, "default = \"p\"\n[p]\nurl = \"localhost:4000\"\n"),
			"profile p: url localhost:4000: expected an address that begins"},
		{"address with more", Flags{}, []string{"VARVE_URL=http://h/?x"}, "VARVE_URL http://h/?x: the address"},
		{"password in the address", Flags{URL: "http://u:secret@h"}, nil, "--password-file"},
		{"header", Flags{Header: []string{"nothing"}}, nil, "KEY: VALUE"},
		{"header of two lines", Flags{Header: []string{"a: b\r\nc: d"}}, nil, "KEY: VALUE"},
		{"time limit", Flags{Timeout: -1}, nil, "--timeout"},
		{"no password", Flags{User: "u"}, nil, "VARVE_PASSWORD"},
		{"no profile", Flags{Profile: "prodd"}, profiles(t, 0o644, twoProfiles),
			"no profile prodd. Did you mean 'prod'?"},
		{"no profile of the file", Flags{}, profiles(t, 0o644, "default = \"x\"\n"), "no profile x"},
		{"no file", Flags{Profile: "prod"}, []string{"XDG_CONFIG_HOME=/nonexistent"}, "/nonexistent/varve/client.toml"},
		{"no place", Flags{Profile: "prod"}, nil, "XDG_CONFIG_HOME"},
		{"password that others read", Flags{Profile: "p"}, profiles(t, 0o640, "[p]\npassword = \"x\"\n"), "chmod 600"},
		{"password that others read of another profile", Flags{}, profiles(t, 0o604, "[p]\npassword = \"x\"\n"),
			"mode 0604"},
		{"unknown key", Flags{}, profiles(t, 0o600, "[p]\nurll = \"x\"\n"),
			"[p]: unknown key urll. Did you mean 'url'?"},
		{"key outside", Flags{}, profiles(t, 0o600, "url = \"x\"\n"), "unknown key url"},
		{"kind", Flags{}, profiles(t, 0o600, "[p]\nproduction = \"yes\"\n"), "true or false"},
		{"syntax", Flags{}, profiles(t, 0o600, "[p\n"), "line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.flags.Connect(c.environ, io.Discard)
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	_, err := (&Flags{Profile: "p"}).Connect(profiles(t, 0o600, "[p]\nuser = \"u\"\npassword_command = \"exit 3\"\n"),
		io.Discard)
	if err == nil || !strings.Contains(err.Error(), "password_command of the profile p: exit status 3") {
		t.Errorf("got %v", err)
	}
}

// TestRequests: what is sent and said, and what failures are.
func TestRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/sql":
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"code":4001,"error":"Table not found: t"}`)
		case "/v1/ingest":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/v1/pipelines/p":
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"code":7003,"error":"Not found http or grpc authorization header"}`)
		case "/moved":
			http.Redirect(w, r, "https://elsewhere.example.com/moved", http.StatusMovedPermanently)
		case "/slow":
			<-r.Context().Done()
		default:
			user, word, _ := r.BasicAuth()
			io.WriteString(w, user+" "+word+" "+r.Header.Get("X-One")+" "+r.Host)
		}
	}))
	defer server.Close()
	var notes strings.Builder
	f := Flags{URL: server.URL, User: "u", Header: []string{"x-one: 1: 2"}, Verbose: true}
	c, err := f.Connect([]string{"VARVE_PASSWORD=w"}, &notes)
	if err != nil {
		t.Fatal(err)
	}
	hasty, err := (&Flags{URL: server.URL, Timeout: 50 * time.Millisecond}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(t.Context(), Request{Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if got := string(text); !strings.HasPrefix(got, "u w 1: 2 ") {
		t.Errorf("the server saw %q", got)
	}
	if got := notes.String(); !strings.HasPrefix(got, "varve: GET / 200 ") || strings.Count(got, "\n") != 1 {
		t.Errorf("said %q", got)
	}
	for path, want := range map[string]string{
		"/v1/sql":         "query failed (4001): Table not found: t",
		"/v1/ingest":      "ingest failed (HTTP 429): 429 Too Many Requests",
		"/v1/pipelines/p": "pipeline request failed (7003): Not found http or grpc authorization header. Sign in with --user NAME",
		"/moved":          "request failed (HTTP 301): it is to be asked at https://elsewhere.example.com/moved: name that server with --url",
		"/slow": "cannot reach " + server.URL +
			": no answer within 50ms (--timeout). Is the server running? (varve serve)",
	} {
		asks := c
		if path == "/slow" {
			asks = hasty
		}
		_, err := asks.Do(t.Context(), Request{Path: path})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
		if busy := (*AnswerError)(nil); path == "/v1/ingest" &&
			(!errors.As(err, &busy) || busy.RetryAfter != 7*time.Second) {
			t.Errorf("got %+v", busy)
		}
	}
}

// TestInterrupted: a signal gives up the request in hand and is its error.
func TestInterrupted(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		close(gone)
	}))
	defer server.Close()
	c, err := (&Flags{URL: server.URL}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := Interruptible(context.Background())
	defer stop()
	_, err = c.Do(ctx, Request{Path: "/"})
	var interrupted *InterruptedError
	if !errors.As(err, &interrupted) || interrupted.ExitCode() != 143 {
		t.Errorf("got %v", err)
	}
	<-gone
}

// TestCertificates: --insecure says so each time, --ca-file makes a server known, and one that is not known names the
// flag.
func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	var notes strings.Builder
	ask := func(f Flags) error {
		f.URL = server.URL
		c, err := f.Connect(nil, &notes)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), Request{Path: "/"})
		return err
	}
	if err := ask(Flags{}); err == nil || !strings.Contains(err.Error(), "unknown authority. --ca-file") {
		t.Errorf("got %v", err)
	}
	var answer *AnswerError
	if err := ask(Flags{Insecure: true}); !errors.As(err, &answer) ||
		!strings.Contains(notes.String(), "is not checked") {
		t.Errorf("got %v, said %q", err, notes.String())
	}
}
