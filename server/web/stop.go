package web

import (
	"context"
	"time"
)

// UntilCancel is how long requests in hand may go on when a server stops: four fifths of ctx's time. Then their
// contexts end, and when ctx ends their connections are closed.
func UntilCancel(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Hour
	}
	return time.Until(deadline) * 4 / 5
}
