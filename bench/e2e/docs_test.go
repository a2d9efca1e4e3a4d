package e2e

import (
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"varve/bench/process"
)

var update = flag.Bool("update", false, "write the outputs of the documents anew; read the difference before you commit it")

// root is the tree.
const root = "../.."

// A page is a document as its blocks are run.
type page struct {
	work  string   // directory that its commands run in, with bin/varve, docs and the data of the server
	url   string   // of its server
	ports []string // of listeners that its configuration names, by turns as written and as they are
}

// TestDocuments runs the blocks of README.md and docs/**.md that are marked `sh run`: those of a page in order, each by a
// bash of its own, against one fresh server in the place of 127.0.0.1:4000. Each has to succeed; what the `text` block
// right after it holds is what has to come, but for times, ids and figures of speed. A block marked `toml serve` is the
// configuration of the page's server, whose other addresses get free ports as well. A block marked `sh run needs=PROGRAM`
// ends its page where that is not installed. With -update outputs are written anew.
func TestDocuments(t *testing.T) {
	ran := 0
	for _, name := range documents(t) {
		text := read(t, name)
		if !strings.Contains(text, "```sh run") {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			if got := runPage(t, text); *update && got != text {
				if err := os.WriteFile(filepath.Join(root, name), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no document has a block that is run")
	}
}

// documents lists README.md and the pages below docs by their paths in the tree.
func documents(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			name, _ := filepath.Rel(root, path) // both begin with root
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fence finds a block, with its mark and its text.
var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```\n")

// runPage runs the blocks of a page and gives it with the outputs as they are now.
func runPage(t *testing.T, text string) string {
	t.Helper()
	p := newPage(t, text)
	var out strings.Builder
	rest, line, output := text, 1, ""
	said := false // the block before was run
	for {
		at := fence.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		before, mark, block := rest[:at[0]], rest[at[2]:at[3]], rest[at[4]:at[5]]
		line += strings.Count(before, "\n")
		whole := rest[at[0]:at[1]]
		shown := said && mark == "text" && strings.TrimSpace(before) == ""
		if said && !shown && strings.Contains(output, `"error":`) {
			t.Errorf("line %d: a block before ends in an error that the page does not show:\n%s", line, output)
		}
		said = false
		switch {
		case shown:
			if masked(output) != masked(block) && !*update {
				t.Errorf("line %d: got\n%s\nwant\n%s", line, output, block)
			} else if masked(output) != masked(block) {
				whole = "```text\n" + output + "```\n"
			}
		case mark == "sh run" || strings.HasPrefix(mark, "sh run needs="):
			if program := strings.TrimPrefix(mark, "sh run needs="); program != mark && !installed(t, program) {
				return out.String() + rest
			}
			var err error
			if output, err = p.run(t, block); err != nil {
				t.Fatalf("line %d: %s%v\n%s", line, block, err, output)
			}
			said = true
		case strings.HasPrefix(mark, "sh run"):
			t.Fatalf("line %d: a block is marked %q", line, mark)
		}
		out.WriteString(before + whole)
		line += strings.Count(rest[at[0]:at[1]], "\n")
		rest = rest[at[1]:]
	}
	if said && strings.Contains(output, `"error":`) {
		t.Errorf("the last block ends in an error:\n%s", output)
	}
	return out.String() + rest
}

// newPage starts the server of a page.
func newPage(t *testing.T, text string) *page {
	t.Helper()
	p := &page{work: t.TempDir()}
	o := process.Options{Dir: filepath.Join(p.work, "data")}
	if _, config, ok := strings.Cut(text, "```toml serve\n"); ok {
		config, _, _ = strings.Cut(config, "```\n")
		p.listen(t, config)
		o.Args = []string{"--config", filepath.Join(p.work, "varve.toml")}
		if err := os.WriteFile(o.Args[1], []byte(strings.NewReplacer(p.ports...).Replace(config)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docs, err := filepath.Abs(filepath.Join(root, "docs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.work, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"bin/varve": binary, "docs": docs} {
		if err := os.Symlink(to, filepath.Join(p.work, link)); err != nil {
			t.Fatal(err)
		}
	}
	p.url = launch(t, o).URL
	return p
}

// listen finds free ports for the addresses of a configuration.
func (p *page) listen(t *testing.T, config string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`"127\.0\.0\.1:(\d+)"`).FindAllStringSubmatch(config, -1) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String()) // an address of the system's
		p.ports = append(p.ports, m[1], port)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// installed reports whether a program is there; where it is not, the test says so.
func installed(t *testing.T, program string) bool {
	_, err := exec.LookPath(program)
	if err != nil && os.Getenv("VARVE_NEED_SHIPPERS") != "" {
		t.Fatal(err)
	} else if err != nil {
		t.Logf("%v: the rest of the page is not run", err)
	}
	return err == nil
}

// address is that of the server in a document.
var address = regexp.MustCompile(`(localhost|127\.0\.0\.1):4000`)

// run runs a block and gives what stands on the terminal then, with the addresses of the document.
func (p *page) run(t *testing.T, block string) (string, error) {
	t.Helper()
	host := strings.TrimPrefix(p.url, "http://")
	block = strings.NewReplacer(p.ports...).Replace(address.ReplaceAllString(block, host))
	c := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", block)
	c.Dir = p.work
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "VARVE_") && !strings.HasPrefix(v, "XDG_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "PATH="+filepath.Join(p.work, "bin")+":"+os.Getenv("PATH"), "HOME="+p.work, "TZ=UTC", "LC_ALL=C.UTF-8",
		"VARVE_URL="+p.url, "no_proxy=127.0.0.1")
	b, err := c.CombinedOutput()
	out := strings.NewReplacer(host, "127.0.0.1:4000", p.work+"/", "", "\r\n", "\n").Replace(string(b))
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out, err
}

// masks take away what differs from run to run: ids, times, durations, rates, and the blanks that these make in tables.
var masks = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b`), "ID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b\d{13}(\d{3}|\d{6})?\b`), "TIME"},
	{regexp.MustCompile(`"execution_time_ms":\d+`), `"execution_time_ms":N`},
	{regexp.MustCompile(`\b[\d.,]+ ?[kMG]?(i?B|rows)/s\b`), "RATE"},
	{regexp.MustCompile(`\b[\d.]+ ?(ns|us|µs|ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`(─| |-)+`), " "},
}

func masked(output string) string {
	for _, m := range masks {
		output = m.what.ReplaceAllString(output, m.by)
	}
	return output
}

func TestMasks(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"3 rows (12 ms, server 0.9 ms)", "3 rows (1.2 s, server 9 ms)"},
		{"2026-11-21T04:00:00.123Z in", "2027-01-31T23:59:59.001Z in"},
		{"┌─ts───┬─n─┐", "┌─ts─────────┬─n─┐"},
		{"1700000000000", "1800000000123"},
		{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b700f067aa0ba902b7"},
		{`"execution_time_ms":1}`, `"execution_time_ms":1234}`},
		{"10 rows, 1,234 rows/s", "10 rows, 22 rows/s"},
	} {
		if masked(c.a) != masked(c.b) {
			t.Errorf("%q is %q,\n%q is %q", c.a, masked(c.a), c.b, masked(c.b))
		}
	}
	for _, c := range []struct{ a, b string }{{"3 rows", "4 rows"}, {"error", "info"}, {"1700", "1800"}} {
		if masked(c.a) == masked(c.b) {
			t.Errorf("%q and %q are the same", c.a, c.b)
		}
	}
}

// link finds links and pictures of a page, whose texts may have code.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: what links of the documents name is in the tree, files and headings alike.
func TestLinks(t *testing.T) {
	names := append(documents(t), "bench/RESULTS.md", "bench/EXPLAIN.md")
	places := map[string][]string{}
	for _, name := range names {
		places[name] = headings(read(t, name))
	}
	for _, name := range names {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, name), "\n"), -1) {
			if c := broken(name, m[1], places); c != "" {
				t.Errorf("%s: link %s: %s", name, m[1], c)
			}
		}
	}
}

// broken says what is wrong with a link of a page; empty: nothing.
func broken(from, to string, places map[string][]string) string {
	if strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://") {
		return ""
	}
	path, place, _ := strings.Cut(to, "#")
	file := from
	if path != "" {
		file = filepath.Join(filepath.Dir(from), path)
	}
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return err.Error()
	}
	if known, ok := places[file]; place != "" && !ok {
		return fmt.Sprintf("%s has no headings", file)
	} else if place != "" && !slices.Contains(known, place) {
		return fmt.Sprintf("%s has no such heading, only %q", file, known)
	}
	return ""
}

// headings lists the names that headings of a page have in links: small letters, blanks as hyphens, without punctuation.
func headings(text string) (names []string) {
	for line := range strings.Lines(fence.ReplaceAllString(text, "\n")) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || line[0] != '#' {
			continue
		}
		title = regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		names = append(names, strings.ReplaceAll(title, " ", "-"))
	}
	return names
}
