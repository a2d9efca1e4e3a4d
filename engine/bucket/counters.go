package bucket

import (
	"sync/atomic"
	"time"
)

// Kind is a kind of request.
type Kind uint8

// The kinds of requests.
const (
	Puts Kind = iota // of whole objects and of parts of objects
	Reads
	Stats
	Lists
	Removes
	Kinds // how many there are
)

// String is the kind's label in /metrics.
func (k Kind) String() string { return [Kinds]string{"put", "read", "stat", "list", "remove"}[k] }

// Counters count the requests of the buckets that they are passed to. Safe for concurrent use.
type Counters struct {
	kinds [Kinds]struct{ requests, errors, bytes, nanos atomic.Uint64 }
}

// Count is what was asked by requests of one kind.
type Count struct {
	Requests uint64 // each attempt is one
	Errors   uint64 // attempts that did not give what they were for; an object that is not there is an answer
	Bytes    uint64 // of objects, sent or received
	Seconds  float64
}

// Of is the count of a kind until now.
func (c *Counters) Of(k Kind) Count {
	n := &c.kinds[k]
	return Count{Requests: n.requests.Load(), Errors: n.errors.Load(), Bytes: n.bytes.Load(),
		Seconds: float64(n.nanos.Load()) / 1e9}
}

// add counts a request that has ended.
func (c *Counters) add(k Kind, bytes int64, took time.Duration, failed bool) {
	n := &c.kinds[k]
	n.requests.Add(1)
	n.bytes.Add(uint64(bytes))
	n.nanos.Add(uint64(max(took, 0)))
	if failed {
		n.errors.Add(1)
	}
}
