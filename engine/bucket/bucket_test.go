package bucket_test

import (
	"testing"

	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
)

func TestPromises(t *testing.T) {
	t.Run("directory", func(t *testing.T) {
		buckettest.Run(t, buckettest.Open(t, bucket.Options{URL: t.TempDir()}))
	})
	t.Run("store in this process", func(t *testing.T) {
		buckettest.Run(t, buckettest.Open(t, buckettest.Store(t)))
	})
	t.Run("gateway", func(t *testing.T) {
		if o, ok := buckettest.Gateway(t); ok {
			buckettest.Run(t, buckettest.Open(t, o))
		}
	})
}
