//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// findNow gives the page two functions: typeNow(text) types into what has the focus, before the browser draws;
// findNow(text) presses Ctrl+F and types as soon as the box has the focus.
const findNow = `(() => {
	const task = () => new Promise((r) => { const c = new MessageChannel(); c.port1.onmessage = r; c.port2.postMessage(0); });
	window.findNow = async (text) => {
		document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true }));
		for (let i = 0; !document.activeElement.closest('.find') && i < 1e6; i++) await task();
		return typeNow(text);
	};
	window.typeNow = async (text) => {
		for (const letter of text) {
			document.execCommand('insertText', false, letter);
			await task();
		}
		return document.activeElement.value;
	};
})()`

// heldCalls holds what workers answer to the method window.holding, until letGo.
const heldCalls = `(() => {
	window.held = [];
	window.holding = '';
	const calls = new Set();
	window.Worker = class extends Worker {
		postMessage(message, ...more) {
			if (message.method === window.holding) calls.add(message.call);
			super.postMessage(message, ...more);
		}
		addEventListener(kind, listen, ...more) {
			super.addEventListener(kind, kind !== 'message' ? listen : (e) => {
				if (window.holding && calls.has(e.data.call)) window.held.push({ call: e.data.call, hand: () => listen(e) });
				else listen(e);
			}, ...more);
		}
	};
	window.letGo = () => {
		window.holding = '';
		for (const one of window.held.splice(0)) one.hand();
		return true;
	};
})()`

// found is what the box of find holds, and what it says of it.
const found = `(document.querySelector('.find input').value + ': ' + document.querySelector('.find .num').innerText.replaceAll(',', ''))`

// TestFindHearsAtOnce: what is typed right after Ctrl+F is in the box and is found, however soon it is typed.
func TestFindHearsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(3000, time.Second))
	for _, c := range []struct{ name, path string }{
		{"SQL, rows of the page", "sql#sql=SELECT+level,+message+FROM+app+LIMIT+60"},
		{"SQL, rows of the worker", "sql#sql=SELECT+level,+message+FROM+app+LIMIT+3000"},
		{"logs", "logs#t=app"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, s, "/dashboard/"+c.path, findNow)
			if strings.HasPrefix(c.name, "SQL") {
				p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
				p.runSQL(false)
			}
			p.rowsShown()
			eval[bool](p, `document.querySelector('.grid').focus() ?? true`)
			if got := eval[string](p, `findNow('info')`); got != "info" {
				t.Errorf("typed info, the box has %q", got)
			}
			p.quiet()
			if got := eval[string](p, found); !strings.HasPrefix(got, "info: 1 of ") {
				t.Errorf("once quiet the box is %q", got)
			}
		})
	}
}

// TestFindKeepsWhatIsTyped: what somebody types while the rows come anew, or while the worker is busy, stays in the
// box, and the last text is what is found in the newest rows.
func TestFindKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ingest(t, "app", shopLines(3000, time.Second))
	p := open(t, s, "/dashboard/sql#sql=SELECT+now()+AS+at,+level,+message+FROM+app+LIMIT+3000", heldCalls)
	p.wait("the editor", `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`)
	p.runSQL(false)
	p.rowsShown()
	eval[bool](p, `document.querySelector('.grid').focus() ?? true`)
	p.mod("f")
	p.wait("the box", `document.activeElement.closest('.find')`)
	p.press("i")
	p.wait("what it finds", `/^1 of /.test(document.querySelector('.find .num').innerText)`)

	eval[bool](p, `(holding = 'find') !== ''`)
	p.press("nfo")
	p.wait("that it is asked", `new Set(held.map((h) => h.call)).size === 3`)
	refreshed := func() {
		t.Helper()
		first := p.text(".sql-results .grid-row")
		eval[bool](p,
			`import(new URL('./core/state.js', document.querySelector('script[type=module]').src)).then((m) => { m.refresh.value = m.refresh.value === 300 ? 299 : 300; return true; })`)
		p.wait("other rows", fmt.Sprintf(`document.querySelector('.sql-results .grid-row')?.innerText !== %s`,
			quoteJSON(first)))
	}
	refreshed()
	if got := eval[string](p, found); !strings.HasPrefix(got, "info: ") {
		t.Errorf("while the worker is busy the box is %q", got)
	}
	eval[bool](p, `letGo()`)
	want := "info: 1 of " + s.count(t, "level = 'info' OR message LIKE '%info%'")
	p.wait(want, fmt.Sprintf(`%s === %q`, found, want))
	p.quiet()
	if got := eval[string](p, found); got != want {
		t.Errorf("once quiet the box is %q, want %q", got, want)
	}

	// Enter goes on from what is shown, and rows that come anew leave the place.
	p.press(kb.Enter)
	want = strings.Replace(want, "1 of", "2 of", 1)
	refreshed()
	p.quiet()
	if got := eval[string](p, found); got != want {
		t.Errorf("after a step and other rows the box is %q, want %q", got, want)
	}
}

// TestFindInTraceHearsAtOnce: Enter right behind the text goes to the second hit.
func TestFindInTraceHearsAtOnce(t *testing.T) {
	t.Parallel()
	p := open(t, shop(t), "/dashboard/traces#id="+traceID(0), findNow)
	p.operations()
	eval[bool](p, `document.querySelector('#trace-find').focus() ?? true`)
	eval[bool](p, `typeNow('e').then(() => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })))`)
	p.quiet()
	if got := p.text(".hits"); !strings.HasPrefix(got, "2 of ") {
		t.Errorf("the hits are %q, want the second", got)
	}
}

// TestFoldIsNotOvertaken: rows that were asked for before equal rows were unfolded are shown unfolded, too.
func TestFoldIsNotOvertaken(t *testing.T) {
	t.Parallel()
	s := start(t)
	var lines []string
	for i := range 500 { // five equal rows after each other
		lines = append(lines, fmt.Sprintf(`{"ts":%d,"level":"info","message":"event %d %s"}`,
			time.Now().Add(time.Duration(i-600)*time.Millisecond).UnixNano(), i/5, strings.Repeat("long ", 30)))
	}
	s.ingest(t, "app", lines)
	p := open(t, s, "/dashboard/logs#t=app", heldCalls)
	p.rowsShown()
	p.wait("folded rows", `document.querySelector('.grid-row .repeats')`)
	eval[bool](p, `(holding = 'fold') !== ''`)
	p.press("r")
	p.wait("that the new rows are folded", `new Set(held.map((h) => h.call)).size === 1`)
	p.press("d")
	p.wait("that those shown are unfolded", `new Set(held.map((h) => h.call)).size === 2`)
	eval[bool](p, `letGo()`)
	p.quiet()
	p.wait("each row", `document.querySelector('.grid-row') && !document.querySelector('.grid-row .repeats') &&
		document.querySelector('.logs-main .grid').getAttribute('aria-rowcount') === '500'`)
}
