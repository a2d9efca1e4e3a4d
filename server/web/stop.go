package web

import (
	"context"
	"time"
)

// UntilCancel is how long what is in hand may go on undisturbed when a server stops: four fifths of ctx's time. Then
// its contexts end, and with ctx its connections are closed.
func UntilCancel(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Hour
	}
	return time.Until(deadline) * 4 / 5
}
