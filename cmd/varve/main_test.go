package main

import (
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string // on standard output
		err  string // on standard error
	}{
		{"version", []string{"version"}, 0, "varve " + version, ""},
		{"version as JSON", []string{"version", "--json"}, 0, `{"version":"` + version + `"`, ""},
		{"version by flag", []string{"--version"}, 0, "varve " + version, ""},
		{"version by flag as JSON", []string{"--version", "--json"}, 0, `{"version":"` + version + `"`, ""},
		{"nothing", nil, exitUsage, "serve", "varve serve"},
		{"help", []string{"help"}, 0, "serve", ""},
		{"help of a command", []string{"help", "serve"}, 0, "--data-dir", ""},
		{"help by flag", []string{"serve", "--help"}, 0, "--http-addr", ""},
		{"unknown command", []string{"serv"}, exitUsage, "", "serve"},
		{"unknown flag", []string{"serve", "--data-dri", "x"}, exitUsage, "", "--data-dir"},
		{"flag without a value", []string{"serve", "--http-addr"}, exitUsage, "", "varve: --http-addr needs a value\n"},
		{"bad setting", []string{"serve", "--set", "http.adr=x"}, exitUsage, "", "http.addr"},
		{"setting without a value", []string{"serve", "--set", "http.addr"}, exitUsage, "", "section.key=value"},
		{"missing file", []string{"serve", "--config", "/nonexistent/varve.toml"}, exitUsage, "",
			"/nonexistent/varve.toml"},
		{"bad provider", []string{"serve", "--user-provider", "nobody"}, exitUsage, "", "nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err strings.Builder
			code := run(c.args, streams{out: &out, err: &err})
			if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(err.String(), c.err) {
				t.Errorf("exit code %d, want %d\nout: %s\nerr: %s", code, c.code, out.String(), err.String())
			}
			if c.code != 0 && (!strings.HasPrefix(err.String(), "varve: ") ||
				strings.Count(strings.TrimSpace(err.String()), "\n") > 0) {
				t.Errorf("not one sentence: %q", err.String())
			}
		})
	}
}
