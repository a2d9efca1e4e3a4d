package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
)

// real starts a server on a real store in a directory of the test.
func real(t *testing.T, change func(*Options)) *house {
	t.Helper()
	return realOn(t, engine.Options{}, change)
}

// realOn is real with a store of one's own options.
func realOn(t *testing.T, store engine.Options, change func(*Options)) *house {
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
	return on(t, e, change)
}

// on starts a server on a store.
func on(t *testing.T, e *engine.Engine, change func(*Options)) *house {
	t.Helper()
	return open(t, func(o *Options) {
		o.BodyLimit = 64 << 20
		pipelines := pipeline.New(pipeline.Options{Store: e})
		o.Rows = rows.Deps{Writer: web.NewWriter(e), Tables: e, Pipelines: pipelines, Prefix: "service"}
		o.Ingest.Documents, o.Ingest.Store = pipelines, e
		o.Query.Executor = sqlexec.New(e, sqlexec.Options{CopyDir: t.TempDir()})
		o.Metrics.Store, o.Lines.Databases = e, e.Databases
		o.Metrics.Samples = samples.New(samples.Options{Store: e, Prefix: "service", CacheBytes: 1 << 20,
			MaxExemplars: 1000})
		o.Admin.Store, o.Saved = e, e
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

// httpFile is a file of request and answer cases.
type httpFile struct {
	Format, Area string
	Cases        []httpCase
}

type httpCase struct {
	Name  string
	Needs []string
	Steps []httpStep
}

type httpStep struct {
	Method, Path string
	Query        [][2]string
	Headers      map[string]string
	Body         *httpBody
	Gzip         bool
	Expect       httpExpect
	Capture      map[string]string
	RetryMS      int `json:"retry_ms"`
}

type httpBody struct {
	Text      *string
	JSON      json.RawMessage
	Base64    *string
	Form      [][2]string
	Multipart []struct {
		Name, Filename, ContentType, Text string
	}
	Repeat *struct {
		Text  string
		Times int
	}
}

type httpExpect struct {
	Status  json.RawMessage
	Headers map[string]any
	JSON    any
	Text    any
	Empty   bool
	// RemoteRead is a pattern for a sampled answer of remote read: a list of series for each query.
	RemoteRead any `json:"remote_read"`
}

// count adds up what ran.
type count struct{ passed, all int }

func (n *count) report(t *testing.T) {
	t.Logf("%d of %d cases pass", n.passed, n.all)
}

// run runs one case.
func (n *count) run(t *testing.T, name string, f func(t *testing.T)) {
	n.all++
	if t.Run(strings.ReplaceAll(name, "/", " "), f) {
		n.passed++
	}
}

func TestHTTPCases(t *testing.T) {
	everybody := real(t, nil)
	guarded := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd,writer:wo=writer_pwd")
	})
	var n count
	for _, path := range files(t, "http") {
		var file httpFile
		load(t, path, &file)
		for i, c := range file.Cases {
			h := everybody
			if slices.Contains(c.Needs, "auth") {
				h = guarded
			}
			n.run(t, "http/"+file.Area+"/"+c.Name, func(t *testing.T) {
				vars := map[string]string{"id": fmt.Sprintf("h%s%d", file.Area, i)}
				for j, s := range c.Steps {
					if d := h.step(s, vars); d != "" {
						t.Fatalf("step %d: %s", j+1, d)
					}
				}
			})
		}
	}
	n.report(t)
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", folder, err)
	}
	return list
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// fill puts the variables into a text.
func fill(s string, vars map[string]string) string {
	for k, v := range vars {
		s = strings.ReplaceAll(s, "{{"+k+"}}", v)
	}
	return s
}

// fillAll puts the variables into all texts of a pattern.
func fillAll(v any, vars map[string]string) any {
	switch v := v.(type) {
	case string:
		return fill(v, vars)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fillAll(v[i], vars)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = fillAll(v[k], vars)
		}
		return out
	}
	return v
}

// bytes returns a body with its content type.
func (b *httpBody) bytes(vars map[string]string) (body []byte, contentType string, err error) {
	switch {
	case b == nil:
		return nil, "", nil
	case b.Text != nil:
		return []byte(fill(*b.Text, vars)), "", nil
	case b.JSON != nil:
		return []byte(fill(string(b.JSON), vars)), "", nil
	case b.Base64 != nil:
		body, err = base64.StdEncoding.DecodeString(*b.Base64)
		return body, "", err
	case b.Form != nil:
		return []byte(encode(b.Form, vars)), "application/x-www-form-urlencoded", nil
	case b.Repeat != nil:
		return bytes.Repeat([]byte(b.Repeat.Text), b.Repeat.Times), "", nil
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, p := range b.Multipart {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, p.Name, p.Filename)},
			"Content-Type":        {p.ContentType}})
		if err != nil {
			return nil, "", err
		}
		io.WriteString(part, fill(p.Text, vars))
	}
	err = w.Close()
	return out.Bytes(), w.FormDataContentType(), err
}

