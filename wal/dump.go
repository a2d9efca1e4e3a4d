package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"varve/engine/vfs"
)

// Dump prints a segment: its header, a line for each frame, and bytes that cannot be read at their place. body prints
// the body of a record after its line; nil prints none.
func Dump(out io.Writer, fs vfs.FS, name string, body func(w io.Writer, rec []byte) error) error {
	m, err := fs.Map(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = vfs.Reading(m, func(src []byte) error { return dumpFrames(w, src, body) })
	return errors.Join(err, w.Flush(), m.Unmap())
}

func dumpFrames(w *bufio.Writer, src []byte, body func(io.Writer, []byte) error) error {
	var off int
	if h, err := readHead(src); err != nil {
		fmt.Fprintf(w, "%10d  header       %v\n", 0, err)
		off = resync(src, 0, 0)
	} else {
		off = h.size()
		fmt.Fprintf(w, "%10d  header       version %d, segment %d after %d, first frame %d, synced %d, edit %d\n", 0,
			h.version, h.segment, h.previous, h.first, h.synced, h.edit)
	}
	last := uint64(0)
	for off < len(src) {
		f, length, _, ok := ReadFrame(src[off:])
		if !ok || f.Number <= last {
			next := resync(src, off, last)
			fmt.Fprintf(w, "%10d  unreadable   %d bytes\n", off, next-off)
			off = next
			continue
		}
		what := fmt.Sprintf("type %d", f.Type)
		switch f.Type {
		case typeRecord:
			what = "record"
		case typeClose:
			what = "close"
		}
		fmt.Fprintf(w, "%10d  %-6s %5d  synced %d, %d bytes, checksum %08x\n", off, what, f.Number, f.Synced,
			len(f.Body), Checksum(f.Body))
		if body != nil && f.Type == typeRecord {
			if err := body(w, f.Body); err != nil {
				return err
			}
		}
		last = f.Number
		off += length
	}
	return nil
}

// Check reads a whole log, passes every intact record to look and returns the damage. It changes nothing. Records that
// a running server appends meanwhile may or may not be seen. The segments of needs must exist.
func Check(fs vfs.FS, dir string, needs Range, look func(LSN, []byte) error) (r ReplayResult, err error) {
	o, err := Options{Needs: needs}.withDefaults()
	if err != nil {
		return r, err
	}
	l, err := openWithoutLock(fs, dir, o)
	if err != nil {
		return r, err
	}
	r, err = l.Replay(0, look)
	return r, errors.Join(err, l.Close())
}

// Magic begins every segment.
const Magic = segmentMagic
