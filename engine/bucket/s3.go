package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// pageSize is how many objects one request lists at most.
const pageSize = 1000

// s3 is a bucket of an S3-compatible store.
type s3 struct {
	place
	o         Options
	core      *minio.Core
	keys      *credentials.Credentials
	transport *http.Transport
	secure    bool
	// unconditional is set once the store has said that it knows no If-None-Match.
	unconditional atomic.Bool
}

func openS3(p place, o Options) (Bucket, error) {
	host, secure, err := parseEndpoint(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if o.Region == "" {
			o.Region = os.Getenv(name)
		}
	}
	if o.Region == "" && host != amazon {
		o.Region = "us-east-1"
	}
	keys, _, err := keysOf(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	s := &s3{place: p, o: o, keys: keys, secure: secure, transport: newTransport(o.Timeout)}
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	s.core, err = minio.NewCore(host, &minio.Options{
		Creds: keys, Secure: secure, Region: o.Region, BucketLookup: lookup,
		Transport:  answers{s.transport},
		MaxRetries: 1, // retry.go tries again, counts, and heeds the context
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return s, nil
}

// newTransport keeps a connection for each of the requests that a scan makes at a time.
func newTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:          128,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   timeout,
		ExpectContinueTimeout: timeout,
		DisableCompression:    true, // bytes are those of the object
	}
}

// Close closes idle connections.
func (s *s3) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// Read asks for a range.
func (s *s3) Read(ctx context.Context, name string, p []byte, off int64) error {
	r := request{Reads, "read", name, int64(len(p))}
	if err := checkRead(name, p, off); err != nil {
		return s.fault(r, err)
	}
	if len(p) == 0 {
		return nil
	}
	return s.do(ctx, r, func(ctx context.Context, _ bool) error {
		var opts minio.GetObjectOptions
		if err := opts.SetRange(off, off+int64(len(p))-1); err != nil {
			return err
		}
		body, _, header, err := s.core.GetObject(ctx, s.bucket, s.prefix+name, opts)
		if err != nil {
			return meaning(err)
		}
		err = fill(p, off, body, header.Get("Content-Range"))
		return errors.Join(err, body.Close())
	})
}

// checkRead refuses ranges that no object has.
func checkRead(name string, p []byte, off int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	if off < 0 || off+int64(len(p)) < off {
		return fmt.Errorf("offset %d and length %d are no range", off, len(p))
	}
	return nil
}

// fill reads the answer to a request for the range of p at off.
func fill(p []byte, off int64, body io.Reader, contentRange string) error {
	from, to, size, ok := parseContentRange(contentRange)
	want := off + int64(len(p)) - 1
	switch {
	case !ok:
		return fmt.Errorf("bytes %d to %d were asked for, the answer says range %q: %w", off, want,
			shorten(contentRange), errDamaged)
	case from == off && to == size-1 && to < want:
		return fmt.Errorf("bytes %d to %d: it has %d: %w", off, want, size, ErrShort)
	case from != off || to != want:
		return fmt.Errorf("bytes %d to %d were asked for, %d to %d came: %w", off, want, from, to, errDamaged)
	}
	if n, err := io.ReadFull(body, p); err != nil {
		return fmt.Errorf("the answer ends after %d bytes of %d: %w: %w", n, len(p), errDamaged, err)
	}
	if n, err := io.ReadFull(body, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("the answer goes on after %d bytes: %w", len(p), errors.Join(errDamaged, err))
	}
	return nil
}

// meaning finds the errors of this package in those of a store.
func meaning(err error) error {
	var said minio.ErrorResponse
	if !errors.As(err, &said) {
		return err
	}
	switch said.Code {
	case "NoSuchKey", "NotFound":
		return ErrNotFound
	case "InvalidRange":
		return ErrShort
	case "PreconditionFailed":
		return ErrExists
	}
	if said.StatusCode == http.StatusPreconditionFailed {
		return ErrExists
	}
	return err
}

// Stat asks for the headers of an object.
func (s *s3) Stat(ctx context.Context, name string) (Object, error) {
	info, err := s.stat(ctx, name)
	return Object{Name: name, Size: info.Size, Modified: info.LastModified}, err
}

func (s *s3) stat(ctx context.Context, name string) (info minio.ObjectInfo, err error) {
	r := request{Stats, "stat", name, 0}
	if err := checkName(name); err != nil {
		return info, s.fault(r, err)
	}
	err = s.do(ctx, r, func(ctx context.Context, _ bool) error {
		info, err = s.core.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
		if err == nil && info.Size < 0 {
			err = fmt.Errorf("the answer says no size: %w", errDamaged)
		}
		return meaning(err)
	})
	if err != nil {
		return minio.ObjectInfo{}, err
	}
	return info, nil
}

// List asks page by page; each is called between the requests.
func (s *s3) List(ctx context.Context, prefix string, each func(Object) error) error {
	r := request{Lists, "list", prefix, 0}
	if err := checkPrefix(prefix); err != nil {
		return s.fault(r, err)
	}
	for after := ""; ; {
		var page []Object
		var last string
		err := s.do(ctx, r, func(ctx context.Context, _ bool) (err error) {
			page, last, err = s.page(ctx, prefix, after)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range page {
			if err := each(o); err != nil {
				return err
			}
		}
		if last == "" {
			return nil
		}
		after = last
	}
}

// page lists up to pageSize keys after one; last is that of the last of them, empty if there are no more. Both are keys
// with the bucket's prefix.
func (s *s3) page(ctx context.Context, prefix, after string) (page []Object, last string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen, noOwner := 0, false
	previous := after
	for o := range s.core.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{
		Prefix: s.prefix + prefix, StartAfter: after, Recursive: true, MaxKeys: pageSize, FetchOwner: &noOwner,
	}) {
		if o.Err != nil {
			return nil, "", meaning(o.Err)
		}
		if !strings.HasPrefix(o.Key, s.prefix+prefix) || o.Key <= previous || o.Size < 0 {
			return nil, "", fmt.Errorf("%q of %d bytes is listed after %q: %w", shorten(o.Key), o.Size,
				shorten(previous), errDamaged)
		}
		previous = o.Key
		if name := o.Key[len(s.prefix):]; badName(name) == "" {
			page = append(page, Object{name, o.Size, o.LastModified})
		}
		if seen++; seen == pageSize {
			return page, previous, nil
		}
	}
	return page, "", ctx.Err() // the iterator of a context that is over ends without an error
}

// Remove asks for an object to be removed.
func (s *s3) Remove(ctx context.Context, name string) error {
	r := request{Removes, "remove", name, 0}
	if err := checkName(name); err != nil {
		return s.fault(r, err)
	}
	err := s.do(ctx, r, func(ctx context.Context, _ bool) error {
		return meaning(s.core.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}))
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
