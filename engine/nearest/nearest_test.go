package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	words := []string{"select", "insert", "delete", "update", "level", "message", "ts"}
	for _, c := range []struct{ name, want string }{
		{"selct", "select"}, {"SELEC", "select"}, {"slect", "select"}, {"sleect", "select"}, {"levle", "level"},
		{"mesage", "message"},
		{"select", "select"}, {"xyz", ""}, {"t", ""}, {"", ""}, {"sqlqct", "select"}, {"sqlqcx", ""},
		{strings.Repeat("select", 20), ""},
	} {
		if got := Of(c.name, words); got != c.want {
			t.Errorf("Of(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	for name, want := range map[string]string{"x": "ts", "deletion": "delete", strings.Repeat("select", 20): ""} {
		far := Finder{To: name, Far: true}
		for _, w := range words {
			far.Look(w, w)
		}
		if far.Found != want {
			t.Errorf("far from %q: %q, want %q", name, far.Found, want)
		}
	}
	if got := Hint("levl", words); got != " Did you mean 'level'?" {
		t.Errorf("got %q", got)
	}
	if got := Hint("nothing", words); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "ABC", 0}, {"abc", "acb", 1}, {"abc", "xyz", 3}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
