package bucket

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"varve/engine/vfs"
)

// RemoveUnfinished removes what Puts have left that were begun before a time and did not end, such as those of a
// process that was killed. A store keeps the parts of such uploads, and lists no object. It returns how many
// there were.
func RemoveUnfinished(ctx context.Context, b Bucket, before time.Time) (int, error) {
	switch b := b.(type) {
	case *s3:
		return b.removeUnfinished(ctx, before)
	case *dir:
		n, err := b.removeUnfinished(ctx, "", before)
		if err != nil {
			return n, fmt.Errorf("%s: unfinished objects: %w", b, err)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s: it is not known what is unfinished there: %w", b, errors.ErrUnsupported)
}

func (s *s3) removeUnfinished(ctx context.Context, before time.Time) (n int, err error) {
	var old []minio.ObjectMultipartInfo
	r := request{Lists, "list unfinished objects of", s.String(), 0}
	if err := s.do(ctx, r, func(ctx context.Context, _ bool) error {
		old, err = s.unfinished(ctx, before)
		if noUpload(err) {
			err = nil // so some stores say that there is none at all
		}
		return err
	}); err != nil {
		return 0, err
	}
	for _, u := range old {
		r := request{Removes, "remove the unfinished", strings.TrimPrefix(u.Key, s.prefix), 0}
		err := s.do(ctx, r, func(ctx context.Context, _ bool) error {
			return s.core.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID)
		})
		if err != nil && !noUpload(err) {
			return n, err
		}
		n++
	}
	return n, nil
}

// noUpload reports that the store says that there is no such upload.
func noUpload(err error) bool {
	var said minio.ErrorResponse
	return errors.As(err, &said) && said.Code == "NoSuchUpload"
}

// unfinished lists uploads. The channel is read to its end, which is how the library's goroutine ends.
func (s *s3) unfinished(ctx context.Context, before time.Time) (old []minio.ObjectMultipartInfo, err error) {
	for u := range s.core.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		switch {
		case err != nil:
		case u.Err != nil:
			err = meaning(u.Err)
		case u.Initiated.Before(before) && strings.HasPrefix(u.Key, s.prefix):
			old = append(old, u)
		}
	}
	return old, err
}

func (d *dir) removeUnfinished(ctx context.Context, at string, before time.Time) (n int, err error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	names, err := d.fs.List(d.path(at))
	if absent(err) && at == "" && !d.seen.Load() {
		return 0, nil // no Put has made it
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		name = path.Join(at, name)
		info, err := d.fs.Stat(d.path(name))
		switch {
		case absent(err):
		case err != nil:
			return n, err
		case info.IsDir():
			below, err := d.removeUnfinished(ctx, name, before)
			if n += below; err != nil {
				return n, err
			}
		case strings.HasPrefix(path.Base(name), tempPrefix) && info.ModTime().Before(before):
			if err := d.fs.Remove(d.path(name)); err != nil && !vfs.NotExist(err) {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
