// Package dashboard serves the web application under /dashboard/: its index page for every path, and its files under an
// address that contains the build. The application is in web; it uses the server's HTTP interface only.
//
// # Addresses
//
//	/dashboard                     308 to /dashboard/
//	/dashboard/, /dashboard/logs   the index page, to be asked for again each time
//	/favicon.ico                   the icon, for what browsers show beside the pages
//	/dashboard/a/BUILD/FILE        a file, kept by browsers for ever; another build is 404, so that an old page notices
//
// A file NAME.br is FILE NAME, compressed; the bundles of libraries in web/lib are kept so. Modules are sent without
// their comments.
//
// All addresses in the pages are relative, so the application works behind a proxy under any prefix.
//
// # A page
//
// A page is an entry in pages of web/app.js, a module page/NAME.js and a sheet page/NAME.css. The module exports
//
//	state   the keys of the page in the address, with types and defaults (see core/state.js)
//	Page    the component; it is given {state}: state.get('q') reads a key and follows it, state.set({q}) changes it as a
//	        step that Back undoes, state.set({q}, false) in place of the present one
//
// Shared keys (db, from, to) are in every page's state; range, zone and db are signals of core/state.js as well. A page
// asks the server through core/api.js only, writes SQL through core/sqltext.js only, shows rows with ui/grid.js, charts
// with ui/chart.js, and adds its shortcuts with useKeys of core/keys.js while it is shown. The first element of a page
// is a div.toolbar with the h1 and the TimePicker; the rest is its own. Other pages are reached by router.go(name,
// keys).
package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"varve/server/web"
)

// Options of a Handler.
type Options struct {
	// Files are the files of the application; nil: there is none, and every path is 404. See Assets.
	Files fs.FS
	// Documents are shown by the application, under docs/ among its files. May be nil.
	Documents fs.FS
	// Dir is a directory to serve instead of Files, read anew for each request: for work on the application. May be
	// empty.
	Dir string
}

// Handler answers everything under /dashboard. Safe for concurrent use.
type Handler struct {
	dir       string
	documents fs.FS
	site      *site // nil: none, or Dir
}

// New makes a handler.
func New(o Options) (*Handler, error) {
	h := &Handler{dir: o.Dir, documents: o.Documents}
	if o.Dir != "" || o.Files == nil {
		return h, nil
	}
	s, err := readSite(o.Files, o.Documents)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	h.site = s
	return h, nil
}

// headers are on every answer: a page loads nothing from other servers and runs no script but the application's files.
// Trusted Types refuse to make markup of text.
var headers = [...][2]string{
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
			"font-src 'none'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types varve"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Permissions-Policy",
		"accelerometer=(),camera=(),display-capture=(),geolocation=(),gyroscope=(),magnetometer=(),microphone=()," +
			"midi=(),payment=(),usb=(),serial=(),hid=(),screen-wake-lock=(),browsing-topics=()"},
}

// ownFiles begins the paths of the application's files. Only its own pages read them, and there are so many of them
// that headers for other pages would be 2 % of a first visit.
const ownFiles = "/dashboard/a/"

// Protocol is the web application. Other pages may link to it.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "dashboard", Shared: true,
		Routes: []web.Route{
			{Path: "/dashboard", Access: web.AccessOpen, Handler: h.Redirect, Exact: true},
			web.On(web.GetPost, "/dashboard/{file:*}", web.AccessOpen, h.Serve),
			web.On(web.Get, "/favicon.ico", web.AccessOpen, h.Icon),
		},
		Owns: func(path string) bool { return strings.HasPrefix(path, ownFiles) },
		OfAPI: func(path string) bool {
			return path == "/dashboard" || strings.HasPrefix(path, "/dashboard/")
		},
		Bare: func(path string) bool { return strings.HasPrefix(path, ownFiles) },
	}
}

// Redirect answers /dashboard. The address is relative: a prefix that a proxy took away stays.
func (h *Handler) Redirect(c *web.Ctx) error {
	if h.dir == "" && h.site == nil {
		c.Empty(404)
		return nil
	}
	h.head(c)
	to := "dashboard/"
	if q := c.URI().QueryString(); len(q) > 0 {
		to += "?" + string(q)
	}
	c.Empty(308)
	c.Response.Header.Set("Location", to)
	return nil
}

// Icon answers /favicon.ico, which browsers ask for beside whatever else they show of a server.
func (h *Handler) Icon(c *web.Ctx) error {
	s, err := h.current()
	if err != nil {
		return err
	}
	if s == nil || s.files["icon.svg"] == nil {
		c.Empty(404)
		return nil
	}
	h.head(c)
	c.Response.Header.Set("Cache-Control", "public, max-age=86400")
	return c.Static(s.files["icon.svg"])
}

