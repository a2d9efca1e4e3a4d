package shell

import (
	"bytes"
	"strings"
	"testing"
)

// TestWords: what people type who do not know the commands works where statements do, typed and in scripts, with and
// without a semicolon; within a statement that is begun it says how to get out.
func TestWords(t *testing.T) {
	c := server(t, known(nil))
	for _, text := range []string{"help", "HELP;", "?", " ? ", `\?`} {
		out, _, err := run(t, Options{Client: c}, text)
		if err != nil || !strings.Contains(out, `leave; also exit, quit and Ctrl-D`) {
			t.Errorf("%q: %q, %v", text, out, err)
		}
	}
	for _, text := range []string{"exit", "quit;", "EXIT ;", `\q`} {
		if _, _, err := run(t, Options{Client: c}, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range []struct{ typed, want string }{
		{"help\nexit\n", `leave; also exit, quit and Ctrl-D`},
		{"?\nquit\n", `leave; also exit, quit and Ctrl-D`},
		{"SELECT 1\nexit\n;\nexit\n", `; runs it, \r forgets it, \q leaves`},
		{"SELECT (\nhelp\n\\q\n", `; runs it, \r forgets it, \q leaves`},
	} {
		var out bytes.Buffer
		s, err := New(Options{Client: server(t, known(nil)), Format: "tsv", Zone: "UTC", Out: &out, Notes: &out,
			Session: Session{In: strings.NewReader(c.typed + "SELECT never;\n"), Plain: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Interact(); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%q: %q, %v", c.typed, out.String(), err)
		}
	}
	for _, c := range []struct {
		text string
		want bool
	}{{"SELECT 1\nexit", true}, {"SELECT 1;\nexit", false}, {"exit", false}, {"SELECT 'a\nhelp", true},
		{"SELECT\nexits", false}} {
		if got := isStuck(c.text); got != c.want {
			t.Errorf("isStuck(%q) = %v", c.text, got)
		}
	}
}
