package client

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// InterruptedError: the user ended the command before its work was done: exit code 130 or 143.
type InterruptedError struct{ Signal syscall.Signal }

func (e *InterruptedError) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// ExitCode is what shells expect of a process that a signal ended.
func (e *InterruptedError) ExitCode() int { return 128 + int(e.Signal) }

// Interruptible gives a context that Ctrl-C or SIGTERM ends, with an InterruptedError for its cause: requests are given
// up, which cancels their queries, and the command stops at a clean point. The second signal ends the process at once.
// stop gives the signals back.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case <-done:
				return
			case got := <-signals:
				e := &InterruptedError{got.(syscall.Signal)}
				if ctx.Err() != nil {
					os.Exit(e.ExitCode())
				}
				cancel(e)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// restoreAtSignal gives a terminal its ways back when a signal ends the process meanwhile; the function ends that.
func restoreAtSignal(fd int, state *term.State) func() {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-done:
		case got := <-signals:
			term.Restore(fd, state) //nolint:errcheck // the process ends
			fmt.Fprintln(os.Stderr)
			os.Exit((&InterruptedError{got.(syscall.Signal)}).ExitCode())
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
