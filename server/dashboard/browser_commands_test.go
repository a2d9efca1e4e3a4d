//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pasted runs a command as it stands on a page, in a directory, and gives its output.
func pasted(t *testing.T, dir, command string, env ...string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", command)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, command, out)
	}
	return string(out)
}

// A user whose name and password are hard on a shell.
const hardUser, hardPassword = `o"p's $HOME`, "se`sa\"me' $x"

// hardServer has this user alone.
func hardServer(t *testing.T) *server {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(hardUser+"="+hardPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, "--user-provider", "static_user_provider:file:"+users)
}

// asks gives the answer to a statement that the page itself sends, as JSON.
func (p *page) asks(statement string) string {
	p.t.Helper()
	return eval[string](p,
		fmt.Sprintf(
			`import(new URL('./core/api.js', document.querySelector('script[type=module]').src)).then(async (m) => JSON.stringify(await m.list(%s)))`, quoteJSON(statement)))
}

// TestD60LargeFile: what a terminal sends a file with that is more than a page sends works as pasted.
func TestD60LargeFile(t *testing.T) {
	t.Parallel()
	open, users := start(t), hardServer(t)
	for _, c := range []struct {
		name, file, line, times string
		signed                  bool
		want                    string
	}{
		{"lines", "it's $big.log", "cannot reach cart-%d\n", "service_timestamp", false, ""},
		{"JSON lines with a time, signed in", "-big.ndjson",
			`{"ts":"2026-11-21T03:46:0%dZ","message":"of a file"}` + "\n", "ts", true, "2026-11-21T03:46:02Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := openIngest(t, open, "#t=sent")
			if c.signed {
				p = signedIn(t, users, hardUser, hardPassword, "/dashboard/ingest#t=sent")
				p.wait("the box", `document.querySelector('.try textarea')`)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(fmt.Sprintf(c.line, 1)+fmt.Sprintf(c.line, 2)),
				0o600); err != nil {
				t.Fatal(err)
			}
			eval[bool](p, fmt.Sprintf(`(() => {
				const line = %s, data = new DataTransfer();
				data.items.add(new File([line.repeat(Math.ceil((51 << 20) / line.length))], %s));
				return document.querySelector('.try').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })) || true;
			})()`, quoteJSON(fmt.Sprintf(c.line, 1)), quoteJSON(c.file)))
			p.wait("the command", `document.querySelector('.try .state-line pre')`)
			p.shot("ingest-large")
			sentBy(t, dir, eval[string](p, `document.querySelector('.try .state-line pre').textContent`))
			got := p.asks(fmt.Sprintf(`SELECT count(*), max(date_format(%s, '%%Y-%%m-%%dT%%H:%%M:%%SZ')) FROM sent`,
				c.times))
			if !strings.HasPrefix(got, `[[2,`) || !strings.Contains(got, c.want) {
				t.Errorf("in the table: %s, want 2 rows up to %s", got, c.want)
			}
		})
	}
	p := openIngest(t, open, "#t=sent")
	eval[bool](p, `(() => {
		const line = '{"ts":"2026-11-21T03:46:01Z"},\n', data = new DataTransfer();
		data.items.add(new File(['[' + line.repeat(Math.ceil((51 << 20) / line.length))], 'array.json'));
		return document.querySelector('.try').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })) || true;
	})()`)
	p.wait("an array is taken apart",
		`/^varve ingest .* --time 'ts;datestr;%\+' --format 'json' .*'array\.json'/.test(document.querySelector('.try .state-line pre')?.textContent)`)
}

// sentBy runs a varve ingest line in a directory, for the user whose password is hard on a shell.
func sentBy(t *testing.T, dir, command string) {
	t.Helper()
	if !strings.HasPrefix(command, "varve ingest ") {
		t.Errorf("the command is %s", command)
	}
	path := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(path, "varve")); err != nil {
		t.Fatal(err)
	}
	pasted(t, dir, command, "PATH="+path+":"+os.Getenv("PATH"), "VARVE_PASSWORD="+hardPassword,
		"XDG_STATE_HOME="+t.TempDir())
}

// TestD61SignedIn: with users each snippet that is a command works with the password in its variable, whatever the name
// is.
func TestD61SignedIn(t *testing.T) {
	t.Parallel()
	s := hardServer(t)
	p := signedIn(t, s, hardUser, hardPassword, "/dashboard/ingest")
	p.wait("the user in the snippet", `document.querySelector('.snippet pre')?.textContent.includes('$PASSWORD')`)
	commands := eval[[]string](p,
		`import(new URL('./page/ways.js', document.querySelector('script[type=module]').src)).then(({ ways }) => {
		const place = { base: location.origin + '/', host: location.hostname, port: location.port, tls: false, db: 'public', table: 'app', user: `+quoteJSON(hardUser)+` };
		return ways.flatMap((w) => w.snippets.filter((s) => s.run).map((s) => s.text(place)));
	})`)
	if len(commands) < 9 {
		t.Errorf("%d commands", len(commands))
	}
	for _, c := range commands {
		if strings.Contains(c, hardPassword) {
			t.Errorf("the password stands in %s", c)
		}
		before := s.figure(t, "varve_rows_written_total")
		out := pasted(t, t.TempDir(), c, "PASSWORD="+hardPassword)
		if after := s.figure(t, "varve_rows_written_total"); after <= before {
			t.Errorf("no row is stored by\n%s\n%s", c, out)
		}
	}
}

