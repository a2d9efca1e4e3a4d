package engine

import (
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"varve/engine/vfs"
	"varve/wal"
)

// newer gives a file of a store a later format version, at a place, with the checksum of the bytes before it.
func newer(t *testing.T, disk *vfs.Mem, name string, from, version, sum int) {
	t.Helper()
	m, err := disk.Map(name)
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Clone(m.Bytes())
	at := func(i int) int {
		if i < 0 {
			return len(b) + i
		}
		return i
	}
	binary.LittleEndian.PutUint32(b[at(version):], 99)
	binary.LittleEndian.PutUint32(b[at(sum):], wal.Checksum(b[at(from):at(sum)]))
	f, err := disk.Create(name)
	if err == nil {
		_, err = f.Write(b)
		err = errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(path.Dir(name)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNewerFormats shows a store whose files a later program wrote, of each kind, to those who look at it: none calls
// that damage, and none changes anything.
func TestNewerFormats(t *testing.T) {
	for _, c := range []struct {
		kind, file         string
		from, version, sum int
		starts             bool
	}{
		{"part", "parts/00000001.part", -64, -24, -12, true},
		{"log", "wal/000001.wal", 0, 8, 36, false},
		{"manifest", "MANIFEST", 0, 8, 12, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			disk := vfs.NewMem()
			e := mustOpen(t, testOptions(disk))
			row := []modelRow{{"ts": int64(1), "v": int64(1)}}
			if err := put(e, "t", appendOnly, row); err != nil {
				t.Fatal(err)
			}
			if err := e.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
			if err := put(e, "t", appendOnly, row); err != nil {
				t.Fatal(err)
			}
			mustClose(t, e)
			newer(t, disk, path.Join("/data", c.file), c.from, c.version, c.sum)
			before := disk.Files()
			r, err := Check(CheckOptions{FS: disk, Dir: "/data"})
			if err != nil || len(r.Faults) != 1 || r.Faults[0].Lost ||
				!strings.Contains(r.Faults[0].What, "a newer varve wrote it") {
				t.Errorf("check: %+v, %v", r, err)
			}
			if _, err := RebuildManifest(disk, "/data", ""); !errors.Is(err, vfs.ErrNewer) {
				t.Errorf("a new manifest: %v", err)
			}
			if after := disk.Files(); strings.ReplaceAll(after, "/data/LOCK 0 (synced 0)\n", "") != before {
				t.Errorf("files are\n%s, were\n%s", after, before)
			}
			e, err = Open(testOptions(disk))
			if !c.starts {
				if !errors.Is(err, vfs.ErrNewer) || strings.Contains(err.Error(), "restore a backup") {
					t.Errorf("a start: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if aside := e.SetAside(); len(aside) != 1 || !strings.Contains(aside[0].Reason, "a newer varve wrote it") {
				t.Errorf("set aside: %v", aside)
			}
			mustClose(t, e)
		})
	}
}
