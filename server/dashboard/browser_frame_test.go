//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// hostile are texts of strangers that must stay texts.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `javascript:alert(1)`, `"><svg onload=alert(1)>`,
	`</style><style>*{display:none}</style>`,
	"\x1b[31mred\x1b[0m \x1b]0;title\x07", "right \u202eto left\u202c", "nul \x00 byte", `${alert(1)} {{7*7}}`,
	`http://example.com/<b>`,
}

func TestD14HostileText(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	for i, h := range hostile {
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"level":%s,"service":%s,%s:"field","message":%s}`,
			time.Now().UnixNano()+int64(i), quoteJSON(h), quoteJSON(h), quoteJSON(hostile[i%5]), quoteJSON(h)))
	}
	s.ingest(t, "app", lines)
	p := open(t, s, "/dashboard/logs#t=app&from=now-1h&to=now%2B1h")
	eval[bool](p, `(() => { window.alerted = 0; window.alert = () => { window.alerted++; }; return true; })()`)
	rows := p.rowsShown()
	if len(rows) < len(hostile) {
		t.Errorf("%d rows, want %d", len(rows), len(hostile))
	}
	text := strings.Join(rows, "\n")
	for _, h := range hostile[:5] {
		if !strings.Contains(text, h) {
			t.Errorf("the list does not show %q:\n%s", h, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x00\u202e") {
		t.Errorf("the list steers its reader: %q", text)
	}
	p.settled()
	p.shot("xss")
	for tab := range 3 {
		eval[bool](p, fmt.Sprintf(`document.querySelector(".grid-row[data-row='%d'] .grid-cell").click() ?? true`,
			tab*3))
		p.wait("the drawer", `document.querySelector('.drawer')`)
		p.click(".drawer [data-tab=json]")
		p.wait("the tree", `document.querySelector('.json')`)
		p.click(".drawer [data-tab=fields]")
	}
	for _, tab := range []string{"patterns", "fields"} {
		p.click("[data-tab=" + tab + "]")
		p.wait(tab, `document.querySelector('.patterns, .fields-panel')`)
	}
	if n := eval[int](p,
		`window.alerted + document.querySelectorAll('#page script, #page img, #page svg[onload]').length`); n != 0 {
		t.Errorf("%d alerts and elements made of text", n)
	}
}

func quoteJSON(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// TestD04Names filters by click on columns and values that need quoting; D05: what is excluded keeps rows without.
func TestD04Names(t *testing.T) {
	t.Parallel()
	s := start(t)
	values := []string{`it's`, `100%`, `back\slash`, "two\nlines", `"quoted"`, `🙂`, `a_b`, ``}
	var lines []string
	for i := range 80 {
		v := quoteJSON(values[i%len(values)])
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"a.b":%s,"A\"b":%s,"select":%s,"message":"row %d"}`,
			time.Now().UnixNano()+int64(i), v, v, v, i))
	}
	lines = append(lines, fmt.Sprintf(`{"ts":%d,"message":"without"}`, time.Now().UnixNano()+100))
	s.ingest(t, "app", lines)
	p := open(t, s, "/dashboard/logs#"+state("t", "app", "to", "now+1h"))
	p.figures()
	for _, column := range []string{`a.b`, `A"b`, `select`} {
		p.named("field "+column, `.field .name`, fmt.Sprintf(`e.title.startsWith(%s)`, quoteJSON(column+": ")))
		for _, v := range []string{`it's`, `100%`, `back\slash`, "two\nlines", `"quoted"`, `🙂`, `a_b`} {
			for label, want := range map[string]int{"Only ": 10, "Not ": 71} {
				p.named(label+v, `.values .value button`, fmt.Sprintf(`e.ariaLabel === %s`, quoteJSON(label+v)))
				p.wait(fmt.Sprintf("%d rows of %s%s of %s", want, label, v, column),
					fmt.Sprintf(
						`document.querySelector('.logs-status .figures b')?.innerText === '%d rows' &&
							document.querySelectorAll('.chip').length === 1`, want))
				p.named("the chip's ×", `.chip button`, `e.ariaLabel === 'Remove this filter'`)
				p.wait("all rows",
					`document.querySelector('.logs-status .figures b')?.innerText === '81 rows' &&
						document.querySelectorAll('.values .value').length >= 8`)
			}
		}
		p.named("field "+column, `.field .name`, `e.ariaExpanded === 'true'`)
	}
}

