// Package buckettest holds buckets against their promises (conform.go), runs a store of objects in the process of a
// test (store.go), and puts a faulty connection in front of a store (proxy.go).
package buckettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/bucket"
)

// Run holds a bucket against what the interface promises. It must be empty.
func Run(t *testing.T, b bucket.Bucket) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, bucket.Bucket)
	}{
		{"an object", object}, {"nothing there", nothing}, {"names", badNames}, {"list", list}, {"once", once},
		{"a race of puts", race}, {"a context that is over", over}, {"a source that fails", badSource},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, b) })
	}
}

// Random is reproducible bytes.
func Random(size int) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)})
	_, _ = r.Read(b) // it never fails
	return b
}

// Put puts bytes.
func Put(t *testing.T, b bucket.Bucket, name string, data []byte) {
	t.Helper()
	if err := b.Put(t.Context(), name, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
}

// Has fails the test if an object does not hold these bytes.
func Has(t *testing.T, b bucket.Bucket, name string, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if err := b.Read(t.Context(), name, got, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %d other bytes than were put", name, len(got))
	}
	o, err := b.Stat(t.Context(), name)
	if err != nil || o.Size != int64(len(want)) || o.Name != name {
		t.Errorf("stat of %d bytes: %+v, %v", len(want), o, err)
	}
}

// Names lists a bucket.
func Names(t *testing.T, b bucket.Bucket, prefix string) []string {
	t.Helper()
	var all []string
	if err := b.List(t.Context(), prefix, func(o bucket.Object) error {
		all = append(all, o.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func object(t *testing.T, b bucket.Bucket) {
	ctx := t.Context()
	for _, size := range []int{0, 1, 1000, 1 << 20} {
		name := fmt.Sprintf("object/%d", size)
		data := Random(size)
		Put(t, b, name, data)
		Has(t, b, name, data)
		o, err := b.Stat(ctx, name)
		if age := time.Since(o.Modified); err != nil || age < -time.Minute || age > time.Hour {
			t.Errorf("modified %v, %v", o.Modified, err)
		}
		for range 10 {
			off := rand.IntN(size + 1)
			p := make([]byte, rand.IntN(size-off+1))
			if err := b.Read(ctx, name, p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+len(p)]) {
				t.Errorf("%d bytes at %d of %d: %v", len(p), off, size, err)
			}
		}
		for _, r := range [][2]int{{size, 1}, {size + 10, 1}, {0, size + 1}, {size / 2, size - size/2 + 1}} {
			err := b.Read(ctx, name, make([]byte, r[1]), int64(r[0]))
			if !errors.Is(err, bucket.ErrShort) || !blames(err, b, name) {
				t.Errorf("%d bytes at %d of %d: %v", r[1], r[0], size, err)
			}
		}
		if err := b.Read(ctx, name, make([]byte, 1), -1); err == nil {
			t.Error("a negative offset is taken")
		}
		if err := b.Read(ctx, name, nil, 0); err != nil {
			t.Error(err)
		}
		if err := b.Remove(ctx, name); err != nil {
			t.Error(err)
		}
		if _, err := b.Stat(ctx, name); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("after its removal: %v", err)
		}
	}
}

// blames reports whether an error names the bucket and the object.
func blames(err error, b bucket.Bucket, name string) bool {
	return err != nil && strings.Contains(err.Error(), b.String()) && strings.Contains(err.Error(), name)
}

func nothing(t *testing.T, b bucket.Bucket) {
	ctx := t.Context()
	for _, name := range []string{"nothing", "no/thing/here"} {
		if _, err := b.Stat(ctx, name); !errors.Is(err, bucket.ErrNotFound) || !blames(err, b, name) {
			t.Errorf("stat: %v", err)
		}
		if err := b.Read(ctx, name, make([]byte, 3), 0); !errors.Is(err, bucket.ErrNotFound) || !blames(err, b, name) {
			t.Errorf("read: %v", err)
		}
		if err := b.Remove(ctx, name); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	Put(t, b, "some", []byte("x"))
	if _, err := b.Stat(ctx, "some/thing"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("behind an object: %v", err)
	}
	if err := b.Remove(ctx, "some"); err != nil {
		t.Error(err)
	}
	if all := Names(t, b, ""); len(all) > 0 {
		t.Errorf("listed: %q", all)
	}
}

// badNames: what no place can hold is refused by all, before anything is asked.
func badNames(t *testing.T, b bucket.Bucket) {
	ctx := t.Context()
	for _, name := range []string{"", "/", "a/", "/a", "a//b", ".", "..", "../a", "a/../b", "a/.b", "a b", "a\\b", "ä",
		"a\x00", "a?b", "a%20b", strings.Repeat("a", 513)} {
		if err := b.Put(ctx, name, strings.NewReader("x"), 1); err == nil {
			t.Errorf("put %q is taken", name)
		}
		if err := b.Read(ctx, name, make([]byte, 1), 0); err == nil || errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("read %q: %v", name, err)
		}
		if _, err := b.Stat(ctx, name); err == nil || errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("stat %q: %v", name, err)
		}
		if err := b.Remove(ctx, name); err == nil {
			t.Errorf("remove %q is taken", name)
		}
	}
	for _, prefix := range []string{"/", "//", "..", "a/..", "ä"} {
		if err := b.List(ctx, prefix, func(bucket.Object) error { return nil }); err == nil {
			t.Errorf("list %q is taken", prefix)
		}
	}
	if err := b.Put(ctx, "negative", strings.NewReader("x"), -1); err == nil {
		t.Error("a negative size is taken")
	}
}

func list(t *testing.T, b bucket.Bucket) {
	ctx := t.Context()
	all := []string{"l-1", "l/0", "l/a-b", "l/a.c/1", "l/a/1", "l/a/2/3", "l/a=", "l/aa", "l/b/1", "l_1"}
	for _, i := range rand.Perm(len(all)) {
		Put(t, b, all[i], []byte(all[i]))
	}
	for prefix, want := range map[string][]string{
		"": all, "l": all, "l/": all[1:9], "l/a": all[2:8], "l/a/": all[4:6], "l/a/2": {"l/a/2/3"},
		"l/c": nil, "m/": nil, "l/a.c/1": {"l/a.c/1"},
	} {
		if got := Names(t, b, prefix); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("list %q\n got %q\nwant %q", prefix, got, want)
		}
	}
	enough := errors.New("enough")
	calls := 0
	if err := b.List(ctx, "l/", func(o bucket.Object) error {
		calls++
		if o.Size != int64(len(o.Name)) || o.Modified.IsZero() {
			t.Errorf("%+v", o)
		}
		if calls == 3 {
			return enough
		}
		return nil
	}); err != enough || calls != 3 {
		t.Errorf("after %d calls: %v", calls, err)
	}
	for _, name := range all {
		if err := b.Remove(ctx, name); err != nil {
			t.Error(err)
		}
	}
}

// once: a name is never given to other bytes.
func once(t *testing.T, b bucket.Bucket) {
	ctx := t.Context()
	Put(t, b, "once", []byte("first"))
	err := b.Put(ctx, "once", strings.NewReader("other"), 5)
	if !errors.Is(err, bucket.ErrExists) || !blames(err, b, "once") {
		t.Errorf("a second put: %v", err)
	}
	Has(t, b, "once", []byte("first"))
	if err := b.Remove(ctx, "once"); err != nil {
		t.Error(err)
	}
}

func race(t *testing.T, b bucket.Bucket) {
	exclusive, err := bucket.Exclusive(t.Context(), b, "probe")
	if err != nil {
		t.Fatal(err)
	}
	if left := Names(t, b, "probe"); len(left) > 0 {
		t.Errorf("the question leaves %q", left)
	}
	var won []int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			data := Random(1000 + i)
			err := b.Put(t.Context(), "race", bytes.NewReader(data), int64(len(data)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, i)
			} else if !errors.Is(err, bucket.ErrExists) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) == 0 || len(won) > 1 && exclusive {
		t.Fatalf("puts %v have won, exclusive: %v", won, exclusive)
	}
	if len(won) == 1 {
		Has(t, b, "race", Random(1000+won[0]))
	}
	if err := b.Remove(t.Context(), "race"); err != nil {
		t.Error(err)
	}
}

