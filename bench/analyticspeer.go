package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"varve/bench/gen"
)

//go:embed analytics.py
var pythonScript string

const (
	// peerLimit is how long a peer may take for one request, a load included.
	peerLimit = 30 * time.Minute
	// peerAnswer bounds the bytes of an answer of the script: digests, never rows.
	peerAnswer = 1 << 20
)

// missingError tells that a peer is not on this machine.
type missingError struct{ peer, reason string }

func (e *missingError) Error() string {
	return fmt.Sprintf("peer %s is not there, and is left out: %s", e.peer, e.reason)
}

// pythonPeer is a database inside of a Python process. It is for one goroutine at a time.
type pythonPeer struct {
	name, version string
	dir           string // of its tables

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startPython starts the script for an engine, whose tables lie in dir. A *missingError means that the interpreter or
// the engine's package is not there.
func startPython(ctx context.Context, python, name, dir string) (*pythonPeer, error) {
	program, err := exec.LookPath(python)
	if err != nil {
		return nil, &missingError{name, err.Error()}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	p := &pythonPeer{name: name, dir: dir, cmd: exec.CommandContext(ctx, program, "-c", pythonScript, name, dir)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, &missingError{name, err.Error()}
	}
	p.out = bufio.NewReaderSize(out, peerAnswer)
	var hello struct{ Version, Missing string }
	if err := p.read(ctx, &hello); err != nil {
		return nil, errors.Join(fmt.Errorf("peer %s: %w", name, err), p.close())
	}
	if hello.Missing != "" {
		return nil, errors.Join(&missingError{name, hello.Missing}, p.close())
	}
	p.version = hello.Version
	return p, nil
}

// markOf is the file that says which rows a table has.
func (p *pythonPeer) markOf(table string) string { return filepath.Join(p.dir, table+".loaded") }

// call sends a request and reads its answer into reply.
func (p *pythonPeer) call(ctx context.Context, request, reply any) error {
	b, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("peer %s has ended: %w", p.name, err)
	}
	return p.read(ctx, reply)
}

// read reads one line of the script. A peer that does not answer in time is ended.
func (p *pythonPeer) read(ctx context.Context, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, peerLimit)
	defer cancel()
	killed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { killed <- p.cmd.Process.Kill() })
	line, err := p.out.ReadSlice('\n')
	if !stop() {
		return errors.Join(ctx.Err(), <-killed)
	}
	if err != nil {
		return fmt.Errorf("its script ended, or answered too much: %w", err)
	}
	return json.Unmarshal(line, reply)
}

// load has the peer read a file of rows into a table.
func (p *pythonPeer) load(ctx context.Context, table *analyticsTable, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	var reply struct {
		Rows  int64
		Error string
	}
	err = p.call(ctx, struct {
		Op      string       `json:"op"`
		Table   string       `json:"table"`
		Columns []gen.Column `json:"columns"`
		File    string       `json:"file"`
	}{"load", table.name, table.set.Columns, file}, &reply)
	switch {
	case err != nil:
		return err
	case reply.Error != "":
		return errors.New(reply.Error)
	case reply.Rows != table.set.Rows:
		return fmt.Errorf("%d rows read, want %d", reply.Rows, table.set.Rows)
	}
	return nil
}

func (p *pythonPeer) ask(ctx context.Context, sql string) (a asked, err error) {
	var reply struct {
		Wall    time.Duration `json:"wall_ns"`
		CPU     time.Duration `json:"cpu_ns"`
		Rows    int
		Columns []columnDigest
		Error   string
	}
	err = p.call(ctx, struct {
		Op  string `json:"op"`
		SQL string `json:"sql"`
	}{"run", sql}, &reply)
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return asked{reply.Wall, reply.CPU, digest{Rows: reply.Rows, Columns: reply.Columns}}, err
}

// close ends the script.
func (p *pythonPeer) close() error {
	if err := p.in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return p.cmd.Wait()
}
