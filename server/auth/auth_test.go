package auth

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/server/web"
)

func TestAuthenticate(t *testing.T) {
	u, err := Open("static_user_provider:cmd:admin=secret,reader:RO=r,writer:write_only=plain:w", nil)
	if err != nil {
		t.Fatal(err)
	}
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		name, service, authorization string
		user                         string
		mode                         web.Mode
		code                         status.Code
		text                         string
	}{
		{name: "right", authorization: "Basic " + b64("admin:secret"), user: "admin", mode: web.ReadWrite},
		{name: "scheme in capitals", authorization: "BASIC " + b64("reader:r"), user: "reader", mode: web.ReadOnly},
		{name: "plain verifier", authorization: "basic " + b64("writer:w"), user: "writer", mode: web.WriteOnly},
		{name: "own header wins", service: "Basic " + b64("reader:r"), authorization: "Basic " + b64("admin:secret"),
			user: "reader", mode: web.ReadOnly},
		{name: "none", code: status.AuthHeaderNotFound, text: "Not found http or grpc authorization header"},
		{name: "no scheme", authorization: "abc", code: status.InvalidAuthHeader,
			text: "Invalid http authorization header"},
		{name: "other scheme", authorization: "Digest abc", code: status.InvalidAuthHeader,
			text: "Unsupported http auth scheme, name: digest"},
		{name: "bearer", authorization: "Bearer abc", code: status.UserPasswordMismatch,
			text: "Unsupported authentication method: bearer token"},
		{name: "bad base64", authorization: "Basic %%%", code: status.InvalidAuthHeader,
			text: "Invalid base64 value: "},
		{name: "no colon", authorization: "Basic " + b64("admin"), code: status.InvalidAuthHeader,
			text: "Invalid http authorization header"},
		{name: "unknown user", authorization: "Basic " + b64("root:secret"), code: status.UserPasswordMismatch,
			text: "Username and password does not match, username: root"},
		{name: "wrong password", authorization: "Basic " + b64("admin:nope"), code: status.UserPasswordMismatch,
			text: "Username and password does not match, username: admin"},
		{name: "blank user", authorization: "Basic " + b64(":secret"), code: status.InvalidArguments,
			text: "Illegal param: blank username"},
		{name: "blank password", authorization: "Basic " + b64("admin:"), code: status.InvalidArguments,
			text: "Illegal param: blank password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cred web.Credentials
			if c.service != "" {
				cred.Service = []byte(c.service)
			}
			if c.authorization != "" {
				cred.Authorization = []byte(c.authorization)
			}
			got, err := u.Authenticate(context.Background(), cred)
			if c.user != "" {
				if err != nil || got.Name != c.user || got.Mode != c.mode {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil || status.Of(err) != c.code || !strings.HasPrefix(err.Error(), c.text) {
				t.Errorf("got %v, want code %d %q", err, c.code, c.text)
			}
		})
	}
}

func TestProviders(t *testing.T) {
	hash, err := pbkdf2.Key(sha256.New, "hard", []byte("salt"), 1000, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# people\n\nann=a\nbob:ro=pbkdf2_sha256:1000:" + hex.EncodeToString([]byte("salt")) + ":" +
		hex.EncodeToString(hash) +
		"\nbad=with=sign\nworse:xx=y\nlate=pbkdf2_sha256:0:00:00\n")
	u, err := Open("static_user_provider:file:"+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if u.Len() != 2 {
		t.Errorf("%d users, want 2", u.Len())
	}
	for range 2 { // the second time from memory
		if _, err := login(u, "bob", "hard"); err != nil {
			t.Errorf("bob: %v", err)
		}
	}
	if _, err := login(u, "eve", "hard"); err == nil {
		t.Error("an unknown user gets in with the password of the one who stands in for it")
	}
	if _, err := login(u, "bob", "easy"); err == nil {
		t.Error("bob may use any password")
	}
	for _, bad := range []string{
		"", "other", "static_user_provider:", "static_user_provider:cmd:", "static_user_provider:cmd:a=b=c",
		"static_user_provider:cmd:a:zz=b", "static_user_provider:cmd:=b",
		"static_user_provider:file:" + file + ".missing", "watch_file_user_provider:" + file + ".missing",
		"static_user_provider:cmd:a=pbkdf2_sha256:1000001:00:00",
	} {
		if _, err := Open(bad, nil); err == nil {
			t.Errorf("provider %q is accepted", bad)
		} else if strings.Contains(err.Error(), "=b") {
			t.Errorf("the error shows the list: %v", err)
		}
	}
	write("# nobody\n")
	if _, err := Open("static_user_provider:file:"+file, nil); err == nil {
		t.Error("a file without users is accepted")
	}
}

func TestWatchedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	at := time.Unix(1_700_000_000, 0)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Second)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("ann=a\n")
	u, err := Open("watch_file_user_provider:"+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if u.Refresh() {
		t.Error("a file that did not change is read again")
	}
	write("ben=b\n")
	if _, err := login(u, "ben", "b"); !u.Refresh() || err == nil {
		t.Error("the new file is not read when it should be")
	}
	if _, err := login(u, "ben", "b"); err != nil {
		t.Errorf("ben: %v", err)
	}
	if _, err := login(u, "ann", "a"); err == nil {
		t.Error("ann is still a user")
	}
	write("\n")
	if u.Refresh() {
		t.Error("an empty file replaces the users")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if u.Refresh() || u.Len() != 1 {
		t.Error("a missing file replaces the users")
	}
}

func TestMask(t *testing.T) {
	for provider, want := range map[string]string{
		"static_user_provider:cmd:a=b":         "static_user_provider:cmd:***",
		"static_user_provider:file:/etc/users": "static_user_provider:file:/etc/users",
		"watch_file_user_provider:/etc/users":  "watch_file_user_provider:/etc/users",
		"static_user_provide:cmd:a=b":          "static_user_provide:***",
		"a=b":                                  "a=***",
		"nothing":                              "nothing",
	} {
		if got := Mask(provider); got != want {
			t.Errorf("%s is shown as %s, want %s", provider, got, want)
		}
	}
}
