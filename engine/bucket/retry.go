package bucket

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// maxPause is the longest wait between two attempts.
	maxPause = 10 * time.Second
	// slowest is the rate at which a request is not yet taken for dead, in bytes a second.
	slowest = 256 << 10
)

// The library waits once more after an attempt that was the last. So it does not wait long.
func init() { minio.DefaultRetryUnit = time.Microsecond }

// request is one kind of call of one object, which is tried until it succeeds, fails for good, or has been tried often
// enough.
type request struct {
	kind  Kind
	what  string // "read", for messages
	name  string // of the object or a prefix
	bytes int64  // that one attempt moves
}

// errDamaged is wrapped by errors for answers that are not what was asked for. They are asked for again.
var errDamaged = errors.New("the answer is damaged")

// do calls once until it returns no error, or one that another attempt does not mend. uncertain tells once that an
// earlier attempt may have had its effect although it failed.
func (s *s3) do(ctx context.Context, r request, once func(ctx context.Context, uncertain bool) error) error {
	uncertain, renewed := false, false
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, r, uncertain, once)
		if err == nil {
			return nil
		}
		if over := context.Cause(ctx); over != nil {
			return s.fault(r, fmt.Errorf("%w (last: %w)", over, err))
		}
		if !renewed && staleKeys(err) {
			renewed = true
			s.keys.Expire()
		} else if !passes(err) {
			return s.fault(r, err)
		}
		if attempt >= s.o.Attempts {
			return s.fault(r, fmt.Errorf("after %d attempts: %w", attempt, err))
		}
		uncertain = uncertain || !refused(err)
		if over := pause(ctx, s.o.Pause, attempt); over != nil {
			return s.fault(r, fmt.Errorf("%w (last: %w)", over, err))
		}
	}
}

// attempt calls once within the time limit of one request, and counts it.
func (s *s3) attempt(ctx context.Context, r request, uncertain bool,
	once func(ctx context.Context, uncertain bool) error) error {
	if over := context.Cause(ctx); over != nil {
		return over
	}
	limit := s.o.Timeout + time.Duration(r.bytes)*time.Second/slowest
	inner, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer cancel()
	began := time.Now()
	err := once(inner, uncertain)
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		err = fmt.Errorf("no whole answer within %v: %w", limit.Round(time.Millisecond), errTooSlow)
	}
	failed := err != nil && !isAnswer(err)
	moved := r.bytes
	if err != nil {
		moved = 0
	}
	s.o.Counters.add(r.kind, moved, time.Since(began), failed)
	return err
}

// errTooSlow is the cause of the end of an attempt by its time limit.
var errTooSlow = errors.New("the store is too slow")

// pause waits before the attempt after the given one, a random part of a time that doubles.
func pause(ctx context.Context, first time.Duration, attempt int) error {
	longest := max(2, min(maxPause, first<<min(attempt-1, 10)))
	t := time.NewTimer(longest/2 + rand.N(longest/2))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fault is the error of a request: the bucket, the object, and what the store said.
func (s *s3) fault(r request, err error) error {
	var said minio.ErrorResponse
	if errors.As(err, &said) && said.Code != "" && !isAnswer(err) {
		return fmt.Errorf("%s: %s %s: %s: %w", s, r.what, r.name, said.Code, err)
	}
	return fmt.Errorf("%s: %s %s: %w", s, r.what, r.name, err)
}

// isAnswer reports errors that say what is so, and not that the store failed.
func isAnswer(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) || errors.Is(err, ErrShort)
}

// refused reports an error by which the store says that a request had no effect.
func refused(err error) bool {
	var said minio.ErrorResponse
	if !errors.As(err, &said) {
		return false
	}
	return said.StatusCode >= 400 && said.StatusCode < 500
}

// staleKeys reports that the store no longer knows the keys. Those of a role or of a file may have changed.
func staleKeys(err error) bool {
	var said minio.ErrorResponse
	if !errors.As(err, &said) {
		return false
	}
	switch said.Code {
	case "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken", "TokenRefreshRequired":
		return true
	}
	return false
}

// Final reports whether an error is one that another call, with the same bucket, does not mend: such as an object that
// is not there, or a right that is missing. Others may pass: a store that is away, or asked too much.
func Final(err error) bool { return err != nil && !passes(err) }

// passes reports whether another attempt may do what this one did not.
func passes(err error) bool {
	if isAnswer(err) || errors.Is(err, ErrSource) || errors.Is(err, errKeys) {
		return false
	}
	var said minio.ErrorResponse
	if errors.As(err, &said) {
		return passesCode(said)
	}
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	if errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &record) {
		return false
	}
	return true // a connection that was refused or cut, a damaged answer, the time limit
}

// passesCode is passes for an error that the store has sent.
func passesCode(said minio.ErrorResponse) bool {
	switch said.Code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "RequestTimeout", "Throttling",
		"ThrottlingException", "RequestLimitExceeded", "RequestThrottled", "InternalError", "ServiceUnavailable",
		"OperationAborted", "ConditionalRequestConflict",
		// The bytes were damaged on their way to the store.
		"BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "IncompleteBody":
		return true
	case "NotImplemented":
		return false
	}
	switch said.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return said.StatusCode >= 500 || said.StatusCode == 0 || said.StatusCode < 300
}
