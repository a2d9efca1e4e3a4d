//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sent keeps the credentials of each request of a page, in order: window.sent.
const sent = `(() => {
	const real = window.fetch;
	window.sent = [];
	window.fetch = (what, how) => {
		const said = how?.headers?.Authorization;
		if (said) window.sent.push(atob(said.slice(6)));
		return real(what, how);
	};
})()`

// usersFile is a server with users in a file, and what writes it anew and waits until the server takes them.
func usersFile(t *testing.T, users string) (s *server, renew func(p *page, users, probe string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "users")
	write := func(users string) {
		if err := os.WriteFile(file, []byte(users), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(users)
	s = start(t, "--user-provider", "static_user_provider:file:"+file)
	return s, func(p *page, users, probe string) {
		write(users)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		p.wait("the server's new users",
			fmt.Sprintf(
				`(() => { const r = new XMLHttpRequest(); r.open('GET', '../v1/session', false);
					r.setRequestHeader('Authorization', 'Basic ' + btoa(%q));
					r.setRequestHeader('x-service-client', 'dashboard/test'); r.send(); return r.status === 200;
					})()`, probe))
	}
}

// signIn opens a tab beside another, or the first, and types who one is.
func (p *page) signIn(user, password string) {
	p.t.Helper()
	p.allow("status of 401")
	p.wait("the dialog", `document.querySelector('dialog input[name=user]')`)
	p.fill("dialog input[name=user]", user)
	p.fill("dialog input[name=password]", password)
	p.click("dialog button.primary")
	p.wait("that the dialog is gone", `!document.querySelector('dialog')`)
}

const railUser = `document.querySelector("#rail button[title='Sign out']")?.innerText.trim()`

// TestSignOutBeside: who signs out in one tab is signed out in the others: nothing is asked in their name any more,
// nothing of them is seen, and the dialog stands where an answer is wanted. Somebody else in another tab stays.
func TestSignOutBeside(t *testing.T) {
	t.Parallel()
	s, _ := usersFile(t, "ops=sesame\nboss=b\n")
	one := open(t, s, "/dashboard/status")
	one.signIn("ops", "sesame")
	two, three := one.beside("/dashboard/sql"), one.beside("/dashboard/status")
	two.signIn("ops", "sesame")
	three.signIn("boss", "b")
	two.wait("the editor", sqlText+` !== undefined`)
	two.click(".editor")
	two.allow("/v1/sql/parse") // what is typed so far may be no statement
	two.press("SELECT 'of ops'")
	two.runSQL(false)
	two.wait("that it is kept",
		`localStorage.getItem('varve.sql.history.ops')?.includes('of ops') &&
			localStorage.getItem('varve.sql.tabs.ops')?.includes('of ops')`)
	two.before(sent) // of the document that comes then
	one.click("#rail button[title='Sign out']")
	one.wait("the question", `document.querySelector('dialog input[type=checkbox]')`)
	one.click("dialog input[type=checkbox]")
	one.click("dialog button.primary")
	for _, p := range []*page{one, two} {
		p.wait("the dialog, for nobody",
			`document.querySelector('dialog input[name=user]')?.value === '' &&
				!document.querySelector('dialog [role=alert]')`)
		if kept := eval[string](p,
			`[sessionStorage.getItem('varve.session') ?? '', ...Object.keys(localStorage).filter((k) => k.endsWith('.ops'))].join(' ').trim()`); kept != "" {
			t.Errorf("kept: %s", kept)
		}
		if rail := p.text("#rail"); strings.Contains(rail, "ops") {
			t.Errorf("the rail says %s", rail)
		}
	}
	if got := eval[string](two, `window.sent.join(' ')`); got != "" {
		t.Errorf("the other tab asked as %s", got)
	}
	if got := eval[string](three, railUser); got != "boss" {
		t.Errorf("the tab of somebody else is of %q", got)
	}
}

// TestPasswordChangedBeside: of a password that the server no longer takes each tab asks once; while the dialog is open
// nothing is sent with it. Who signs in as somebody else there finds nothing of the one before.
func TestPasswordChangedBeside(t *testing.T) {
	t.Parallel()
	s, renew := usersFile(t, "ops=sesame\nviewer:ro=look\n")
	one := open(t, s, "/dashboard/status", sent)
	one.signIn("ops", "sesame")
	two := one.beside("/dashboard/sql")
	two.signIn("ops", "sesame")
	two.wait("the editor", sqlText+` !== undefined`)
	two.click(".editor")
	two.allow("/v1/sql/parse") // what is typed so far may be no statement
	two.press("SELECT 'of ops'")
	two.runSQL(false)
	two.wait("that it is kept", `localStorage.getItem('varve.sql.history.ops')?.includes('of ops')`)
	renew(two, "ops=abracadabra\nviewer:ro=look\n", "ops:abracadabra")
	one.wait("that one has to sign in again",
		`document.querySelector('dialog [role=alert]')?.innerText.includes('Sign in again') &&
			document.querySelector('dialog input[name=user]').value === 'ops'`)
	asks := `import(document.querySelector('script[type=module]').src.replace('app.js', 'core/api.js')).then(async ({ json }) => { const before = window.sent.length; void json('v1/session').catch(() => {}); await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))); return window.sent.slice(before).join(' '); })`
	if got := eval[string](one, asks); got != "" {
		t.Errorf("while the dialog is open it asks as %s", got)
	}
	one.fill("dialog input[name=password]", "abracadabra")
	one.click("dialog button.primary")
	one.wait("the figures", `!document.querySelector('dialog') && document.querySelectorAll('.figure').length > 15`)

	two.named("Run", ".sql-actions button", `e.innerText === 'Run'`)
	two.wait("that one has to sign in again",
		`document.querySelector('dialog [role=alert]')?.innerText.includes('Sign in again')`)
	two.fill("dialog input[name=user]", "viewer")
	two.fill("dialog input[name=password]", "look")
	two.click("dialog button.primary")
	two.wait("the page of the other",
		railUser+` === 'viewer' && !document.querySelector('dialog') && `+sqlText+` !== undefined`)
	two.named("Run", ".sql-actions button", `e.innerText === 'Run'`)
	two.wait("what it gave", `document.querySelector('.result-bar')`)
	two.button("History")
	if got := eval[string](two, `localStorage.getItem('varve.sql.history.viewer')`); strings.Count(got, `"sql"`) != 1 {
		t.Errorf("the history of viewer is %s", got)
	}
}
