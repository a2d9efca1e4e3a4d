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
	var result bytes.Buffer
	s.look.terminal, _ = s.o.Size()
	s.out = &result
	err := s.again(ctx, s.chosen(false))
	s.out = nil
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.o.Out, "\x1b[H\x1b[2Jevery %s, %s (Ctrl-C ends it)\n\n%s", every, time.Now().In(s.zone).Format("15:04:05"), result.Bytes())
	return err
}
