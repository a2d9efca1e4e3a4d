package bucket

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// maxObject is the size of the largest object that a store takes, in bytes.
	maxObject = 5 << 40
	// partsAtOnce is how many parts of one upload are sent at a time.
	partsAtOnce = 4
	// sumBytes is what is read at a time for a checksum.
	sumBytes = 256 << 10
	// abortTimeout bounds the request that gives up an upload, after the upload's own context.
	abortTimeout = 10 * time.Second

	sumHeader       = "x-amz-checksum-crc32c"
	algorithmHeader = "x-amz-checksum-algorithm"
	// tagHeader is the metadata by which an object says which Put made it. It tells an upload whose answer was lost
	// from an object of somebody else.
	tagHeader = "Varve-Put"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Put sends small objects in one request, and others in parts. It looks first, because there are stores that do not
// honour If-None-Match.
func (s *s3) Put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	r := request{Puts, "put", name, size}
	if err := checkName(name); err != nil {
		return s.fault(r, err)
	}
	if size < 0 || size > maxObject {
		return s.fault(r, fmt.Errorf("%d bytes, at most %d", size, int64(maxObject)))
	}
	switch _, err := s.stat(ctx, name); {
	case err == nil:
		return s.fault(r, ErrExists)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	return s.create(ctx, r, body)
}

// create is Put without the look.
func (s *s3) create(ctx context.Context, r request, body io.ReaderAt) error {
	tag := rand.Text()
	if r.bytes > 2*s.o.PartSize {
		return s.putParts(ctx, r, body, tag)
	}
	sums, err := s.sum(ctx, body, 0, r.bytes)
	if err != nil {
		return s.fault(r, err)
	}
	return s.do(ctx, r, func(ctx context.Context, uncertain bool) error {
		src := newSource(body, 0, r.bytes)
		defer src.end()
		o := s.putOptions(tag)
		o.UserMetadata[sumHeader] = sums.crc
		info, err := s.core.PutObject(ctx, s.bucket, s.prefix+r.name, src, r.bytes, "", sums.sha, o)
		if err == nil {
			err = checkSent(info.ETag, info.ChecksumCRC32C, sums.crc)
		}
		return s.created(ctx, r.name, tag, uncertain, src.cause(err))
	})
}

// putOptions are those of a request that creates an object.
func (s *s3) putOptions(tag string) minio.PutObjectOptions {
	// The sum of an insecure connection is passed besides; streaming ones would sum chunks.
	o := minio.PutObjectOptions{UserMetadata: map[string]string{tagHeader: tag}, DisableContentSha256: true}
	if !s.unconditional.Load() {
		o.SetMatchETagExcept("*")
	}
	return o
}

// created is the outcome of a request that creates an object. After an attempt whose outcome is not known, the object
// that is in the way may be that attempt's.
func (s *s3) created(ctx context.Context, name, tag string, uncertain bool, err error) error {
	if err == nil {
		return nil
	}
	var said minio.ErrorResponse
	if errors.As(err, &said) && said.Code == "NotImplemented" && s.unconditional.CompareAndSwap(false, true) {
		return errors.New("the store knows no If-None-Match") // once more, without
	}
	gone := said.Code == "NoSuchUpload"
	if err = meaning(err); !uncertain || !gone && !errors.Is(err, ErrExists) {
		return err
	}
	info, failed := s.core.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
	switch failed = meaning(failed); {
	case failed == nil && info.UserMetadata[tagHeader] == tag:
		return nil
	case failed == nil || gone && errors.Is(failed, ErrNotFound):
		return err
	}
	return fmt.Errorf("whether it is there: %w: %w", errDamaged, failed)
}

// checkSent holds what the store says it has stored against what was sent.
func checkSent(etag, stored, sent string) error {
	if etag == "" {
		return fmt.Errorf("the answer names no object: %w", errDamaged)
	}
	if stored != "" && stored != sent {
		return fmt.Errorf("the store has checksum %s, %s was sent: %w", shorten(stored), sent, errDamaged)
	}
	return nil
}

// putParts creates an object of several parts. What it leaves of an upload that fails, it takes back.
func (s *s3) putParts(ctx context.Context, r request, body io.ReaderAt, tag string) error {
	var id string
	began := request{Puts, r.what, r.name, 0}
	err := s.do(ctx, began, func(ctx context.Context, _ bool) (err error) {
		o := minio.PutObjectOptions{UserMetadata: map[string]string{tagHeader: tag, algorithmHeader: "CRC32C"}}
		id, err = s.core.NewMultipartUpload(ctx, s.bucket, s.prefix+r.name, o)
		if err == nil && id == "" {
			err = fmt.Errorf("the answer names no upload: %w", errDamaged)
		}
		return meaning(err)
	})
	if err != nil {
		return err
	}
	parts, err := s.sendParts(ctx, r, body, id)
	if err == nil {
		err = s.do(ctx, began, func(ctx context.Context, uncertain bool) error {
			o := s.putOptions(tag)
			o.UserMetadata = nil
			info, err := s.core.CompleteMultipartUpload(ctx, s.bucket, s.prefix+r.name, id, parts, o)
			if err == nil && info.ETag == "" {
				err = fmt.Errorf("the answer names no object: %w", errDamaged)
			}
			return s.created(ctx, r.name, tag, uncertain, err)
		})
	}
	if err != nil {
		s.abort(ctx, r.name, id)
	}
	return err
}