// TestD61Files: the command that sends files works as it stands, with the password in its variable.
func TestD61Files(t *testing.T) {
	t.Parallel()
	s := hardServer(t)
	p := signedIn(t, s, hardUser, hardPassword, "/dashboard/ingest")
	p.wait("the snippets", `document.querySelector('.how .tabs button')`)
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.how .tabs button')].find((b) => b.innerText === 'Files').click();
			return true; })()`)
	p.wait("the command", `document.querySelector('.snippet pre')?.textContent.startsWith('varve ingest ')`)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.log"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sentBy(t, dir, eval[string](p, `document.querySelector('.snippet pre').textContent`))
	if got := p.asks("SELECT count(*), max(message) FROM app"); got != `[[2,"two"]]` {
		t.Errorf("in the table: %s", got)
	}
}

// TestD13ExportLarge: what is more than the page can hold is offered as a command, which saves all of it as pasted.
func TestD13ExportLarge(t *testing.T) {
	t.Parallel()
	t.Run("csv", func(t *testing.T) {
		s := start(t)
		s.ingest(t, "app", shopLines(3000, time.Second))
		p := logsAt(t, s, "t=app&from=all&q=level:info")
		saved := exportLarge(t, p, "csv")
		if got, want := fmt.Sprint(strings.Count(saved, "\n")-1), s.count(t, "level = 'info'"); got != want {
			t.Errorf("the file has %s rows, %s match", got, want)
		}
	})
	t.Run("signed in, names and a search that are hard on a shell", func(t *testing.T) {
		s := hardServer(t)
		p := signedIn(t, s, hardUser, hardPassword, "/dashboard/")
		p.asks(`CREATE TABLE app (ts TIMESTAMP(9) TIME INDEX, message STRING, "it's, $x" STRING)`)
		long := strings.Repeat("x", 6000)
		p.asks(`INSERT INTO app VALUES ('2026-11-21T03:46:00.000000001Z', 'a "b" ` + long +
			`', 'y'), ('2026-11-21T03:46:01Z', 'a "b" ` + long + `', NULL), ('2026-11-21T03:46:02Z', 'c', 'z')`)
		p = signedIn(t, s, hardUser, hardPassword,
			"/dashboard/logs#t=app&from=all&q="+url.QueryEscape(`"a \"b\"" OR -it\'s\,\ \$x:*`))
		saved := exportLarge(t, p, "ndjson")
		if lines := strings.Split(saved, "\n"); len(lines) != 3 ||
			!strings.Contains(saved, `"ts":"2026-11-21T03:46:00.000000001Z"`) ||
			!strings.Contains(saved, `"it's, $x":"y"`) {
			t.Errorf("the file has %d lines: %.100s", len(lines), saved)
		}
	})
}

// exportLarge exports all rows of a page that may hold next to nothing, and gives what the command that it offers
// saves.
func exportLarge(t *testing.T, p *page, format string) string {
	t.Helper()
	p.figures()
	eval[bool](p, caught)
	eval[bool](p,
		`import(new URL('./page/logsexport.js', document.querySelector('script[type=module]').src)).then((m) => { m.bounds.memory = 10_000; return true; })`)
	p.click(".toolbar button[title=More]")
	p.named("Export", ".menu button", `e.innerText.startsWith('Export')`)
	p.wait("the dialog", `document.querySelector('dialog form select[name=format]')`)
	eval[bool](p,
		fmt.Sprintf(
			`(() => { const e = document.querySelector('dialog select[name=format]'); e.value = %q;
				e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`, format))
	p.click("dialog button.primary")
	p.wait("the command", `document.querySelector('dialog pre.command')`)
	p.shot("export-large-" + format)
	if eval[bool](p, `window.named !== undefined`) {
		t.Error("a part of the rows was saved")
	}
	command := eval[string](p, `document.querySelector('dialog pre.command').textContent`)
	if !strings.HasPrefix(command, "varve export ") {
		t.Errorf("the command is %s", command)
	}
	dir := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(dir, "varve")); err != nil {
		t.Fatal(err)
	}
	pasted(t, dir, command, "PATH="+dir+":"+os.Getenv("PATH"), "VARVE_PASSWORD="+hardPassword)
	saved, err := os.ReadFile(filepath.Join(dir, "app."+format))
	if err != nil {
		t.Fatal(err)
	}
	return string(saved)
}

// TestCopiedCurl: what an error gives for a terminal is the whole request, with what it asked.
func TestCopiedCurl(t *testing.T) {
	t.Parallel()
	s := start(t)
	shopMetrics(t, s)
	p := open(t, s, "/dashboard/metrics#q="+url.QueryEscape("sum by (code (http_requests_total)"))
	p.allow("400")
	p.wait("the error", `document.querySelector('.metrics-results .error .text')`)
	eval[bool](p, clipboard)
	p.button("Copy as curl")
	p.wait("the command", `window.copied`)
	if out := pasted(t, t.TempDir(), eval[string](p, `window.copied`)); !strings.Contains(out, "unexpected") ||
		!strings.Contains(out, "grouping opts") {
		t.Errorf("%s answers %s", eval[string](p, `window.copied`), out)
	}
}

// TestD01Shell: the command of a fresh server works in any shell.
func TestD01Shell(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/")
	p.wait("the command", `document.querySelector('.first pre')`)
	pasted(t, t.TempDir(), eval[string](p, `document.querySelector('.first pre').textContent`))
	p.button("I have sent it: look again")
	if rows := p.rowsShown(); len(rows) != 2 || !strings.Contains(strings.Join(rows, " "), "cannot reach cart-7") {
		t.Errorf("rows %q", rows)
	}
}
