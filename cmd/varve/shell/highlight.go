package shell

import (
	"strings"
	"sync"
)

const (
	green   = "\x1b[32m"
	cyan    = "\x1b[36m"
	blue    = "\x1b[34m"
	inverse = "\x1b[7m"
)

// keywordSet are the keywords.
var keywordSet = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, k := range keywords() {
		set[k] = true
	}
	return set
})

// highlight colours a statement: keywords, texts, numbers, comments, and the bracket at the cursor with the one that it
// belongs to.
func highlight(text string, cursor int) string {
	open, end := brackets(text, cursor)
	var b strings.Builder
	walk(text, func(from, to int, quote byte) {
		part := text[from:to]
		switch {
		case from == open || from == end:
			b.WriteString(inverse + part + off)
		case quote == '*' || strings.HasPrefix(part, "--"):
			b.WriteString(dim + part + off)
		case quote != 0:
			b.WriteString(green + part + off)
		case keywordSet()[strings.ToUpper(part)]:
			b.WriteString(blue + part + off)
		case part[0] >= '0' && part[0] <= '9':
			b.WriteString(cyan + part + off)
		default:
			b.WriteString(part)
		}
	})
	return b.String()
}

// walk cuts a text into words, marks and what quotes hold; quote is that of the part, 0: none.
func walk(text string, part func(from, to int, quote byte)) {
	cut := newSplitter()
	cut.add([]byte(text))
	for cut.at < len(text) {
		from, quote := cut.at, cut.quote
		if quote != 0 {
			cut.inside()
		} else {
			cut.token(text[from])
			quote = cut.quote
		}
		part(from, cut.at, quote)
	}
}

// brackets finds the bracket before or under the cursor and the one that it belongs to; -1: there is none.
func brackets(text string, cursor int) (open, end int) {
	type pair struct{ open, end int }
	var begun []int
	found := pair{-1, -1}
	walk(text, func(from, to int, quote byte) {
		if quote != 0 || to-from != 1 {
			return
		}
		switch text[from] {
		case '(', '[', '{':
			begun = append(begun, from)
		case ')', ']', '}':
			if len(begun) == 0 {
				return
			}
			p := pair{begun[len(begun)-1], from}
			begun = begun[:len(begun)-1]
			touches := func(at int) bool { return p.open == at || p.end == at }
			if touches(cursor-1) || touches(cursor) && found.open < 0 {
				found = p
			}
		}
	})
	return found.open, found.end
}
