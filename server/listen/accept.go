package listen

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"varve/server/web"
)

// Accept gives the connections of ln to begin until stopping says that the server is being stopped. A connection that
// cannot be taken now, such as while the process has too many open files, is waited for; ctx ends the wait. name begins
// the lines of the log.
func Accept(ctx context.Context, ln net.Listener, name string, log *slog.Logger, stopping func() bool,
	begin func(net.Conn)) error {
	for pause := time.Duration(0); ; {
		c, err := ln.Accept()
		if err == nil {
			pause = 0
			begin(c)
			continue
		}
		if stopping() {
			return nil
		}
		var timeout net.Error
		if errors.Is(err, net.ErrClosed) || !errors.As(err, &timeout) {
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		log.Warn(name+": a connection cannot be taken", "error", err, "again_in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// Drain waits for the connections of a server that reads no more from them. After four fifths of ctx's time it calls
// cancel, which ends their work. When ctx ends it calls closeAll as well, and returns ctx's error.
func Drain(ctx context.Context, connections *sync.WaitGroup, cancel, closeAll func()) error {
	ready := make(chan struct{})
	go func() {
		connections.Wait()
		close(ready)
	}()
	defer cancel()
	patience := time.NewTimer(web.UntilCancel(ctx))
	defer patience.Stop()
	for {
		select {
		case <-ready:
			return nil
		case <-patience.C:
			cancel()
		case <-ctx.Done():
			cancel()
			closeAll()
			return ctx.Err()
		}
	}
}
