//go:build dashboard && browser

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// openPipelines opens the playground with samples.
func openPipelines(t *testing.T, s *server, fragment string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/pipelines"+fragment)
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	return p
}

// write replaces the document as somebody does who selects all and pastes.
func (p *page) write(document string) {
	p.t.Helper()
	quoted, _ := json.Marshal(document)
	eval[bool](p, fmt.Sprintf(`(() => {
		const e = document.querySelector('.editor').shadowRoot.querySelector('.cm-content');
		e.focus();
		getSelection().selectAllChildren(e);
		const data = new DataTransfer();
		data.setData('text/plain', %s);
		return e.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })) || true;
	})()`, quoted))
	p.wait("the text",
		fmt.Sprintf(
			`document.querySelector('.editor').shadowRoot.querySelector('.cm-content').innerText.replace(/\n+/g, '\n').trim() === %s.replace(/\n+/g, '\n').trim()`, quoted))
}

// marked waits until a line is marked as wrong, and what of it is underlined.
func (p *page) marked(what string, line int, underlined string) {
	p.t.Helper()
	p.wait(what+fmt.Sprintf(" in line %d", line), fmt.Sprintf(`(() => {
		const root = document.querySelector('.editor').shadowRoot;
		const lines = [...root.querySelectorAll('.cm-line')];
		return lines.findIndex((l) => l.classList.contains('cm-bad-line')) + 1 === %d && (root.querySelector('.cm-lintRange')?.textContent ?? '').includes(%q);
	})()`, line, underlined))
}

// button clicks a button by its text.
func (p *page) button(text string) {
	p.t.Helper()
	p.wait("button "+text, fmt.Sprintf(
		`[...document.querySelectorAll('button')].some((b) => b.textContent.trim() === %q && !b.disabled)`, text))
	eval[bool](p,
		fmt.Sprintf(
			`(() => { [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === %q &&
				!b.disabled).click(); return true; })()`, text))
}

// cells are the cells of the result, row by row.
func (p *page) cells() [][]string {
	p.t.Helper()
	return eval[[][]string](p,
		`[...document.querySelectorAll('.dry tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))`)
}

