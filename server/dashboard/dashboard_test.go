package dashboard

import (
	"flag"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"varve/server/web"
)

var update = flag.Bool("update", false, "write the files made from the source, and the screenshots")

// maxModuleLines is where a module is no longer one room.
const maxModuleLines = 500

// ask sends a request to a handler and gives its answer.
func ask(t *testing.T, h *Handler, uri string, header ...string) *fasthttp.Response {
	t.Helper()
	var rc fasthttp.RequestCtx
	rc.Request.SetRequestURI(uri)
	for i := 0; i < len(header); i += 2 {
		rc.Request.Header.Set(header[i], header[i+1])
	}
	c := web.NewCtx(&rc, t.Context(), 0)
	serve := h.Serve
	switch string(rc.Path()) {
	case "/dashboard":
		serve = h.Redirect
	case "/favicon.ico":
		serve = h.Icon
	}
	if err := serve(c); err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	return &rc.Response
}

func fromDisk(t *testing.T) *Handler {
	t.Helper()
	h, err := New(Options{Files: os.DirFS("web")})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestServing(t *testing.T) {
	h := fromDisk(t)
	build := h.Build()
	index := string(ask(t, h, "/dashboard/").Body())
	for _, c := range []struct {
		name, uri, accept string
		status            int
		cache, encoding   string
		body              string // what the body contains; encoding *: by its size
	}{
		{"index", "/dashboard/", "", 200, "no-cache", "*", `src="a/` + build + `/app.js"`},
		{"icon", "/favicon.ico", "", 200, "public, max-age=86400", "*", "<svg"},
		{"page", "/dashboard/logs", "", 200, "no-cache", "*", `src="a/` + build + `/app.js"`},
		{"unknown page, two folders down", "/dashboard/x/y/z", "", 200, "no-cache", "*",
			`src="../../a/` + build + `/app.js"`},
		{"file", "/dashboard/a/" + build + "/core/time.js", "", 200, "public, max-age=31536000, immutable", "identity",
			"export"},
		{"small file in brotli", "/dashboard/a/" + build + "/theme.css", "gzip, br", 200,
			"public, max-age=31536000, immutable", "br", ""},
		{"file in brotli", "/dashboard/a/" + build + "/core/time.js", "gzip, br", 200,
			"public, max-age=31536000, immutable", "br", ""},
		{"file in gzip", "/dashboard/a/" + build + "/core/time.js", "gzip", 200, "public, max-age=31536000, immutable",
			"gzip", ""},
		{"file of another build", "/dashboard/a/000000000000/core/time.js", "", 404, "", "",
			"not part of the installed version"},
		{"no such file", "/dashboard/a/" + build + "/nope.js", "", 404, "", "", "not part of the installed version"},
		{"the template itself", "/dashboard/a/" + build + "/index.html", "", 404, "", "", ""},
		{"types of libraries", "/dashboard/a/" + build + "/lib/ui.d.ts", "", 404, "", "", ""},
		{"out of the folder", "/dashboard/a/" + build + "/../dashboard.go", "", 404, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(t, h, c.uri, "Accept-Encoding", c.accept)
			if r.StatusCode() != c.status {
				t.Fatalf("status %d, want %d", r.StatusCode(), c.status)
			}
			if got := string(r.Header.Peek("Cache-Control")); got != c.cache {
				t.Errorf("Cache-Control %q, want %q", got, c.cache)
			}
			if got := string(r.Header.Peek("Content-Encoding")); c.encoding != "*" && got != c.encoding {
				t.Errorf("Content-Encoding %q, want %q", got, c.encoding)
			}
			if !strings.Contains(string(r.Body()), c.body) {
				t.Errorf("the body lacks %q: %.200q", c.body, r.Body())
			}
			if csp := string(r.Header.Peek("Content-Security-Policy")); !strings.Contains(csp,
				"require-trusted-types-for 'script'") || strings.Contains(csp, "unsafe") {
				t.Errorf("Content-Security-Policy %q", csp)
			}
			if got := string(r.Header.Peek("X-Content-Type-Options")); got != "nosniff" {
				t.Errorf("X-Content-Type-Options %q", got)
			}
		})
	}
	t.Run("a known index is not sent again", func(t *testing.T) {
		tag := string(ask(t, h, "/dashboard/").Header.Peek("ETag"))
		if r := ask(t, h, "/dashboard/", "If-None-Match", tag); tag == "" || r.StatusCode() != 304 ||
			len(r.Body()) != 0 {
			t.Errorf("ETag %s: status %d, %d bytes", tag, r.StatusCode(), len(r.Body()))
		}
	})
	t.Run("redirect", func(t *testing.T) {
		r := ask(t, h, "/dashboard?a=b")
		if got := string(r.Header.Peek("Location")); r.StatusCode() != 308 || got != "dashboard/?a=b" {
			t.Errorf("status %d, Location %q", r.StatusCode(), got)
		}
	})
	t.Run("modules of the start page are announced", func(t *testing.T) {
		for _, m := range []string{"app.js", "page/logs.js", "core/api.js", "lib/ui.js", "ui/grid.js"} {
			if !strings.Contains(index, `<link rel="modulepreload" href="a/`+build+`/`+m+`">`) {
				t.Errorf("no modulepreload of %s", m)
			}
		}
		if strings.Contains(index, "editor.js") || strings.Contains(index, "{{") {
			t.Errorf("the index page announces the editor, or has a hole:\n%s", index)
		}
	})
	t.Run("modules of the page of the address are announced", func(t *testing.T) {
		index := string(ask(t, h, "/dashboard/sql").Body())
		if !strings.Contains(index, "/page/sql.js") || strings.Contains(index, "/page/logs.js") {
			t.Errorf("the page of SQL announces\n%s", index)
		}
	})
}

func TestWithoutFilesThereIsNothing(t *testing.T) {
	h, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"/dashboard", "/dashboard/", "/dashboard/logs", "/dashboard/a/x/app.js"} {
		if r := ask(t, h, uri); r.StatusCode() != 404 || len(r.Body()) != 0 {
			t.Errorf("%s: status %d, %d bytes", uri, r.StatusCode(), len(r.Body()))
		}
	}
}

// markup finds what turns text into markup or code.
var markup = regexp.MustCompile(
	`innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function|srcdoc|javascript:`)

// elsewhere finds addresses of other servers; the names of XML spaces are no addresses.
var elsewhere = regexp.MustCompile(`(https?:)?//[a-z0-9-]+\.[a-z]{2,}`)

// TestOwnModules: text of strangers never becomes markup, nothing is loaded from elsewhere, and a module is one room.
func TestOwnModules(t *testing.T) {
	files := os.DirFS("web")
	seen := 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "lib/") {
			return err
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		seen++
		text := string(b)
		if hit := markup.FindString(text); hit != "" {
			t.Errorf("%s: %q does not belong into the dashboard", name, hit)
		}
		if hit := elsewhere.FindString(strings.ReplaceAll(text, "http://www.w3.org/", "")); hit != "" {
			t.Errorf("%s: an address of another server: %q", name, hit)
		}
		if n := strings.Count(text, "\n"); path.Ext(name) == ".js" && n > maxModuleLines {
			t.Errorf("%s: %d lines, at most %d", name, n, maxModuleLines)
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatalf("%d files, %v", seen, err)
	}
}