// named clicks the element of a selector that is so, once it is there.
func (p *page) named(what, selector, is string) {
	p.t.Helper()
	p.wait(what,
		fmt.Sprintf(
			`(() => { const e = [...document.querySelectorAll(%q)].find((e) => %s && !e.disabled); e?.click(); return e;
				})()`, selector, is))
}

func TestD80SignIn(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("ops=sesame\nviewer:ro=look\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--user-provider", "static_user_provider:file:"+users)
	p := open(t, s, "/dashboard/")
	p.allow("status of 401")
	p.wait("the dialog", `document.querySelector('dialog input[name=user]')`)
	p.shot("signin")
	sign := func(user, password string) {
		p.fill("dialog input[name=user]", user)
		p.fill("dialog input[name=password]", password)
		p.click("dialog button.primary")
	}
	sign("ops", "wrong")
	p.wait("the refusal", `document.querySelector('dialog [role=alert]')?.innerText.includes('wrong')`)
	p.wait("the name as it was and the focus in the password's field",
		`document.querySelector('dialog input[name=user]').value === 'ops' &&
			document.activeElement.name === 'password'`)
	sign("ops", "sesame")
	p.wait("the page", `document.querySelector('.first') && !document.querySelector('dialog')`)
	kept := eval[string](p, `JSON.stringify(localStorage) + document.cookie + location.href`)
	if strings.Contains(kept, "sesame") {
		t.Errorf("the password is kept: %s", kept)
	}
	p.visit("/dashboard/sql")
	p.wait("nothing asked again", `document.querySelector('.sql-actions') && !document.querySelector('dialog')`)

	// Signing out forgets who it was, and what is kept of them where that is wanted.
	leave := func(all bool) {
		p.click("#rail button[title='Sign out']")
		p.wait("the question", `document.querySelector('dialog input[type=checkbox]')`)
		if all {
			p.click("dialog input[type=checkbox]")
		}
		p.click("dialog button.primary")
		p.wait("the dialog to sign in", `document.querySelector('dialog input[name=user]')`)
		if kept := eval[string](p, `sessionStorage.getItem('varve.session') ?? ''`); kept != "" {
			t.Errorf("after signing out the tab keeps %q", kept)
		}
	}
	const history = `localStorage.getItem('varve.sql.history.ops') !== null`
	eval[bool](p, `(() => { localStorage.setItem('varve.sql.history.ops', '[]'); return true; })()`)
	leave(false)
	if !eval[bool](p, history) {
		t.Error("the history is gone although nobody asked for that")
	}
	p.wait("how a proxy is said", `document.querySelectorAll('dialog input[type=checkbox]').length === 2`)
	eval[bool](p, `(() => { document.querySelectorAll('dialog input[type=checkbox]')[1].click(); return true; })()`)
	sign("ops", "sesame")
	p.wait("the page", `document.querySelector('.sql-actions') && !document.querySelector('dialog')`)
	p.do("reload", chromedp.Reload())
	p.wait("the page again", `document.querySelector('.sql-actions') && !document.querySelector('dialog')`)
	if header := eval[string](p,
		`import(new URL('./core/auth.js', document.querySelector('script[type=module]').src)).then((m) => m.header()[0][0])`); header != "x-service-auth" {
		t.Errorf("after a reload the credentials go into %s, which the proxy keeps", header)
	}
	leave(true)
	if eval[bool](p, history) {
		t.Error("the history is kept although it was to be forgotten")
	}
}

