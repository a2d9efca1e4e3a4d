package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/pipe"
)

const smallDocument = "version: 2\nprocessors:\n  - epoch: {field: n, resolution: s}\ntransform:\n  - {field: n, type: 'epoch, s', index: timestamp}\n"

// TestPipelineCommands: upload, list, compare and delete at a server.
func TestPipelineCommands(t *testing.T) {
	s := serve(t, nil)
	file := filepath.Join(t.TempDir(), "small.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(smallDocument)
	do := func(want int, args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := command(append(append([]string{"pipeline"}, args...), "--url", s.url)...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, want, out, errs)
		}
		return out, errs
	}
	if out, _ := do(0, "list"); out != "name  versions  latest\n" {
		t.Errorf("list: %s", out)
	}
	if _, errs := do(exitFailed, "versions", "small"); !strings.Contains(errs, "Pipeline not found, name: small") {
		t.Errorf("versions: %s", errs)
	}
	version := regexp.MustCompile(`^small: (?:unchanged, )?version (.*)\n$`)
	one, _ := do(0, "push", file)
	first := version.FindStringSubmatch(one)
	if first == nil {
		t.Fatalf("push: %s", one)
	}
	if out, _ := do(0, "push", file); out != "small: unchanged, version "+first[1]+"\n" {
		t.Errorf("push again: %s", out)
	}
	if out, _ := do(0, "diff", file); out != "" {
		t.Errorf("diff: %s", out)
	}
	write(smallDocument + "# changed\n")
	if out, errs := do(exitFailed, "diff", file); !strings.HasPrefix(out,
		"--- small "+first[1]+"\n+++ "+file+"\n@@ -3,3 +3,4 @@\n") || !strings.HasSuffix(out,
		"\n+# changed\n") || !strings.Contains(errs, "differs from") {
		t.Errorf("diff: %s%s", out, errs)
	}
	two, _ := do(0, "push", file)
	second := version.FindStringSubmatch(two)
	if second == nil || second[1] == first[1] {
		t.Fatalf("push: %s", two)
	}
	if out, _ := do(0, "versions", "small"); out != second[1]+"\n"+first[1]+"\n" {
		t.Errorf("versions: %s", out)
	}
	if out, _ := do(0, "list"); !strings.HasSuffix(out, "\nsmall  2         "+second[1]+"\n") {
		t.Errorf("list: %s", out)
	}
	if out, _ := do(0, "show", "small", "--version", first[1]); out != smallDocument {
		t.Errorf("show: %q", out)
	}
	if out, _ := do(exitFailed, "diff", "small", first[1], second[1]); !strings.HasSuffix(out, "\n+# changed\n") {
		t.Errorf("diff of versions: %s", out)
	}
	if _, errs := do(exitUsage, "diff", "small", first[1]); !strings.Contains(errs, "two versions") {
		t.Errorf("diff of one version: %s", errs)
	}
	if _, errs := do(exitUsage, "delete", "small", "--version", second[1]); !strings.Contains(errs, "--yes") {
		t.Errorf("delete: %s", errs)
	}
	do(0, "delete", "small", "--version", second[1], "--yes")
	if _, errs := do(exitFailed, "delete", "small", "--version", second[1], "--yes"); !strings.Contains(errs,
		"has no version") {
		t.Errorf("delete again: %s", errs)
	}
	if out, _ := do(0, "show", "small"); out != smallDocument {
		t.Errorf("show after delete: %q", out)
	}
	write("processors: 1\n")
	if _, errs := do(exitFailed, "push", file); !strings.Contains(errs, "pipeline request failed (1004): ") {
		t.Errorf("push of a bad document: %s", errs)
	}
}

