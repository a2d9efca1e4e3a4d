package bucket

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
)

// Exclusive reports whether of two Puts of one name at the same time one wins for certain. A store is asked by creating
// an object below a prefix twice, without a look; the object is removed again.
func Exclusive(ctx context.Context, b Bucket, prefix string) (bool, error) {
	s, ok := b.(*s3)
	if !ok {
		return true, nil
	}
	r := request{Puts, "put", prefix + "-" + rand.Text(), 1}
	if err := checkName(r.name); err != nil {
		return false, s.fault(r, err)
	}
	err := s.create(ctx, r, strings.NewReader("1"))
	if err != nil {
		return false, err
	}
	again := s.create(ctx, r, strings.NewReader("2"))
	if err := s.Remove(ctx, r.name); err != nil {
		return false, err
	}
	if again == nil || errors.Is(again, ErrExists) {
		return again != nil, nil
	}
	return false, again
}