// TestD80Ended: who is signed in and is refused later is told that, and not that what nobody typed is wrong.
func TestD80Ended(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	password := func(is string) {
		if err := os.WriteFile(users, []byte("ops="+is+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	password("sesame")
	s := start(t, "--user-provider", "static_user_provider:file:"+users)
	p := signedIn(t, s, "ops", "sesame", "/dashboard/sql")
	renew := func(to string) {
		password(to)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		p.wait("the server's new users",
			fmt.Sprintf(
				`(() => { const r = new XMLHttpRequest(); r.open('GET', '../v1/session', false);
					r.setRequestHeader('Authorization', 'Basic ' + btoa('ops:%s'));
					r.setRequestHeader('x-service-client', 'dashboard/test'); r.send(); return r.status === 200;
					})()`, to))
	}
	again := func() {
		p.named("Run", ".sql-actions button", `e.innerText === 'Run'`)
		p.wait("that one has to sign in again",
			`document.querySelector('dialog [role=alert]')?.innerText.includes('Sign in again')`)
		if text := p.text("dialog"); strings.Contains(text, "wrong") {
			t.Errorf("nothing was typed yet: %s", text)
		}
	}
	sign := func(password string) {
		p.fill("dialog input[name=password]", password)
		p.click("dialog button.primary")
	}
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.click(".editor")
	p.allow("/v1/sql/parse") // what is typed so far may be no statement
	p.press("SELECT 40 + 2")
	renew("abracadabra")
	again()
	sign("sesame")
	p.wait("the refusal", `document.querySelector('dialog [role=alert]')?.innerText.includes('wrong')`)
	sign("abracadabra")
	p.wait("the answer",
		`!document.querySelector('dialog') && [...document.querySelectorAll('.sql-results .grid-cell')]
			.some((c) => c.innerText === '42')`)
	renew("open")
	again() // also after a password that was typed here
}

// TestD85Prefix runs everything behind a proxy that takes a prefix away.
func TestD85Prefix(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(1000, time.Second))
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/varve")
	}}
	front := httptest.NewServer(http.StripPrefix("", forward))
	t.Cleanup(front.Close)
	p := open(t, &server{url: front.URL}, "/varve/dashboard")
	p.rowsShown()
	p.figures()
	p.click("#rail a[href$='/varve/dashboard/sql']")
	p.wait("the SQL page", `location.pathname === '/varve/dashboard/sql' && document.querySelector('.sql-actions')`)
}

// TestD86Upgrade serves another build to an open tab.
func TestD86Upgrade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "web")
	if err := os.CopyFS(dir, os.DirFS("web")); err != nil {
		t.Fatal(err)
	}
	first := startAt(t, t.TempDir(), "127.0.0.1:0")
	p := open(t, first, "/dashboard/")
	p.wait("the page", `document.querySelector('.first')`)
	p.allow("404")
	p.allow("Failed to fetch dynamically imported module")
	p.allow("MIME type")
	p.allow("ERR_CONNECTION_REFUSED") // the servers end before the tab
	addr := strings.TrimPrefix(first.url, "http://")
	first.stop()
	if err := os.WriteFile(filepath.Join(dir, "added.txt"), []byte("another build"), 0o644); err != nil {
		t.Fatal(err)
	}
	startAt(t, t.TempDir(), addr, "--dashboard-dir", dir)
	p.click("#rail a[href$='/dashboard/sql']")
	p.wait("the sentence", `document.body.innerText.includes('A new version is installed')`)
	p.click(".state button.primary")
	p.wait("the page of the new build", `document.querySelector('.sql-actions')`)
}

func TestD18Errors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startAt(t, dir, "127.0.0.1:0")
	s.ingest(t, "app", shopLines(1000, time.Second))
	p := open(t, s, "/dashboard/logs#t=app")
	p.allow("ERR_CONNECTION_REFUSED")
	p.allow("ERR_CONNECTION_RESET")
	p.allow("status of 400")
	p.allow("status of 404")
	p.rowsShown()
	p.figures()
	addr := strings.TrimPrefix(s.url, "http://")
	s.stop()
	p.press("r")
	p.wait("the banner", `document.querySelector('.banner')?.innerText.includes('No connection')`)
	if n := eval[int](p, `document.querySelectorAll('.grid-row:not(.hidden)').length`); n < 10 {
		t.Errorf("%d rows are left", n)
	}
	p.shot("offline")
	startAt(t, dir, addr)
	p.wait("the end of the banner", `!document.querySelector('.banner')`)
	p.figures()
	p.visit("/dashboard/logs#" + state("t", "app", "w", `"nope" = 1`))
	p.wait("the error", `document.querySelector('.error .text')?.innerText.includes('nope')`)
	p.shot("logs-error")
	p.visit("/dashboard/logs#t=apq")
	p.wait("the nearest table", `[...document.querySelectorAll('.state button')].some((b) => b.innerText === 'app')`)
}

