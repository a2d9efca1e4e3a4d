package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"varve/sqlexec/parse"
)

// cutAll cuts a text that arrives line by line.
func cutAll(text string) (list []piece) {
	s := newSplitter()
	for line := range strings.Lines(text) {
		s.add([]byte(line))
		for p, ok := s.next(false); ok; p, ok = s.next(false) {
			list = append(list, p)
		}
	}
	for p, ok := s.next(true); ok; p, ok = s.next(true) {
		list = append(list, p)
	}
	return list
}

func describe(list []piece) (texts []string) {
	for _, p := range list {
		kind := ""
		if p.vertical {
			kind = `\G `
		}
		if p.meta {
			kind = "meta "
		}
		texts = append(texts, fmt.Sprintf("%d %s%s", p.line, kind, p.text))
	}
	return texts
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", " \n;;-- only\n/* comments */;", nil},
		{"two on a line", "SELECT 1; SELECT 2", []string{"1 SELECT 1", "1 SELECT 2"}},
		{"lines", "SELECT\n 1;\n\n-- a comment\nSELECT 2;\n", []string{"1 SELECT\n 1", "5 SELECT 2"}},
		{"strings", "SELECT ';', 'it''s;', \";\"; SELECT `a;b`",
			[]string{"1 SELECT ';', 'it''s;', \";\"", "1 SELECT `a;b`"}},
		{"a string over lines", "SELECT 'a;\n-- b\n';SELECT 2", []string{"1 SELECT 'a;\n-- b\n'", "3 SELECT 2"}},
		{"escapes", `SELECT E'\';', 'x\';SELECT e'''\\';`, []string{`1 SELECT E'\';', 'x\'`, `1 SELECT e'''\\'`}},
		{"a word that ends with e", `SELECT ae'\';SELECT 2`, []string{`1 SELECT ae'\'`, "1 SELECT 2"}},
		{"dollars", "SELECT $$;'$$; SELECT a$$b; SELECT 3", []string{"1 SELECT $$;'$$", "1 SELECT a$$b", "1 SELECT 3"}},
		{"comments", "SELECT 1 -- ;'\n+ 1 /* ;' */; SELECT a//*b*/2;",
			[]string{"1 SELECT 1 -- ;'\n+ 1 /* ;' */", "2 SELECT a//*b*/2"}},
		{"metrics", `TQL EVAL (0, 10, '5s') m{a="\";#",b='x'} # it's; here` + "\n; SELECT 1",
			[]string{`1 TQL EVAL (0, 10, '5s') m{a="\";#",b='x'} # it's; here`, "2 SELECT 1"}},
		{"metrics within", `WITH m AS (TQL EVAL (0, 10, '5s') a{b="\")"}) SELECT '\'; SELECT 2`,
			[]string{`1 WITH m AS (TQL EVAL (0, 10, '5s') a{b="\")"}) SELECT '\'`, "1 SELECT 2"}},
		{"a column tql", `SELECT tql FROM t; SELECT 'a\';`, []string{"1 SELECT tql FROM t", `1 SELECT 'a\'`}},
		{"vertical", `SELECT 1\G` + "\n" + `SELECT 2 \g SELECT 3 \G;`,
			[]string{`1 \G SELECT 1`, "2 SELECT 2", `2 \G SELECT 3`}},
		{"commands", "\\x\nSELECT 1\n\\d t\n, 2;\n  \\q  ",
			[]string{`1 meta \x`, `3 meta \d t`, "2 SELECT 1\n\n, 2", `5 meta \q`}},
		{"a backslash in a string", `SELECT '\d'`, []string{`1 SELECT '\d'`}},
		{"bare commands", `\g` + "\n" + `\G`, []string{`1 meta \g`, `2 meta \G`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(cutAll(c.in)); !slices.Equal(got, c.want) {
				t.Errorf("cut %q\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

// TestSplitAsTheServer cuts texts that the server's parser reads, and compares.
func TestSplitAsTheServer(t *testing.T) {
	for _, text := range []string{
		"SELECT 1; SELECT ';'; SELECT \"a;\"\"b\" FROM t",
		"SELECT E'a\\'b;'''; SELECT $$a;b$$ ; SELECT x'3b'",
		"SELECT a -- b;\n, c; /* ; */ SELECT 10//2; SELECT 1",
		`TQL EVAL (0, 10, '5s') m{a="\";"} AS "x;y"; SELECT 1`,
		`TQL ANALYZE VERBOSE (0, 10, '5s') rate(m[5m]) > 3 # a;b` + "\n;SELECT 2",
		`WITH x AS (TQL EVAL (0, 10, '5s') m{a=')"'} ) SELECT * FROM x; SELECT 1`,
		"INSERT INTO t VALUES (1, 'a''b;'), (2, 'c'); SELECT '\\'",
		"CREATE TABLE t (ts TIMESTAMP TIME INDEX, `a;b` STRING); DROP TABLE t",
		"SELECT 'ü;', \"ß;\", a->>'b;' FROM t; SELECT - -1",
	} {
		list, err := parse.Parse(text)
		if err != nil {
			t.Errorf("parse %q: %v", text, err)
			continue
		}
		pieces := cutAll(text)
		if len(pieces) != len(list) {
			t.Errorf("%q: %d pieces, the parser finds %d statements", text, len(pieces), len(list))
			continue
		}
		for i, st := range list {
			if got, want := pieces[i].text, strings.TrimSpace(st.Source()); !strings.HasPrefix(got, want) {
				t.Errorf("%q: piece %d is %q, the parser's %q", text, i, got, want)
			}
		}
	}
}

func TestWhatIsOpen(t *testing.T) {
	for _, c := range []struct {
		in   string
		want byte
	}{
		{"", 0}, {"-- comment\n", 0}, {"SELECT 1;\n", 0}, {"SELECT\n", '-'}, {"SELECT (1,\n", '('},
		{"SELECT 'a\n", '\''}, {"SELECT E'a\\'\n", '\''},
		{"SELECT \"a\n", '"'}, {"SELECT `a\n", '`'}, {"SELECT $$a\n", '$'}, {"/* a\n", '*'}, {"SELECT (1)\n", '-'},
	} {
		s := newSplitter()
		s.add([]byte(c.in))
		s.next(false)
		if got := s.open(); got != c.want {
			t.Errorf("open after %q is %q, want %q", c.in, got, c.want)
		}
	}
}

// FuzzSplit: whatever the text, cutting ends, and statements that the parser takes are cut as it does.
func FuzzSplit(f *testing.F) {
	f.Add("SELECT 1; SELECT E'\\'';")
	f.Add("TQL EVAL (0,1,'1s') a{b=\"\\\"\"}; SELECT 1")
	f.Add("SELECT $$ ; $$ \\G /* ; */")
	f.Fuzz(func(t *testing.T, text string) {
		pieces := cutAll(text)
		own := func(p piece) bool { return p.meta || p.vertical || strings.HasSuffix(p.text, "g") }
		list, err := parse.Parse(text)
		if err == nil && len(pieces) != len(list) && !slices.ContainsFunc(pieces, own) {
			t.Errorf("%q: %d pieces, the parser finds %d statements", text, len(pieces), len(list))
		}
	})
}
