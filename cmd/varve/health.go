package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"varve/cmd/varve/client"
)

// Times of varve health: of one question where --timeout says nothing else, and between two while it waits.
const (
	healthTimeout = 5 * time.Second
	healthPause   = 100 * time.Millisecond
)

type healthCommand struct {
	Wait  time.Duration `placeholder:"DURATION" help:"Ask again until the server is healthy or this time is over."`
	Ready bool          `help:"Ask whether rows can be read and written: a server that still recovers its tables is healthy, and not ready."`
	client.Flags
}

// Help is what varve health --help says besides.
func (healthCommand) Help() string {
	return "For health checks of containers and for scripts that start a server: exit code 0 when it answers 200, 4 " +
		"when it cannot be reached, 1 when it answers something else.\n\n" +
		examples("varve health", "varve health --wait 30s --url http://127.0.0.1:4000",
			"varve health --ready --wait 10m")
}

// Run asks until the server is healthy, or ready, or the time is over.
func (h *healthCommand) Run(ctx context.Context, io streams) error {
	if h.Timeout == 0 {
		h.Timeout = healthTimeout
	}
	if h.Wait > 0 {
		h.Timeout = min(h.Timeout, h.Wait)
	}
	c, err := h.Connect(io.environ, io.err)
	if err != nil {
		return err
	}
	if h.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.Wait)
		defer cancel()
	}
	path, state := "/health", "healthy"
	if h.Ready {
		path, state = "/ready", "ready"
	}
	err = ask(ctx, c, path)
	for h.Wait > 0 && err != nil && mayPass(err) {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return fmt.Errorf("not %s within %s: %w", state, h.Wait, err)
		case <-time.After(healthPause):
		}
		// A question that the end cuts off tells less than the one before.
		if next := ask(ctx, c, path); next == nil || ctx.Err() == nil {
			err = next
		}
	}
	if err == nil && !h.Quiet {
		_, err = fmt.Fprintf(io.out, "%s is %s\n", c.Base, state)
	}
	return err
}

// ask asks once.
func ask(ctx context.Context, c *client.Client, path string) error {
	resp, err := c.Do(ctx, client.Request{Path: path})
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", c.Base, resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

// mayPass reports whether a server that is starting or busy may be behind a failure.
func mayPass(err error) bool {
	again, _ := client.Temporary(err)
	return again
}
