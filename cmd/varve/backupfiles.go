package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"

	"varve/cmd/varve/client"
)

// backupList is the file that makes a directory a backup: every other file with its checksum.
const backupList = "BACKUP.json"

// backup describes a backup. Names are relative, with slashes.
type backup struct {
	Version int          `json:"version"`
	Created time.Time    `json:"created"`
	Server  string       `json:"server"`
	Tables  []string     `json:"tables"`
	Files   []backupFile `json:"files"`
}

type backupFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// describeBackup lists the files of a snapshot; a choice of tables is written into the snapshot's manifest first. ctx
// ends it between files, as it ends copyTo and writeTar.
func describeBackup(ctx context.Context, dir string, tables []string) (*backup, error) {
	state, err := chooseTables(dir, tables)
	if err != nil {
		return nil, err
	}
	b := &backup{Version: 1, Created: time.Now().UTC().Truncate(time.Second), Server: version, Tables: []string{}}
	for _, t := range state.Tables {
		b.Tables = append(b.Tables, t.Schema.Name.String())
	}
	for _, name := range filesOf(state) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n, sum, err := client.HashFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		b.Files = append(b.Files, backupFile{name, n, sum})
	}
	return b, nil
}

// filesOf are the names of the parts that a manifest lists and, last, of the manifest: a copy that is cut short has
// none.
func filesOf(state *manifest.State) []string { return append(partsOf(state), manifest.FileName) }

// partsOf are the names of the parts that a manifest lists.
func partsOf(state *manifest.State) (names []string) {
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			names = append(names, parts.WhereEntry(p.File, p.Location != ""))
		}
	}
	return names
}

// chooseTables drops all other tables from the manifest of a directory; no names: all stay.
func chooseTables(dir string, names []string) (*manifest.State, error) {
	state, err := selectTables(dir, names)
	if err != nil || len(names) == 0 {
		return state, err
	}
	return state, manifest.Write(vfs.OS(), dir, state)
}

// selectTables is the manifest of a directory with the named tables alone; no names: with all. A name without a table
// is an error.
func selectTables(dir string, names []string) (*manifest.State, error) {
	state, _, err := manifest.Read(vfs.OS(), dir)
	if err != nil || len(names) == 0 {
		return state, err
	}
	found := map[string]bool{}
	state = state.Select(func(t *manifest.TableState) bool {
		for _, n := range names {
			if n == t.Schema.Name.DB+"."+t.Schema.Name.Table ||
				n == t.Schema.Name.Table && t.Schema.Name.DB == "public" {
				found[n] = true
				return true
			}
		}
		return false
	})
	for _, n := range names {
		if !found[n] {
			return nil, fmt.Errorf("there is no table %s in the backup", n)
		}
	}
	return state, nil
}

// copyTo links or copies the files of a snapshot to dest and writes the list last. What an older backup has already is
// linked to it.
func (b *backup) copyTo(ctx context.Context, dest, dir, base string) error {
	if err := os.MkdirAll(filepath.Join(dest, "parts"), vfs.DirMode); err != nil {
		return err
	}
	old := map[backupFile]bool{}
	if base != "" {
		list, err := readBackup(base)
		if err != nil {
			return err
		}
		for _, f := range list.Files {
			old[f] = true
		}
	}
	for _, f := range b.Files {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %s holds a part of the backup, without its list", context.Cause(ctx), dest)
		}
		from := filepath.Join(dir, f.Name)
		if old[f] {
			from = filepath.Join(base, f.Name)
		}
		if err := linkOrCopy(from, filepath.Join(dest, f.Name)); err != nil {
			return err
		}
	}
	return b.write(dest)
}

// linkOrCopy links immutable files, and copies where another file system lies between.
func linkOrCopy(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return createFile(to, in)
}

// createFile makes a file durable.
func createFile(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, vfs.FileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// write writes the list, and makes the directory durable.
func (b *backup) write(dest string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := createFile(filepath.Join(dest, backupList), strings.NewReader(string(text)+"\n")); err != nil {
		return err
	}
	return errors.Join(vfs.OS().SyncDir(filepath.Join(dest, "parts")), vfs.OS().SyncDir(dest))
}

// writeTar streams the files, the list last.
func (b *backup) writeTar(ctx context.Context, out io.Writer, dir string) error {
	w := tar.NewWriter(out)
	add := func(name string, size int64, content io.Reader) error {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: int64(vfs.FileMode), Size: size,
			ModTime: b.Created}); err != nil {
			return err
		}
		_, err := io.Copy(w, content)
		return err
	}
	for _, f := range b.Files {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: the output is a part of the backup, without its list", context.Cause(ctx))
		}
		in, err := os.Open(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if err := errors.Join(add(f.Name, f.Bytes, in), in.Close()); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(add(backupList, int64(len(text)), strings.NewReader(string(text))), w.Close())
}

// readBackup reads the list of a backup.
func readBackup(dir string) (*backup, error) {
	text, err := os.ReadFile(filepath.Join(dir, backupList))
	if err != nil {
		return nil, fmt.Errorf("%s is not a backup: %w", dir, err)
	}
	var b backup
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, backupList), err)
	}
	if err := vfs.CheckVersion(uint32(b.Version), 1, 1); err != nil {
		return nil, fmt.Errorf("%s: the backup has %w", dir, err)
	}
	for _, f := range b.Files {
		if !filepath.IsLocal(f.Name) {
			return nil, fmt.Errorf("%s: the backup names the file %q, which lies outside", dir, f.Name)
		}
	}
	return &b, nil
}

// verify returns a sentence for every file that is not as the list says.
func (b *backup) verify(dir string) (faults []string) {
	for _, f := range b.Files {
		n, sum, err := client.HashFile(filepath.Join(dir, f.Name))
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case n != f.Bytes || sum != f.SHA256:
			faults = append(faults, fmt.Sprintf("%s: %d bytes with SHA-256 %s, the backup was made with %d and %s",
				f.Name, n, sum, f.Bytes, f.SHA256))
		}
	}
	return faults
}
