// Package progress says how far a command is, counts what it does in rates, and waits between its tries.
//
//	line.go   notes, and a line of progress below them
//	retry.go  tries that are made again, and the waits between them
package progress

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

// Line writes notes and progress: on a terminal one line that is drawn over, elsewhere a line each time. It belongs to
// one goroutine at a time.
type Line struct {
	W     io.Writer
	Quiet bool // nothing is said
	Width int  // columns of the terminal that W is; 0: it is none

	drawn bool
}

// Every is how often progress is said.
func (l *Line) Every() time.Duration {
	if l.Width > 0 {
		return drawEvery
	}
	return lineEvery
}

// Say writes a note, unless it is to be quiet; what was drawn gives way to it.
func (l *Line) Say(format string, args ...any) {
	if !l.Quiet {
		l.Insist(fmt.Sprintf(format, args...))
	}
}

// Insist writes a note in any case. Names and answers of servers are among what it says.
func (l *Line) Insist(text string) {
	l.Wipe()
	fmt.Fprintf(l.W, "varve: %s\n", client.Visible(text))
}

// Draw shows a line of progress, unless it is to be quiet.
func (l *Line) Draw(text string) {
	text = client.Visible(text)
	switch {
	case l.Quiet:
	case l.Width > 0:
		l.Wipe()
		if runes := []rune(text); len(runes) >= l.Width { // a longer one would not be wiped whole
			text = string(runes[:l.Width-1])
		}
		fmt.Fprint(l.W, text)
		l.drawn = true
	default:
		fmt.Fprintf(l.W, "varve: %s\n", text)
	}
}

// Wipe takes the line of progress from the terminal.
func (l *Line) Wipe() {
	if l.drawn {
		fmt.Fprint(l.W, "\r\x1b[K")
		l.drawn = false
	}
}

// PerSecond is how many of n there were in a second.
func PerSecond(n int64, took time.Duration) int64 {
	return int64(float64(n) / max(took.Seconds(), 1e-3))
}

// Left is how long the rest takes when the part that is done took so long.
func Left(done, all int64, took time.Duration) time.Duration {
	return time.Duration(float64(all-done) / float64(done) * float64(took)).Round(time.Second)
}
