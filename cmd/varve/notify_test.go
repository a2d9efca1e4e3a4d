package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestWatchdogNeedsAnswers: the manager is told for each tick at which the server answers, and for no other.
func TestWatchdogNeedsAnswers(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	n := &notifier{conn: here}
	ctx, cancel := context.WithCancel(t.Context())
	ticks, answers := make(chan time.Time), make(chan bool)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.watch(ctx, ticks, func(context.Context) bool { return <-answers })
	}()
	for _, answered := range []bool{true, false, false, true} {
		ticks <- time.Time{}
		answers <- answered
		if !answered {
			continue // the next tick is taken at once: nothing is written, which nobody would read
		}
		b := make([]byte, 64)
		if k, err := there.Read(b); err != nil || string(b[:k]) != "WATCHDOG=1" {
			t.Fatalf("%q, %v", b[:k], err)
		}
	}
	cancel()
	<-ended
}

// TestLives: a server that answers anything lives, one that takes the question and is silent does not.
func TestLives(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	secret := httptest.NewTLSServer(http.NotFoundHandler())
	defer secret.Close()
	for _, url := range []string{busy.URL, secret.URL} {
		if err := lives(t.Context(), url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	// taken runs what becomes of a connection of somebody who asks.
	taken := func(then func(net.Conn)) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		go func() {
			c, err := ln.Accept()
			if err == nil {
				then(c)
			}
		}()
		return "http://" + ln.Addr().String()
	}
	if err := lives(t.Context(), taken(func(c net.Conn) { c.Close() })); err != nil {
		t.Errorf("a connection too many: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := lives(ctx, taken(func(net.Conn) { cancel() })); err == nil {
		t.Error("a silent server lives")
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := lives(t.Context(), gone.URL); err == nil {
		t.Error("a server that is gone lives")
	}
}
