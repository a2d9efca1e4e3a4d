//go:build dashboard && browser

package dashboard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// quietScript gives a page the list toasts, of all that was said for some seconds, and the function quiet: it resolves
// after three frames in a row in which nothing was asked of the server or of a worker and nothing changed on the page.
// What follows from a key, a click or an address has come to its end then.
const quietScript = `(() => {
	const workers = new Set();
	window.Worker = class extends Worker {
		constructor(...how) {
			super(...how);
			this.open = 0; // calls that are not answered
			workers.add(this);
			this.addEventListener('message', () => { this.open--; });
			this.addEventListener('error', () => { this.open = 0; });
		}
		postMessage(...what) { this.open++; super.postMessage(...what); }
		terminate() { workers.delete(this); super.terminate(); }
	};
	window.toasts = [];
	new MutationObserver((list) => {
		for (const added of list.flatMap((m) => [...m.addedNodes])) if (added.matches?.('.toast')) window.toasts.push(added.querySelector('.grow').textContent);
	}).observe(document, { subtree: true, childList: true });
	window.quiet = async () => {
		const { running } = await import(document.querySelector('script[type=module]').src.replace('app.js', 'core/api.js'));
		let changed = false;
		const look = new MutationObserver(() => { changed = true; });
		look.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		for (let frames = 0; frames < 3; frames++) {
			changed = false;
			await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
			if (changed || running.value.length > 0 || [...workers].some((w) => w.open > 0)) frames = -1;
		}
		look.disconnect();
		return true;
	};
})()`

// quiet waits until the page has come to rest; no files are on their way to it either. It is not for what never rests,
// as a live list.
func (p *page) quiet() {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		asked, _ := p.requests()
		p.awaited("quiet", `quiet()`)
		now, open := p.requests()
		if now == asked && open == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("waited for quiet: %d files are on their way\n%s", open, p.describe())
		}
	}
}

// said waits until the page has said something for some seconds: a text that fits a pattern, after those of the calls
// before.
func (p *page) said(pattern string) {
	p.t.Helper()
	p.wait("that it says "+pattern,
		fmt.Sprintf(
			`(() => { const at = toasts.findIndex((t) => new RegExp(%s).test(t)); return at >= 0 &&
				toasts.splice(0, at + 1); })()`, quoteJSON(pattern)))
}

// requests counts the files that the page asked for until now, and those that are on their way to the document shown.
func (p *page) requests() (asked, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, document := range p.open {
		if document == p.document {
			open++
		}
	}
	return len(p.files), open
}

// still waits until an element is there and stays where it is from one frame to the next, and nothing lies over its
// middle.
func (p *page) still(selector string) {
	p.t.Helper()
	p.awaited(selector+" in its place", fmt.Sprintf(`(async () => {
		const frame = () => new Promise((r) => requestAnimationFrame(r));
		for (let before = ''; ; await frame()) {
			const e = document.querySelector(%q);
			if (!e) { before = ''; continue; }
			e.scrollIntoViewIfNeeded();
			const r = e.getBoundingClientRect(), place = [r.x, r.y, r.width, r.height].join(' ');
			const on = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
			if (place === before && r.width > 0 && (e.contains(on) || on?.contains(e))) return true;
			before = place;
		}
	})()`, selector))
}

// left tells whether an error says only that the page went on to another document meanwhile.
func left(err error) bool {
	return strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context was destroyed") ||
		strings.Contains(err.Error(), "Cannot find context")
}

// awaited waits until a promise of the page is kept; one of a document that is left meanwhile is asked for again in the
// next.
func (p *page) awaited(what, promise string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](promise, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil || !left(err) {
			p.t.Fatalf("waited for %s: %v\n%s", what, err, p.describe())
		}
	}
}
