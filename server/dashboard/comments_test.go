package dashboard

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// program is a module without anything that a browser does not run, as another reader of the language sees it.
func program(t *testing.T, name string, module []byte) string {
	t.Helper()
	r := api.Transform(string(module),
		api.TransformOptions{MinifyWhitespace: true, LegalComments: api.LegalCommentsNone})
	for _, e := range r.Errors {
		t.Errorf("%s: line %d: %s", name, e.Location.Line, e.Text)
	}
	return string(r.Code)
}

func TestCommentsAreNoCode(t *testing.T) {
	web := os.DirFS("web")
	before, after := 0, 0
	err := fs.WalkDir(web, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" || strings.HasPrefix(name, "lib/") {
			return err
		}
		module, err := fs.ReadFile(web, name)
		if err != nil {
			return err
		}
		sent := withoutComments(module)
		if got, want := program(t, name, sent), program(t, name, module); got != want {
			t.Errorf("%s: what is sent is another program", name)
		}
		if got, want := bytes.Count(sent, []byte("\n")), bytes.Count(module, []byte("\n")); got != want {
			t.Errorf("%s: %d lines are sent of %d", name, got, want)
		}
		before, after = before+len(module), after+len(sent)
		return nil
	})
	if err != nil || after > before*85/100 {
		t.Errorf("%d bytes are sent of %d, %v", after, before, err)
	}
}
