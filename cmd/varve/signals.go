package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Time to stop in: requests get drainTime, then what is in memory is flushed within flushTime. Rows that were
// acknowledged are in the log already, so neither can lose any.
const (
	drainTime = 6 * time.Second
	flushTime = 4 * time.Second
)

// watchUsers is how often a watched user file is looked at.
const watchUsers = 2 * time.Second

// serve answers requests until a signal asks to stop.
func (n *node) serve(s *serveCommand, io streams, logs *logs) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt, syscall.SIGHUP, syscall.SIGUSR1)
	defer signal.Stop(signals)
	served, ready := make(chan error, 1), make(chan error, 1)
	recovered, err := n.recovering()
	if err != nil {
		return errors.Join(err, n.unlisten(), n.closeStore(context.Background(), false))
	}
	go func() { served <- n.answer() }()
	n.beginWork()
	watching, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	go n.watchStandby(watching)
	n.banner(io, recovered)
	n.ready = recovered
	if recovered {
		n.notify.tell("READY=1", n.status())
	} else {
		n.notify.tell(n.status())
		go func() { ready <- n.store.Wait(context.Background()) }()
	}
	users := time.NewTicker(watchUsers)
	defer users.Stop()
	still := n.startWatching()
	defer still()
	for {
		select {
		case err := <-served:
			return errors.Join(fmt.Errorf("the server stopped: %w", err), n.closeStore(context.Background(), true))
		case err := <-ready:
			if err != nil {
				return n.giveUp(err)
			}
			n.ready = true
			n.open.start()
			n.notify.tell("READY=1", n.status())
			n.log.Info("all tables are served", "recovered", describe(n.store.Recovery()))
		case <-users.C:
			n.server.RefreshUsers()
		case <-n.promoted:
			if err := n.takeOver(served); err != nil {
				return err
			}
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				n.reload(s, io, logs)
				continue
			}
			if sig == syscall.SIGUSR1 {
				n.signalled()
				continue
			}
			go hurry(signals)
			still()
			return n.stop(sig, served)
		}
	}
}

// beginWork starts what a primary does by itself. A standby leaves it to its primary: alerts would come twice.
func (n *node) beginWork() {
	if n.store.Standby() != nil {
		return
	}
	if n.rules != nil {
		n.rules.Start()
	}
	if err := n.readQueues(); err != nil {
		n.log.Warn("queues are not read", "error", err)
	}
}

// signalled makes a standby take over at the signal for that.
func (n *node) signalled() {
	if n.store.Standby() == nil {
		n.log.Warn("SIGUSR1 makes a standby take over; this server is none")
		return
	}
	_ = n.promote() // it never fails
}

// answer answers requests on all addresses until one fails or the server stops.
func (n *node) answer() error {
	all := append(n.listeners(), func() error { return n.server.Serve(n.ln) })
	ended := make(chan error, len(all))
	for _, serve := range all {
		go func() {
			err := serve()
			if err != nil { // one without the others is no server
				err = errors.Join(err, n.server.Shutdown(context.Background()))
			}
			ended <- err
		}()
	}
	var err error
	for range all {
		err = errors.Join(err, <-ended)
	}
	return err
}

// soon is how long the first lines, and clients that connect meanwhile, wait for a recovery that is done at once, as
// most are: only where it takes longer do requests learn that the server is starting.
const soon = time.Second

// recovering waits a little for the store; done: its tables are served.
func (n *node) recovering() (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	err = n.store.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// status is what the service manager shows of the server.
func (n *node) status() string {
	if !n.ready {
		return "STATUS=recovering: until that is done rows are neither read nor written"
	}
	return fmt.Sprintf("STATUS=serving %s with %s", n.url(), count(n.store.Recovery().Tables, "table"))
}

// giveUp ends a server whose store cannot be served.
func (n *node) giveUp(err error) error {
	return errors.Join(err, n.server.Shutdown(context.Background()), n.closeStore(context.Background(), false))
}

// hurry ends the process at the second signal to stop.
func hurry(signals <-chan os.Signal) {
	for sig := range signals {
		if n, ok := sig.(syscall.Signal); ok && n != syscall.SIGHUP && n != syscall.SIGUSR1 {
			os.Exit(128 + int(n))
		}
	}
}

// stop finishes the requests in hand, whatever connections do, and closes the store.
func (n *node) stop(sig os.Signal, served <-chan error) error {
	begun := time.Now()
	n.notify.tell("STOPPING=1", "STATUS=stopping: requests in hand are answered, then rows in memory are written")
	n.log.Info("stopping", "signal", sig.String())
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := n.server.Shutdown(ctx); err != nil {
		n.log.Warn("some connections were cut", "reason", err)
	}
	if err := <-served; err != nil {
		n.log.Warn("the listener ended with an error", "error", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := n.closeStore(ctx, true); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	n.log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond).String())
	return nil
}
