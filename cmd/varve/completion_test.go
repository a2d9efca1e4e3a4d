package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// offered are the words that may come next, joined by blanks.
func offered(environ []string, words ...string) string {
	t := typed{environ: environ, flags: map[string]string{}}
	var list []string
	for _, o := range t.complete(words) {
		list = append(list, o.word)
	}
	return strings.Join(list, " ")
}

func TestComplete(t *testing.T) {
	config := filepath.Join(t.TempDir(), "varve")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "client.toml"),
		[]byte("[prod]\nurl = \"http://127.0.0.1:1\"\n[local]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_CONFIG_HOME=" + filepath.Dir(config), "VARVE_URL=http://127.0.0.1:1"}
	for _, c := range []struct{ name, words, want string }{
		{"commands", "ser", "serve"},
		{"commands below", "pipeline ve", "versions"},
		{"nothing hidden", "__", ""},
		{"flags", "serve --da", "--data-dir --dashboard-dir"},
		{"flags that were given are not offered again", "serve --data-dir x --da", "--dashboard-dir"},
		{"but those that may be repeated", "serve --set a=b --se", "--set"},
		{"values of a flag", "vrl --print ", "result event full"},
		{"values behind =", "vrl --print=f", "--print=full"},
		{"values of an argument", "completion f", "fish"},
		{"files of a flag", "serve --config ", ":files"},
		{"files behind =", "serve --config=/et", ":files"},
		{"directories of a flag", "serve --data-dir ", ":dirs"},
		{"directories as an argument", "check ", ":dirs"},
		{"files as an argument", "pipeline lint ", ":files"},
		{"no more arguments", "pipeline lint x ", ""},
		{"flags behind arguments", "pipeline test a b --exp", "--expect"},
		{"no flags behind --", "pipeline lint -- --", ":files"},
		{"profiles", "sql --profile ", "local prod"},
		{"help", "help pipe", "pipeline"},
		{"help below", "help pipeline pu", "push"},
		{"tables of a server that is not there", "tail ", ""},
		{"unknown command", "nosuch ", commandNames(t)},
		{"unknown flag", "serve --nosuch=", ""},
	} {
		if got := offered(environ, strings.Split(c.words, " ")...); got != c.want {
			t.Errorf("%s: %q offers %q, want %q", c.name, c.words, got, c.want)
		}
	}
}

// commandNames are all commands: behind a word that is none they are offered, as before it.
func commandNames(t *testing.T) string {
	t.Helper()
	var names []string
	for _, o := range commandsOf(model(&commandLine{}).Model.Node) {
		names = append(names, o.word)
	}
	return strings.Join(names, " ")
}

// TestCompleteNames: names come from the server, where it answers soon.
func TestCompleteNames(t *testing.T) {
	s := serve(t, nil)
	for _, name := range []string{"small", "a%09tab", "%3Afiles"} { // the latter two are not offered
		upload(t, s.url, name, smallDocument)
	}
	for _, sql := range []string{"CREATE DATABASE other", "CREATE TABLE logs (ts TIMESTAMP TIME INDEX)",
		"CREATE TABLE other.inner (ts TIMESTAMP TIME INDEX)"} {
		if code, _, errs := command("sql", "--url", s.url, "-e", sql); code != 0 {
			t.Fatal(errs)
		}
	}
	// soon gives what is offered once the server has answered in time: a busy one may not at first.
	soon := func(environ []string, words ...string) (got string) {
		waitFor(t, func() bool {
			got = offered(environ, words...)
			return got != ""
		})
		return got
	}
	for _, c := range []struct{ words, want string }{
		{"tail lo", "logs"},
		{"tail --db other ", "inner"},
		{"tail --db oth", "other"},
		{"export --table l", "logs"},
		{"pipeline show ", "small"},
		{"ingest --pipeline s", "small"},
	} {
		if got := soon([]string{"VARVE_URL=" + s.url}, strings.Split(c.words, " ")...); got != c.want {
			t.Errorf("%q offers %q, want %q", c.words, got, c.want)
		}
	}
	if got := soon(nil, "tail", "--url="+s.url, "l"); got != "logs" {
		t.Errorf("by --url: %q", got)
	}
	if got := soon([]string{"VARVE_URL=" + s.url}, "pipeline", "delete", "small", "--version",
		""); !strings.HasPrefix(got, "20") || !strings.Contains(got, "T") {
		t.Errorf("versions: %q", got)
	}
	forever := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-forever:
		}
	}))
	defer slow.Close()
	defer close(forever)
	if got := offered([]string{"VARVE_URL=" + slow.URL}, "tail", ""); got != "" {
		t.Errorf("a server that does not answer offers %q", got)
	}
	if got := offered([]string{"VARVE_URL=" + s.url, "VARVE_USER=nobody"}, "tail", ""); got != "" {
		t.Errorf("without the password of a user it offers %q", got)
	}
}

// TestShells: the scripts load in their shells and complete commands, flags, values and files. Where a shell is not
// installed, the test says so; where VARVE_NEED_SHELLS is set they have to be there.
func TestShells(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "varve"),
		[]byte("#!/bin/sh\nVARVE_TEST_PROGRAM=1 exec '"+os.Args[0]+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "a file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "pipeline\n--\nlist\nshow\nversions\npush\ndiff\ndelete\ntest\nlint\n--\n--http-addr\n--\nevent\n--\nfiles\n--\n"
	for _, c := range []struct{ shell, script, want string }{
		{"bash", `source <(varve completion bash)
complete -p varve >/dev/null || exit 1
try() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _varve; printf '%s\n' "${COMPREPLY[@]}"; echo --; }
cd "$BIN"
try varve pipe; try varve pipeline ""; try varve serve --ht; try varve vrl --print = ev; try varve pipeline lint a`,
			strings.Replace(want, "files", "a file", 1)},
		{"zsh", `autoload -U compinit; compinit -D -u; source <(varve completion zsh)
[[ $_comps[varve] == _varve ]] || exit 1
_describe() { local -a list; list=("${(@P)3}"); print -l -- "${(@)list%%:*}" }
_files() { print files }
compset() { }
try() { local -a words; words=("$@"); integer CURRENT=${#words}; _varve; print -- -- }
try varve pipe; try varve pipeline ""; try varve serve --ht; try varve vrl --print=ev; try varve pipeline lint a`,
			strings.Replace(want, "\nevent\n", "\n--print=event\n", 1)},
		{"fish", `varve completion fish | source
function try; complete -C "$argv" | string replace -r '\t.*' ''; echo --; end
cd $BIN
try 'varve pipe'; try 'varve pipeline '; try 'varve serve --ht'; try 'varve vrl --print=ev'; try 'varve pipeline lint a'`, ""},
	} {
		path, err := exec.LookPath(c.shell)
		if err != nil {
			if os.Getenv("VARVE_NEED_SHELLS") != "" {
				t.Error(err)
			}
			t.Logf("%v: its script is not tried", err)
			continue
		}
		shell := exec.Command(path, map[string][]string{"bash": {"--norc", "-c"}, "zsh": {"-f", "-c"},
			"fish": {"--no-config", "-c"}}[c.shell]...)
		shell.Args = append(shell.Args, c.script)
		shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "BIN=" + bin, "HOME=" + bin,
			"VARVE_URL=http://127.0.0.1:1"}
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", c.shell, err, out)
		}
		if c.want != "" && string(out) != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.shell, out, c.want)
		}
		for _, word := range []string{"pipeline", "versions", "--http-addr", "event"} {
			if !strings.Contains(string(out), word) {
				t.Errorf("%s does not complete %s:\n%s", c.shell, word, out)
			}
		}
	}
}
