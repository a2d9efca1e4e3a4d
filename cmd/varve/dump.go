package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"varve/engine"
	"varve/engine/manifest"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

type dumpCommand struct {
	File string `arg:"" help:"A part, a segment of the log or a manifest."`
	Hex  bool   `help:"Print the bytes instead."`
}

// run prints a file by its format, which its first bytes tell.
func (c *dumpCommand) run(out io.Writer) (err error) {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	if c.Hex {
		d := hex.Dumper(w)
		_, err := io.Copy(d, f)
		return errors.Join(err, d.Close())
	}
	magic := make([]byte, 8)
	if _, err := io.ReadFull(f, magic); err != nil {
		return fmt.Errorf("%s is no file of a store: it has less than 8 bytes", c.File)
	}
	switch string(magic) {
	case sst.Magic:
		return sst.Dump(w, vfs.OS(), c.File)
	case wal.Magic:
		return wal.Dump(w, vfs.OS(), c.File, engine.DumpRecord)
	case manifest.Magic:
		if filepath.Base(c.File) != manifest.FileName {
			return fmt.Errorf("a manifest must be called %s to be read", manifest.FileName)
		}
		return manifest.Dump(w, vfs.OS(), filepath.Dir(c.File))
	}
	return fmt.Errorf("%s is no part, segment of the log or manifest: it begins with %q", c.File, magic)
}
