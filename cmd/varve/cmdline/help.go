package cmdline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// Columns of help.
const (
	indent    = 2
	gap       = 4  // between a term and what it means
	leastTerm = 16 // columns that a term has, however narrow the terminal is
	leastText = 20
)

// WriteHelp writes what there is to know of a command, in lines of up to width columns.
func (n *Node) WriteHelp(w io.Writer, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n\n", n.Summary())
	writeText(&b, "", n.Help, width)
	for part := range strings.SplitSeq(n.Detail, "\n\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		b.WriteByte('\n')
		if !strings.HasPrefix(part, "  ") {
			writeText(&b, "", part, width)
			continue
		}
		for line := range strings.Lines(part) {
			fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
		}
	}
	var args [][2]string
	for _, a := range n.Args {
		args = append(args, [2]string{a.Summary(), a.Help})
	}
	writeTerms(&b, "Arguments:", args, width)
	n.writeFlags(&b, width)
	n.writeCommands(&b, width)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFlags writes the flags by their groups.
func (n *Node) writeFlags(b *strings.Builder, width int) {
	groups := []string{""}
	terms := map[string][][2]string{}
	for _, f := range n.Flags {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
		term := "    " + f.Summary()
		if f.Short != 0 {
			term = "-" + string(f.Short) + ", " + f.Summary()
		}
		help := f.Help
		if f.Env != "" {
			help += " Environment: " + f.Env + "."
		}
		terms[f.Group] = append(terms[f.Group], [2]string{term, help})
	}
	for _, group := range groups {
		title := group
		if title == "" {
			title = "Flags:"
		}
		writeTerms(b, title, terms[group], width)
	}
}

// writeCommands writes the commands by their groups.
func (n *Node) writeCommands(b *strings.Builder, width int) {
	if len(n.Children) == 0 {
		return
	}
	var groups []string
	terms := map[string][][2]string{}
	for _, leaf := range n.Leaves() {
		if !slices.Contains(groups, leaf.Group) {
			groups = append(groups, leaf.Group)
		}
		terms[leaf.Group] = append(terms[leaf.Group], [2]string{strings.TrimPrefix(leaf.FullPath(), n.root().Name+" "), leaf.Help})
	}
	for _, group := range groups {
		writeTerms(b, group, terms[group], width)
	}
	fmt.Fprintf(b, "\nRun \"%s <command> --help\" for more information on a command.\n", n.FullPath())
}

// writeTerms writes what terms mean in two columns.
func writeTerms(b *strings.Builder, title string, terms [][2]string, width int) {
	if len(terms) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	left, most := 0, max(leastTerm, width*3/8)
	for _, t := range terms {
		if n := uniseg.StringWidth(t[0]); n <= most {
			left = max(left, n)
		}
	}
	margin := strings.Repeat(" ", indent+left+gap)
	for _, t := range terms {
		var text strings.Builder
		writeText(&text, margin, t[1], max(width, len(margin)+leastText))
		term := strings.Repeat(" ", indent) + t[0]
		if n := uniseg.StringWidth(term); n <= len(margin)-gap { // beside each other
			b.WriteString(term + margin[n:] + strings.TrimPrefix(text.String(), margin))
		} else {
			b.WriteString(term + "\n" + text.String())
		}
	}
}

// writeText writes the words of a text in lines of up to width columns, each behind a margin.
func writeText(b *strings.Builder, margin, text string, width int) {
	column := 0
	for _, word := range strings.Fields(text) {
		n := uniseg.StringWidth(word)
		switch {
		case column == 0:
			b.WriteString(margin)
			column = len(margin)
		case column+1+n > width:
			b.WriteString("\n" + margin)
			column = len(margin)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}
