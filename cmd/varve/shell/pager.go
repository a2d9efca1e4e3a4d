package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"varve/cmd/varve/client"
)

// errLeft: the reader of a result has enough of it.
var errLeft = errors.New("the pager was closed")

// heldMost is how much is held of a result that may still fit on the screen, bytes.
const heldMost = 256 << 10

// pager shows results on a terminal: those that are taller than it by a command that reads as somebody scrolls.
type pager struct {
	out     io.Writer // the terminal
	rows    int       // of the terminal
	command string
	notes   io.Writer
	began   func() // is called once, before something is written
	keys    *keys  // which the command gets

	held  []byte
	lines int
	cmd   *exec.Cmd
	back  func() // takes the keys back
	to    io.WriteCloser
}

func (p *pager) Write(b []byte) (int, error) {
	if p.to != nil {
		if _, err := p.to.Write(b); err != nil {
			return 0, errLeft
		}
		return len(b), nil
	}
	p.held = append(p.held, b...)
	if p.lines += bytes.Count(b, []byte{'\n'}); p.lines < p.rows-1 && len(p.held) < heldMost {
		return len(b), nil
	}
	if p.command == "" {
		p.began()
		p.to = nopCloser{p.out}
	} else {
		p.start()
	}
	if err := p.pass(); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *pager) start() {
	p.began()
	back := p.keys.lend()
	cmd := exec.Command("sh", "-c", p.command)
	cmd.Stdout, cmd.Stderr = p.out, p.notes
	to, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(p.notes, "varve: PAGER %s: %v\n", p.command, err)
		p.to = nopCloser{p.out}
		back()
		return
	}
	p.cmd, p.to, p.back = cmd, to, back
}

// nopCloser is what stands for a pager that could not be started: the terminal.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// pass gives what is held to the pager.
func (p *pager) pass() error {
	_, err := p.to.Write(p.held)
	p.held = nil
	if err != nil {
		return errLeft
	}
	return nil
}

// Close shows what fits on the screen, or waits until the pager is left.
func (p *pager) Close() error {
	if p.to == nil {
		if len(p.held) > 0 {
			p.began()
		}
		_, err := p.out.Write(p.held)
		return err
	}
	p.to.Close()
	if p.cmd != nil {
		p.cmd.Wait() //nolint:errcheck // how a pager ends says nothing of the result
		p.back()
	}
	return nil
}

// progressAfter is how long a statement runs until something is said of it, progressEvery how often.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// progress says on a terminal how long a statement runs and how many rows have come, until it is stopped.
func progress(notes io.Writer, rows func() int64) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		begun, shown := time.Now(), false
		next := time.After(progressAfter)
		for {
			select {
			case <-over:
				if shown {
					fmt.Fprint(notes, "\r\x1b[K")
				}
				return
			case <-next:
				shown = true
				fmt.Fprintf(notes, "\r\x1b[K%.1f s, %s (Ctrl-C ends it)", time.Since(begun).Seconds(),
					client.Plural(rows(), "row"))
				next = time.After(progressEvery)
			}
		}
	}()
	stopped := false
	return func() {
		if !stopped {
			stopped = true
			close(over)
			<-ended
		}
	}
}
