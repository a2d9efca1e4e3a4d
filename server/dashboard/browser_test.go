//go:build dashboard && browser

package dashboard

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take for anything it does here: on a busy machine much takes many times as long as on
// a quiet one.
const patience = time.Minute

// binary is the built server, browser the running Chromium; both are made once.
var (
	binary  string
	browser context.Context
)

// atOnce is how many tests run at the same time, each in pages of its own: they wait far more than they work. Those
// that measure time or memory run alone before. Parts of a test whose server has rows of now follow each other: they
// would wait for other tests, and the rows grow old.
const atOnce = "4"

func TestMain(m *testing.M) {
	flag.Set("test.parallel", atOnce)
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "varve-dashboard")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "varve")
	if out, err := exec.Command("go", "build", "-tags", "dashboard", "-o", binary,
		"varve/cmd/varve").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build of the server: %v\n%s", err, out)
		return 1
	}
	defer serveBlank()()
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(),
		headless(chromedp.Flag("force-device-scale-factor", "1"))...)
	defer endAlloc()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(alloc)
	defer end()
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil { // starts it
		fmt.Fprintln(os.Stderr, "the browser does not start:", err)
		return 1
	}
	return m.Run()
}

// headless are the options of a browser, and more of them. It prepares no popups of the address bar that nobody sees:
// they are two pages of its own for each one opened, and a fifth of all work.
func headless(more ...chromedp.ExecAllocatorOption) []chromedp.ExecAllocatorOption {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-features",
			"Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"))
	return append(options, more...)
}

// server is a running server.
type server struct {
	url  string
	cmd  *exec.Cmd
	done chan struct{}
	text *syncBuffer
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) add(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.WriteString(line + "\n")
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs a server of its own on a free port with an empty directory.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startAt(t, t.TempDir(), "127.0.0.1:0", args...)
}

func startAt(t *testing.T, dir, addr string, args ...string) *server {
	t.Helper()
	return startOf(t, binary, dir, addr, args...)
}

// startOf runs a server of a build of its own.
func startOf(t *testing.T, binary, dir, addr string, args ...string) *server {
	t.Helper()
	s := &server{done: make(chan struct{}), text: &syncBuffer{}}
	s.cmd = exec.Command(binary, append([]string{"serve", "--data-dir", dir, "--http-addr", addr}, args...)...)
	r, w := io.Pipe()
	s.cmd.Stdout, s.cmd.Stderr = w, w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			s.text.add(lines.Text())
			if at := regexp.MustCompile(`listening\s+(http://\S+)`).FindStringSubmatch(lines.Text()); at != nil {
				listening <- at[1]
			}
		}
	}()
	go func() {
		s.cmd.Wait()
		w.Close()
		close(s.done)
	}()
	t.Cleanup(s.stop)
	select {
	case s.url = <-listening:
	case <-s.done:
		t.Fatalf("the server ended:\n%s", s.text)
	case <-time.After(patience):
		t.Fatalf("the server does not listen:\n%s", s.text)
	}
	return s
}

func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.done:
	case <-time.After(patience):
		s.cmd.Process.Kill()
		<-s.done
	}
}

