package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"varve/pipeline"
)

// TestScriptsOfTheManual compiles every script and document of docs/vrl.md and repeats its session: the first script
// over the line that is shown gives the line that is shown.
func TestScriptsOfTheManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/vrl.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	blocks := func(language string) (list []string) {
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			list = append(list, m[1])
		}
		return list
	}
	scripts := blocks("vrl")
	if len(scripts) < 8 {
		t.Fatalf("%d scripts are found", len(scripts))
	}
	nothing := put("nothing.ndjson", "")
	for _, s := range scripts {
		if code, _, errs := command("vrl", "--program", put("script.vrl", s), "--input", nothing); code != 0 {
			t.Errorf("%s\nexit code %d: %s", s, code, errs)
		}
	}
	for _, d := range blocks("yaml") {
		if _, err := pipeline.Compile([]byte(d)); err != nil {
			t.Errorf("%s\n%v", d, err)
		}
	}

	session := regexp.MustCompile(
		`(?m)^    \$ cat lines.ndjson\n    (.*)\n    \$ varve vrl --program access.vrl --input lines.ndjson\n    (.*)$`).FindStringSubmatch(string(text))
	if session == nil {
		t.Fatal("the session is not found")
	}
	code, out, errs := command("vrl", "--program", put("access.vrl", scripts[0]), "--input",
		put("lines.ndjson", session[1]+"\n"))
	if code != 0 || strings.TrimSpace(out) != session[2] {
		t.Errorf("exit code %d %s\n got %s\nwant %s", code, errs, out, session[2])
	}

	complaint := regexp.MustCompile(`(?m)^    (error\[E110\].*\n(?:    .*\n)+)`).FindStringSubmatch(string(text))
	if complaint == nil {
		t.Fatal("the error of the compiler is not found")
	}
	want := strings.ReplaceAll(complaint[1], "\n    ", "\n")
	if _, _, errs := command("vrl", "--program", put("bad.vrl", "upcase(.a)\n"), "--input",
		nothing); strings.TrimSpace(errs) != strings.TrimSpace(want) {
		t.Errorf("the compiler says\n%s\nthe manual\n%s", errs, want)
	}
}
