package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/vfs"
)

type backupCommand struct {
	client.Flags
	Dest   string   `arg:"" help:"A new or empty directory, or - for a tar stream to standard output."`
	Data   string   `placeholder:"DIR" help:"A data directory that no server holds, instead of a running server."`
	Tables []string `placeholder:"TABLE" help:"Only these tables, as table or database.table."`
	Base   string   `placeholder:"DIR" help:"An older backup: what is equal is linked to it."`

	beside string // a temporary directory with the snapshot of a store that is read-only; empty: there is none
}

// Run makes a consistent snapshot, by the server or here, takes it to its destination and removes it.
func (c *backupCommand) Run(ctx context.Context, io streams) (err error) {
	if c.Dest != "-" {
		if err := emptyDir(c.Dest); err != nil {
			return err
		}
	}
	name := engine.SnapshotPrefix + time.Now().UTC().Format(engine.SnapshotTime)
	ask := c.askServer
	if c.Data != "" {
		ask = c.openStore
	}
	dir, err := ask(ctx, name, io)
	if is[*client.InterruptedError](err) {
		c.drop(name, io) // what the server made of it nobody will fetch
	}
	if err != nil {
		return err
	}
	if filepath.Base(dir) != name || filepath.Base(filepath.Dir(dir)) != engine.BackupsDir {
		return fmt.Errorf("the server answered with a snapshot in %s, which is not where snapshots are", dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return errors.Join(
			fmt.Errorf("the server's snapshot cannot be read here, run this on its machine and as its user: %w", err),
			c.drop(name, io))
	}
	defer func() {
		if c.beside != "" {
			err = errors.Join(err, os.RemoveAll(c.beside))
			return
		}
		if os.RemoveAll(dir) != nil { // it is another user's
			err = errors.Join(err, c.drop(name, io))
		}
	}()
	m, err := describeBackup(ctx, dir, c.Tables)
	if err != nil {
		return err
	}
	if c.Dest == "-" {
		return m.writeTar(ctx, io.out, dir)
	}
	if err := m.copyTo(ctx, c.Dest, dir, c.Base); err != nil {
		return err
	}
	return checkMade(c.Dest, io)
}

// emptyDir refuses a directory that holds something; it need not be there.
func emptyDir(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && len(names) > 0:
		return fmt.Errorf("%s is not empty", dir)
	}
	return err
}

// openStore makes the snapshot of a store that no server holds. One that is read-only stays as it is.
func (c *backupCommand) openStore(ctx context.Context, name string, _ streams) (dir string, err error) {
	if err := engine.RequireStore(vfs.OS(), c.Data); err != nil {
		return "", err
	}
	e, err := engine.Open(engine.Options{FS: vfs.OS(), Dir: c.Data, NoBackground: true})
	if err != nil {
		return "", err
	}
	if e.ReadOnly() == nil {
		return snapshot(ctx, e, name)
	}
	if err := e.Close(context.Background(), false); err != nil {
		return "", err
	}
	return c.openBeside(ctx, name)
}

// openBeside makes the snapshot in a temporary directory beside the destination, to which all parts are copied: nothing
// is changed in the data directory.
func (c *backupCommand) openBeside(ctx context.Context, name string) (dir string, err error) {
	beside := os.TempDir()
	if c.Dest != "-" {
		beside = filepath.Dir(filepath.Clean(c.Dest))
	}
	if c.beside, err = os.MkdirTemp(beside, "varve-backup-"); err != nil {
		return "", err
	}
	e, err := engine.Open(engine.Options{FS: vfs.Overlay(c.Data, c.beside), Dir: c.Data, NoBackground: true})
	if err == nil {
		_, err = snapshot(ctx, e, name)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(c.beside))
	}
	return filepath.Join(c.beside, engine.BackupsDir, name), nil
}

// snapshot makes a snapshot and closes the store.
func snapshot(ctx context.Context, e *engine.Engine, name string) (dir string, err error) {
	b, err := e.Backups().Make(ctx, name)
	return b.Dir, errors.Join(err, e.Close(context.Background(), true))
}

// dropTime is how long the server may take to remove a snapshot, which is a directory of links.
const dropTime = 2 * time.Second

// drop lets the server remove the snapshot.
func (c *backupCommand) drop(name string, s streams) error {
	if c.Data != "" {
		return nil // it was made here, and is swept by the next start
	}
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	_, err := c.ask(ctx, "ADMIN drop_backup('"+name+"')", s)
	return err
}

// askServer lets the server make the snapshot.
func (c *backupCommand) askServer(ctx context.Context, name string, s streams) (string, error) {
	dir, err := c.ask(ctx, "ADMIN backup('"+name+"')", s)
	if err == nil && !filepath.IsAbs(dir) {
		return "", errors.Join(fmt.Errorf("the server answered with a snapshot in %s, which is not an absolute path", dir),
			c.drop(name, s))
	}
	return dir, err
}

// ask sends a statement that answers with one value.
func (c *backupCommand) ask(ctx context.Context, sql string, s streams) (string, error) {
	server, err := c.Connect(s.environ, s.err)
	if err != nil {
		return "", err
	}
	answer, err := server.Query(ctx, "", sql)
	var unreachable *client.UnreachableError
	if errors.As(err, &unreachable) {
		return "", fmt.Errorf("%w --url gives another address, --data the directory of a server that does not run", err)
	}
	if err != nil {
		return "", err
	}
	if len(answer.Rows) != 1 || len(answer.Rows[0]) != 1 {
		return "", fmt.Errorf("%s did not answer with a snapshot: %.200q", server.Base,
			fmt.Sprint(answer.Rows))
	}
	return fmt.Sprint(answer.Rows[0][0]), nil
}
