package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/vfs"
)

// local is a server inside this process that only this process reaches: commands question files as they question
// servers.
type local struct {
	node   *node
	pairs  *pairs
	temp   string // removed at the end
	served chan error
}

// openData serves a data directory that no server holds. Nothing in it is changed: what the store writes goes to a
// temporary directory in temp, "" for the system's.
func openData(dir, temp string, notes io.Writer) (*local, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := engine.RequireStore(vfs.OS(), dir); err != nil {
		return nil, err
	}
	l, err := openLocal(temp, notes, func(temp string) place {
		return place{fs: vfs.Overlay(dir, filepath.Join(temp, "changes")), dir: dir, still: true}
	})
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, fmt.Errorf("a server holds %s: ask it (--url), or stop it first", dir)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s cannot be read by this user: %w", dir, err)
	}
	return l, err
}

// openEmpty serves an empty store in a temporary directory in temp.
func openEmpty(temp string, notes io.Writer) (*local, error) {
	return openLocal(temp, notes, func(temp string) place {
		return place{fs: vfs.OS(), dir: filepath.Join(temp, "data")}
	})
}

// openLocal serves the store of a place, which is made of the name of the temporary directory.
func openLocal(temp string, notes io.Writer, where func(temp string) place) (_ *local, err error) {
	l := &local{pairs: newPairs(), served: make(chan error, 1)}
	if l.temp, err = os.MkdirTemp(temp, "varve-sql-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(l.temp))
		}
	}()
	config, err := loadConfig("", nil, []setting{
		{"", "storage.data_home", filepath.Join(l.temp, "home")}, {"", "init_regions_in_background", "false"},
		{"", "dashboard.enable", "false"},
		{"", "slow_query.enable", "false"}, {"", "wal.sync", "never"},
	})
	if err != nil {
		return nil, err
	}
	level, err := parseFilter(config.Logging.Level)
	if err != nil {
		return nil, err
	}
	logs := newLogs(io.Discard, config.Logging.Format, level) // whoever asks is told of errors
	l.node = &node{config: config, log: logs.logger("varve"), ln: l.pairs}
	if err := l.node.checkConfig(logs); err != nil {
		return nil, err
	}
	if err := l.node.assemble(where(l.temp), logs); err != nil {
		return nil, err
	}
	for _, d := range l.node.store.Recovery().SetAside {
		fmt.Fprintf(notes, "varve: %s is damaged: %s (set aside, its rows are missing)\n", d.File, d.Reason)
	}
	go func() { l.served <- l.node.server.Serve(l.pairs) }()
	return l, nil
}

// connect makes a client of the server.
func (l *local) connect(f *client.Flags, s streams) *client.Client {
	return f.Local(l.pairs.dial, s.environ, s.err)
}

// close ends the server and removes what it wrote.
func (l *local) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	l.node.server.Shutdown(ctx) //nolint:errcheck // connections that were cut are this process's
	return errors.Join(<-l.served, l.node.closeStore(ctx, false), os.RemoveAll(l.temp))
}

// pairs is a listener for connections inside this process: nobody else has a name for them.
type pairs struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPairs() *pairs { return &pairs{conns: make(chan net.Conn), closed: make(chan struct{})} }

// dial makes a connection to whoever accepts.
func (p *pairs) dial() (net.Conn, error) {
	here, there, err := connPair()
	if err != nil {
		return nil, err
	}
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, errors.Join(net.ErrClosed, here.Close(), there.Close())
	}
}

// Accept gives the other end of what dial made.
func (p *pairs) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pairs) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pairs) Addr() net.Addr { return &net.UnixAddr{Name: "@varve", Net: "unix"} }

// connPair makes two ends of a connection.
func connPair() (a, b net.Conn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), "socketpair")
		end, connErr := net.FileConn(file)
		ends[i], err = end, errors.Join(err, connErr, file.Close())
	}
	return ends[0], ends[1], err
}
