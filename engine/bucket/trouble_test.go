package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/bucket"
	"varve/engine/bucket/buckettest"
)

// secret is the key of the test's store; no error may hold it.
const secret = "not-shown"

// far opens a bucket behind a proxy; requests are bounded by a tenth of a second.
func far(t *testing.T, o bucket.Options) (bucket.Bucket, *buckettest.Proxy, *bucket.Counters) {
	t.Helper()
	leavesNothing(t)
	p := buckettest.NewProxy(t, o.Endpoint)
	o.Endpoint, o.Timeout, o.Pause, o.PartSize = p.URL, 2*time.Second, time.Millisecond, 5<<20
	o.Counters = new(bucket.Counters)
	return buckettest.Open(t, o), p, o.Counters
}

// leavesNothing fails a test that leaves goroutines.
func leavesNothing(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(end) {
				buf := make([]byte, 1<<16)
				all := buf[:runtime.Stack(buf, true)]
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, all)
			}
		}
	})
}

// lent is bytes that may be read until they are taken back.
type lent struct {
	t    *testing.T
	r    io.ReaderAt
	over atomic.Bool
}

func (l *lent) ReadAt(p []byte, off int64) (int, error) {
	if l.over.Load() {
		l.t.Error("the caller's bytes are read after Put")
	}
	return l.r.ReadAt(p, off)
}

func put(t *testing.T, b bucket.Bucket, name string, data []byte) error {
	l := &lent{t: t, r: bytes.NewReader(data)}
	err := b.Put(t.Context(), name, l, int64(len(data)))
	l.over.Store(true)
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("a secret is shown: %v", err)
	}
	return err
}

// TestTroublesPass: whatever happens to a request once or twice, the call does what it should.
func TestTroublesPass(t *testing.T) {
	t.Run("store in this process", func(t *testing.T) { troublesPass(t, buckettest.Store(t)) })
	t.Run("gateway", func(t *testing.T) {
		if o, ok := buckettest.Gateway(t); ok {
			troublesPass(t, o)
		}
	})
}

