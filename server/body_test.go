package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"varve/server/servertest"
)

// TestAnnouncedTooLarge: a body that its header says is too large is refused at once, not when it has come or stops
// coming.
func TestAnnouncedTooLarge(t *testing.T) {
	h := servertest.Open(t, nil)
	for _, path := range []string{servertest.IngestPath, "/v1/sql", "/v1/pipelines/p"} {
		for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
			c, err := net.Dial("tcp", h.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			kind := map[string]string{"/v1/sql": "application/x-www-form-urlencoded",
				"/v1/pipelines/p": "application/yaml"}[path]
			if kind == "" {
				kind = "text/plain"
			}
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n%sContent-Length: 10737418240\r\n\r\n",
				path, kind, expect)
			if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 1000)
			n, err := c.Read(b)
			if codes := servertest.StatusLines(string(b[:n])); err != nil || len(codes) != 1 || codes[0] != "413" {
				t.Errorf("%s %s: %s, %v", path, expect, b[:n], err)
			}
		}
	}
}

// TestTextThatVanishes: what cannot be read as text is refused or counted, never lost in silence.
func TestTextThatVanishes(t *testing.T) {
	h := servertest.Real(t, nil)
	const path = "/v1/ingest?table=lines&pipeline_name=service_identity"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "one\ntwo\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	plain := []string{"Content-Type", "text/plain"}
	send := func(body string, headers ...string) servertest.Answer {
		return h.Do("POST", path, body, append(plain, headers...)...)
	}
	h.Want(send(packed.String()), 400, "send Content-Encoding: gzip")
	h.Want(send("\x28\xb5\x2f\xfd\x04\x00"), 400, "send Content-Encoding: zstd")
	h.Want(send(packed.String(), "Content-Encoding", "compress"), 415, "is not supported")
	h.Want(send("one\n", "Content-Encoding", "snappy"), 415, "is not supported")
	h.Want(send(packed.String(), "Content-Encoding", "gzip"), 200, `"affectedrows":2`)

	a := send("good\n\xff\xfe\nbad \xc3\n\ngood\n")
	h.Want(a, 200, `"affectedrows":2`)
	if got := a.Header.Get("x-service-skipped-rows"); got != "2" {
		t.Errorf("%q lines are told to be left out, want 2", got)
	}
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_ingest_dropped_lines_total 2\n")
	if a = send("good\r\n\r\n"); a.Header.Get("x-service-skipped-rows") != "" || strings.Contains(a.Body, "warnings") {
		t.Errorf("an empty line counts: %v %s", a.Header, a.Body)
	}
	a = h.Do("POST", path+"&ignore_errors=true", "{\"a\":1}\nnonsense\n{\"a\":2}\n", "Content-Type",
		"application/x-ndjson")
	h.Want(a, 200, `"affectedrows":2`)
	if got := a.Header.Get("x-service-skipped-rows"); got != "1" {
		t.Errorf("%q lines are told to be left out, want 1", got)
	}

	long := strings.Repeat("10.0.0.1 - GET /index.html", 100)
	h.Want(send(long), 200,
		`"warnings":["the body of 2600 bytes is one line: if it is a file of many, send it with curl's --data-binary @file`)
	if a := send(long + "\n"); strings.Contains(a.Body, "warnings") {
		t.Errorf("a line with its end is warned of: %s", a.Body)
	}
	yaml := "version: 2\nprocessors:\n  - dissect:\n      fields: [message]\n      patterns: ['<%{a}>']\ntransform:\n  - field: a\n    type: epoch, ms\n    index: timestamp\n"
	h.Want(h.Do("POST", "/v1/pipelines/dis", yaml, "Content-Type", "application/x-yaml"), 200, "dis")
	h.Want(h.Do("POST", "/v1/ingest?table=other&pipeline_name=dis", long, plain...), 400, "--data-binary @file")
}

// TestTableNamesOfIngest: who may write rows makes tables, but none whose name steers a terminal or leads out of a
// directory.
func TestTableNamesOfIngest(t *testing.T) {
	h := servertest.Real(t, nil)
	for name, status := range map[string]int{
		"a%2Fb": 400, "..%2F..%2Fx": 400, "..": 400, ".": 400, "a%5Cb": 400, "a%0Ab": 400, "a%00b": 400,
		"a%1b%5B2J": 400, "a%C2%85b": 400, "a%ff": 400,
		"plain": 200, "Up.per-1:2@3%23": 200, "with%20blank": 200, "%E6%B8%A9%E5%BA%A6": 200,
	} {
		a := h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table="+name, `{"a":1}`, "Content-Type",
			"application/json")
		if a.Status != status {
			t.Errorf("table %s: %d %s, want %d", name, a.Status, a.Body, status)
		}
	}
	yaml := "version: 2\nprocessors:\n  - date:\n      fields: [at]\n      formats: ['%Y-%m-%d']\ntable_suffix: _${host}\n"
	h.Want(h.Do("POST", "/v1/pipelines/hosts", yaml, "Content-Type", "application/x-yaml"), 200, "hosts")
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=hots&table=t", `{"at":1}`, "Content-Type", "application/json"), 400,
		"Pipeline not found, name: hots, version: latest. Did you mean 'hosts'?")
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=identity_service&table=t", `{"at":1}`, "Content-Type",
		"application/json"), 400, `version: latest"`)
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=service_identty&table=t", `{"at":1}`, "Content-Type",
		"application/json"), 400, "Did you mean 'service_identity'?")
	h.Want(h.Do("GET", "/v1/pipelines/host", ""), 400, "Did you mean 'hosts'?")
	h.Want(h.Do("GET", "/v1/pipelines/service_identity", ""), 400, `version: latest"`)
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=hosts&table=t", `{"at":"2024-01-01","host":"a/../b"}`, "Content-Type",
		"application/json"), 400, "Invalid table name")
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=hosts&table=t", `{"at":"2024-01-01","host":"a"}`, "Content-Type",
		"application/json"), 200, "affectedrows")
}