func over(t *testing.T, b bucket.Bucket) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the reader has gone")
	cancel(why)
	_, err := b.Stat(ctx, "over")
	for what, err := range map[string]error{
		"put": b.Put(ctx, "over", strings.NewReader("x"), 1), "read": b.Read(ctx, "over", make([]byte, 1), 0),
		"stat": err, "list": b.List(ctx, "", func(bucket.Object) error { return nil }), "remove": b.Remove(ctx, "over"),
	} {
		if !errors.Is(err, why) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all := Names(t, b, ""); len(all) > 0 {
		t.Errorf("listed: %q", all)
	}
}

// failing reads up to a place.
type failing struct {
	size int64
	err  error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.size {
		return int(max(0, f.size-off)), f.err
	}
	return len(p), nil
}

func badSource(t *testing.T, b bucket.Bucket) {
	broken := errors.New("a broken disk")
	for _, at := range []int64{0, 100, 999_999} {
		if err := b.Put(t.Context(), "bad", failing{at, broken}, 1_000_000); !errors.Is(err, broken) {
			t.Errorf("a source that fails at %d: %v", at, err)
		}
	}
	if err := b.Put(t.Context(), "bad", strings.NewReader("short"), 6); err == nil {
		t.Error("a source that is shorter than its size is taken")
	}
	if all := Names(t, b, ""); len(all) > 0 {
		t.Errorf("listed: %q", all)
	}
}
