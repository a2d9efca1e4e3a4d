package servertest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"varve/engine"
	"varve/engine/bucket"
	"varve/pipeline"
	"varve/server"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/opentables"
)

// Real starts a server on a real store in a directory of the test.
func Real(t testing.TB, change func(*server.Options)) *House {
	t.Helper()
	return RealOn(t, engine.Options{}, change)
}

// RealOn is real with a store of one's own options.
func RealOn(t testing.TB, store engine.Options, change func(*server.Options)) *House {
	t.Helper()
	store.Dir, store.MinFree = t.TempDir(), 1
	e, err := engine.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return On(t, e, change)
}

// On starts a server on a store.
func On(t testing.TB, e *engine.Engine, change func(*server.Options)) *House {
	t.Helper()
	return Open(t, func(o *server.Options) {
		o.BodyLimit = 64 << 20
		pipelines := pipeline.New(pipeline.Options{Store: e})
		o.Rows = rows.Deps{Writer: web.NewWriter(e), Tables: e, Pipelines: pipelines, Prefix: "service"}
		o.Ingest.Documents, o.Ingest.Store = pipelines, e
		exporter := exporterOf(t, e)
		o.Open.Catalog = exporter
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{CopyDir: t.TempDir(), Export: exporter.Export})
		o.Metrics.Store, o.Lines.Databases = e, e.Databases
		o.Metrics.Samples = samples.New(samples.Options{Store: e, Prefix: "service", CacheBytes: 1 << 20,
			MaxExemplars: 1000})
		o.Admin.Store, o.Saved = e, e
		o.Standby.Store = e
		o.Forward.Store, o.Syslog.Store = e, e
		o.OTLP.Samples = o.Metrics.Samples
		o.Admin.Config = func() string {
			return "enable_telemetry = false\ninit_regions_in_background = false\ninit_regions_parallelism = 16\n[http]\naddr = \"\"\ntimeout = \"0s\"\nbody_limit = \"64MiB\"\n"
		}
		if change != nil {
			change(o)
		}
	})
}

// exporterOf writes open tables to a directory of the test.
func exporterOf(t testing.TB, e *engine.Engine) *opentables.Exporter {
	t.Helper()
	place, err := bucket.Open(context.Background(), bucket.Options{URL: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x, err := opentables.New(opentables.Options{Engine: e, Bucket: place, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Exchange sends a request with these headers and no others of its own, and returns errors of the connection.
func (h *House) Exchange(method, target string, body []byte, headers map[string]string) (Answer, error) {
	r, err := http.NewRequest(method, h.URL+target, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header["User-Agent"] = nil
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	resp, err := plainClient.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, string(b)}, err
}
