package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shouting is a dialect whose parameters are their numbers, whose calls are texts, and whose casts are left out.
var shouting = &Dialect{
	Parameter: func(n int, at Node) (Expr, error) {
		return &Literal{Node: at, Kind: NumberLiteral, Text: fmt.Sprint(n)}, nil
	},
	Call: func(c *Call) (Expr, error) {
		return &Literal{Node: c.Node, Kind: StringLiteral, Text: strings.ToUpper(c.Name)}, nil
	},
	Cast: func(c *Cast) (Expr, error) { return c.X, nil },
}

func TestDialect(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT $1, -$2 FROM t WHERE a=$10 LIMIT $3", "SELECT 1, -(2) FROM t WHERE a = 10 LIMIT 3"},
		{"SELECT '$1', $$ $1 $$, $x$ $$ $x$", "SELECT '$1', ' $1 ', ' $$ '"},
		{"SELECT pg_catalog.f(1), a::pg_catalog.text, CAST(b AS \"char\")", "SELECT 'F' AS f, a, b"},
		{"SELECT a OPERATOR(pg_catalog.+) b COLLATE \"C\"", "SELECT a + b"},
		{"SELECT * FROM pg_catalog.unnest(x)", ""},
	} {
		list, err := ParseDialect(c.text, nil, shouting)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: a table function that became a text is taken", c.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := PrintAll(list); !same(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	for _, bad := range []string{"SELECT $0", "SELECT $65536", "SELECT $99999999999999999999",
		"SELECT a COLLATE german", "SELECT a OPERATOR(x.+) b", "SELECT a OPERATOR(pg_catalog.a) b", "SELECT $a$ b"} {
		if _, err := ParseDialect(bad, nil, shouting); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	for _, ours := range []string{"SELECT $1", "SELECT a COLLATE \"C\"", "SELECT a OPERATOR(pg_catalog.+) b"} {
		if _, err := Parse(ours); err == nil {
			t.Errorf("%s is taken without a dialect", ours)
		}
	}
}

// same compares texts without their blanks and semicolons.
func same(a, b string) bool {
	plain := func(s string) string {
		return strings.ToLower(strings.Join(strings.Fields(strings.Trim(s, "; \n")), " "))
	}
	return plain(a) == plain(b)
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" ; ;", nil}, {"BEGIN", []string{"BEGIN"}},
		{"a 'x;y';\n-- c;\n b /* ; */ \"d;\" ; $$ ; $$", []string{"a 'x;y'", "b /* ; */ \"d;\" ", "$$ ; $$"}},
	} {
		list, err := Pieces(c.text)
		var got []string
		for _, p := range list {
			got = append(got, p.Text)
			if c.text[p.At:p.At+len(p.Text)] != p.Text {
				t.Errorf("%q: piece %q is not at %d", c.text, p.Text, p.At)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	if _, err := Pieces("SELECT 'x"); err == nil {
		t.Error("a text without its end is cut")
	}
	if _, err := Pieces(strings.Repeat("a;", maxPieces+2)); err == nil {
		t.Error("there is no bound")
	}
	if list, err := Pieces(strings.Repeat("a;", maxPieces)); err != nil || len(list) != maxPieces {
		t.Errorf("at the bound: %d, %v", len(list), err)
	}
}
