package bucket

import (
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"s3://logs": "s3://logs", "s3://logs/": "s3://logs", "s3://my.logs-2/a/b": "s3://my.logs-2/a/b",
		"s3://logs//a/": "s3://logs/a", "/srv/cold/": "file:///srv/cold", "file:///srv/../cold": "file:///cold",
		"/srv/a b": "file:///srv/a b",
	} {
		if p, err := parsePlace(text); err != nil || p.String() != want {
			t.Errorf("%s: %s, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "logs", "./logs", "s3:", "s3://", "s3:///a", "s3:logs", "s3://LOGS", "s3://lo",
		"s3://-logs", "s3://logs-", "s3://a..b", "s3://logs/a//b", "s3://logs/../b", "s3://logs/.a", "s3://logs/a b",
		"s3://logs?x=y", "s3://logs/a#b", "s3://logs/%2e%2e", "s3://key:topsecret@logs/a",
		"s3://key:topsecret@logs\x7f", "https://host/topsecret", "file://host/a", "file:a", "file:",
		"s3://" + strings.Repeat("a", 64),
		"s3://logs:9000"} {
		p, err := parsePlace(text)
		if err == nil {
			t.Errorf("%q is taken: %s", text, p)
		} else if strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: the error shows a secret: %v", text, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{"": amazon, "http://127.0.0.1:9000": "127.0.0.1:9000",
		"https://host/": "host"} {
		host, secure, err := parseEndpoint(text)
		if err != nil || host != want || secure == strings.HasPrefix(text, "http:") {
			t.Errorf("%q: %s, %v, %v", text, host, secure, err)
		}
	}
	for _, text := range []string{"host", "host:9000", "ftp://host", "http://", "http://a:topsecret@host",
		"http://host/a", "http://host?a", "http://host#a", "http://\x7f"} {
		if host, _, err := parseEndpoint(text); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %s, %v", text, host, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://all")
	if host, _, err := parseEndpoint(""); host != "all" || err != nil {
		t.Error(host, err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://s3")
	if host, _, err := parseEndpoint(""); host != "s3" || err != nil {
		t.Error(host, err)
	}
	if host, _, err := parseEndpoint("http://own"); host != "own" || err != nil {
		t.Error(host, err)
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	whole := Options{URL: "s3://logs", AccessKey: "a", SecretKey: "b"}
	for name, change := range map[string]func(*Options){
		"time limit": func(o *Options) { o.Timeout = -1 }, "attempts": func(o *Options) { o.Attempts = -1 },
		"pause": func(o *Options) { o.Pause = -1 }, "part size": func(o *Options) { o.PartSize = -1 },
		"small parts": func(o *Options) { o.PartSize = 1 << 20 }, "one key": func(o *Options) { o.SecretKey = "" },
		"endpoint": func(o *Options) { o.Endpoint = "x" },
	} {
		o := whole
		change(&o)
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "s3://logs") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), whole); err != nil {
		t.Error(err)
	}
}

// FuzzPlace: a place that is taken names itself, so that it is the same place, and no name leaves it.
func FuzzPlace(f *testing.F) {
	for _, text := range []string{"s3://logs/a/b", "/srv/cold", "file:///srv", "s3://a:b@c/d?e#f", "s3://logs/%2e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlace(text)
		if err != nil {
			return
		}
		if p.dir == "" {
			if badBucket(p.bucket) != "" || strings.Contains(p.prefix, "..") || strings.HasPrefix(p.prefix, "/") {
				t.Fatalf("%q: bucket %q, prefix %q", text, p.bucket, p.prefix)
			}
			if again, err := parsePlace(p.String()); err != nil || again != p {
				t.Fatalf("%q: %+v, again %+v, %v", text, p, again, err)
			}
		} else if again, err := parsePlace(p.dir); err != nil || again != p {
			t.Fatalf("%q: %+v, again %+v, %v", text, p, again, err)
		}
	})
}

// FuzzContentRange: what is read is a range within an object.
func FuzzContentRange(f *testing.F) {
	for _, text := range []string{"bytes 0-9/100", "bytes 0-9/*", "bytes 9-0/10", "bytes -1-3/4", "bytes 0-9/9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if from, to, size, ok := parseContentRange(text); ok && !(0 <= from && from <= to && to < size) {
			t.Fatalf("%q: %d to %d of %d", text, from, to, size)
		}
	})
}

func TestListings(t *testing.T) {
	for doc, want := range map[string]bool{
		"<ListBucketResult></ListBucketResult>": true, "<ListBucketResult/>": true,
		"<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\">a</ListBucketResult>\n": true,
		"": false, "<Error></Error>": false, "<ListBucketResult>": false, "<ListBucketResult><Contents>": false,
		"<ListBucketResults></ListBucketResults>": false, "<ListBucketResult": false, "<html/>": false, "<?xml": false,
	} {
		if got := isListing([]byte(doc)); got != want {
			t.Errorf("%q: %v", doc, got)
		}
	}
}
