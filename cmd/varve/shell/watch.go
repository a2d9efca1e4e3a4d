package shell

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"
)

// leastWatch is how often a statement may run again by itself.
const leastWatch = 100 * time.Millisecond

// watch runs the last statement again and again and shows each result in the place of the one before, until ctx ends.
func (s *Shell) watch(ctx context.Context, arg string) error {
	every := 2 * time.Second
	if arg != "" {
		seconds, err := strconv.ParseFloat(arg, 64)
		if err != nil || !(seconds > 0 && seconds < 1e6) {
			return usage(`\watch %s: a number of seconds is wanted`, arg)
		}
		every = max(leastWatch, time.Duration(seconds*float64(time.Second)))
	}
	if s.last == "" {
		return usage("no statement has run yet")
	}
	defer func(footer bool) { s.footer = footer }(s.footer)
	s.footer = false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.redraw(ctx, every); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was to end so
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// redraw runs the last statement once.
func (s *Shell) redraw(ctx context.Context, every time.Duration) error {
	if s.o.Size == nil || s.out != nil {
		return s.again(ctx, s.chosen(false))
	}
	columns, rows := s.o.Size()
	s.look.terminal = columns
	// two lines stand above, one says that there is more, and the cursor is on one
	result := &screen{left: max(1, rows-4)}
	s.out = result
	err := s.again(ctx, s.chosen(false))
	s.out = nil
	if err != nil {
		return err
	}
	more := ""
	if result.more {
		more = "... there is more\n"
	}
	_, err = fmt.Fprintf(s.o.Out, "\x1b[H\x1b[2Jevery %s, %s (Ctrl-C ends it)\n\n%s%s", every,
		time.Now().In(s.zone).Format("15:04:05"), result.text, more)
	return err
}

// screen holds as many lines of a result as are seen. What more comes is refused, which ends the query.
type screen struct {
	text []byte
	left int // lines
	more bool
}

func (s *screen) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if s.left == 0 || len(s.text)+len(line) > heldMost {
			s.more = true
			return 0, errLeft
		}
		if s.text = append(s.text, line...); line[len(line)-1] == '\n' {
			s.left--
		}
	}
	return len(b), nil
}
