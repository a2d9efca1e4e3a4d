//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// signedIn opens a page as a user, as after the dialogue.
func signedIn(t *testing.T, s *server, user, password, path string) *page {
	t.Helper()
	p := open(t, s, "/dashboard/")
	p.allow("status of 401")
	p.allow("status of 403")
	p.allow("favicon.ico") // which a browser looks for beside what is no page
	eval[bool](p,
		fmt.Sprintf(
			`(() => { sessionStorage.setItem('varve.session', JSON.stringify({ user: %q, password: %q })); return true;
				})()`, user, password))
	p.visit("/status") // so that the page starts anew
	p.visit(path)
	return p
}

// TestD80Readers looks at the pages as a user who may only read.
func TestD80Readers(t *testing.T) {
	t.Parallel()
	s := start(t, "--user-provider", "static_user_provider:cmd:boss=b,reader:ro=r")
	document := "processors:\n  - dissect: {field: message, pattern: '%{level} %{text}'}\ntransform:\n  - {field: level, type: string}\n  - {field: text, type: string}\n"
	r, err := http.NewRequest("POST", s.url+"/v1/pipelines/shop", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("boss", "b")
	r.Header.Set("Content-Type", "application/x-yaml")
	if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != 200 {
		t.Fatal(a, err)
	}

	p := signedIn(t, s, "reader", "r", "/dashboard/pipelines#name=shop&s=info+hello")
	p.wait("a dry run", `document.querySelectorAll('.dry tbody tr').length === 1`)
	p.wait("that saving is closed",
		`[...document.querySelectorAll('.toolbar button')].some((b) => b.textContent === 'Save' && b.disabled &&
			b.title === 'Your user is read-only.')`)
	p.visit("/dashboard/ingest")
	p.wait("that sending is closed",
		`[...document.querySelectorAll('.try button')].some((b) => b.textContent === 'Send' && b.disabled) &&
			document.querySelector('.try').innerText.includes('Your user is read-only.')`)
	p.wait("snippets with the user",
		`document.querySelector('.snippet pre').textContent.includes("curl -u 'reader':\"$PASSWORD\"")`)
	if text := eval[string](p, `document.documentElement.outerHTML`); strings.Contains(text, "cmVhZGVyOnI=") {
		t.Error("the password is in the page")
	}
	p.visit("/dashboard/status")
	p.wait("the figures", `document.querySelectorAll('.figure').length > 15`)
	p.wait("the word about rights", `document.querySelector('.toolbar').innerText.includes('Your user is read-only')`)
	p.visit("/dashboard/status#tab=config")
	p.wait("that the configuration is closed",
		`document.querySelector('.status .error')?.innerText.includes('not authorized')`)
	p.visit("/dashboard/status#tab=inside")
	p.wait("the form", `document.querySelector('.card form')`)
	p.button("Set")
	p.wait("that the log level is closed",
		`document.querySelector('.card .error')?.innerText.includes('not authorized')`)

	// Nothing of the password is in the address or in what the browser keeps.
	if kept := eval[string](p, `location.href + JSON.stringify(Object.entries(localStorage))`); strings.Contains(kept,
		`"r"`) || strings.Contains(kept, "reader:r") {
		t.Errorf("kept: %s", kept)
	}
	p = signedIn(t, s, "boss", "b", "/dashboard/status#tab=config")
	p.wait("the configuration without passwords",
		`document.querySelector('table.config')?.innerText.includes('static_user_provider:cmd:***') ||
			document.querySelector('table.config')?.innerText.includes('***')`)
}

// TestD80Writers looks at the pages as a user who may only write: nothing can be read, and each page says why.
func TestD80Writers(t *testing.T) {
	t.Parallel()
	s := start(t, "--user-provider", "static_user_provider:cmd:boss=b,writer:wo=w")
	p := signedIn(t, s, "writer", "w", "/dashboard/ingest#t=app")
	p.wait("that sending is open",
		`[...document.querySelectorAll('.try button')].some((b) => b.textContent.trim() === 'Send')`)
	p.fill(".try textarea", `{"message":"from a writer"}`)
	p.button("Send")
	p.wait("the row", `document.querySelector('.sent')?.innerText.includes('1 row stored')`)
	for _, one := range everyPage {
		if one.name == "ingest" {
			continue
		}
		p.visit("/dashboard/" + one.name)
		if one.name == "status" { // what is open to all is there, and the rest says why it is not
			p.wait("what the server is",
				`/Version\s+\d/.test(document.querySelector('.about')?.innerText) && /Clock\s+User is not authorized/.test(document.querySelector('.about').innerText)`)
		}
		p.wait("the word about rights on "+one.name,
			`[...document.querySelectorAll('.banner, .toolbar')]
				.some((e) => /your user is write-only/i.test(e.innerText))`)
	}
}

// TestD80ReadOnlyButtons: what a read-only user may not do is closed beforehand, with the reason.
func TestD80ReadOnlyButtons(t *testing.T) {
	t.Parallel()
	s := start(t, "--user-provider", "static_user_provider:cmd:boss=b,reader:ro=r")
	r, err := http.NewRequest("POST", s.url+"/v1/ingest?table=app&pipeline_name=service_identity",
		strings.NewReader(`[{"message":"one","level":"info"}]`))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("boss", "b")
	r.Header.Set("Content-Type", "application/json")
	if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != 200 {
		t.Fatal(a, err)
	}
	p := signedIn(t, s, "reader", "r", "/dashboard/sql")
	closed := func(what, button string) {
		t.Helper()
		p.wait("that "+what+" is closed with the reason",
			fmt.Sprintf(
				`(() => { const b = [...document.querySelectorAll('button')].find((b) => %s); return b?.disabled &&
					/^Your user is read-only/.test(b.title); })()`, button))
	}
	p.named("the menu of the table", `.sql-tree .row button`, `e.ariaHasPopup === 'menu'`)
	closed("dropping a table", `b.textContent.startsWith('Drop')`)
	p.visit("/dashboard/status#tab=tables")
	closed("what changes a table",
		`b.title.startsWith('What to do with app') || b.closest('td') && b.ariaHasPopup === 'menu'`)
	p.allow("status of 400") // of the statement that fails, so that its curl can be copied
	p.visit("/dashboard/sql#sql=SELECT+nope")
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.runSQL(false)
	eval[bool](p, clipboard)
	p.button("Copy as curl")
	p.wait("the command", `window.copied`)
	if text := eval[string](p, `window.copied`); !strings.Contains(text, `-u "$USER"`) ||
		strings.Contains(text, "reader") || strings.Contains(text, "cmVhZGVyOnI=") {
		t.Errorf("the copied command is %s", text)
	}
	p.visit("/dashboard/logs#t=app")
	p.rowsShown()
	if text := eval[string](p,
		`location.href + JSON.stringify(Object.entries(localStorage)) + document.documentElement.outerHTML`); strings.Contains(text, "cmVhZGVyOnI=") {
		t.Error("the password is in the page")
	}
}

// TestD14HostilePages: names and samples that want to be markup stay text on every page.
func TestD14HostilePages(t *testing.T) {
	t.Parallel()
	s := start(t)
	const evil = `<img src=x onerror="document.title='broken'"><script>alert(1)</script>`
	name := `"><svg onload=alert(1)>`
	document := "processors:\n  - letter: {field: message, method: upper}\ntransform:\n  - {field: message, type: string}\n"
	s.post(t, "/v1/pipelines/"+url.PathEscape(name), "application/x-yaml", []byte(document))
	s.post(t, "/v1/ingest?table=evil&pipeline_name=service_identity", "application/json",
		[]byte(`[{"`+strings.ReplaceAll(evil, `"`, `\"`)+`":"x"}]`))
	s.post(t, "/v1/sql", "application/x-www-form-urlencoded",
		[]byte("sql="+url.QueryEscape(`CREATE TABLE marked (ts TIMESTAMP TIME INDEX) WITH (comment = '<b>bold</b>')`)))

	p := open(t, s, "/dashboard/pipelines#s="+url.QueryEscape(evil)+"&name="+url.QueryEscape(name))
	p.wait("the name as text",
		fmt.Sprintf(`[...document.querySelectorAll('.pipelines-list b')].some((b) => b.textContent === %q)`, name))
	p.wait("the sample as text",
		`[...document.querySelectorAll('.dry td')].some((c) => c.textContent.includes('<IMG SRC=X'))`)
	p.button("Steps")
	p.wait("the steps", `document.querySelector('.steps')?.innerText.includes('<IMG SRC=X')`)
	p.shot("pipeline-xss")
	p.visit("/dashboard/ingest#t=" + url.QueryEscape(evil))
	p.wait("the snippet", `document.querySelector('.snippet pre')?.textContent.includes('%3Cimg')`)
	p.visit("/dashboard/status#tab=tables")
	p.wait("the comment as text",
		`[...document.querySelectorAll('table.tables td.options')].some((c) => c.title.includes('<b>bold</b>'))`)
	if title := eval[string](p, "document.title"); title == "broken" {
		t.Error("a sample ran as a script")
	}

	// A snippet with quotes in the names is still one command that stores a row.
	p.visit("/dashboard/ingest#t=" + url.QueryEscape(`it's "odd" $(touch `+os.TempDir()+`/varve-odd)`))
	p.wait("the snippet", `document.querySelector('.snippet pre')?.textContent.includes('odd')`)
	if text := eval[string](p, `document.querySelector('.snippet pre').textContent`); strings.Contains(text,
		"$(touch") {
		t.Errorf("the snippet runs what a name says: %s", text)
	}
}