// post sends a body and wants 200.
func (s *server) post(t *testing.T, path, contentType string, body []byte) string {
	t.Helper()
	r, err := http.Post(s.url+path, contentType, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, _ := io.ReadAll(r.Body)
	if r.StatusCode != 200 {
		t.Fatalf("%s: %s: %s", path, r.Status, answer)
	}
	return string(answer)
}

// sql runs a statement and gives its rows as they came.
func (s *server) sql(t *testing.T, statement string) [][]any {
	t.Helper()
	text := s.post(t, "/v1/sql", "application/x-www-form-urlencoded", []byte("sql="+url.QueryEscape(statement)))
	var answer struct {
		Output []struct {
			Records struct{ Rows [][]any }
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		t.Fatalf("%s: %v in %s", statement, err, text)
	}
	if len(answer.Output) == 0 {
		return nil
	}
	return answer.Output[0].Records.Rows
}

// forget deletes all versions of a pipeline.
func (s *server) forget(t *testing.T, name string) {
	t.Helper()
	for _, row := range s.sql(t,
		"SELECT CAST(CAST(created_at AS BIGINT) AS STRING) FROM service_private.pipelines WHERE name = '"+name+"'") {
		ns, err := strconv.ParseInt(row[0].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		version := time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000000000")
		r, err := http.NewRequest("DELETE", s.url+"/v1/pipelines/"+name+"?version="+url.QueryEscape(version), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Fatalf("delete %s of %s: %s", version, name, answer.Status)
		}
	}
}

// ingest posts lines of JSON to a table whose time is ts in nanoseconds.
func (s *server) ingest(t *testing.T, table string, lines []string) {
	t.Helper()
	s.post(t, "/v1/ingest?db=public&pipeline_name=service_identity&custom_time_index=ts;epoch;ns&table="+
		url.QueryEscape(table), "application/x-ndjson", []byte(strings.Join(lines, "\n")))
}

// page is what a test sees in one tab. Whatever goes wrong in it fails the test: errors on the console, violations of
// the policy, requests that leave the server.
type page struct {
	t   *testing.T
	ctx context.Context
	s   *server

	mu      sync.Mutex
	trouble []string
	allowed []string // parts of messages that a test provokes on purpose
	// files[id] is the address of an answer that is a file of the dashboard, received[id] how long it was on the wire,
	// bytes.
	files    map[network.RequestID]string
	received map[network.RequestID]int
	// document is the one shown or on its way, open[id] the document for which a file is on its way: '' for a worker.
	document cdp.LoaderID
	open     map[network.RequestID]cdp.LoaderID
	scripts  []cdppage.ScriptIdentifier // those that run before the scripts of each document
}

// open opens a page of a server in a tab with nothing kept from others; scripts run before those of each document.
func open(t *testing.T, s *server, path string, scripts ...string) *page {
	t.Helper()
	return idleTab(t).show(t, s, path, scripts, giveBack)
}

// openNew opens a page in a new tab of a browser, of which nothing is in its cache.
func openNew(t *testing.T, browser context.Context, s *server, path string, scripts ...string) *page {
	t.Helper()
	return newTab(t, browser, chromedp.WithNewBrowserContext()).show(t, s, path, scripts, closeTab)
}

// closeTab closes a tab.
func closeTab(_ *page, b *tab) { b.end() }

// report fails a test for what went wrong in the page until now.
func (p *page) report(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.trouble {
		if !p.expected(text) {
			t.Errorf("in the page: %s", text)
		}
	}
	p.trouble = nil
}

// anew opens an address in the same tab for a part of the test. It takes a third less work than a tab of its own, and
// finds there what the browser keeps.
func (p *page) anew(t *testing.T, path string) {
	t.Helper()
	p.t = t
	t.Cleanup(func() { p.report(t) })
	p.afresh(path)
}

// afresh visits an address as a document of its own: where the fragment alone differs the one that is there would go
// on.
func (p *page) afresh(path string) {
	p.t.Helper()
	p.do("leave", chromedp.Navigate(blank))
	p.visit(path)
}

func (p *page) expected(text string) bool {
	for _, part := range p.allowed {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// allow takes messages with a part for expected.
func (p *page) allow(part string) { p.allowed = append(p.allowed, part) }

func (p *page) notice(ev any) {
	text := ""
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type != "error" && e.Type != "warning" {
			return
		}
		for _, a := range e.Args {
			text += " " + string(a.Value) + a.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != "error" && e.Entry.Source != "security" {
			return
		}
		text = e.Entry.Text + " " + e.Entry.URL
	case *network.EventLoadingFinished:
		p.mu.Lock()
		p.received[e.RequestID] = int(e.EncodedDataLength)
		delete(p.open, e.RequestID)
		p.mu.Unlock()
	case *network.EventLoadingFailed:
		p.mu.Lock()
		delete(p.open, e.RequestID)
		p.mu.Unlock()
	case *network.EventRequestWillBeSent:
		p.mu.Lock()
		if strings.Contains(e.Request.URL, "/dashboard/") {
			p.files[e.RequestID] = e.Request.URL
			if e.Type == network.ResourceTypeDocument {
				p.document = e.LoaderID
			}
			p.open[e.RequestID] = e.LoaderID
		}
		p.mu.Unlock()
		if u := e.Request.URL; !strings.HasPrefix(u, p.s.url) && u != blank &&
			!strings.HasPrefix(u, "about:") &&
			!strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, "data:") {
			text = "request to another origin: " + u
		}
	}
	if text != "" {
		p.mu.Lock()
		p.trouble = append(p.trouble, strings.TrimSpace(text))
		p.mu.Unlock()
	}
}

func (p *page) visit(path string) {
	p.t.Helper()
	p.do("visit "+path, chromedp.Navigate(p.s.url+path))
}

// size sets the size of the view.
func (p *page) size(width, height int64) {
	p.t.Helper()
	p.do("size", chromedp.EmulateViewport(width, height))
}

// do runs a step with patience.
func (p *page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v\n%s", what, err, p.describe())
	}
}

// eval returns the value of an expression, awaited.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", expression, err, p.describe())
	}
	return v
}

// wait waits until an expression is true; it is asked at every frame.
func (p *page) wait(what, expression string) {
	p.t.Helper()
	p.awaited(what, `new Promise((resolve) => { const look = () => { let ok = false; try { ok = Boolean(`+expression+
		`); } catch {} ok ? resolve(true) : setTimeout(look, 15); }; look(); })`)
}

// describe says what the page shows, for failures.
func (p *page) describe() string {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText.slice(0, 1500)`))
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprint(text, errors.Join(err), "\n", strings.Join(p.trouble, "\n"))
}

// caught keeps what the page would save, instead of a file: window.blob and its name window.named.
const caught = `(() => {
	const real = URL.createObjectURL;
	URL.createObjectURL = (blob) => { window.blob = blob; return real(blob); };
	HTMLAnchorElement.prototype.click = function () { window.named = this.download; };
	return true;
})()`

// clipboard keeps what the page copies: window.copied.
const clipboard = `(() => { Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { window.copied = t;
	} } }); return true; })()`

func (p *page) click(selector string) {
	p.t.Helper()
	p.still(selector)
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// press sends keys to what has the focus.
func (p *page) press(keys string, options ...chromedp.KeyOption) {
	p.t.Helper()
	p.do("press "+keys, chromedp.KeyEvent(keys, options...))
}

// drag pulls the mouse from one place to another.
func (p *page) drag(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	p.do("drag", chromedp.DragAndDropXY(fromX, fromY, toX, toY, 8))
}

// text is what an element shows.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ''`, selector))
}