func troublesPass(t *testing.T, o bucket.Options) {
	b, p, _ := far(t, o)
	everything := []buckettest.Trouble{buckettest.SlowDown, buckettest.Internal, buckettest.Refused, buckettest.Lost,
		buckettest.Cut, buckettest.ErrorBody}
	small := buckettest.Random(1000)
	for _, what := range everything {
		for n := 1; n <= 2; n++ {
			t.Run(fmt.Sprintf("%v %d", what, n), func(t *testing.T) {
				defer p.Set(nil)
				p.First(n, "PUT", "", what)
				if err := put(t, b, "small", small); err != nil {
					t.Fatal(err)
				}
				p.First(n, "HEAD", "", what)
				if _, err := b.Stat(t.Context(), "small"); err != nil && what != buckettest.ErrorBody {
					t.Error(err)
				}
				p.First(n, "GET", "small", what)
				got := make([]byte, 500)
				if err := b.Read(t.Context(), "small", got, 250); err != nil || !bytes.Equal(got, small[250:750]) {
					t.Errorf("read: %v", err)
				}
				p.First(n, "GET", "list-type", what)
				if all := buckettest.Names(t, b, ""); fmt.Sprint(all) != "[small]" {
					t.Errorf("listed: %q", all)
				}
				p.First(n, "DELETE", "", what)
				if err := b.Remove(t.Context(), "small"); err != nil {
					t.Error(err)
				}
				p.Set(nil)
				// An answer to a removal has no body: a store that says 200 has removed it, for all that can be known.
				if all := buckettest.Names(t, b, ""); len(all) > 0 && what != buckettest.ErrorBody {
					t.Errorf("left: %q", all)
				}
				if err := b.Remove(t.Context(), "small"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestTroublesOfParts: so it is with an object of several parts, in whichever of its requests the trouble is.
func TestTroublesOfParts(t *testing.T) {
	t.Run("store in this process", func(t *testing.T) { troublesOfParts(t, buckettest.Store(t)) })
	t.Run("gateway", func(t *testing.T) {
		if o, ok := buckettest.Gateway(t); ok {
			troublesOfParts(t, o)
			flipped(t, o)
		}
	})
}

// flipped: a store that knows checksums takes no bytes that were changed on their way, and gets them again.
func flipped(t *testing.T, o bucket.Options) {
	b, p, count := far(t, o)
	for _, size := range []int{1000, 12 << 20} {
		data := buckettest.Random(size)
		p.First(2, "PUT", "", buckettest.Flipped)
		if err := put(t, b, "flipped", data); err != nil {
			t.Fatal(err)
		}
		p.Set(nil)
		buckettest.Has(t, b, "flipped", data)
		if err := b.Remove(t.Context(), "flipped"); err != nil {
			t.Error(err)
		}
	}
	if n := count.Of(bucket.Puts).Errors; n < 4 {
		t.Errorf("%d requests were refused, want 4", n)
	}
}

func troublesOfParts(t *testing.T, o bucket.Options) {
	b, p, count := far(t, o)
	large := buckettest.Random(12 << 20)
	troubles := []buckettest.Trouble{buckettest.Lost, buckettest.SlowDown, buckettest.Internal, buckettest.Refused,
		buckettest.Cut, buckettest.ErrorBody}
	if testing.Short() {
		troubles = troubles[:1]
	}
	steps := map[string][2]string{"begin": {"POST", "uploads"}, "part": {"PUT", "partNumber=2"},
		"end": {"POST", "uploadId"}}
	for step, at := range steps {
		for _, what := range troubles {
			t.Run(fmt.Sprint(step, " ", what), func(t *testing.T) {
				p.First(1, at[0], at[1], what)
				if err := put(t, b, "large", large); err != nil {
					t.Fatal(err)
				}
				p.Set(nil)
				buckettest.Has(t, b, "large", large)
				if err := put(t, b, "large", large); !errors.Is(err, bucket.ErrExists) {
					t.Errorf("again: %v", err)
				}
				if err := b.Remove(t.Context(), "large"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	n := uint64(3 * len(troubles))
	if c := count.Of(bucket.Puts); c.Bytes < n*uint64(len(large)) || c.Errors < n-3 || c.Seconds <= 0 {
		t.Errorf("%+v", c)
	}
}

// TestAnUploadThatFails takes its parts back; where it cannot, they are found later.
func TestAnUploadThatFails(t *testing.T) {
	b, p, _ := far(t, buckettest.Store(t))
	large := buckettest.Random(12 << 20)
	deny := func(also string) func(*http.Request) buckettest.Trouble {
		return func(r *http.Request) buckettest.Trouble {
			if strings.Contains(r.URL.RawQuery, "partNumber=3") || r.Method == also {
				return buckettest.Denied
			}
			return buckettest.None
		}
	}
	for also, want := range map[string]int{"": 0, "DELETE": 1} {
		p.Set(deny(also))
		if err := put(t, b, "large", large); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("a part is denied: %v", err)
		}
		p.Set(nil)
		if n, err := bucket.RemoveUnfinished(t.Context(), b, time.Now().Add(-time.Hour)); n != 0 || err != nil {
			t.Errorf("%d are old: %v", n, err)
		}
		if n, err := bucket.RemoveUnfinished(t.Context(), b, time.Now().Add(time.Hour)); n != want || err != nil {
			t.Errorf("%d unfinished, want %d: %v", n, want, err)
		}
	}
	if all := buckettest.Names(t, b, ""); len(all) > 0 {
		t.Errorf("listed: %q", all)
	}
}

// TestAnswersThatLie: wrong lengths and ranges are errors, however often they come.
func TestAnswersThatLie(t *testing.T) {
	b, p, _ := far(t, buckettest.Store(t))
	data := buckettest.Random(1000)
	buckettest.Put(t, b, "x", data)
	for _, what := range []buckettest.Trouble{buckettest.Longer, buckettest.Shorter, buckettest.Other,
		buckettest.ErrorBody} {
		got := make([]byte, 500)
		p.First(3, "GET", "x", what)
		if err := b.Read(t.Context(), "x", got, 100); err != nil || !bytes.Equal(got, data[100:600]) {
			t.Errorf("%v, three times: %v", what, err)
		}
		p.First(1000, "GET", "x", what)
		err := b.Read(t.Context(), "x", got, 100)
		if err == nil || !strings.Contains(err.Error(), "attempts") {
			t.Errorf("%v, always: %v", what, err)
		}
		if what == buckettest.Other {
			continue
		}
		p.First(1000, "GET", "list-type", what)
		err = b.List(t.Context(), "", func(bucket.Object) error { return nil })
		if err == nil {
			t.Errorf("a listing that is %v is taken", what)
		}
	}
}

// TestTroubleThatStays ends in an error that names the bucket, the object and the reason, after so many requests.
func TestTroubleThatStays(t *testing.T) {
	b, p, count := far(t, buckettest.Store(t))
	for what, c := range map[buckettest.Trouble]struct {
		requests int64
		says     string
	}{
		buckettest.SlowDown: {8, "SlowDown"}, buckettest.Internal: {8, "500"}, buckettest.Refused: {8, "8 attempts"},
		buckettest.Denied: {1, "AccessDenied"},
	} {
		before, errs := p.Requests.Load(), count.Of(bucket.Reads).Errors
		p.Set(func(*http.Request) buckettest.Trouble { return what })
		err := b.Read(t.Context(), "some/thing", make([]byte, 10), 0)
		for _, text := range []string{"s3://store/some/prefix", "some/thing", c.says} {
			if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v: %v, want %q", what, err, text)
			}
		}
		if bucket.Final(err) != (what == buckettest.Denied) {
			t.Errorf("%v is final: %v", what, bucket.Final(err))
		}
		n := p.Requests.Load() - before
		if what == buckettest.Refused {
			n-- // a connection that was kept may have ended by itself: the transport asks once more by another
		}
		if n != c.requests && n+1 != c.requests {
			t.Errorf("%v: %d requests, want %d", what, n, c.requests)
		}
		if n := count.Of(bucket.Reads).Errors - errs; n != uint64(c.requests) {
			t.Errorf("%v: %d errors are counted, want %d", what, n, c.requests)
		}
	}
}

// TestAStoreThatHangs: a call ends with its context, and a request at its time limit.
func TestAStoreThatHangs(t *testing.T) {
	o := buckettest.Store(t)
	b, p, _ := far(t, o)
	data := buckettest.Random(12 << 20)
	buckettest.Put(t, b, "x", data[:10])
	p.Set(func(*http.Request) buckettest.Trouble { return buckettest.Hang })
	why := errors.New("the reader has gone")
	for what, call := range map[string]func(ctx context.Context) error{
		"read": func(ctx context.Context) error { return b.Read(ctx, "x", make([]byte, 10), 0) },
		"put":  func(ctx context.Context) error { return b.Put(ctx, "y", bytes.NewReader(data), 100) },
		"list": func(ctx context.Context) error {
			return b.List(ctx, "", func(bucket.Object) error { return nil })
		},
		"remove": func(ctx context.Context) error { return b.Remove(ctx, "x") },
		"leftover": func(ctx context.Context) error {
			_, err := bucket.RemoveUnfinished(ctx, b, time.Now())
			return err
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		before, began := p.Requests.Load(), time.Now()
		go func() {
			for p.Requests.Load() == before {
				runtime.Gosched()
			}
			cancel(why)
		}()
		if err := call(ctx); !errors.Is(err, why) || time.Since(began) > 15*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
	}
	// Only the parts hang: the upload ends at once, and is taken back.
	ctx, cancel := context.WithCancelCause(t.Context())
	p.Set(func(r *http.Request) buckettest.Trouble {
		if strings.Contains(r.URL.RawQuery, "partNumber") {
			cancel(why)
			return buckettest.Hang
		}
		return buckettest.None
	})
	if err := b.Put(ctx, "z", bytes.NewReader(data), int64(len(data))); !errors.Is(err, why) {
		t.Error(err)
	}
	if n, err := bucket.RemoveUnfinished(t.Context(), b, time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d unfinished: %v", n, err)
	}
	o.Endpoint, o.Timeout, o.Pause, o.Attempts = p.URL, 50*time.Millisecond, time.Millisecond, 2
	p.Set(func(*http.Request) buckettest.Trouble { return buckettest.Hang })
	err := buckettest.Open(t, o).Read(t.Context(), "x", make([]byte, 10), 0)
	if err == nil || !strings.Contains(err.Error(), "no whole answer within 50ms") {
		t.Error(err)
	}
}

// TestNobodyListens: a store that is away is an error in bounded time.
func TestNobodyListens(t *testing.T) {
	leavesNothing(t)
	o := buckettest.Store(t)
	o.Endpoint, o.Pause, o.Attempts = "http://127.0.0.1:1", time.Millisecond, 3
	b := buckettest.Open(t, o)
	if err := put(t, b, "x", []byte("x")); err == nil || !strings.Contains(err.Error(), "after 3 attempts") {
		t.Error(err)
	}
}
