package promql

import (
	"context"
	"time"

	"varve/engine"
	"varve/engine/status"
)

// Limits bound the queries of a Service.
type Limits struct {
	Lookback      time.Duration     // of queries that name none: how old a sample may be; 0: DefaultLookback
	MaxSamples    int64             // held at a time by a query; 0: DefaultMaxSamples
	Workers       int               // goroutines of a query; 0: one for each processor
	Reads         engine.ReadLimits // of a query; a query of SQL has its own
	MaxConcurrent int               // queries at a time, and lists of series or labels: others wait; 0: no bound
}

// Service runs the queries of metrics of all who ask, the HTTP API and TQL, under one set of limits. Safe for
// concurrent use.
type Service struct {
	limits  Limits
	queries places
	lists   places // which need not wait for queries
	plans   plans
}

// places are those who go on at a time; nil: no bound.
type places chan struct{}

func (p places) take(ctx context.Context) (release func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, status.Wrap(ctx.Err(), status.DeadlineExceeded, "query timed out in query queue")
	}
}

// NewService makes a service.
func NewService(l Limits) *Service {
	s := &Service{limits: l}
	if l.MaxSamples <= 0 {
		s.limits.MaxSamples = DefaultMaxSamples
	}
	if l.MaxConcurrent > 0 {
		s.queries, s.lists = make(places, l.MaxConcurrent), make(places, l.MaxConcurrent)
	}
	return s
}

// MaxSamples is the number of samples that a query may hold at a time.
func (s *Service) MaxSamples() int64 { return s.limits.MaxSamples }

// Admit waits until there is a place for a query, which release gives back. The error is of code DeadlineExceeded: the
// context ended before.
func (s *Service) Admit(ctx context.Context) (release func(), err error) { return s.queries.take(ctx) }

// AdmitList waits until there is a place for a list of series or labels, as Admit does.
func (s *Service) AdmitList(ctx context.Context) (release func(), err error) {
	return s.lists.take(ctx)
}

// Allow bounds what is read with the context that it returns; end is to be called after the reads.
func (s *Service) Allow(ctx context.Context, user string) (bounded context.Context, end func()) {
	return engine.WithAllowance(ctx, s.limits.Reads.Of(user))
}

// Evaluate runs a query when its turn comes and gives its result to use, which keeps the place until it returns. The
// limits are those of the service, but for a lookback that the query names.
func (s *Service) Evaluate(ctx context.Context, q Query, store *Tables, use func(*Result) error) error {
	release, err := s.Admit(ctx)
	if err != nil {
		return err
	}
	defer release()
	if q.Lookback <= 0 {
		q.Lookback = s.limits.Lookback
	}
	ctx, end := s.Allow(ctx, q.User)
	defer end()
	q.MaxSamples, q.Workers, q.Memory = s.limits.MaxSamples, s.limits.Workers, store.Memory
	r, err := s.run(ctx, q, store)
	if over := engine.ReadBound(ctx); over != nil {
		return over
	}
	if err != nil {
		return err
	}
	return use(r)
}

// run evaluates a query by its plan, which may be known.
func (s *Service) run(ctx context.Context, q Query, store *Tables) (*Result, error) {
	began := time.Now()
	p, err := s.plans.of(&q)
	if err != nil {
		return nil, err
	}
	return q.run(ctx, p, store, began)
}
