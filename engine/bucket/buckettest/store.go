package buckettest

import (
	"net/http/httptest"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"varve/engine/bucket"
)

// Store runs a store of objects in this process, on 127.0.0.1, until the test ends. The options name a bucket in it.
func Store(t testing.TB) bucket.Options {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("store"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	return bucket.Options{URL: "s3://store/some/prefix", Endpoint: server.URL, AccessKey: "a", SecretKey: "not-shown"}
}

// Open opens a bucket and ends its connections when the test ends.
func Open(t testing.TB, o bucket.Options) bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bucket.Close(b); err != nil {
			t.Error(err)
		}
	})
	return b
}
