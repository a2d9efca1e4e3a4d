package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"varve/server/web"
)

// TestConnWritesInPieces has an answer larger than one piece.
func TestConnWritesInPieces(t *testing.T) {
	c, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := newListener(c, web.NewPlaces(1, 1))
	go func() {
		d, err := net.Dial("tcp", c.Addr().String())
		if err == nil {
			defer d.Close()
			fmt.Fprint(d, "x")
			io.Copy(io.Discard, d)
		}
	}()
	k, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Write(make([]byte, 5<<20)); err != nil {
		t.Errorf("a large write: %v", err)
	}
	k.SetReadDeadline(time.Now().Add(time.Second))
	if l.open() != 1 || k.Close() != nil || l.open() != 0 {
		t.Error("the listener does not count its connections")
	}
}

// TestWritesMustMakeProgress: a write to a client that does not read ends after the limit, counted from each piece.
func TestWritesMustMakeProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		c := &conn{Conn: server, l: newListener(nil, web.NewPlaces(1, 1))}
		go func() {
			<-time.After(writeProgress - time.Second)
			io.CopyN(io.Discard, client, writeChunk)
		}()
		start := time.Now()
		n, err := c.Write(make([]byte, 2*writeChunk))
		if took := time.Since(start); n != writeChunk || !errors.Is(err, os.ErrDeadlineExceeded) ||
			took != 2*writeProgress-time.Second {
			t.Errorf("%d bytes after %v: %v", n, took, err)
		}
	})
}

// halfConn counts how often its one side was closed.
type halfConn struct {
	net.Conn
	halves int
}

func (c *halfConn) CloseWrite() error {
	c.halves++
	return nil
}

// TestFewConnectionsLinger: those that are closed before their request was read are read on, unless many are.
func TestFewConnectionsLinger(t *testing.T) {
	for _, one := range []struct{ others, halves int }{{0, 1}, {lingerConns - 1, 1}, {lingerConns, 0}} {
		l := newListener(nil, web.NewPlaces(1, 1))
		l.lingering.Store(int64(one.others))
		client, server := net.Pipe()
		client.Close()
		half := &halfConn{Conn: server}
		c := &conn{Conn: half, l: l}
		c.linger.Store(true)
		if err := c.Close(); err != nil || half.halves != one.halves || l.lingering.Load() != int64(one.others) {
			t.Errorf("beside %d: %d lingered, %d are left, %v", one.others, half.halves, l.lingering.Load(), err)
		}
	}
}
