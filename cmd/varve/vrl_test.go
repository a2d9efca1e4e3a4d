package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"varve/pipeline/value"
)

// vrlCase is a case of the language's contract, see pipeline/vrl/testdata/cases.
type vrlCase struct {
	Name     string          `json:"name"`
	Program  string          `json:"program"`
	Event    json.RawMessage `json:"event"`
	Result   json.RawMessage `json:"result"`
	After    json.RawMessage `json:"after"`
	Codes    []int           `json:"compile_error"`
	Error    *string         `json:"runtime_error"`
	Contains *string         `json:"runtime_error_contains"`
	Abort    *string         `json:"abort"`
	Timezone string          `json:"timezone"`
}

// runVRL runs `varve vrl` on a script and lines of events.
func runVRL(t *testing.T, program, input string, more ...string) (code int, out, errs string) {
	t.Helper()
	dir := t.TempDir()
	script, events := filepath.Join(dir, "script.vrl"), filepath.Join(dir, "events.ndjson")
	for name, text := range map[string]string{script: program, events: input} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	code = run(append([]string{"vrl", "--program", script, "--input", events}, more...),
		streams{out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

func canonicalJSON(t *testing.T, text []byte) string {
	t.Helper()
	v, fault := value.ReadJSON(nil, string(text), value.JSONOptions{})
	if fault.Failed() {
		t.Fatalf("%s: %s", text, fault.In(string(text)))
	}
	return string(value.AppendJSON(nil, v))
}

func TestVRLCases(t *testing.T) {
	files, err := filepath.Glob("../../pipeline/vrl/testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []vrlCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.Name, c.check)
			}
		})
	}
}

var firstLines = regexp.MustCompile(`(?m)^error\[E(\d+)\]: .+\n  --> \d+:\d+ \(byte \d+\)$`)