// TestPipelineTestExits: 0, 1 for entries that fail and for another outcome, 2 for a document that does not compile.
func TestPipelineTestExits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := write("good.yaml", smallDocument), write("bad.yaml", "processors:\n  - nosuch: {}\n")
	fine, wrong := write("fine.ndjson", `{"n":1700000000}`+"\n"),
		write("wrong.ndjson", `{"n":1700000000}`+"\n"+`{"n":"x"}`+"\n")
	expected := filepath.Join(dir, "expected.json")
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
		err  string
	}{
		{"fine", []string{"test", good, fine}, 0, "table dry_run", ""},
		{"as JSON", []string{"test", good, fine, "--format", "json"}, 0, `{"tables":[`, ""},
		{"entries fail", []string{"test", good, wrong}, exitFailed, "entry 2 fails", "1 of 2 entries fail"},
		{"no compile", []string{"test", bad, fine}, exitUsage, "", "line 2"},
		{"lint", []string{"lint", good}, 0, "it compiles", ""},
		{"lint of a bad one", []string{"lint", bad}, exitUsage, "", "line 2"},
		{"one input for two", []string{"test", "-", "-"}, exitUsage, "", "standard input"},
		{"one input for a document and a dispatcher's", []string{"test", "-", fine, "--with", "x=-"}, exitUsage, "",
			"standard input"},
		{"update without a file", []string{"test", good, fine, "--update"}, exitUsage, "", "--expect"},
		{"no expectation", []string{"test", good, wrong, "--expect", expected}, exitFailed, "", "--update"},
		{"update", []string{"test", good, wrong, "--expect", expected, "--update"}, 0, "", ""},
		{"as expected, with the failure", []string{"test", good, wrong, "--expect", expected}, 0, "", ""},
		{"not as expected", []string{"test", good, fine, "--expect", expected}, exitFailed, "\n-{\"entry\":2,",
			"the outcome differs from " + expected},
		{"no samples", []string{"test", good, filepath.Join(dir, "none")}, exitFailed, "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append([]string{"pipeline"}, c.args...)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) ||
				(errs != "") != (c.code != 0) {
				t.Errorf("exit code %d, want %d: %s%s", code, c.code, out, errs)
			}
		})
	}
}

// TestPipelineTestIsTheDryRun: on all cases of documents with bodies, the outcome here is that of a server.
func TestPipelineTestIsTheDryRun(t *testing.T) {
	s := serve(t, nil)
	files, err := filepath.Glob("../../server/write/ingest/testdata/pipeline/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Name     string
			Pipeline string
			Extra    map[string]string `json:"extra_pipelines"`
			Requests []struct {
				Entries     json.RawMessage
				Body        *string
				ContentType string `json:"content_type"`
			}
		}
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			if c.Pipeline == "" {
				continue
			}
			trial := pipe.Trial{File: "case", Text: []byte(c.Pipeline), With: map[string][]byte{}}
			for name, document := range c.Extra {
				trial.With[name] = []byte(document)
				upload(t, s.url, name, document)
			}
			for _, r := range c.Requests {
				body, kind := []byte(r.Entries), "application/json"
				if r.Body != nil {
					body, kind = []byte(*r.Body), r.ContentType
				}
				kinds := map[string]string{"application/json": "json", "application/x-ndjson": "ndjson",
					"text/plain": "text"}
				if trial.Kind = kinds[kind]; trial.Kind == "" {
					continue // other kinds are not those of samples
				}
				compareTrial(t, file+": "+c.Name, s.url, &trial, body, kind)
				compared++
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d bodies were compared", compared)
	}
}

// upload stores a document.
func upload(t *testing.T, url, name, document string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/pipelines/"+name, "application/x-yaml", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("upload of %s: %s", name, resp.Status)
	}
}

// ofNow are times that a row gets when it comes, by their first digits, which may change meanwhile: those of a trial
// are of the year 2000.
var ofNow = regexp.MustCompile(fmt.Sprintf(`("semantic_type":"TIMESTAMP","value":)(9466848|%d|%d)\d+`,
	time.Now().Unix()/10000, time.Now().Unix()/10000+1))

// compareTrial takes a body through a document here and by a dry run of a server.
func compareTrial(t *testing.T, name, url string, trial *pipe.Trial, body []byte, kind string) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for part, value := range map[string]string{"pipeline": string(trial.Text), "data_type": kind,
		"data": string(body)} {
		if err := w.WriteField(part, value); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	resp, err := http.Post(url+"/v1/pipelines/dryrun", w.FormDataContentType(), &form)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := trial.Run(t.Context(), body)
	if (err == nil) != (resp.StatusCode == 200) {
		t.Errorf("%s: here %v, the server %s %s", name, err, resp.Status, answer)
		return
	}
	if err != nil {
		return
	}
	var here, there struct {
		Tables  []any
		Entries []any
	}
	for text, into := range map[string]any{string(outcome.JSON()): &here, string(answer): &there} {
		if err := json.Unmarshal([]byte(ofNow.ReplaceAllString(text, "${1}0")), into); err != nil {
			t.Fatalf("%s: %v in %s", name, err, text)
		}
	}
	a, _ := json.Marshal(here)
	b, _ := json.Marshal(there)
	if !bytes.Equal(a, b) {
		t.Errorf("%s:\n  here %s\nserver %s", name, a, b)
	}
}

// TestPipelineUnreachable: commands that need a server say so with the code of all client commands.
func TestPipelineUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	if code, _, errs := command("pipeline", "list", "--url", s.URL); code != exitUnreachable ||
		!strings.Contains(errs, "cannot reach") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