// abort gives up an upload. Where that fails too, RemoveUnfinished finds it later.
func (s *s3) abort(ctx context.Context, name, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(abortTimeout, s.o.Timeout))
	defer cancel()
	began := time.Now()
	err := s.core.AbortMultipartUpload(ctx, s.bucket, s.prefix+name, id)
	s.o.Counters.add(Removes, 0, time.Since(began), err != nil)
}

// partSize is the size of the parts of an object but the last.
func (s *s3) partSize(size int64) int64 {
	least := (size + maxParts - 1) / maxParts
	return max(s.o.PartSize, (least+(1<<20)-1)&^(1<<20-1))
}

// sendParts sends the parts of an upload, several at a time. The first error ends all.
func (s *s3) sendParts(ctx context.Context, r request, body io.ReaderAt, id string) ([]minio.CompletePart, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	step := s.partSize(r.bytes)
	parts := make([]minio.CompletePart, (r.bytes+step-1)/step)
	var next atomic.Int64
	var first atomic.Pointer[error]
	var sending sync.WaitGroup
	for range min(partsAtOnce, len(parts)) {
		sending.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				part, err := s.sendPart(ctx, r, body, id, int(i)+1, i*step, min(step, r.bytes-i*step))
				if err != nil {
					first.CompareAndSwap(nil, &err)
					cancel() // the others' errors say no more
					return
				}
				parts[i] = part
			}
		})
	}
	sending.Wait()
	if err := first.Load(); err != nil {
		return nil, *err
	}
	return parts, nil
}

// sendPart sends bytes [from, from+n) as a part of an upload.
func (s *s3) sendPart(ctx context.Context, r request, body io.ReaderAt, id string, number int, from, n int64) (
	part minio.CompletePart, err error) {
	sums, err := s.sum(ctx, body, from, n)
	if err != nil {
		return part, s.fault(r, err)
	}
	one := request{Puts, r.what, r.name, n}
	err = s.do(ctx, one, func(ctx context.Context, _ bool) error {
		src := newSource(body, from, n)
		defer src.end()
		o := minio.PutObjectPartOptions{Sha256Hex: sums.sha, DisableContentSha256: true}
		o.CustomHeader = map[string][]string{sumHeader: {sums.crc}}
		sent, err := s.core.PutObjectPart(ctx, s.bucket, s.prefix+r.name, id, number, src, n, o)
		if err == nil {
			err = checkSent(sent.ETag, sent.ChecksumCRC32C, sums.crc)
		}
		part = minio.CompletePart{PartNumber: number, ETag: sent.ETag, ChecksumCRC32C: sent.ChecksumCRC32C}
		return meaning(src.cause(err))
	})
	return part, err
}

// sums are the checksums that are sent with bytes.
type sums struct {
	crc string // CRC32C in Base64
	sha string // SHA-256 in hexadecimal, on connections that do not protect the bytes by themselves; else empty
}

// sum reads bytes [from, from+n) once.
func (s *s3) sum(ctx context.Context, body io.ReaderAt, from, n int64) (sums, error) {
	crc, sha := crc32.New(castagnoli), sha256.New()
	to := io.Writer(crc)
	if !s.secure {
		to = io.MultiWriter(crc, sha)
	}
	src := io.NewSectionReader(body, from, n)
	buf := make([]byte, min(sumBytes, n))
	for done := int64(0); done < n; {
		if err := ctx.Err(); err != nil {
			return sums{}, context.Cause(ctx)
		}
		m, err := io.ReadFull(src, buf[:min(int64(len(buf)), n-done)])
		if err != nil {
			return sums{}, fmt.Errorf("%w: %w", ErrSource, err)
		}
		done += int64(m)
		if _, err := to.Write(buf[:m]); err != nil {
			return sums{}, err
		}
	}
	all := sums{crc: base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc.Sum32()))}
	if !s.secure {
		all.sha = hex.EncodeToString(sha.Sum(nil))
	}
	return all, nil
}

// source reads what is sent, until it is ended: a transport may go on to read a body after its request has failed, when
// the caller's bytes may be gone.
type source struct {
	mu    sync.Mutex
	r     *io.SectionReader
	ended bool
	err   error // of the caller's bytes
}

func newSource(body io.ReaderAt, from, n int64) *source {
	return &source{r: io.NewSectionReader(body, from, n)}
}

// Read reads on.
func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, errors.New("the request is over")
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Seek goes to a position.
func (s *source) Seek(off int64, whence int) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Seek(off, whence)
}

// end ends reads, and waits for one that is under way.
func (s *source) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// cause is the error of a request, or of the caller's bytes where that came first.
func (s *source) cause(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.err != nil {
		return fmt.Errorf("%w: %w", ErrSource, s.err)
	}
	return err
}
