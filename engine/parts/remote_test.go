package parts_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/engine/blockcache"
	"varve/engine/bucket"
	"varve/engine/parts"
)

// failingBucket answers reads with errors, one after the other, and then with none.
type failingBucket struct {
	bucket.Bucket
	errs  []error
	reads int
}

func (b *failingBucket) Read(context.Context, string, []byte, int64) error {
	if b.reads++; b.reads > len(b.errs) {
		return nil
	}
	return b.errs[b.reads-1]
}

func (b *failingBucket) String() string { return "s3://logs" }

// TestRemoteAgain tries a read again after an error that may pass, and not after one that stays.
func TestRemoteAgain(t *testing.T) {
	away := errors.New("no route to host")
	for _, c := range []struct {
		name  string
		errs  []error
		reads int
		stays bool
	}{
		{"all is well", nil, 1, false},
		{"away for a while", []error{away, away}, 3, false},
		{"no such object", []error{bucket.ErrNotFound}, 1, true},
		{"a server of another name", []error{away, x509.UnknownAuthorityError{}}, 2, true},
	} {
		b := &failingBucket{errs: c.errs}
		r := &parts.Remote{Bucket: b, Timeout: time.Minute}
		_, _, err := r.Read(t.Context(), "a", 0, 1)
		if b.reads != c.reads || (err != nil) != c.stays {
			t.Errorf("%s: %d reads, want %d: %v", c.name, b.reads, c.reads, err)
		}
		if err != nil && !strings.Contains(err.Error(), "s3://logs") {
			t.Errorf("%s: the error does not name the bucket: %v", c.name, err)
		}
	}
}

// TestRemoteAway waits for a bucket that is away, with a cache and without: the error names the bucket and says why. It
// is not that of an asker whose own time is over.
func TestRemoteAway(t *testing.T) {
	cache, err := blockcache.Open(blockcache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	away := fmt.Errorf("no route to host: %w", context.DeadlineExceeded)
	for _, c := range []*blockcache.Cache{nil, cache} {
		b := &failingBucket{errs: slices.Repeat([]error{away}, 1_000)}
		r := &parts.Remote{Bucket: b, Timeout: 20 * time.Millisecond, Cache: c}
		_, _, err := r.Read(t.Context(), "a", 0, 1)
		if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "s3://logs") ||
			!strings.Contains(err.Error(), "no route to host") {
			t.Errorf("away: %v", err)
		}
		own, end := context.WithTimeout(t.Context(), time.Millisecond)
		r.Timeout = time.Minute
		if _, _, err = r.Read(own, "a", 0, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the asker's time is over: %v", err)
		}
		end()
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}