func TestPipelines(t *testing.T) {
	t.Parallel()
	s := start(t)

	t.Run("D50 play", func(t *testing.T) {
		p := openPipelines(t, s, "")
		p.allow("status of 400") // documents that are wrong on purpose
		p.wait("the first result, without a click", `document.querySelectorAll('.dry tbody tr').length === 2`)
		if got := p.cells()[1]; got[2] != "ERROR" || got[3] != "timeout after 30s calling payment" {
			t.Errorf("the second row is %q", got)
		}
		p.shot("pipeline")

		p.write(
			"processors:\n  - dissect: {fields: [message], patterns: ['%{time} %{level} %{text}']}\n  - letter: {fields: [level], method: lower}\ntransform:\n  - {fields: [level, text], type: string}\n")
		p.wait("the other result, without a click",
			`[...document.querySelectorAll('.dry td')].some((c) => c.innerText === 'error') &&
				![...document.querySelectorAll('.dry td')].some((c) => c.innerText === 'ERROR')`)
		p.write("processors:\n  - dissect: {field: message\n")
		p.wait("the error of the YAML", `document.querySelector('.result .error')`)
		p.marked("an open brace", 2, "dissect")
		p.write(
			"version: 2\nprocessors:\n  - dissect: {field: message, pattern: '%{time} %{level} %{text}'}\n  - nosuch: {field: time}\n")
		p.wait("the unknown processor", `document.querySelector('.result .error')?.innerText.includes('nosuch')`)
		p.marked("an unknown processor", 4, "nosuch")
		p.write(
			"version: 2\nprocessors:\n  - vrl:\n      source: |\n        .a = 1\n        .b = nosuch(1)\n        .\n")
		p.wait("the error of the script",
			`document.querySelector('.result .error')?.innerText.includes('undefined function')`)
		p.marked("an unknown function of a script", 6, "nosuch")
		if n := eval[int](p, `document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-script').length`); n !=
			3 {
			t.Errorf("%d lines look like a script, there are 3", n)
		}
		p.shot("pipeline-error")

		// What fails with the data names the entry, and the processor is marked.
		p.write(
			"processors:\n  - dissect: {field: message, pattern: '%{time} %{level} %{text}'}\n  - filter: {field: level, targets: [ERROR]}\n  - epoch: {field: text}\n")
		p.wait("the failed entry", `document.querySelector('.entry-error')?.innerText.startsWith('Entry 1')`)
		p.marked("the processor that failed", 4, "epoch")
		if text := p.text(".result-body"); !strings.Contains(text, "Entry 2 gave no row: dropped by filter") {
			t.Errorf("the dropped entry is not named in %q", text)
		}
		p.button("Steps")
		p.wait("the steps", `document.querySelectorAll('.steps li').length === 3`)
		if text := p.text(".steps"); !strings.Contains(text, "1. dissect") ||
			!strings.Contains(text, "3. epoch failed") {
			t.Errorf("the steps are %q", text)
		}
		// The first step is told apart from the entry itself.
		if got := eval[[]string](p,
			`[...document.querySelectorAll('.steps li:first-child tr')]
				.map((r) => r.className + ' ' + r.cells[1].innerText)`); !slices.Equal(got, []string{"added level", "same message", "added text", "added time"}) {
			t.Errorf("the first step differs from the entry by %q", got)
		}
	})

	t.Run("D51 save", func(t *testing.T) {
		s.post(t, "/v1/pipelines/other", "application/x-yaml",
			[]byte(
				"processors:\n  - letter: {field: message, method: upper}\ntransform:\n  - {field: message, type: string}\n"))
		p := openPipelines(t, s, "")
		p.button("Save")
		p.wait("the question for a name", `document.querySelector('dialog input')`)
		p.fill("dialog input", "shop.web")
		p.wait("that the answer can be given", `!document.querySelector('dialog .buttons .primary').disabled`)
		p.press("\r")
		p.wait("the name in the list",
			`document.querySelector('.pipelines-list [aria-pressed=true] b')?.innerText === 'shop.web'`)
		if got := eval[string](p, `document.querySelector('.samples textarea').value`); !strings.Contains(got,
			"cart opened") {
			t.Errorf("saving leaves the samples %q", got)
		}
		p.wait("what becomes of them", `document.querySelectorAll('.dry tbody tr').length === 2`)
		time1 := s.sql(t, "SELECT count(*) FROM service_private.pipelines WHERE name = 'shop.web'")
		if fmt.Sprint(time1) != "[[1]]" {
			t.Errorf("versions stored: %v", time1)
		}
		first := s.sql(t, "SELECT pipeline FROM service_private.pipelines WHERE name = 'shop.web'")[0][0].(string)
		second := strings.Replace(first, "level, type: string", "level, type: string, on_failure: ignore", 1)
		p.fill(".samples textarea", "2026-11-21T03:46:00Z INFO cart opened")
		p.write(second)
		p.wait("the mark of changes",
			`[...document.querySelectorAll('.toolbar .badge')].some((b) => b.innerText === 'changed')`)
		p.button("Save")
		p.wait("two versions",
			`[...document.querySelectorAll('.result .tabs button')].some((b) => b.innerText === 'Versions (2)')`)
		p.button("Versions (2)")
		p.wait("the list", `document.querySelectorAll('table.versions tr').length === 2`)
		// The older one against what is in the editor.
		eval[bool](p,
			`(() => { const e = document.querySelectorAll('.result-body select')[0]; e.selectedIndex = 2;
				e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
		p.wait("the difference",
			`document.querySelectorAll('.diff .added').length === 1 &&
				document.querySelectorAll('.diff .removed').length === 1`)
		if text := p.text(".diff .added"); !strings.Contains(text, "on_failure: ignore") {
			t.Errorf("the new line is %q", text)
		}
		p.shot("pipeline-versions")
		eval[bool](p,
			`(() => { [...document.querySelectorAll('table.versions tr')][1].querySelector('button').click();
				return true; })()`)
		p.wait("a third version",
			`[...document.querySelectorAll('.result .tabs button')].some((b) => b.innerText === 'Versions (3)')`)
		rows := s.sql(t,
			"SELECT pipeline FROM service_private.pipelines WHERE name = 'shop.web' ORDER BY created_at DESC LIMIT 1")
		if rows[0][0].(string) != first {
			t.Errorf("the restored text is %q", rows[0][0])
		}
		p.wait("the list of three", `document.querySelectorAll('table.versions tr').length === 3`)
		eval[bool](p,
			`(() => { [...document.querySelectorAll('table.versions tr')][2].querySelector('.danger').click();
				return true; })()`)
		p.wait("the question", `document.querySelector('dialog input')`)
		p.fill("dialog input", "shop.web")
		p.wait("that the answer can be given", `!document.querySelector('dialog .buttons .primary').disabled`)
		p.click("dialog .buttons .primary")
		p.wait("one version less",
			`[...document.querySelectorAll('.result .tabs button')].some((b) => b.innerText === 'Versions (2)')`)
		p.button("Table")
		p.wait("the statement of the table", `document.querySelector('.ddl')?.innerText.includes('CREATE TABLE')`)
		p.button("Create the table")
		p.said("is there")
		if got := s.sql(t, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'shop.web'"); fmt.Sprint(
			got) != "[[1]]" {
			t.Errorf("tables called shop.web: %v", got)
		}
		// Another browser finds the same from the address.
		q := openPipelines(t, s, eval[string](p, "location.hash"))
		q.wait("the stored document",
			`document.querySelector('.editor').shadowRoot.querySelector('.cm-content').innerText.includes('%{time} %{level} %{text}')`)
		q.wait("the same samples", `document.querySelector('.samples textarea').value.includes('cart opened')`)
	})

	// The stored text comes late: until then there is nothing to try, and what was saved meanwhile stays.
	t.Run("a late document", func(t *testing.T) {
		const late = `(() => {
			const real = window.fetch, gate = new Promise((open) => { window.letThrough = open; });
			window.tried = 0;
			window.fetch = async (what, how) => {
				const path = new URL(what?.url ?? what, location.href).pathname;
				if (path.endsWith('/v1/pipelines/dryrun')) window.tried++;
				const answer = await real(what, how);
				if (path.endsWith('/v1/pipelines/late') && (how?.method ?? 'GET') === 'GET') await gate;
				return answer;
			};
		})()`
		first := "processors:\n  - letter: {field: message, method: upper}\ntransform:\n  - {field: message, type: string}\n"
		s.post(t, "/v1/pipelines/late", "application/x-yaml", []byte(first))
		p := open(t, s, "/dashboard/pipelines#name=late&s=one", late)
		p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		eval[bool](p, `(document.querySelector('.samples textarea').focus(), true)`)
		p.mod("\r")
		eval[bool](p, `(window.letThrough(), true)`)
		p.wait("what becomes of the sample",
			`[...document.querySelectorAll('.dry tbody td')].some((c) => c.innerText === 'ONE')`)
		if n := eval[int](p, `window.tried`); n != 1 {
			t.Errorf("%d trials of one document", n)
		}

		s.forget(t, "late")
		q := open(t, s, "/dashboard/pipelines#s=one", late)
		q.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		q.write(first)
		q.button("Save") // at once: the document before, the example, fails with this sample
		q.wait("the question for a name", `document.querySelector('dialog input')`)
		q.fill("dialog input", "late")
		q.wait("that the answer can be given", `!document.querySelector('dialog .buttons .primary').disabled`)
		q.press("\r")
		q.wait("the name", `document.querySelector('.doc-name').innerText === 'late'`)
		second := strings.Replace(first, "upper", "lower", 1)
		q.write(second)
		q.wait("that it is changed", `document.querySelector('.toolbar .badge')?.innerText === 'changed'`)
		q.button("Save")
		q.said("is now the default") // of the first time
		q.said("is now the default")
		q.wait("that it is saved", `!document.querySelector('.toolbar .badge')`)
		eval[bool](q, `(window.letThrough(), true)`)
		q.quiet()
		if got := eval[string](q,
			`document.querySelector('.editor').shadowRoot.querySelector('.cm-content').innerText`); !strings.Contains(
			got, "lower") {
			t.Errorf("after saving the editor holds %q", got)
		}
		q.write("processors:\n  - epoch: {field: message}\n" + second[strings.Index(second, "transform"):])
		q.wait("that it is changed", `document.querySelector('.toolbar .badge')?.innerText === 'changed'`)
		q.button("Save") // at once: the document before did not fail
		q.wait("the question", `document.querySelector('dialog')?.innerText.includes('Failed to parse one to int')`)
		q.button("Cancel")
	})

	t.Run("D52 draft", func(t *testing.T) {
		now := time.Now().UTC().Add(-time.Hour)
		for _, c := range []struct{ name, samples, want string }{
			{"JSON", `{"ts":"2026-11-21T03:46:00Z","level":"info","took":12}` + "\n" +
				`{"ts":"2026-11-21T03:46:01Z","level":"warn","took":7}`, "2026-11-21"},
			{"logfmt",
				"ts=2026-11-21T03:46:00Z level=info msg=\"a b\" n=5\nts=2026-11-21T03:46:01Z level=warn msg=c n=7",
				"a b"},
			{"access log",
				`1.2.3.4 - frank [10/Oct/2026:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 "http://x/" "agent"`,
				"frank"},
			{"syslog", now.Format("Jan _2 15:04:05") + " web-1 sshd[123]: Failed password for root", "Failed password"},
			{"syslog of RFC 5424", "<165>1 2026-10-11T22:14:15.003Z host.example app 111 ID47 - an event", "an event"},
			{"CSV", "time,host,usage\n2026-11-21T03:46:00Z,web-1,0.5\n2026-11-21T03:46:01Z,web-2,0.7", "web-2"},
			{"time, level, message", "2026-11-21 03:46:00,123 INFO started\n2026-11-21 03:46:01,500 ERROR failed: x",
				"failed: x"},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := openPipelines(t, s, "#s="+url.QueryEscape(c.samples))
				p.allow("status of 400") // the example fails with other samples
				p.button("Make a start from these")
				p.wait("the reason", `document.querySelector('.why')?.innerText.length > 10`)
				p.wait("rows without an error",
					fmt.Sprintf(
						`!document.querySelector('.result .error, .entry-error') &&
							[...document.querySelectorAll('.dry td')].some((c) => c.innerText.includes(%q))`, c.want))
				if c.name == "CSV" {
					p.shot("pipeline-draft")
				}
			})
		}
	})

	t.Run("narrow and dark", func(t *testing.T) {
		p := openPipelines(t, s, "#name=shop.web")
		p.theme("dark")
		p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
		p.fill(".samples textarea", "2026-11-21T03:46:00Z INFO cart opened\n2026-11-21T03:46:00Z ERROR x")
		p.wait("rows", `document.querySelectorAll('.dry tbody tr').length === 2`)
		p.shot("pipeline-dark")
		p.size(380, 760)
		p.shot("pipeline-narrow")
		if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
			t.Errorf("the page is %d px wide on a screen of 380", wide)
		}
	})
}