// maxDepth is how many folders deep a path may be that is answered with the index page.
const maxDepth = 8

// Serve answers /dashboard/ and all below.
func (h *Handler) Serve(c *web.Ctx) error {
	s, err := h.current()
	if err != nil {
		return err
	}
	name, ok := strings.CutPrefix(string(c.Path()), "/dashboard/")
	if s == nil || !ok {
		c.Empty(404)
		return nil
	}
	h.head(c)
	if below, ok := strings.CutPrefix(name, "a/"); ok {
		return s.file(c, below)
	}
	depth := strings.Count(name, "/")
	if depth > maxDepth {
		c.Text(404, "there is no such page")
		return nil
	}
	page, _, _ := strings.Cut(name, "/")
	index := s.index[page]
	if index == nil {
		index = s.index[startPage]
	}
	c.Response.Header.Set("Cache-Control", "no-cache")
	return c.Static(index[depth])
}

func (h *Handler) head(c *web.Ctx) {
	for _, kv := range headers {
		c.Response.Header.Set(kv[0], kv[1])
	}
}

// current is the site as built in, or as it lies in the directory now.
func (h *Handler) current() (*site, error) {
	if h.dir == "" {
		return h.site, nil
	}
	return readSite(os.DirFS(h.dir), h.documents)
}

// site is one build of the application.
type site struct {
	build string
	files map[string]*web.Static
	// index[page][depth] is the index page for a page at a path that many folders deep. Index pages differ in the
	// modules that they preload and in the relative address of the files.
	index map[string]*[maxDepth + 1]*web.Static
}

// mediaTypes are the kinds of files there are; another kind does not belong into the application.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".json": "application/json", ".txt": "text/plain; charset=utf-8",
	".md": "text/markdown; charset=utf-8",
}

// readSite reads all files and puts their build into the index page.
func readSite(files, documents fs.FS) (*site, error) {
	s := &site{files: map[string]*web.Static{}, index: map[string]*[maxDepth + 1]*web.Static{}}
	sum := sha256.New()
	if err := s.read(files, "", sum); err != nil {
		return nil, err
	}
	if documents != nil {
		if err := s.read(documents, "docs/", sum); err != nil {
			return nil, err
		}
	}
	template := s.files["index.html"]
	if template == nil {
		return nil, fmt.Errorf("there is no index.html")
	}
	delete(s.files, "index.html")
	s.build = hex.EncodeToString(sum.Sum(nil))[:12]
	for _, page := range s.pages() {
		s.index[page] = s.indexOf(page, template)
	}
	return s, nil
}

// read adds files to the site and to the sum of its build.
func (s *site) read(files fs.FS, prefix string, sum io.Writer) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".d.ts") { // types of libraries, for the checks alone
			return err
		}
		file, packed := strings.CutSuffix(prefix+name, ".br")
		mediaType, known := mediaTypes[path.Ext(file)]
		if !known {
			return fmt.Errorf("%s: no media type is known for this kind of file", name)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", prefix+name, len(body))
		sum.Write(body) // a sum takes everything
		s.files[file], err = fileOf(file, body, packed, mediaType)
		return err
	})
}

// fileOf makes the answer of a file.
func fileOf(name string, body []byte, packed bool, mediaType string) (*web.Static, error) {
	if packed {
		f, err := web.NewPacked(body, mediaType, "")
		if err != nil {
			return nil, fmt.Errorf("%s.br: %w", name, err)
		}
		return f, nil
	}
	if path.Ext(name) == ".js" && !strings.HasPrefix(name, "lib/") {
		body = withoutComments(body)
	}
	return web.NewStatic(body, mediaType, ""), nil
}

// indexOf makes the index pages of a page.
func (s *site) indexOf(page string, template *web.Static) *[maxDepth + 1]*web.Static {
	modules := s.startModules(page)
	var index [maxDepth + 1]*web.Static
	for depth := range index {
		base := strings.Repeat("../", depth) + "a/" + s.build + "/"
		body := fillIndex(string(template.Plain()), base, modules)
		tag := sha256.Sum256([]byte(body))
		index[depth] = web.NewStatic([]byte(body), template.Type, `"`+hex.EncodeToString(tag[:8])+`"`)
	}
	return &index
}

// file answers /dashboard/a/BUILD/FILE.
func (s *site) file(c *web.Ctx, below string) error {
	build, name, _ := strings.Cut(below, "/")
	f := s.files[name]
	if f == nil || build != s.build {
		c.Text(404, "this file is not part of the installed version")
		return nil
	}
	c.Response.Header.Set("Cache-Control", "public, max-age=31536000, immutable")
	return c.Static(f)
}

// Build is the build that pages are served of; empty when there is none.
func (h *Handler) Build() string {
	if s, err := h.current(); err == nil && s != nil {
		return s.build
	}
	return ""
}
