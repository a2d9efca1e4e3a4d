package export

import (
	"fmt"
	"io"
	"time"

	"varve/cmd/varve/client"
)

// How often progress is said: on a terminal, and where lines are kept.
const (
	drawEvery = 200 * time.Millisecond
	lineEvery = 10 * time.Second
)

// notes is what is said of an export while it runs. It belongs to one goroutine.
type notes struct {
	w        io.Writer
	quiet    bool
	terminal bool
	now      func() time.Time

	total int64 // rows that are expected; 0: nobody knows
	had   int64 // of which a run before wrote so many
	begun time.Time
	said  time.Time
	drawn bool // a line stands on the terminal that is drawn over
}

func newNotes(w io.Writer, quiet bool) *notes {
	return &notes{w: w, quiet: quiet, terminal: client.IsTerminal(w), now: time.Now, begun: time.Now(),
		said: time.Now()}
}

// say writes a line; what was drawn gives way to it.
func (n *notes) say(format string, args ...any) {
	if n.quiet {
		return
	}
	n.end()
	fmt.Fprintf(n.w, format, args...)
}

// progress tells how far it is, not too often.
func (n *notes) progress(rows, bytes int64) {
	every := lineEvery
	if n.terminal {
		every = drawEvery
	}
	now := n.now()
	if n.quiet || now.Sub(n.said) < every {
		return
	}
	n.said = now
	seconds := now.Sub(n.begun).Seconds()
	text := client.Plural(rows, "row")
	if n.total > 0 {
		text = fmt.Sprintf("%s of %s (%.0f %%)", client.Number(rows), client.Plural(n.total, "row"),
			100*float64(min(rows, n.total))/float64(n.total))
	}
	here := float64(rows - n.had)
	text += fmt.Sprintf(", %s, %s rows/s", client.Bytes(bytes), client.Number(int64(here/seconds)))
	if left := n.total - rows; left > 0 && here > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(left)/here*seconds*1e9).Round(time.Second))
	}
	if !n.terminal {
		fmt.Fprintf(n.w, "varve: %s\n", text)
		return
	}
	fmt.Fprintf(n.w, "\r%s\x1b[K", text)
	n.drawn = true
}

// end takes a line that is drawn over from the terminal.
func (n *notes) end() {
	if n.drawn {
		fmt.Fprint(n.w, "\r\x1b[K")
		n.drawn = false
	}
}

// summary is the last line.
func (n *notes) summary(rows, bytes int64, file string, retries int) {
	took := n.now().Sub(n.begun)
	text := fmt.Sprintf("varve: %s, %s in %s (%s, %s rows/s", client.Plural(rows, "row"), client.Bytes(bytes), file,
		took.Round(10*time.Millisecond), client.Number(int64(float64(rows-n.had)/max(took.Seconds(), 1e-3))))
	if retries > 0 {
		text += ", " + client.Plural(int64(retries), "retry")
	}
	n.say("%s)\n", text)
}
