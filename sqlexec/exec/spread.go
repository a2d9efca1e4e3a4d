package exec

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Spread calls f for 0..n-1 on several goroutines and gives the first error, or the context's, which is looked at
// before each call. A panic is an error.
func Spread(ctx context.Context, n, workers int, f func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, max(1, min(workers, n)))
	work := func(w int) {
		defer func() {
			if v := recover(); v != nil {
				errs[w] = panicked(v)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
			if errs[w] = ctx.Err(); errs[w] == nil {
				errs[w] = f(i)
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < len(errs); w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// panicked is the error of a worker that panicked with v: a query's end, not the server's.
func panicked(v any) error {
	return fmt.Errorf("panic in a worker of a query: %v\n%s", v, debug.Stack())
}