// fill replaces the text of a field as somebody who types would.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.select(); return true; })()`,
		selector))
	quoted, _ := json.Marshal(text)
	eval[bool](p, fmt.Sprintf(`document.execCommand('insertText', false, %s)`, quoted))
}

// theme shows the page light or dark.
func (p *page) theme(name string) {
	p.t.Helper()
	eval[string](p, fmt.Sprintf(`localStorage.setItem('varve.theme', JSON.stringify(%q)) ?? ''`, name))
	p.do("reload", chromedp.Reload())
}

// themed holds that the page is light or dark.
func (p *page) themed(name string) {
	p.t.Helper()
	if got := eval[string](p, `document.documentElement.dataset.theme`); got != name {
		p.t.Errorf("the page is %s, want %s", got, name)
	}
}

// shot takes a screenshot, to be looked at, where somebody keeps it: with -update or with -artifacts.
func (p *page) shot(name string) {
	p.t.Helper()
	if kept := flag.Lookup("test.artifacts"); !*update && kept.Value.String() != "true" {
		return
	}
	eval[bool](p, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	dir := p.t.ArtifactDir()
	if *update {
		dir = "testdata/shots"
		if picture, err = fewColours(picture); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// fewColours makes a picture small: it keeps 256 colours, those that would be missed most, and takes the nearest of
// them for the others.
func fewColours(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	b := from.Bounds()
	counts := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts),
		func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) })
	// missed[i] is how far the nearest colour of the palette is from frequent[i], for all its pixels: a small red mark
	// counts for more than many nearly equal greys.
	missed := make([]float64, len(frequent))
	for i := range missed {
		missed[i] = math.Inf(1)
	}
	var palette color.Palette
	for next := 0; len(palette) < min(256, len(frequent)); {
		of := frequent[next]
		palette = append(palette, of)
		missed[next] = 0
		for i, c := range frequent {
			r, g, b := float64(c.R)-float64(of.R), float64(c.G)-float64(of.G), float64(c.B)-float64(of.B)
			missed[i] = min(missed[i], (r*r+g*g+b*b)*float64(counts[c]))
			if missed[i] > missed[next] {
				next = i
			}
		}
	}
	index := map[color.RGBA]uint8{}
	to := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, known := index[c]
			if !known {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			to.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, to)
	return out.Bytes(), err
}
