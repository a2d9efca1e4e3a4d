package buckettest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"varve/engine/bucket"
)

// Gateway starts a real gateway of the S3 protocol, VARVE_S3GW, over a directory on 127.0.0.1, until the test ends. The
// options name a bucket in it. Without the program the test is told that there is none, and fails if VARVE_NEED_S3GW is
// set.
func Gateway(t *testing.T) (o bucket.Options, ok bool) {
	t.Helper()
	program := os.Getenv("VARVE_S3GW")
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("VARVE_NEED_S3GW") != "" {
			t.Fatalf("there is no gateway: VARVE_S3GW is %q: %v", program, err)
		}
		t.Log("there is no gateway: nothing is asked of it")
		return o, false
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"data", "sidecar"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	gateway := exec.Command(program, "--access", "someone", "--secret", "not-shown", "--port", addr, "--keep-alive",
		"--quiet", "posix", "--sidecar", filepath.Join(root, "sidecar"), filepath.Join(root, "data"))
	var out bytes.Buffer
	gateway.Stdout, gateway.Stderr = &out, &out
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = gateway.Process.Kill() // Wait says how it ended
		err := gateway.Wait()
		if t.Failed() {
			t.Logf("the gateway ended with %v and said:\n%s", err, out.Bytes())
		}
	})
	makeBucket(t, addr)
	return bucket.Options{URL: "s3://store/some/prefix", Endpoint: "http://" + addr, AccessKey: "someone",
		SecretKey: "not-shown"}, true
}

// makeBucket makes the bucket as soon as the gateway listens.
func makeBucket(t *testing.T, addr string) {
	t.Helper()
	c, err := minio.New(addr, &minio.Options{Creds: credentials.NewStaticV4("someone", "not-shown", ""),
		Region: "us-east-1", MaxRetries: 1})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; {
		err := c.MakeBucket(t.Context(), "store", minio.MakeBucketOptions{})
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
