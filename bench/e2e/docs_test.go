package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"varve/bench/process"
)

var update = flag.Bool("update", false,
	"write the outputs of the documents anew; read the difference before you commit it")

// root is the tree.
const root = "../.."

// A page is a document as its blocks are run.
type page struct {
	work  string   // directory that its commands run in, with bin/varve, docs and the data of the server
	url   string   // of its server
	ports []string // of listeners that its configuration names, by turns as written and as they are

	together bool // with other pages: blocks marked `alone` show more than this one has made
}

// TestDocuments runs the blocks of README.md and docs/**.md that are marked `sh run`: those of a page in order, each by
// a bash of its own, against one fresh server in the place of 127.0.0.1:4000. Each has to succeed; what the `text`
// block right after it holds is what has to come, but for times, ids and figures of speed. A block marked `toml serve`
// is the configuration of the page's server, whose other addresses get free ports as well. Further words of a mark:
// `needs=PROGRAM` and `if=PROGRAM` end the page where that is not installed, `background` lets the block go on until
// the page ends, `wait` repeats it until it prints what the page shows. With -update outputs are written anew.
func TestDocuments(t *testing.T) {
	ran := 0
	for _, name := range documents(t) {
		text := read(t, name)
		if !strings.Contains(text, "```sh run") {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a page waits for its server most of the time
			if got := runPage(t, newPage(t, text), text); *update && got != text {
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

// TestDocumentsTogether: pages that are read one after the other by the same server do not disturb each other, in the
// order in which docs/README.md names them and in the reverse one, so that of two pages each comes first once: their
// tables and pipelines have names of their own, or the same content. A block marked `alone` shows everything that a
// server has, which is more then; a page with a configuration of its own has a server of its own.
func TestDocumentsTogether(t *testing.T) {
	names := []string{"README.md"}
	for _, m := range link.FindAllStringSubmatch(read(t, "docs/README.md"), -1) {
		if name := filepath.Join("docs", m[1]); strings.HasSuffix(name, ".md") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range documents(t) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, order := range []string{"as named", "reversed"} {
		t.Run(order, func(t *testing.T) {
			if order == "reversed" {
				slices.Reverse(names)
			}
			p := newPage(t, "")
			p.together = true
			for _, name := range names {
				if text := read(t, name); strings.Contains(text, "```sh run") &&
					!strings.Contains(text, "```toml serve") {
					t.Run(name, func(t *testing.T) { runPage(t, p, text) })
				}
			}
		})
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
func runPage(t *testing.T, p *page, text string) string {
	t.Helper()
	var out strings.Builder
	rest, line, output := text, 1, ""
	said, alone := false, false // the block before was run; it is marked so
	for {
		at := fence.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		before, mark, block := rest[:at[0]], rest[at[2]:at[3]], rest[at[4]:at[5]]
		line += strings.Count(before, "\n")
		whole := rest[at[0]:at[1]]
		shown := said && mark == "text" && strings.TrimSpace(before) == ""
		differs := shown && !same(output, block) && !(alone && p.together)
		if said && !shown && strings.Contains(output, `"error":`) {
			t.Errorf("line %d: a block before ends in an error that the page does not show:\n%s", line, output)
		}
		said = false
		switch {
		case shown:
			if differs && !*update {
				t.Errorf("line %d: got\n%s\nwant\n%s", line, output, block)
			} else if differs {
				whole = "```text\n" + output + "```\n"
			}
		case mark == "sh run" || strings.HasPrefix(mark, "sh run "):
			how := strings.Fields(mark)[2:]
			if !p.installed(t, how) {
				return out.String() + rest
			}
			want := ""
			if slices.Contains(how, "wait") {
				want = next(t, rest[at[1]:])
			}
			output = p.run(t, line, block, slices.Contains(how, "background"), want)
			said, alone = true, slices.Contains(how, "alone")
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
		addr, err := process.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		p.ports = append(p.ports, m[1], strings.TrimPrefix(addr, "127.0.0.1:"))
	}
}

// next is the text block that comes at once.
func next(t *testing.T, text string) string {
	t.Helper()
	at := fence.FindStringSubmatch(text)
	if at == nil || at[1] != "text" || !strings.HasPrefix(text, at[0]) {
		t.Fatalf("nothing says what is waited for: %.200s", text)
	}
	return at[2]
}

// installed reports whether the programs of a block's mark are there; where one is not, the test says so. Where
// VARVE_NEED_SHIPPERS is set those that it needs have to be there.
func (p *page) installed(t *testing.T, how []string) bool {
	for _, word := range how {
		kind, program, _ := strings.Cut(word, "=")
		switch kind {
		case "wait", "background", "alone":
			continue
		case "needs", "if":
		default:
			t.Fatalf("a block is marked with %q", word)
		}
		if _, err := exec.LookPath(program); err != nil && kind == "needs" && os.Getenv("VARVE_NEED_SHIPPERS") != "" {
			t.Fatal(err)
		} else if err != nil {
			t.Logf("%v: the rest of the page is not run", err)
			return false
		}
	}
	return true
}

// address is that of the server in a document.
var address = regexp.MustCompile(`(localhost|127\.0\.0\.1):4000`)

// run runs a block and gives what stands on the terminal then. One in the background goes on until the page ends; one
// that waits is repeated until it prints what is wanted.
func (p *page) run(t *testing.T, line int, block string, background bool, wanted string) string {
	t.Helper()
	if background {
		c := p.command(context.Background(), block)
		c.Cancel = nil
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			syscall.Kill(-c.Process.Pid, syscall.SIGTERM) // one that has ended is seen by Wait
			if err := c.Wait(); t.Failed() {
				t.Logf("line %d: %v\n%s", line, err, &out)
			}
		})
		return ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for ; ; <-tick.C {
		b, err := p.command(ctx, block).CombinedOutput()
		out := p.shown(string(b))
		switch {
		case ctx.Err() != nil:
			t.Fatalf("line %d: %s%v; before that\n%s", line, block, ctx.Err(), last)
		case wanted != "" && (err != nil || !same(out, wanted)):
			last = out
		case err != nil:
			t.Fatalf("line %d: %s%v\n%s", line, block, err, out)
		default:
			return out
		}
	}
}

// command is a block as bash runs it, in a group of its own, with the addresses that this server has.
func (p *page) command(ctx context.Context, block string) *exec.Cmd {
	block = strings.NewReplacer(p.ports...).Replace(
		address.ReplaceAllString(block, strings.TrimPrefix(p.url, "http://")))
	c := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", block)
	c.Dir, c.SysProcAttr = p.work, &syscall.SysProcAttr{Setpgid: true}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "VARVE_") && !strings.HasPrefix(v, "XDG_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "PATH="+filepath.Join(p.work, "bin")+":/usr/sbin:/lib/systemd:"+os.Getenv("PATH"),
		"HOME="+p.work, "TZ=UTC", "LC_ALL=C.UTF-8",
		"VARVE_URL="+p.url, "no_proxy=127.0.0.1")
	return c
}

// shown is what a command has printed as the document has it.
func (p *page) shown(out string) string {
	out = strings.NewReplacer(strings.TrimPrefix(p.url, "http://"), "127.0.0.1:4000", p.work+"/", "", "\r\n",
		"\n").Replace(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out
}

// masks take away what differs from run to run: ids, durations, rates, sizes (packed times have them), and the blanks
// that these make in tables.
var masks = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(
		`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b`), "ID"},
	{regexp.MustCompile(`"(execution_time_ms|took)":\d+`), "N"},
	{regexp.MustCompile(`\b[\d.,]+ ?[kMG]?(i?B|rows)/s\b`), "RATE"},
	{regexp.MustCompile(`\b[\d.,]+ ?([kKMG]i?)?B\b`), "SIZE"},
	{regexp.MustCompile(`\b[\d.]+ ?(ns|us|µs|ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`(─| |-)+`), " "},
}

// moment finds times, as text or counted from 1970.
var moment = regexp.MustCompile(
	`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?|\b1\d{12}(\d{3}|\d{6})?\b`)

// present reports whether a time is of this day or about it: one that the run has made.
func present(text string) bool {
	t, err := time.Parse("2006-01-02 15:04", strings.Replace(text[:min(len(text), 16)], "T", " ", 1))
	if err != nil {
		seconds, _ := strconv.ParseInt(text[:10], 10, 64) // ten digits
		t = time.Unix(seconds, 0)
	}
	return time.Since(t).Abs() < 24*time.Hour
}

// same compares an output with that of a page: where one has a time of this day the other may have any.
func same(got, want string) bool {
	if here, there := moment.FindAllString(got, -1), moment.FindAllString(want, -1); len(here) == len(there) {
		n := -1
		want = moment.ReplaceAllStringFunc(want, func(text string) string {
			if n++; present(here[n]) {
				return "TIME"
			}
			return text
		})
		got = moment.ReplaceAllStringFunc(got, func(text string) string {
			if present(text) {
				return "TIME"
			}
			return text
		})
	}
	for _, m := range masks {
		got, want = m.what.ReplaceAllString(got, m.by), m.what.ReplaceAllString(want, m.by)
	}
	return got == want
}

func TestSame(t *testing.T) {
	now := time.Now().UTC()
	for _, c := range []struct{ got, want string }{
		{"3 rows (12 ms, server 0.9 ms)", "3 rows (1.2 s, server 9 ms)"},
		{now.Format(time.RFC3339) + " in", "2025-01-31T23:59:59Z in"},
		{now.Format(time.DateTime) + ".123 and 2025-01-31 00:00", "2025-01-31 23:59:59.999 and 2025-01-31 00:00"},
		{strconv.FormatInt(now.UnixMilli(), 10), "1700000000123"},
		{"┌─ts───┬─n─┐", "┌─ts─────────┬─n─┐"},
		{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b700f067aa0ba902b7"},
		{`"execution_time_ms":1}`, `"execution_time_ms":1234}`},
		{"194 B in 3 ms", "1.2 KiB in 44ms"},
		{"10 rows, 1,234 rows/s", "10 rows, 22 rows/s"},
	} {
		if !same(c.got, c.want) {
			t.Errorf("%q is not %q", c.got, c.want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{"3 rows", "4 rows"}, {"error", "info"}, {"1700", "1800"}, {"1700000000123", "1700000000124"}, {"", "x"},
		{"2025-01-31 00:00:00", "2025-01-31 01:00:00"},
		{"2025-01-31 00:00:00", "2025-01-31 00:00:00 2025-01-31 00:00:00"},
	} {
		if same(c.got, c.want) {
			t.Errorf("%q is %q", c.got, c.want)
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

// TestPagesBegin: the pages of those who use the server begin with what a reader can do afterwards.
func TestPagesBegin(t *testing.T) {
	for _, name := range documents(t) {
		if name == "README.md" || strings.HasPrefix(name, "docs/decisions/") ||
			strings.HasPrefix(name, "docs/format/") {
			continue
		}
		text := regexp.MustCompile(`(?m)^<!--.*-->\n\n`).ReplaceAllString(read(t, name), "")
		if _, first, ok := strings.Cut(text, "\n\n"); !ok || !strings.HasPrefix(text, "# ") ||
			!strings.HasPrefix(first, "After this page ") {
			t.Errorf("%s begins with %.80q, want a title and what one can do after the page", name, first)
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

// headings lists the names that headings of a page have in links: small letters, blanks as hyphens, without
// punctuation.
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
