package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/vfs"
)

type restoreCommand struct {
	Source string   `arg:"" optional:"" help:"A backup: a directory, a tar file, or - for a tar stream from standard input."`
	From   string   `placeholder:"URL" help:"Instead of a backup: the bucket of a server that is gone, as its storage.cold_url. The new server takes its place."`
	WALDir string   `name:"wal-dir" placeholder:"DIR" help:"With --from: the log of the server that is gone. It stays there; start the new server with it as wal.dir."`
	Config string   `type:"path" env:"VARVE_CONFIG" placeholder:"FILE" help:"With --from: configuration file (TOML) with the keys of the bucket."`
	Data   string   `placeholder:"DIR" help:"The data directory to make, new or empty."`
	Tables []string `placeholder:"TABLE" help:"Only these tables, as table or database.table."`
	Check  bool     `help:"Only verify the backup."`
}

// Run verifies a backup and makes a data directory of it, or makes one of a bucket.
func (c *restoreCommand) Run(ctx context.Context, s streams) error {
	if err := c.refuse(); err != nil {
		return &client.UsageError{Err: err}
	}
	if c.From != "" {
		return c.fromBucket(ctx, s)
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

// refuse is an error for flags that do not go together.
func (c *restoreCommand) refuse() error {
	switch {
	case c.Source == "" && c.From == "":
		return errors.New("name a backup, or a bucket by --from URL")
	case c.Source != "" && c.From != "":
		return errors.New("a backup and --from: only one of them can be restored")
	case c.From == "" && c.WALDir != "":
		return errors.New("--wal-dir needs --from: a backup holds all rows")
	case c.From != "" && (c.Check || len(c.Tables) > 0):
		return errors.New("--check and --tables are for backups: all of a bucket is restored, and varve check --cold " +
			"reads its objects after that")
	case c.Data == "" && c.From != "":
		return errors.New("--data DIR is needed")
	case c.Data == "" && !c.Check:
		return errors.New("--data DIR is needed, or --check")
	}
	return nil
}

// fromBucket makes a data directory of a bucket.
func (c *restoreCommand) fromBucket(ctx context.Context, s streams) (err error) {
	config, err := loadConfig(c.Config, s.environ, []setting{{"--from", "storage.cold_url", c.From}})
	if err != nil {
		return err
	}
	o, err := config.bucketOptions()
	if err != nil {
		return err
	}
	b, err := bucket.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close(b)) }()
	dir, err := filepath.Abs(c.Data) // the epoch in the bucket names it
	if err != nil {
		return err
	}
	made, err := engine.RestoreBucket(ctx, engine.BucketRestore{FS: vfs.OS(), Bucket: b, Dir: dir, WALDir: c.WALDir})
	if err != nil {
		return err
	}
	if e := made.Before; e != nil {
		fmt.Fprintf(s.err, "note     the server on host %s with data directory %s cannot use %s any more\n", e.Host, e.Dir, b)
	}
	if made.LostParts > 0 {
		log := "no log was given"
		if c.WALDir != "" {
			log = "the log has them, or they are lost"
		}
		fmt.Fprintf(s.err, "note     %d rows of %s were on that server's disk alone: %s\n", made.LostRows,
			count(made.LostParts, "part"), log)
	}
	_, err = fmt.Fprintf(s.out, "%s: %s, %s with %d rows, of the manifest of %s\n", c.Data, count(made.Tables, "table"),
		count(made.Parts, "part"), made.Rows, made.At.UTC().Format(time.RFC3339))
	return err
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