// TestD81Zones reads and shows times in zones with odd offsets, and a day with a change of the clock.
func TestD81Zones(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", []string{
		`{"ts":1793544300123456789,"level":"info","message":"one"}`, // 2026-11-01T14:45:00.123456789Z
		`{"ts":1793547900000000000,"level":"info","message":"two"}`,
	})
	p := open(t, s, "/dashboard/logs#"+state("t", "app", "from", "2026-11-01T00:00:00Z", "to", "2026-11-02T00:00:00Z"))
	p.figures()
	for zone, want := range map[string]string{
		"Asia/Kathmandu": "2026-11-01 20:30:00.123456789", "America/St_Johns": "2026-11-01 11:15:00.123456789",
		"UTC": "2026-11-01 14:45:00.123456789", "America/New_York": "2026-11-01 09:45:00.123456789",
	} {
		eval[string](p, fmt.Sprintf(`localStorage.setItem('varve.zone', JSON.stringify(%q)) ?? ''`, zone))
		p.do("reload", chromedp.Reload())
		rows := p.rowsShown()
		if !strings.HasPrefix(rows[1], want) {
			t.Errorf("%s: the row is %q, want %s", zone, rows[1], want)
		}
		read := eval[string](p, fmt.Sprintf(`(async () => {
			const { parseTime, rfc3339 } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/time.js'));
			return rfc3339(parseTime('%s', '%s', 0n).ns);
		})()`, want, zone))
		if read != "2026-11-01T14:45:00.123456789Z" {
			t.Errorf("%s: %s is read as %s", zone, want, read)
		}
	}
	// Buckets of days begin at local midnight, and the range is shown as it is there.
	for zone, want := range map[string][2]string{
		"Asia/Kathmandu":   {"2026-07-26 00:00:00", "2026-07-25 05:45:00 – 2026-11-02 05:45:00"},
		"America/St_Johns": {"2026-07-25 00:00:00", "2026-07-24 21:30:00 – 2026-11-01 20:30:00"},
	} {
		eval[string](p, fmt.Sprintf(`localStorage.setItem('varve.zone', JSON.stringify(%q)) ?? ''`, zone))
		p.afresh("/dashboard/logs#" + state("t", "app", "from", "2026-07-25T00:00:00Z", "to", "2026-11-02T00:00:00Z"))
		p.figures()
		second := eval[string](p, `(async () => {
			const chart = document.querySelector('.histogram');
			for (const key of ['Home', 'ArrowRight']) { // the first is cut by the range
				chart.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
				await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
			}
			return chart.querySelector('.only-read').textContent;
		})()`)
		if !strings.HasPrefix(second, want[0]+": ") {
			t.Errorf("%s: the second bucket is %q, want %s", zone, second, want[0])
		}
		if bars := p.sumOfBars(); bars != "2" {
			t.Errorf("%s: the bars add up to %s", zone, bars)
		}
		if shown := p.text("#timerange"); !strings.HasPrefix(shown, want[1]) {
			t.Errorf("%s: the range is shown as %q, want %s", zone, shown, want[1])
		}
	}
	// The night in which New York's clocks go back has an hour twice: the earlier one is meant.
	eval[string](p, `localStorage.setItem('varve.zone', '"America/New_York"') ?? ''`)
	if got := eval[string](p, `(async () => {
		const { parseTime, rfc3339, startOfDay } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/time.js'));
		const z = 'America/New_York', day = startOfDay(1793551500000000000n, z);
		return [rfc3339(parseTime('2026-11-01 01:30', z, 0n).ns), rfc3339(day), rfc3339(startOfDay(day, z, 1))].join(' ');
	})()`); got != "2026-11-01T05:30:00Z 2026-11-01T04:00:00Z 2026-11-02T05:00:00Z" {
		t.Errorf("the night of the change: %s", got)
	}
	p.shot("zone")
}
