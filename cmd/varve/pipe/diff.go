package pipe

import (
	"fmt"
	"strings"
)

// shownLines is the number of equal lines that are shown around those that differ.
const shownLines = 3

// mostCells bounds the table by which lines are matched; texts beyond it differ as a whole between their equal ends.
const mostCells = 16 << 20

// edit is a line of a diff: kind is one of ' ', '-', '+'; old and new are how many lines of either text are before it.
type edit struct {
	kind     byte
	line     string
	old, new int
}

// Diff prints two texts that differ in the unified form; empty: they are equal.
func Diff(oldName, newName, oldText, newText string) string {
	edits := diffLines(splitLines(oldText), splitLines(newText))
	var b strings.Builder
	for at := 0; at < len(edits); {
		first := at
		for first < len(edits) && edits[first].kind == ' ' {
			first++
		}
		if first == len(edits) {
			break
		}
		from := max(at, first-shownLines)
		to, same := first, 0
		for to < len(edits) && same <= 2*shownLines {
			if edits[to].kind == ' ' {
				same++
			} else {
				same = 0
			}
			to++
		}
		to -= max(0, same-shownLines)
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
		}
		writeHunk(&b, edits[from:to])
		at = to
	}
	return b.String()
}

// writeHunk writes lines with their place.
func writeHunk(b *strings.Builder, edits []edit) {
	var oldCount, newCount int
	for _, e := range edits {
		if e.kind != '+' {
			oldCount++
		}
		if e.kind != '-' {
			newCount++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", place(edits[0].old, oldCount), place(edits[0].new, newCount))
	for _, e := range edits {
		b.WriteByte(e.kind)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// place is the first line, from 1, and the number of lines of a hunk.
func place(before, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// diffLines finds the fewest lines that make one text the other.
func diffLines(a, b []string) (edits []edit) {
	i, j := 0, 0
	take := func(kind byte) {
		e := edit{kind, "", i, j}
		if kind != '+' {
			e.line = a[i]
			i++
		}
		if kind != '-' {
			e.line = b[j]
			j++
		}
		edits = append(edits, e)
	}
	for i < len(a) && j < len(b) && a[i] == b[j] {
		take(' ')
	}
	tail := 0
	for len(a)-tail > i && len(b)-tail > j && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[i:len(a)-tail], b[j:len(b)-tail]
	common := commonTails(x, y)
	for i0, j0 := i, j; i-i0 < len(x) || j-j0 < len(y); {
		switch di, dj := i-i0, j-j0; {
		case di < len(x) && dj < len(y) && x[di] == y[dj] && common != nil:
			take(' ')
		case dj == len(y) || di < len(x) && (common == nil || common[di+1][dj] >= common[di][dj+1]):
			take('-')
		default:
			take('+')
		}
	}
	for range tail {
		take(' ')
	}
	return edits
}

// commonTails[i][j] is the number of lines that x[i:] and y[j:] have in common, in order; nil: there are too many to
// tell.
func commonTails(x, y []string) [][]int32 {
	if (len(x)+1)*(len(y)+1) > mostCells {
		return nil
	}
	cells := make([]int32, (len(x)+1)*(len(y)+1))
	rows := make([][]int32, len(x)+1)
	for i := range rows {
		rows[i] = cells[i*(len(y)+1) : (i+1)*(len(y)+1)]
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}
