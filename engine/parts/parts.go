// Package parts is where the parts of a store lie: it alone knows the names of their files and the directory that holds
// them. parts.go says what each such place promises, local.go is the one on a disk, cold.go has the parts of it whose
// pages are in a bucket, stub.go what stays of them, remote.go reads objects, and partstest holds places against the
// promises.
package parts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"varve/engine/vfs"
	"varve/sst"
)

const (
	// DirName is the directory of the parts in a data directory, and in a backup.
	DirName = "parts"
	suffix  = ".part"
	// coldSuffix ends the name of the stub of a cold part, see Stub.
	coldSuffix = ".cold"
	// digits is the least width of a number in a name: names of one width are listed in the order of their numbers.
	digits = 8
)

// Store is a place for parts. A part has a number, which is never used again, and its bytes never change. Safe for
// concurrent use, as far as no call is about a part that another call publishes or removes.
type Store interface {
	// Open opens a part to be read; vfs.NotExist tells the error for one that is not there. The file waits for the
	// place no longer than the contexts of its readers. An error is no sign of damage.
	Open(ctx context.Context, file uint64) (sst.File, error)
	// Publish makes a part of what write writes. When it returns nil, the part is there after any crash, and all that
	// was removed before the call is gone for good. When it returns an error, the part is there wholly or not at all;
	// what is left otherwise is listed as unfinished.
	Publish(file uint64, write func(vfs.File) error) error
	// Remove removes an entry, which nobody has open. An entry that is not there is as good as removed.
	Remove(e Entry) error
	// List returns the entries by rising number. Files of others are not regarded.
	List() ([]Entry, error)
	// Size is the number of bytes of a part, without opening it.
	Size(file uint64) (int64, error)
	// Verify reads a part and holds it against its checksums; deep decodes every block too. It gives the part's
	// description and an error for each damaged place, which wraps sst.ErrCorrupt, or that could not be read.
	Verify(ctx context.Context, file uint64, deep bool) (sst.Meta, []error)
}

// Entry is something that a store holds.
type Entry struct {
	File       uint64
	Unfinished bool // what a Publish left that did not end
	Cold       bool // the stub of a part whose pages are in a bucket, or on their way there
}

// String is the entry's name in messages.
func (e Entry) String() string {
	name := Name(e.File)
	if e.Cold {
		name = coldName(e.File)
	}
	if e.Unfinished {
		name += vfs.TempSuffix
	}
	return name
}

// Name is the name of a part, in files and in messages.
func Name(file uint64) string { return fmt.Sprintf("%0*d%s", digits, file, suffix) }

// coldName is the name of the stub of a cold part.
func coldName(file uint64) string { return fmt.Sprintf("%0*d%s", digits, file, coldSuffix) }

// entryOf reads a name; false: it is none of an entry.
func entryOf(name string) (e Entry, ok bool) {
	name, e.Unfinished = strings.CutSuffix(name, vfs.TempSuffix)
	number, ok := strings.CutSuffix(name, suffix)
	if !ok {
		if number, e.Cold = strings.CutSuffix(name, coldSuffix); !e.Cold {
			return Entry{}, false
		}
	}
	var err error
	e.File, err = strconv.ParseUint(number, 10, 64)
	return e, err == nil && Entry{File: e.File, Cold: e.Cold}.String() == name
}

// Verify is Store.Verify for a place that has no better way than to open the part.
func Verify(ctx context.Context, s Store, file uint64, deep bool) (sst.Meta, []error) {
	f, err := s.Open(ctx, file)
	if err != nil {
		return sst.Meta{}, []error{err}
	}
	meta, errs := sst.Verify(ctx, f, Name(file))
	if len(errs) > 0 || !deep {
		return meta, errs
	}
	if f, err = s.Open(ctx, file); err != nil {
		return sst.Meta{}, []error{err}
	}
	return meta, sst.Check(ctx, f, Name(file))
}