func (c vrlCase) check(t *testing.T) {
	if c.Event == nil {
		c.Event = []byte("{}")
	}
	more := []string{"--print", "full"}
	if c.Timezone != "" {
		more = append(more, "--timezone", c.Timezone)
	}
	code, out, errs := runVRL(t, c.Program, string(c.Event)+"\n", more...)
	if c.Codes != nil {
		var codes []int
		for _, m := range firstLines.FindAllStringSubmatch(errs, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, n)
		}
		got, want := jsonOf(t, codes), jsonOf(t, c.Codes)
		if code != vrlNoProgram || out != "" || got != want {
			t.Errorf("%s\nexit %d, output %q, errors %s, want %s\n%s", c.Program, code, out, got, want, errs)
		}
		return
	}
	var r struct {
		Status  string          `json:"status"`
		Result  json.RawMessage `json:"result"`
		Event   json.RawMessage `json:"event"`
		Message string          `json:"message"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%s\n%v in %q\n%s", c.Program, err, out, errs)
	}
	status, exit := "ok", 0
	switch {
	case c.Abort != nil:
		status, exit = "abort", vrlRunFailed
		if r.Message != *c.Abort {
			t.Errorf("%s\nmessage %q, want %q", c.Program, r.Message, *c.Abort)
		}
	case c.Error != nil || c.Contains != nil:
		status, exit = "error", vrlRunFailed
		if c.Error != nil && r.Message != *c.Error || c.Contains != nil && !strings.Contains(r.Message, *c.Contains) {
			t.Errorf("%s\nmessage %q", c.Program, r.Message)
		}
	}
	if r.Status != status || code != exit {
		t.Errorf("%s\nstatus %s, exit %d; want %s, %d\n%s", c.Program, r.Status, code, status, exit, errs)
	}
	if c.Result != nil && canonicalJSON(t, r.Result) != canonicalJSON(t, c.Result) {
		t.Errorf("%s\n got %s\nwant %s", c.Program, r.Result, c.Result)
	}
	if c.After != nil && canonicalJSON(t, r.Event) != canonicalJSON(t, c.After) {
		t.Errorf("%s\nevent afterwards\n got %s\nwant %s", c.Program, r.Event, c.After)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestVRLCommand(t *testing.T) {
	const failing = "if .bad == true { abort \"is bad\" }\n.n = int!(.n)\n.n + 1"
	for _, c := range []struct {
		name, program, input string
		args                 []string
		code                 int
		out, errs            string // errs is the beginning
	}{
		{"result by default", ".a", "{\"a\":1}\n\n  \n{\"a\":2.0}\n", nil, 0, "1\n2.0\n", ""},
		{"any value is an event", ".", "[1,\"x\"]\n", nil, 0, "[1,\"x\"]\n", ""},
		{"no line, no run", "1", "\n", nil, 0, "", ""},
		{"event", "del(.a)", "{\"a\":1,\"b\":2}\n", []string{"--print", "event"}, 0, "{\"b\":2}\n", ""},
		{"failed runs", failing, "{\"n\":1}\n{\"n\":\"x\"}\n{\"bad\":true}\n", nil, vrlRunFailed, "2\nnull\nnull\n",
			"event 2: error: function call error for \"int\" at (40:48): expected integer, got string\nevent 3: abort: is bad\n"},
		{"full", failing, "{\"n\":1}\n{\"bad\":true}\n", []string{"--print", "full"}, vrlRunFailed,
			"{\"status\":\"ok\",\"result\":2,\"event\":{\"n\":1}}\n{\"status\":\"abort\",\"event\":{\"bad\":true},\"message\":\"is bad\"}\n", "event 2: abort: is bad\n"},
		{"does not compile", ".é = 1\n.a = string(.m)", "{}\n", nil, vrlNoProgram, "",
			"error[E203]: syntax error\n  --> 1:2 (byte 1)\n"},
		{"place in characters and bytes", "x = \"é\"; y = to_int(\"é\")", "{}\n", nil, vrlNoProgram, "",
			"error[E103]: unhandled fallible assignment\n  --> 1:14 (byte 14)\n  | x = \"é\"; y = to_int(\"é\")\n  |              ^^^^^^^^^^^"},
		{"warning", "upcase!(\"a\")", "{}\n", nil, 0, "\"A\"\n", "warning[E620]: "},
		{"read-only", ".a.b = 1", "{}\n", []string{"--read-only", ".a.b"}, vrlNoProgram, "",
			"error[E315]: mutation of read-only value\n"},
		{"above read-only", "del(.a)", "{}\n", []string{"--read-only", ".a.b"}, vrlNoProgram, "", "error[E315]: "},
		{"below read-only", ".a.b.c = 1", "{}\n", []string{"--read-only", ".a.b"}, 0, "1\n", ""},
		{"below recursive", ".a.b.c = 1", "{}\n", []string{"--read-only-recursive", ".a"}, vrlNoProgram, "",
			"error[E315]: "},
		{"metadata is another place", ".a = 1", "{}\n", []string{"--read-only", "%a"}, 0, "1\n", ""},
		{"wrong path", "1", "{}\n", []string{"--read-only", "a"}, vrlUsage, "", "varve: --read-only: "},
		{"wrong zone", "1", "{}\n", []string{"--timezone", "Nowhere/At_All"}, vrlUsage, "", "varve: --timezone: "},
		{"wrong word", "1", "{}\n", []string{"--print", "all"}, vrlUsage, "", "varve: "},
		{"input is not JSON", "1", "{\n", nil, vrlUsage, "", "varve: line 1 of the input: "},
		{"infinite is null", "parse_float!(\"inf\")", "{}\n", nil, 0, "null\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := runVRL(t, c.program, c.input, c.args...)
			if code != c.code || out != c.out || !strings.HasPrefix(errs, c.errs) || c.errs == "" && errs != "" {
				t.Errorf("exit %d, want %d\nout %q\nwant %q\nerr %q\nwant %q", code, c.code, out, c.out, errs, c.errs)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		var errs bytes.Buffer
		if code := run([]string{"vrl"}, streams{out: &errs, err: &errs}); code != vrlUsage {
			t.Errorf("exit %d\n%s", code, &errs)
		}
	})
}
