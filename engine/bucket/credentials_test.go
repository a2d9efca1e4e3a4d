package bucket_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
)

// whose opens a bucket, asks it something, and returns the access key that the request was signed with.
func whose(t *testing.T, o bucket.Options) (key, token string, err error) {
	t.Helper()
	store := buckettest.Store(t)
	p := buckettest.NewProxy(t, store.Endpoint)
	p.Set(func(r *http.Request) buckettest.Trouble {
		_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ = strings.Cut(rest, "/")
		token = r.Header.Get("X-Amz-Security-Token")
		return buckettest.None
	})
	o.URL, o.Endpoint, o.Attempts, o.Pause = store.URL, p.URL, 3, time.Millisecond
	b, err := bucket.Open(t.Context(), o)
	if err != nil {
		return "", "", err
	}
	defer func() {
		if err := bucket.Close(b); err != nil {
			t.Error(err)
		}
	}()
	return key, token, b.Remove(t.Context(), "x")
}

// noCredentials has a test find none but its own.
func noCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY",
		"AWS_SESSION_TOKEN", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_EC2_METADATA_SERVICE_ENDPOINT"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhoseRequests: the first place that has credentials counts; one that is named is the only one.
func TestWhoseRequests(t *testing.T) {
	noCredentials(t)
	for name, o := range map[string]bucket.Options{"none": {}, "a missing file": {CredentialsFile: "/nowhere/file"},
		"a profile of no file": {Profile: "other"}} {
		if key, _, err := whose(t, o); err == nil {
			t.Errorf("%s: %q", name, key)
		}
	}
	home := filepath.Join(os.Getenv("HOME"), ".aws", "credentials")
	write(t, home, "[default]\naws_access_key_id = home\naws_secret_access_key = topsecret\n"+
		"[other]\naws_access_key_id = other\naws_secret_access_key = topsecret\naws_session_token = session\n"+
		"[half]\naws_access_key_id = half\n[empty]\n")
	own := filepath.Join(t.TempDir(), "own")
	write(t, own, "[default]\naws_access_key_id=own\naws_secret_access_key=topsecret\n")
	check := func(what string, o bucket.Options, want, session string) {
		t.Helper()
		if key, token, err := whose(t, o); key != want || token != session || err != nil {
			t.Errorf("%s: %q, %q, %v", what, key, token, err)
		}
	}
	check("home", bucket.Options{}, "home", "")
	check("a profile", bucket.Options{Profile: "other"}, "other", "session")
	check("a file", bucket.Options{CredentialsFile: own}, "own", "")
	for _, profile := range []string{"half", "empty", "missing"} {
		_, _, err := whose(t, bucket.Options{Profile: profile})
		if err == nil || !strings.Contains(err.Error(), home) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("profile %s: %v", profile, err)
		}
	}
	t.Setenv("AWS_PROFILE", "other")
	check("AWS_PROFILE", bucket.Options{}, "other", "session")
	t.Setenv("AWS_ACCESS_KEY_ID", "env")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "topsecret")
	t.Setenv("AWS_SESSION_TOKEN", "env-session")
	check("variables", bucket.Options{}, "env", "env-session")
	check("a file in spite of variables", bucket.Options{CredentialsFile: own, Profile: "default"}, "own", "")
	check("keys", bucket.Options{AccessKey: "key", SecretKey: "topsecret", SessionToken: "s"}, "key", "s")
}

// TestKeysThatChange: after the store has refused the keys of a file, the file is read anew.
func TestKeysThatChange(t *testing.T) {
	noCredentials(t)
	file := filepath.Join(t.TempDir(), "credentials")
	text := "[default]\naws_access_key_id=%s\naws_secret_access_key=topsecret\n"
	write(t, file, fmt.Sprintf(text, "old"))
	store := buckettest.Store(t)
	var asked atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.Contains(r.Header.Get("Authorization"), "Credential=old/") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>InvalidAccessKeyId</Code><Message>no such key</Message></Error>")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer front.Close()
	b := buckettest.Open(t, bucket.Options{URL: store.URL, Endpoint: front.URL, CredentialsFile: file,
		Pause: time.Millisecond})
	if err := b.Remove(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "InvalidAccessKeyId") ||
		asked.Load() != 2 {
		t.Errorf("after %d requests: %v", asked.Load(), err)
	}
	write(t, file, fmt.Sprintf(text, "new"))
	if err := b.Remove(t.Context(), "x"); err != nil || asked.Load() > 4 {
		t.Errorf("after %d requests: %v", asked.Load(), err)
	}
}

// TestInstanceRole: the metadata service is asked if that is allowed, once, and not for longer than it takes.
func TestInstanceRole(t *testing.T) {
	noCredentials(t)
	leavesNothing(t)
	var asked, hang atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case hang.Load() > 0:
			<-r.Context().Done()
		case r.Method == http.MethodPut:
			_, _ = io.WriteString(w, "a-token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			_, _ = io.WriteString(w, "the-role")
		default:
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"role","SecretAccessKey":"topsecret",
				"Token":"t","Expiration":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
		}
	}))
	defer service.Close()
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	if _, _, err := whose(t, bucket.Options{}); err == nil || asked.Load() != 0 {
		t.Errorf("it was asked %d times, and not allowed: %v", asked.Load(), err)
	}
	if key, token, err := whose(t, bucket.Options{InstanceRole: true}); key != "role" || token != "t" || err != nil ||
		asked.Load() > 3 {
		t.Errorf("%q, %q, %v after %d requests", key, token, err, asked.Load())
	}
	hang.Store(1)
	began := time.Now()
	if _, _, err := whose(t, bucket.Options{InstanceRole: true}); err == nil || time.Since(began) > 10*time.Second ||
		strings.Contains(err.Error(), "topsecret") {
		t.Errorf("a service that hangs: %v after %v", err, time.Since(began))
	}
}
