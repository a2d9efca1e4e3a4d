package export

import (
	"fmt"
	"io"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// notes is what is said of an export while it runs. It belongs to one goroutine.
type notes struct {
	progress.Line
	now   func() time.Time
	total int64 // rows that are expected; 0: nobody knows
	had   int64 // of which a run before wrote so many
	begun time.Time
	said  time.Time
}

func newNotes(w io.Writer, quiet bool) *notes {
	return &notes{Line: progress.Line{W: w, Quiet: quiet, Width: client.Width(w)}, now: time.Now, begun: time.Now(),
		said: time.Now()}
}

// progress tells how far it is, not too often.
func (n *notes) progress(rows, bytes int64) {
	now := n.now()
	if n.Quiet || now.Sub(n.said) < n.Every() {
		return
	}
	n.said = now
	took, here := now.Sub(n.begun), rows-n.had
	text := client.Plural(rows, "row")
	if n.total > 0 {
		text = fmt.Sprintf("%s of %s (%.0f %%)", client.Number(rows), client.Plural(n.total, "row"),
			100*float64(min(rows, n.total))/float64(n.total))
	}
	text += fmt.Sprintf(", %s, %s rows/s", client.Bytes(bytes), client.Number(progress.PerSecond(here, took)))
	if rows < n.total && here > 0 {
		text += fmt.Sprintf(", %s left", progress.Left(here, n.total-n.had, took))
	}
	n.Draw(text)
}

// summary is the last line.
func (n *notes) summary(rows, bytes int64, file string, retries int) {
	took := n.now().Sub(n.begun)
	text := fmt.Sprintf("%s, %s in %s (%s, %s rows/s", client.Plural(rows, "row"), client.Bytes(bytes), file,
		took.Round(10*time.Millisecond), client.Number(progress.PerSecond(rows-n.had, took)))
	if retries > 0 {
		text += ", " + client.Plural(int64(retries), "retry")
	}
	n.Say("%s)", text)
}
