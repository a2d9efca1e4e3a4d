package regex

import (
	"context"
	"errors"
	"regexp/syntax"
	"runtime"
	"sync"
	"time"
	"weak"

	"varve/pipeline/value"
)

// Room bounds memory and time of the expressions of one document while it is compiled. Equal expressions are compiled
// and counted once, and expressions that another document also has are shared with it. One goroutine at a time; nil
// counts nothing.
type Room struct {
	ctx   context.Context
	until time.Time
	most  int64 // bytes
	bytes int64
	seen  map[string]*value.Regex
	err   error // why no more is compiled
}

// NewRoom makes room for so many bytes of expressions, for so long.
func NewRoom(ctx context.Context, most int64, limit time.Duration) *Room {
	return &Room{ctx: ctx, until: time.Now().Add(limit), most: most, seen: map[string]*value.Regex{}}
}

// The errors of a room that is full, or whose time is over.
var (
	ErrRoom = errors.New("the regular expressions of the pipeline take too much memory together")
	ErrTime = errors.New("the regular expressions of the pipeline take too long to compile")
)

// Compile is Compile within the room.
func (r *Room) Compile(source string) (*value.Regex, error) {
	if r == nil {
		return Compile(source)
	}
	if re := r.seen[source]; re != nil {
		return re, nil
	}
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err == nil && time.Now().After(r.until) {
		r.err = ErrTime
	}
	if r.err != nil {
		return nil, r.err
	}
	re, err := known.compile(source)
	if err != nil {
		return nil, err
	}
	if r.bytes += re.Bytes; r.bytes > r.most {
		r.err = ErrRoom
		return nil, r.err
	}
	r.seen[source] = re
	return re, nil
}

// Bytes is about what the expressions take.
func (r *Room) Bytes() int64 { return r.bytes }

// Err is why the room did not do; nil: it did.
func (r *Room) Err() error { return r.err }

// shared holds the expressions of all documents by their sources; an expression that no document uses any more is
// removed. Safe for concurrent use.
type shared struct {
	mu       sync.Mutex
	compiled map[string]weak.Pointer[value.Regex]
}

var known = shared{compiled: map[string]weak.Pointer[value.Regex]{}}

func (s *shared) find(source string) *value.Regex {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compiled[source].Value()
}

func (s *shared) compile(source string) (*value.Regex, error) {
	if re := s.find(source); re != nil {
		return re, nil
	}
	re, err := Compile(source)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.compiled[source] = weak.Make(re)
	s.mu.Unlock()
	runtime.AddCleanup(re, s.forget, source)
	return re, nil
}

// forget takes out an expression that is gone, unless it was compiled again.
func (s *shared) forget(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[source].Value() == nil {
		delete(s.compiled, source)
	}
}

// nodeBytes estimates the memory of a node of a compiled expression, and of each pair of its ranges.
const nodeBytes = 25

// Size is about how many nodes a compiled expression has: repetitions are written out.
func Size(re *syntax.Regexp) int64 {
	n := int64(1 + len(re.Rune)/2)
	for _, sub := range re.Sub {
		n += Size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= int64(max(re.Min, re.Max, 1))
	}
	return n
}
