//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestHelpDocuments: the documents of the installed version are read in the help, and their links lead to each other.
func TestHelpDocuments(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/ingest#way=otlp")
	p.wait("the snippets", `document.querySelector('.how .link')`)
	p.click(".how .link")
	p.wait("the document",
		`document.querySelector('.document-text .heading.level-1') &&
			document.querySelectorAll('.document-text table').length > 0`)
	p.shot("help-document")
	axe, _ := os.ReadFile("libsrc/node_modules/axe-core/axe.min.js")
	p.accessible(t, "a document", string(axe))

	// Nothing of the signs is left in any of them, and every link to a document that is there leads to it.
	fs.WalkDir(Documents(), ".", func(name string, d fs.DirEntry, err error) error {
		if name = strings.TrimSuffix(name, ".br"); err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		eval[bool](p,
			fmt.Sprintf(
				`import(new URL('./core/documents.js', document.querySelector('script[type=module]').src)).then((m) => { m.read(%q); return true; })`, name))
		text, _ := os.ReadFile("../../docs/" + name)
		title := strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "# ")
		p.wait(name, fmt.Sprintf(`document.querySelector('.document-text .heading.level-1')?.innerText === %q`,
			strings.ReplaceAll(title, "`", "")))
		left := eval[[]string](p,
			`(() => { const copy = document.querySelector('.document-text').cloneNode(true); for (const e of copy.querySelectorAll('code, pre')) e.remove(); return copy.textContent.match(/.{0,30}(\*\*|\]\(|`+"`"+`|^#+ |\|---).{0,30}/g) ?? []; })()`)
		if len(left) > 0 {
			t.Errorf("%s: signs are left: %q", name, left)
		}
		if n := eval[int](p, `document.querySelectorAll('.document-text > *').length`); n < 3 {
			t.Errorf("%s has %d blocks", name, n)
		}
		return nil
	})
	eval[bool](p,
		`import(new URL('./core/documents.js', document.querySelector('script[type=module]').src)).then((m) => { m.read('http.md'); return true; })`)
	p.wait("HTTP",
		`[...document.querySelectorAll('.document-text .link')].some((b) => b.innerText === 'ingest/otlp.md')`)
	eval[bool](p,
		`(() => { [...document.querySelectorAll('.document-text .link')]
			.find((b) => b.innerText === 'ingest/otlp.md').click(); return true; })()`)
	p.wait("the one that the link leads to",
		`document.querySelector('.document-text .heading.level-1')?.innerText.includes('OTLP') ||
			document.querySelector('.document-text .heading.level-1')?.innerText.includes('OpenTelemetry')`)
	eval[bool](p,
		`import(new URL('./core/documents.js', document.querySelector('script[type=module]').src)).then((m) => { m.read('http.md#users'); return true; })`)
	p.wait("a place in a document",
		`document.querySelector('.help .body').scrollTop > 500 &&
			document.querySelector('.document-text [data-place=users]')`)
	p.button("All documents")
	p.wait("the list", `document.querySelectorAll('.documents li').length === 14`)
	p.press(kb.Escape)
	p.wait("that the help closes", `!document.querySelector('dialog.help')`)

	p.press("?")
	p.wait("the keys", `document.querySelector('dialog.help .shortcuts')`)
	p.size(380, 760)
	p.button("Documents")
	p.wait("the list", `document.querySelectorAll('.documents li').length === 14`)
	p.click(".documents li:nth-child(2) button")
	p.wait("a long one on a small screen", `document.querySelectorAll('.document-text table').length > 3`)
	p.shot("help-document-narrow")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 380 {
		t.Errorf("the page is %d px wide on a screen of 380", wide)
	}
}
