package bucket_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
)

// TestDirectoryAway takes the directory of a bucket away: calls fail with an error that names it and that may pass, no
// object is taken for one that is not there, and no directory is made in its place.
func TestDirectoryAway(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "deep", "bucket")
	b := buckettest.Open(t, bucket.Options{URL: dir})
	if names := buckettest.Names(t, b, ""); len(names) > 0 {
		t.Fatalf("objects of a directory that was never made: %v", names)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("Open makes the directory: %v", err)
	}
	buckettest.Put(t, b, "a/x", []byte("bytes"))
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		_, stat := b.Stat(ctx, "a/x")
		calls := map[string]error{
			"read":   b.Read(ctx, "a/x", make([]byte, 1), 0),
			"stat":   stat,
			"remove": b.Remove(ctx, "a/x"),
		}
		if round == 0 {
			calls["put"] = b.Put(ctx, "a/y", bytes.NewReader(nil), 0)
			calls["list"] = b.List(ctx, "", func(bucket.Object) error { return nil })
		}
		for call, err := range calls {
			if err == nil || bucket.Final(err) || !strings.Contains(err.Error(), b.String()) {
				t.Errorf("%s while the directory is away: %v", call, err)
			}
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("a directory was made in its place: %v", err)
		}
		b = buckettest.Open(t, bucket.Options{URL: dir}) // which never saw the directory
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	buckettest.Has(t, b, "a/x", []byte("bytes"))
}