func encode(pairs [][2]string, vars map[string]string) string {
	var list []string
	for _, p := range pairs {
		list = append(list, url.QueryEscape(fill(p[0], vars))+"="+url.QueryEscape(fill(p[1], vars)))
	}
	return strings.Join(list, "&")
}

// step sends a request and says how its answer differs from what is expected.
func (h *house) step(s httpStep, vars map[string]string) string {
	deadline := time.Now().Add(time.Duration(s.RetryMS) * time.Millisecond)
	for {
		a, err := h.send(s, vars)
		if err != nil {
			return err.Error()
		}
		d := s.Expect.compare(a, vars)
		if d == "" {
			return capture(s.Capture, a, vars)
		}
		if !time.Now().Before(deadline) {
			return d
		}
	}
}

func (h *house) send(s httpStep, vars map[string]string) (answer, error) {
	body, contentType, err := s.Body.bytes(vars)
	if err != nil {
		return answer{}, err
	}
	headers := map[string]string{}
	if contentType != "" {
		headers["Content-Type"] = contentType
	}
	for k, v := range s.Headers {
		headers[k] = fill(v, vars)
	}
	if s.Gzip {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(body)
		w.Close()
		body, headers["Content-Encoding"] = out.Bytes(), "gzip"
	}
	target := fill(s.Path, vars)
	if len(s.Query) > 0 {
		target += "?" + encode(s.Query, vars)
	}
	return h.exchange(s.Method, target, body, headers)
}

var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (h *house) exchange(method, target string, body []byte, headers map[string]string) (answer, error) {
	r, err := http.NewRequest(method, h.url+target, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header["User-Agent"] = nil
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	resp, err := plainClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b)}, err
}

// compare says how an answer differs.
func (e *httpExpect) compare(a answer, vars map[string]string) string {
	var one int
	var several []int
	if json.Unmarshal(e.Status, &one) == nil {
		several = []int{one}
	} else if err := json.Unmarshal(e.Status, &several); err != nil {
		return "the case's status cannot be read"
	}
	if !slices.Contains(several, a.status) {
		return fmt.Sprintf("status %d, want %v: %s", a.status, several, a.body)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		want := fillAll(e.Headers[name], vars)
		got, ok := a.header[http.CanonicalHeaderKey(name)]
		if want == nil {
			if ok {
				return fmt.Sprintf("header %s is %q, want none", name, got)
			}
			continue
		}
		if !ok {
			return fmt.Sprintf("header %s is missing", name)
		}
		if d := match("header "+name, want, got[0]); d != "" {
			return d
		}
	}
	if e.Empty && a.body != "" {
		return fmt.Sprintf("body %q, want none", a.body)
	}
	if e.Text != nil {
		if d := match("text", fillAll(e.Text, vars), any(a.body)); d != "" {
			return d
		}
	}
	if e.RemoteRead != nil {
		got, err := remoteReadAnswer(a)
		if err != nil {
			return fmt.Sprintf("the answer of remote read: %v", err)
		}
		return match("remote_read", fillAll(e.RemoteRead, vars), got)
	}
	if e.JSON != nil {
		var got any
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			return fmt.Sprintf("the body is not JSON: %v: %s", err, a.body)
		}
		return match("json", fillAll(e.JSON, vars), got)
	}
	return ""
}

// capture takes values out of a JSON answer.
func capture(pointers map[string]string, a answer, vars map[string]string) string {
	for name, pointer := range pointers {
		var v any
		if err := json.Unmarshal([]byte(a.body), &v); err != nil {
			return fmt.Sprintf("capture %s: %v", name, err)
		}
		for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			switch node := v.(type) {
			case map[string]any:
				v = node[part]
			case []any:
				var i int
				if _, err := fmt.Sscan(part, &i); err != nil || i >= len(node) {
					return fmt.Sprintf("capture %s: no %s", name, pointer)
				}
				v = node[i]
			}
		}
		vars[name] = fmt.Sprint(v)
	}
	return ""
}
