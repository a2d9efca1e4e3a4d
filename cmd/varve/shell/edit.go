package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reeflective/readline"

	"varve/cmd/varve/client"
)

// errCancelled: Ctrl-C was pressed.
var errCancelled = errors.New("cancelled")

// typist reads what is typed.
type typist interface {
	// read gives a text, which may have several lines; open says what the statement that is begun waits for, 0: none
	// is. io.EOF: there is no more. errCancelled: Ctrl-C.
	read(open byte) (string, error)
}

// lineTypist reads lines of a terminal that can do nothing else.
type lineTypist struct {
	s  *Shell
	in *bufio.Reader
}

func (t *lineTypist) read(open byte) (string, error) {
	fmt.Fprint(t.s.o.Out, t.s.prompt(open))
	text, err := t.in.ReadString('\n')
	if err == io.EOF && text != "" {
		err = nil
	}
	return text, err
}

// editor reads texts of several lines that can be edited, with history and completion.
type editor struct {
	s  *Shell
	rl *readline.Shell
}

func newEditor(s *Shell, h *history) *editor {
	e := &editor{s: s, rl: readline.NewShell()}
	for name, value := range map[string]any{"cursor-position-probe": false, "completion-ignore-case": true,
		"enable-bracketed-paste": true, "multiline-column": true, "menu-complete-display-prefix": true,
		"comment-begin": "--"} {
		e.rl.Config.Set(name, value) //nolint:errcheck // they are settings of its own
	}
	for _, keys := range e.rl.Config.Binds {
		if tab, bound := keys["\t"]; bound && tab.Action == "complete" {
			tab.Action = "menu-complete"
			keys["\t"] = tab
		}
	}
	e.rl.Prompt.Primary(func() string { return s.prompt(0) })
	e.rl.Prompt.Secondary(func() string {
		if open := openAfter(string(*e.rl.Line())); open != 0 {
			return s.prompt(open)
		}
		return s.prompt('-')
	})
	e.rl.AcceptMultiline = func(line []rune) bool { return complete(string(line)) }
	e.rl.Completer = e.offers
	e.rl.SyntaxHighlighter = func(line []rune) string {
		text := string(line)
		room, fits := e.room(text)
		e.rl.Config.Set("multiline-column", fits) //nolint:errcheck // a setting of its own; marks beside lines would fall on others
		if s.o.Colour {
			text = highlight(text, len(string(line[:min(e.rl.Cursor().Pos(), len(line))])))
		}
		return room + text
	}
	e.rl.History.Delete()
	e.rl.History.Add("statements", h)
	return e
}

// room is what makes a terminal scroll until a text fits between the prompt and its last line, with the line below that
// the editor clears; fits says whether there can be that much. It does not ask the terminal where the cursor is: an
// answer that arrives together with keys would take them along.
func (e *editor) room(text string) (escapes string, fits bool) {
	columns, rows := 80, 0
	if e.s.o.Size != nil {
		columns, rows = e.s.o.Size()
	}
	indent, need := width([]byte(e.s.prompt(0))), 1
	for line := range strings.SplitSeq(text, "\n") {
		need += 1 + (indent+width([]byte(line)))/max(1, columns)
	}
	fits = rows <= 0 || need <= rows
	if need = min(need-1, rows-1); need <= 0 {
		return "", fits
	}
	return strings.Repeat("\x1bD", need) + fmt.Sprintf("\x1b[%dA", need), fits // IND scrolls at the end of the screen
}

func (e *editor) read(byte) (string, error) {
	text, err := e.rl.Readline()
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		return "", errCancelled
	case err != nil:
		return "", err
	}
	return text + "\n", nil
}

// complete reports whether a text is to be run: nothing of it waits for more.
func complete(text string) bool { return wordOf(text) != "" || isStuck(text) || openAfter(text) == 0 }

// openAfter says what the last statement of a text waits for.
func openAfter(text string) byte {
	cut := newSplitter()
	cut.add([]byte(text + "\n"))
	for _, ok := cut.next(false); ok; _, ok = cut.next(false) {
	}
	return cut.open()
}

// offers gives the line editor what could stand in the place of the word at the cursor. It takes words from blank to
// blank, so what stands before the name there is a part of each offer.
func (e *editor) offers(line []rune, cursor int) readline.Completions {
	before := string(line[:cursor])
	start, list := e.s.complete(before, string(line[cursor:]))
	lead := before[strings.LastIndexAny(before[:start], " \t\n")+1 : start]
	values := make([]readline.Completion, 0, len(list))
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.text] {
			continue
		}
		seen[o.text] = true
		values = append(values, readline.Completion{Value: lead + o.text, Display: o.shown,
			Description: string(client.AppendVisible(nil, []byte(o.about), "")), Tag: o.kind})
	}
	return readline.CompleteRaw(values)
}
