package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
)

// OtherServerError is the error for a prefix of a bucket that another server uses.
type OtherServerError struct {
	Bucket string
	Other  manifest.Epoch
}

func (e *OtherServerError) Error() string {
	return fmt.Sprintf("%s is used by another server: store %s on host %s with data directory %s, since %s (epoch %d). "+
		"Give each server a prefix of its own (storage.cold_url). If the other is gone for good, varve restore --from "+
		"makes a server of its bucket, or remove the objects below %s there to let this server use it",
		e.Bucket, e.Other.Store, e.Other.Host, e.Other.Dir, e.Other.Began.UTC().Format(time.RFC3339), e.Other.Number,
		parts.EpochPrefix)
}

// An epoch says who uses a prefix of a bucket, see manifest.Epoch. A server that finds an epoch that is not its own
// moves and removes nothing there.
const (
	// EpochsName is the file of the data directory that has the ids of its epochs: a copy of the directory that is
	// started has one more, in its own.
	EpochsName = "EPOCHS"
	// maxEpoch bounds an epoch, as an object and as a file, in bytes.
	maxEpoch = 64 << 10
	// keptIDs is how many ids the file keeps: of uploads that failed, any may be in the bucket.
	keptIDs = 8
	// epochTries bounds how often an own epoch that was not known to be there is met.
	epochTries = keptIDs
	// verifyPeriod is how long an epoch is taken to be the last one without a look. Removals look anew.
	verifyPeriod = time.Minute
)

// holder holds a prefix of a bucket for a store. One goroutine uses it at a time.
type holder struct {
	fs     vfs.FS
	bucket bucket.Bucket
	dir    string
	store  string
	now    func() time.Time

	standing uint64         // how often a standby took the store over
	held     manifest.Epoch // number 0: none yet
	looked   time.Time      // when it was last seen to be the last one
}

// hold makes sure that the last epoch is this store's. known is asked before the first one is created in a prefix that
// has none: it refuses a bucket that is not the one in which the store's parts are.
func (h *holder) hold(ctx context.Context, known func(context.Context) error) error {
	if h.held.Number > 0 && h.now().Sub(h.looked) < verifyPeriod {
		return nil
	}
	last, err := lastEpoch(ctx, h.bucket)
	switch {
	case err != nil:
		return err
	case last == nil:
		h.held = manifest.Epoch{}
		if err := known(ctx); err != nil {
			return err
		}
	case h.held.Number > 0 && last.ID != h.held.ID:
		return &OtherServerError{h.bucket.String(), *last}
	case h.held.Number > 0:
		h.looked = h.now()
		return nil
	}
	return h.take(ctx, last, false)
}

// holdNow is hold with a look at the last epoch, however fresh the last look is.
func (h *holder) holdNow(ctx context.Context, known func(context.Context) error) error {
	h.looked = time.Time{}
	return h.hold(ctx, known)
}

// mayFollow reports whether a server may create the epoch behind the last one: it is its own, or that of the server
// which it took over from as its standby.
func (h *holder) mayFollow(last *manifest.Epoch, own manifest.OwnEpochs) bool {
	return slices.Contains(own.IDs, last.ID) || last.Store == h.store && last.Standing < h.standing
}

// take creates the next epoch behind the last one, which must be this store's unless force is set.
func (h *holder) take(ctx context.Context, last *manifest.Epoch, force bool) error {
	for range epochTries {
		own, err := readEpochs(h.fs, h.dir)
		if err != nil {
			return err
		}
		next := manifest.Epoch{Number: own.Last + 1, ID: rand.Text(), Store: h.store, Dir: h.dir, Began: h.now(),
			Standing: h.standing}
		if last != nil {
			if !force && !h.mayFollow(last, own) {
				return &OtherServerError{h.bucket.String(), *last}
			}
			next.Number = max(next.Number, last.Number+1)
		}
		if next.Host, err = os.Hostname(); err != nil {
			return err
		}
		own.Last, own.IDs = next.Number, append(own.IDs, next.ID)
		own.IDs = own.IDs[max(0, len(own.IDs)-keptIDs):]
		if err := writeEpochs(h.fs, h.dir, own); err != nil {
			return err
		}
		body, err := next.Encode()
		if err != nil {
			return err
		}
		err = h.bucket.Put(ctx, parts.EpochObject(next.Number), bytes.NewReader(body), int64(len(body)))
		if err != nil && !errors.Is(err, bucket.ErrExists) {
			return err
		}
		// A store that ignores If-None-Match lets both of two win: who reads its own back has come last.
		if last, err = lastEpoch(ctx, h.bucket); err != nil {
			return err
		}
		if last != nil && last.ID == next.ID {
			h.held, h.looked = next, h.now()
			return nil
		}
		force = false
	}
	return fmt.Errorf("%s: epochs of this server appear there again and again", h.bucket)
}

// lastEpoch reads the last epoch of a prefix; nil: there is none.
func lastEpoch(ctx context.Context, b bucket.Bucket) (*manifest.Epoch, error) {
	var last bucket.Object
	number := uint64(0)
	err := b.List(ctx, parts.EpochPrefix, func(o bucket.Object) error {
		if n, ok := parts.EpochOf(o.Name); ok && n >= number {
			last, number = o, n
		}
		return nil
	})
	if err != nil || last.Name == "" {
		return nil, err
	}
	if last.Size > maxEpoch {
		return nil, fmt.Errorf("%s: %s has %d bytes, at most %d", b, last.Name, last.Size, maxEpoch)
	}
	body := make([]byte, last.Size)
	if err := b.Read(ctx, last.Name, body, 0); err != nil {
		return nil, err
	}
	e, err := manifest.DecodeEpoch(body)
	if err == nil && e.Number != number {
		err = fmt.Errorf("it is epoch %d", e.Number)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", b, last.Name, err)
	}
	return e, nil
}

// readEpochs reads the ids of a data directory; none is no error.
func readEpochs(fs vfs.FS, dir string) (own manifest.OwnEpochs, err error) {
	f, err := fs.Open(path.Join(dir, EpochsName))
	if vfs.NotExist(err) {
		return own, nil
	}
	if err != nil {
		return own, err
	}
	size, err := f.Size()
	if err == nil && size > maxEpoch {
		err = fmt.Errorf("it has %d bytes, at most %d", size, maxEpoch)
	}
	if err == nil {
		text := make([]byte, size)
		if _, err = f.ReadAt(text, 0); err == nil || errors.Is(err, io.EOF) {
			own, err = manifest.DecodeOwnEpochs(text)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return own, fmt.Errorf("%s: %w", path.Join(dir, EpochsName), err)
	}
	return own, nil
}

func writeEpochs(fs vfs.FS, dir string, own manifest.OwnEpochs) error {
	text, err := own.Encode()
	if err != nil {
		return err
	}
	return vfs.Publish(fs, dir, EpochsName, func(f vfs.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}
