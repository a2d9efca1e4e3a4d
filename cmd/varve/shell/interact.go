package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"varve/cmd/varve/client"
)

// Interact asks for statements until nobody types any more. Ctrl-C ends what runs, or forgets what was typed.
func (s *Shell) Interact() error {
	h, err := openHistory(s.o.HistoryFile)
	if err != nil {
		fmt.Fprintf(s.o.Notes, "varve: what was typed before cannot be read: %v\n", err)
	}
	s.asking, s.footer = true, s.o.Footer
	defer s.Close() //nolint:errcheck // said by \o
	ends, stop := s.watchSignals()
	defer stop()
	var in typist
	if s.o.Plain {
		in = &lineTypist{s, bufio.NewReader(s.o.In)}
	} else if err := s.keepKeys(); err != nil {
		return err
	} else {
		defer s.keys.giveBack()
		in = newEditor(s, h)
	}
	for cut := newSplitter(); ; {
		text, err := in.read(cut.open())
		switch {
		case errors.Is(err, errCancelled):
			cut.reset()
			continue
		case err == io.EOF:
			fmt.Fprintln(s.o.Out)
			return nil
		case err != nil:
			return err
		case wordOf(text) != "" && cut.empty():
			text = wordOf(text) + "\n"
		case isStuck(text) || wordOf(text) != "":
			cut.add([]byte(text[:strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\n')+1]))
			fmt.Fprintln(s.o.Notes, `varve: a statement is begun and not ended: ; runs it, \r forgets it, \q leaves`)
			continue
		}
		if err := s.typed(text, cut, h, ends); err != nil {
			if errors.Is(err, errQuit) {
				return nil
			}
			return err
		}
	}
}

// isStuck reports whether a text is an open statement with a word alone on its last line: somebody wants to get out of
// it.
func isStuck(text string) bool {
	text = strings.TrimRight(text, "\r\n")
	end := strings.LastIndexByte(text, '\n')
	return end >= 0 && wordOf(text[end:]) != "" && openAfter(text[:end]) != 0
}

// typed runs what was typed, as far as it is whole.
func (s *Shell) typed(text string, cut *splitter, h *history, ends *running) error {
	if cut.empty() {
		cut.reset()
	}
	cut.add([]byte(text))
	whole := strings.TrimRight(string(cut.buf), "\r\n")
	any := false
	for p, ok := cut.next(false); ok; p, ok = cut.next(false) {
		if !any && p.text != `\q` {
			any = true
			if err := h.add(whole); err != nil {
				fmt.Fprintf(s.o.Notes, "varve: what is typed cannot be kept: %v\n", err)
				h.file = ""
			}
		}
		ctx, done := ends.begin()
		err := s.piece(ctx, p, cut)
		cancelled := ctx.Err() != nil
		done()
		switch {
		case errors.Is(err, errQuit):
			return err
		case cancelled && err != nil:
			fmt.Fprintln(s.o.Notes, "varve: cancelled")
			cut.reset()
			return nil
		case err != nil:
			fmt.Fprintf(s.o.Notes, "varve: %s\n", client.Line(err))
			if !s.o.KeepGoing {
				cut.reset()
				return nil
			}
		}
	}
	return nil
}

// running is what Ctrl-C ends.
type running struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil: nothing runs
}

// begin begins something that Ctrl-C ends.
func (r *running) begin() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r.mu.Lock()
	r.cancel = cancel
	r.mu.Unlock()
	return ctx, func() {
		r.mu.Lock()
		r.cancel = nil
		r.mu.Unlock()
		cancel(nil)
	}
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel(&client.InterruptedError{Signal: syscall.SIGINT})
	}
}

// watchSignals ends what runs at Ctrl-C. SIGTERM, and a terminal that goes away, end the process, with the terminal as
// it was.
func (s *Shell) watchSignals() (ends *running, stop func()) {
	ends = &running{}
	fd := -1
	var before *term.State
	if f, ok := s.o.In.(interface{ Fd() uintptr }); ok {
		fd = int(f.Fd())
		before, _ = term.GetState(fd) //nolint:errcheck // it is none, then
	}
	signals, over, ended := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case got := <-signals:
				if got == os.Interrupt {
					ends.end()
					continue
				}
				if before != nil {
					term.Restore(fd, before) //nolint:errcheck // the process ends
				}
				s.o.Exit((&client.InterruptedError{Signal: got.(syscall.Signal)}).ExitCode())
			}
		}
	}()
	return ends, func() {
		signal.Stop(signals)
		close(over)
		<-ended
	}
}

// prompt is what stands before what is typed; open says what the statement that is begun waits for, 0: none is.
func (s *Shell) prompt(open byte) string {
	label := s.db
	if s.o.Label != "" {
		label = s.o.Label + "/" + s.db
	}
	label = string(client.AppendVisible(nil, []byte(label), ""))
	if open != 0 {
		return strings.Repeat(" ", max(0, width([]byte(label))-1)) + string(rune(open)) + "> "
	}
	if s.o.Production && s.o.Colour {
		return "\x1b[1;31m" + label + ">" + off + " "
	}
	return label + "> "
}
