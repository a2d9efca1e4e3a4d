// Package bucket keeps objects in a store of objects: bytes under names, written once and never changed.
//
//	options.go      where a bucket is, read from a URL and checked
//	names.go        which names objects may have
//	s3.go           a bucket of an S3-compatible store: reading, listing, removing
//	put.go          creating an object there, in one request or in parts
//	unfinished.go   what uploads have left that did not end
//	retry.go        what is tried again, and when
//	credentials.go  whose requests they are
//	answers.go      answers that are not what they claim to be
//	exclusive.go    whether of two that create an object one wins
//	dir.go          a bucket in a directory, for tests and for network file systems
//	counters.go     what was asked, for /metrics
//
// # Promises
//
// An object appears whole or not at all, and is never overwritten: Put of a name that is taken is ErrExists. Once Put
// has returned nil, every later call sees the object. Of two Puts of one name at the same time one wins, if the store
// honours If-None-Match; Exclusive asks it whether it does. A failed or cancelled Put may have created the object.
//
// Calls wait for the store as long as their context lasts, at most Options.Attempts requests each. Errors name the
// bucket and the object. No error and no text of this package holds a secret.
package bucket

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound is wrapped by the error for an object that is not there.
	ErrNotFound = errors.New("there is no such object")
	// ErrExists is wrapped by the error of Put for a name that is taken.
	ErrExists = errors.New("there is an object of that name")
	// ErrShort is wrapped by the error of Read for a range that reaches past the end of the object.
	ErrShort = errors.New("the object is shorter")
	// ErrSource is wrapped by the error of Put for bytes that could not be read from the caller.
	ErrSource = errors.New("the bytes to be put cannot be read")
)

// Bucket is a flat set of objects by name. Where an object is called a, none may be called a/b: a directory cannot hold
// both. Safe for concurrent use.
type Bucket interface {
	// Put creates an object of the first size bytes of body, which may be read twice and by several goroutines.
	// ErrExists if there is one of that name.
	Put(ctx context.Context, name string, body io.ReaderAt, size int64) error
	// Read fills p from the offset on; an error leaves p undefined. ErrNotFound, ErrShort. An empty p asks for nothing.
	Read(ctx context.Context, name string, p []byte, off int64) error
	// Stat describes an object. ErrNotFound.
	Stat(ctx context.Context, name string) (Object, error)
	// List calls each for the objects whose names begin with prefix, in the order of the bytes of their names. An error
	// of each ends it and is returned as it is. Objects that others put there under names of other forms are left out.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Remove removes an object. One that is not there is as good as removed.
	Remove(ctx context.Context, name string) error
	// String is the bucket's place, such as s3://name/prefix.
	String() string
}

// Object describes an object.
type Object struct {
	Name     string
	Size     int64 // in bytes
	Modified time.Time
}

// Close ends the connections of a bucket that are idle. The bucket can still be used.
func Close(b Bucket) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
