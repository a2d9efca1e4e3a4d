//go:build dashboard && browser

package dashboard

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// behind puts a proxy with a prefix in front of a server.
func behind(t *testing.T, s *server, prefix string) *server {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	front := httptest.NewServer(http.StripPrefix(prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The answer may come before the proxy has seen the end of a body: it would take the rest of the answer for
		// lost.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(400)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})))
	t.Cleanup(front.Close)
	return &server{url: front.URL}
}

// TestD85Pages goes from page to page behind a prefix.
func TestD85Pages(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(500, 1_000_000_000))
	front := behind(t, s, "/varve")
	p := open(t, front, "/varve/dashboard")
	p.wait("the rows", `document.querySelectorAll('.grid-row').length > 5`)
	if path := eval[string](p, "location.pathname"); path != "/varve/dashboard/" &&
		!strings.HasPrefix(path, "/varve/dashboard/logs") {
		t.Errorf("the address is %s", path)
	}
	for _, name := range []string{"sql", "metrics", "traces", "boards", "alerts", "pipelines", "ingest", "status"} {
		eval[bool](p,
			fmt.Sprintf(
				`(() => { [...document.querySelectorAll('#rail a.page')]
					.find((a) => a.getAttribute('href').endsWith('/%s')).click(); return true; })()`, name))
		p.wait("page "+name,
			fmt.Sprintf(
				`location.pathname === '/varve/dashboard/%s' && document.querySelector('#rail [aria-current=page]')?.getAttribute('href').endsWith('/%s') && document.querySelector('.toolbar')`, name, name))
	}
	p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
	// A worker, a deep path, and the page that an address names.
	p.visit("/varve/dashboard/sql#sql=SELECT%20*%20FROM%20app%20LIMIT%20500")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.runSQL(false)
	if rows := p.rowsShown(); len(rows) < 10 {
		t.Errorf("rows shown: %d", len(rows))
	}
	p.visit("/varve/dashboard/ingest")
	p.wait("snippets with the prefix",
		`document.querySelector('.snippet pre')?.textContent.includes('/varve/v1/ingest?')`)
}

// TestD88NoTag builds the server without its dashboard.
func TestD88NoTag(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "varve")
	if out, err := exec.Command("go", "build", "-o", plain, "varve/cmd/varve").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, want := range map[string]bool{plain: false, binary: true} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("The dashboard needs JavaScript")) != want {
			t.Errorf("%s: the page is in the binary: %v", filepath.Base(file), !want)
		}
	}
	s := startOf(t, plain, t.TempDir(), "127.0.0.1:0")
	for _, path := range []string{"/dashboard", "/dashboard/", "/dashboard/logs", "/dashboard/a/0123456789ab/app.js"} {
		r, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 404 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

// TestD89ForeignPage lets a page of another site try what it may.
func TestD89ForeignPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(10, 1_000_000_000))
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><title>elsewhere</title><link rel=icon href=data:,>")
	}))
	defer foreign.Close()
	elsewhere := "http://localhost:" + foreign.URL[strings.LastIndexByte(foreign.URL, ':')+1:]
	tries := func(p *page, target string) map[string]string {
		t.Helper()
		return eval[map[string]string](p, fmt.Sprintf(`(async () => {
			const to = %q, out = {};
			const sent = async (name, path, options) => {
				try { const r = await fetch(to + path, options); out[name] = r.type === 'opaque' ? 'sent' : r.status + ' ' + (await r.text()).slice(0, 80); } catch (e) { out[name] = 'refused by the browser'; }
			};
			await sent('read', '/v1/sql?sql=SELECT+1');
			await sent('form', '/v1/sql', { method: 'POST', body: new URLSearchParams({ sql: 'DROP TABLE app' }) });
			await sent('blind form', '/v1/sql', { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ sql: 'DROP TABLE app' }) });
			await sent('blind ingest', '/v1/ingest?table=planted&pipeline_name=service_identity', { method: 'POST', mode: 'no-cors', body: 'planted' });
			await sent('configuration', '/config');
			await sent('log level', '/debug/log_level', { method: 'POST', mode: 'no-cors', body: 'off' });
			await new Promise((done) => { const i = new Image(); i.onload = i.onerror = done; i.src = to + '/v1/sql?sql=DROP+TABLE+app'; });
			return out;
		})()`, target))
	}
	p := open(t, &server{url: elsewhere}, "/")
	p.allow("request to another origin")
	p.allow("status of 403")
	p.allow("status of 400") // of the origin that may: the table is not there
	p.allow("CORS policy")
	p.allow("net::ERR_FAILED")
	got := tries(p, s.url)
	for name, want := range map[string]string{"read": "403", "form": "403", "configuration": "403"} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s: %q, want %s", name, got[name], want)
		}
	}
	if rows := s.sql(t,
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name IN ('app', 'planted')"); fmt.Sprint(rows) != "[[app]]" {
		t.Errorf("tables after it: %v", rows)
	}

	// An origin that is named may.
	named := start(t, "--set", "http.cors_allowed_origins="+elsewhere)
	if got := tries(p, named.url); !strings.HasPrefix(got["read"], "200") {
		t.Errorf("an allowed origin gets %q", got["read"])
	}
}

// TestSavedAfterAFailure: what could not be read once is still saved on the server; a server that keeps nothing leaves
// it to the browser.
func TestSavedAfterAFailure(t *testing.T) {
	t.Parallel()
	p := open(t, start(t), "/dashboard/")
	p.wait("the application", `document.querySelector('#rail')`)
	p.allow("Failed to load resource")
	got := eval[[]string](p, `(async () => {
		const { all, load, save } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/saved.js'));
		const real = window.fetch, answers = (status) => { window.fetch = (url, options) => (String(url).includes('v1/dashboards') ? Promise.resolve(new Response('{"error":"no"}', { status })) : real(url, options)); };
		answers(500);
		await load();
		window.fetch = real;
		const where = [await save('view', 'first', { page: 'logs' })];
		answers(404);
		where.push(await save('view', 'second', { page: 'logs' }));
		window.fetch = real;
		await load();
		return [...where, ...all.value.map((s) => s.name + (s.local ? ' here' : ' there'))];
	})()`)
	if want := []string{"server", "browser", "first there", "second here"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
