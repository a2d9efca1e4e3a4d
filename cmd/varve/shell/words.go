package shell

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"varve/cmd/varve/client"
	"varve/docs"
)

// keywords are the words of statements that completion offers.
var keywords = sync.OnceValue(func() []string {
	return strings.Fields(
		`ADMIN ALIGN ALL ALTER ANALYZE AND AS ASC BETWEEN BY CASE CAST COLUMN COPY CREATE CROSS DATABASE DATABASES DEFAULT DELETE DESC DESCRIBE
	DISTINCT DROP ELSE END EVAL EXCEPT EXISTS EXPLAIN FALSE FILL FILTER FIRST FROM FULL GROUP HAVING IF ILIKE IN INDEX INNER INSERT INTERSECT INTERVAL INTO IS JOIN
	KILL LAST LEFT LIKE LIMIT NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PRIMARY KEY PROCESSLIST RANGE RENAME REPLACE RIGHT SELECT SET SHOW STATUS TABLE TABLES
	THEN TIME TIMESTAMP TO TQL TRUE TRUNCATE UNION UPDATE USE USING VALUES VARIABLES VIEW VIEWS WHEN WHERE WITH WITHIN`)
})

// function is one of SQL as the manual describes it.
type function struct {
	name, args, about string
	line              string // of the manual, with the other names
}

// manual is the description of SQL, which comes with the program.
var manual = sync.OnceValue(func() string {
	packed, err := fs.ReadFile(docs.Files(), "sql.md.br")
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(brotli.NewReader(strings.NewReader(string(packed))))
	if err != nil {
		return ""
	}
	return string(text)
})

// described finds a function in the first cell of a table of the manual.
var described = client.Pattern("`([a-z_][a-z0-9_]*)(\\([^`]*\\))?`")

// functions are those of the manual, by name.
var functions = sync.OnceValue(func() (list []function) {
	seen := map[string]bool{}
	for line := range strings.Lines(manual()) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(cells[0], "| `") || !strings.Contains(cells[0], "(") || len(cells) < 2 {
			continue
		}
		args := ""
		for _, m := range described().FindAllStringSubmatch(cells[0], -1) {
			if m[2] != "" {
				args = m[2] // those behind it are other names of it
			}
			if args == "" || seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			about := strings.TrimSpace(strings.TrimSuffix(strings.Join(cells[1:], " | "), "|"))
			list = append(list, function{m[1], args, about,
				strings.ReplaceAll(strings.TrimPrefix(cells[0], "| "), "`", "")})
		}
	}
	slices.SortFunc(list, func(a, b function) int { return strings.Compare(a.name, b.name) })
	return list
})

func (s *Shell) listFunctions(_ context.Context, arg string) error {
	var b strings.Builder
	for _, f := range functions() {
		if matches(f.name, arg) {
			fmt.Fprintf(&b, "%-40s %s\n", f.name+f.args, f.about)
		}
	}
	if b.Len() == 0 {
		return s.note("there is no function %s", arg)
	}
	return s.show(b.String())
}

// helpOf prints what the manual says of a word: of a function its line, of a statement the section.
func (s *Shell) helpOf(ctx context.Context, arg string) error {
	if arg == "" {
		var b strings.Builder
		b.WriteString("\\h WORD explains a function (\\df lists them), a statement or one of these subjects:\n\n")
		for _, h := range sections() {
			fmt.Fprintf(&b, "  %s\n", h.title)
		}
		return s.show(b.String())
	}
	word := strings.ToLower(strings.Trim(arg, "();"))
	for _, f := range functions() {
		if f.name == word {
			return s.show(strings.TrimRight(fmt.Sprintf("%s\n\n%s", f.line, f.about), "\n") + "\n")
		}
	}
	if h := sectionOf(word); h != nil {
		return s.show(h.title + "\n\n" + h.text)
	}
	return s.note("the manual says nothing of %s; \\h lists its subjects", arg)
}

// section is a part of the manual.
type section struct{ title, text string }

func sections() (list []section) {
	for _, part := range strings.Split("\n"+manual(), "\n## ")[1:] {
		for i, sub := range strings.Split(part, "\n### ") {
			title, text, _ := strings.Cut(sub, "\n")
			if i > 0 {
				title = list[len(list)-1].title[:strings.IndexByte(list[len(list)-1].title+":", ':')] + ": " + title
			}
			list = append(list, section{title, strings.TrimSpace(text) + "\n"})
		}
	}
	return list
}

// sectionOf finds the section of a word: by its title, then by a statement that begins so, then by any mention.
func sectionOf(word string) *section {
	list := sections()
	upper := strings.ToUpper(word)
	for _, fits := range []func(h section) bool{
		func(h section) bool {
			return strings.EqualFold(h.title, word) || strings.HasSuffix(strings.ToLower(h.title), ": "+word)
		},
		func(h section) bool {
			return slices.Contains(strings.FieldsFunc(strings.ToLower(h.title), notLetter), word)
		},
		func(h section) bool {
			return strings.Contains(h.text, "`"+upper+" ") || strings.Contains(h.text, "`"+upper+"`")
		},
		func(h section) bool { return strings.Contains(h.text, "\n"+upper+" ") },
	} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

func notLetter(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }
