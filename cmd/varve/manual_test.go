package main

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write documents anew")

// TestManualIsCurrent: docs/cli.md is what the command model says.
func TestManualIsCurrent(t *testing.T) {
	const path = "../../docs/cli.md"
	want := markdown(manual(model(&commandLine{}).Model))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/cli.md is not what the commands are: go test ./cmd/varve -run Manual -update (%v)", err)
	}
}

// TestManPage: the page of man names all commands, flags and exit codes, and man reads it without a word where it is
// installed.
func TestManPage(t *testing.T) {
	code, page, errs := command("help", "--man")
	if code != 0 || errs != "" || !strings.HasPrefix(page, ".TH VARVE 1 ") {
		t.Fatalf("exit code %d: %s%.200s", code, errs, page)
	}
	for _, want := range []string{".SS varve serve\n", ".SS varve pipeline test\n", `\fB\-\-data\-dir=DIR\fR`,
		`\fB\-u, \-\-user=NAME\fR`, ".SH EXIT CODES\n", ".SH CONNECTION\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Count(page, `\fB\-\-ca\-file=FILE\fR`) != 1 {
		t.Error("the flags of the connection are not told once")
	}
	if strings.Contains(page, "__complete") {
		t.Error("a hidden command is told")
	}
	for line := range strings.Lines(page) {
		if len(line) > 2 && line[0] == '.' &&
			!strings.Contains(".TH .SH .SS .PP .nf .fi .RS .RE .TP", strings.Fields(line)[0]) {
			t.Errorf("%q is a request", line)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Logf("%v: the page is not formatted", err)
		return
	}
	c := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	c.Stdin = strings.NewReader(page)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v: %s", err, out)
	}
}
