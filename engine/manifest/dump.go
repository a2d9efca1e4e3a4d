package manifest

import (
	"errors"
	"fmt"
	"io"
	"path"

	"varve/engine/vfs"
	"varve/wal"
)

// Dump prints a manifest: the snapshot and every edit in the order of the file, then the bytes that cannot be read.
func Dump(out io.Writer, fs vfs.FS, dir string) error {
	m, err := fs.Map(path.Join(dir, FileName))
	if err != nil {
		return err
	}
	return errors.Join(vfs.Reading(m, func(src []byte) error { return dumpFrames(out, src) }), m.Unmap())
}

func dumpFrames(out io.Writer, src []byte) error {
	if err := checkHead(src); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%10d  header       version %d\n", 0, fileVersion); err != nil {
		return err
	}
	for off := fileHead; off < len(src); {
		f, length, _, ok := wal.ReadFrame(src[off:])
		if !ok {
			_, err := fmt.Fprintf(out, "%10d  unreadable   %d bytes to the end of the file\n", off, len(src)-off)
			return err
		}
		what := fmt.Sprintf("type %d", f.Type)
		switch f.Type {
		case typeSnapshot:
			what = "snapshot"
		case typeEdit:
			what = "edit"
		}
		if _, err := fmt.Fprintf(out, "%10d  %-8s %3d  %d bytes, checksum %08x\n            %s\n", off, what, f.Number,
			len(f.Body),
			wal.Checksum(f.Body), f.Body); err != nil {
			return err
		}
		off += length
	}
	return nil
}
