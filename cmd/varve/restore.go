package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/manifest"
	"varve/engine/vfs"
)

type restoreCommand struct {
	Source string   `arg:"" help:"A backup: a directory, a tar file, or - for a tar stream from standard input."`
	Data   string   `placeholder:"DIR" help:"The data directory to make, new or empty."`
	Tables []string `placeholder:"TABLE" help:"Only these tables, as table or database.table."`
	Check  bool     `help:"Only verify the backup."`
}

// Run verifies a backup and makes a data directory of it.
func (c *restoreCommand) Run(s streams) error {
	if c.Data == "" && !c.Check {
		return &client.UsageError{Err: errors.New("--data DIR is needed, or --check")}
	}
	source, clean, err := c.directory(s.in)
	if err != nil {
		return err
	}
	defer clean()
	b, err := readBackup(source)
	if err != nil {
		return err
	}
	if faults := b.verify(source); len(faults) > 0 {
		for _, f := range faults {
			fmt.Fprintf(s.err, "fault    %s\n", f)
		}
		return &damageError{len(faults)}
	}
	wanted, err := selectTables(source, c.Tables)
	if err != nil {
		return err
	}
	if c.Check {
		_, err := fmt.Fprintf(s.out, "%s: %s, all as they were made\n", c.Source, count(len(b.Files), "file"))
		return err
	}
	return c.restore(wanted, source, s)
}

// directory returns the backup as a directory: a tar stream is unpacked beside the data directory.
func (c *restoreCommand) directory(in io.Reader) (dir string, clean func(), err error) {
	if c.Source != "-" {
		info, err := os.Stat(c.Source)
		if err != nil || info.IsDir() {
			return c.Source, func() {}, err
		}
		f, err := os.Open(c.Source)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		in = f
	}
	beside := os.TempDir()
	if c.Data != "" {
		beside = filepath.Dir(filepath.Clean(c.Data))
	}
	if dir, err = os.MkdirTemp(beside, "varve-restore-"); err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) } // a directory of our own that nobody needs any more
	if err := unpack(in, dir); err != nil {
		clean()
		return "", nil, err
	}
	return dir, clean, nil
}

// unpack writes the files of a tar stream, which may only be those of a backup.
func unpack(in io.Reader, dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "parts"), vfs.DirMode); err != nil {
		return err
	}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the backup cannot be read: %w", err)
		}
		if parent := filepath.Dir(h.Name); h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) ||
			parent != "." && parent != "parts" {
			return fmt.Errorf("the stream is not a backup: it holds %q", h.Name)
		}
		if err := createFile(filepath.Join(dir, h.Name), r); err != nil {
			return err
		}
	}
}

// restore makes the data directory and verifies what is there.
func (c *restoreCommand) restore(wanted *manifest.State, source string, s streams) error {
	if err := engine.Restore(vfs.OS(), source, c.Data, wanted); err != nil {
		return err
	}
	return checkMade(c.Data, s)
}
