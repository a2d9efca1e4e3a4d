package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/server"
	"varve/server/servertest"
)

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

func TestHTTPCases(t *testing.T) {
	everybody := servertest.Real(t, nil)
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=admin_pwd,reader:ro=reader_pwd,writer:wo=writer_pwd")
	})
	var n servertest.Count
	for _, path := range servertest.Files(t, "http") {
		var file httpFile
		servertest.Load(t, path, &file)
		for i, c := range file.Cases {
			h := everybody
			if slices.Contains(c.Needs, "auth") {
				h = guarded
			}
			n.Run(t, "http/"+file.Area+"/"+c.Name, func(t *testing.T) {
				vars := map[string]string{"id": fmt.Sprintf("h%s%d", file.Area, i)}
				for j, s := range c.Steps {
					if d := step(h, s, vars); d != "" {
						t.Fatalf("step %d: %s", j+1, d)
					}
				}
			})
		}
	}
	n.Report(t)
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
func step(h *servertest.House, s httpStep, vars map[string]string) string {
	deadline := time.Now().Add(time.Duration(s.RetryMS) * time.Millisecond)
	for {
		a, err := send(h, s, vars)
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

func send(h *servertest.House, s httpStep, vars map[string]string) (servertest.Answer, error) {
	body, contentType, err := s.Body.bytes(vars)
	if err != nil {
		return servertest.Answer{}, err
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
	return h.Exchange(s.Method, target, body, headers)
}

// compare says how an answer differs.
func (e *httpExpect) compare(a servertest.Answer, vars map[string]string) string {
	var one int
	var several []int
	if json.Unmarshal(e.Status, &one) == nil {
		several = []int{one}
	} else if err := json.Unmarshal(e.Status, &several); err != nil {
		return "the case's status cannot be read"
	}
	if !slices.Contains(several, a.Status) {
		return fmt.Sprintf("status %d, want %v: %s", a.Status, several, a.Body)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		want := fillAll(e.Headers[name], vars)
		got, ok := a.Header[http.CanonicalHeaderKey(name)]
		if want == nil {
			if ok {
				return fmt.Sprintf("header %s is %q, want none", name, got)
			}
			continue
		}
		if !ok {
			return fmt.Sprintf("header %s is missing", name)
		}
		if d := servertest.Match("header "+name, want, got[0]); d != "" {
			return d
		}
	}
	if e.Empty && a.Body != "" {
		return fmt.Sprintf("body %q, want none", a.Body)
	}
	if e.Text != nil {
		if d := servertest.Match("text", fillAll(e.Text, vars), any(a.Body)); d != "" {
			return d
		}
	}
	if e.RemoteRead != nil {
		got, err := servertest.RemoteReadAnswer(a)
		if err != nil {
			return fmt.Sprintf("the answer of remote read: %v", err)
		}
		return servertest.Match("remote_read", fillAll(e.RemoteRead, vars), got)
	}
	if e.JSON != nil {
		var got any
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
			return fmt.Sprintf("the body is not JSON: %v: %s", err, a.Body)
		}
		return servertest.Match("json", fillAll(e.JSON, vars), got)
	}
	return ""
}

// capture takes values out of a JSON answer.
func capture(pointers map[string]string, a servertest.Answer, vars map[string]string) string {
	for name, pointer := range pointers {
		var v any
		if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
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
