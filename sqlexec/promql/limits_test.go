package promql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// bigStore has many series with a sample a minute.
func bigStore(series int) *memoryStore {
	s := newMemory()
	for i := range series {
		samples := make([]memorySample, 60)
		for k := range samples {
			samples[k] = memorySample{T: int64(k) * minute, V: float64(k)}
		}
		s.Add(promql.NewLabels("__name__", "big_total", "i", fmt.Sprint(i)), samples...)
	}
	return s
}

// TestHeldSamples: the limit counts what is held at a time, not what was read in all.
func TestHeldSamples(t *testing.T) {
	store := bigStore(100)
	hour := promql.Query{Start: 0, End: 60 * minute, Step: minute}
	for _, c := range []struct {
		expr string
		max  int64
		want status.Code
	}{
		{"big_total", 10_000, status.Success},
		{"big_total", 5_000, status.EngineExecuteQuery},
		{"sum(big_total)", 100, status.Success}, // rows are added as they are read
		{"sum(sum by (i) (big_total))", 10_000, status.Success},
		{"sum(-big_total) + sum(-(big_total * 2)) + sum(-(big_total * 3))", 25_000, status.Success},
		{"sum_over_time(vector(1)[5y:1s])", 1_000_000, status.EngineExecuteQuery},
		{"max_over_time((sum_over_time(vector(1)[1y:1m]))[1y:1m])", 1_000_000, status.EngineExecuteQuery},
	} {
		q := hour
		q.Expr, q.MaxSamples = c.expr, c.max
		_, err := q.Run(context.Background(), store)
		if status.Of(err) != c.want {
			t.Errorf("%s with %d samples: %v", c.expr, c.max, err)
		}
		if c.want != status.Success && err != nil && !strings.Contains(err.Error(), "too many samples") {
			t.Errorf("%s: %v", c.expr, err)
		}
	}
}

// budget lends so many bytes and no more.
type budget struct{ left int64 }

var errBudget = errors.New("no memory left")

func (b *budget) Reserve(n int64) error {
	if b.left -= n; b.left < 0 {
		return errBudget
	}
	return nil
}

func (b *budget) Release(n int64) { b.left += n }

func TestMemory(t *testing.T) {
	store := bigStore(200)
	q := promql.Query{Start: 0, End: 60 * minute, Step: 6_000, Workers: 1}
	const rows = 200 * 8 * 612 // bytes of the selector, about
	for _, c := range []struct {
		expr  string
		bytes int64
		want  error
	}{
		{"-big_total", 1 << 30, nil},
		{"-big_total", rows / 2, errBudget},
		{"-(-(-(-(-(-(-(-big_total)))))))", 4 * rows, nil}, // what a node took is free once the next has its rows
		{"sum(rate(big_total[5m]))", rows / 2, nil},
	} {
		q.Expr, q.Memory = c.expr, &budget{c.bytes}
		if _, err := q.Run(context.Background(), store); !errors.Is(err, c.want) {
			t.Errorf("%s in %d bytes: %v, want %v", c.expr, c.bytes, err, c.want)
		}
	}
}

// slowStore ends the query while its series are read.
type slowStore struct {
	promql.Storage
	end  func()
	seen int
}

type slowSet struct {
	promql.SeriesSet
	s *slowStore
}

func (s *slowStore) Select(ctx context.Context, sel promql.Selection) (promql.SeriesSet, error) {
	set, err := s.Storage.Select(ctx, sel)
	return &slowSet{set, s}, err
}

func (s *slowSet) Scan(ctx context.Context, from, to int, visit func(int, promql.Samples) error) error {
	return s.SeriesSet.Scan(ctx, from, to, func(i int, x promql.Samples) error {
		if s.s.seen++; s.s.seen == 100 {
			s.s.end()
		}
		return visit(i, x)
	})
}

// TestEnded: a query that was given up ends within some series and says so.
func TestEnded(t *testing.T) {
	store := bigStore(2_000)
	for _, expr := range []string{"big_total", "sum(rate(big_total[5m]))", "topk(3, big_total)",
		"rate(big_total[5m]) > 0"} {
		ctx, cancel := context.WithCancel(context.Background())
		slow := &slowStore{Storage: store, end: cancel}
		_, err := promql.Query{Expr: expr, Start: 0, End: 60 * minute, Step: minute, Workers: 1}.Run(ctx, slow)
		if status.Of(err) != status.Cancelled {
			t.Errorf("%s: %v", expr, err)
		}
		if slow.seen > 200 {
			t.Errorf("%s: %d series were read after the end", expr, slow.seen-100)
		}
	}
	for _, expr := range []string{"sum_over_time(vector(1)[2y:1m])", "stddev_over_time(vector(1)[2y:1m])",
		"quantile_over_time(0.5, vector(1)[2y:1m])"} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		began := time.Now()
		_, err := promql.Query{Expr: "max_over_time((" + expr + ")[1y:1m])"}.Run(ctx, store)
		if took := time.Since(began); status.Of(err) != status.DeadlineExceeded || took > 10*time.Second {
			t.Errorf("%s ended after %v: %v", expr, took, err)
		}
		cancel()
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if _, err := (promql.Query{Expr: "big_total"}).Run(ctx, store); status.Of(err) != status.DeadlineExceeded {
		t.Errorf("past its deadline: %v", err)
	}
}

// TestRefused: what is wrong with a query is said before it is evaluated.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		q    promql.Query
		want string
	}{
		{promql.Query{Expr: "1 +"}, "1:4: parse error: unexpected end of input"},
		{promql.Query{Expr: "up", Start: 2000, End: 1000, Step: 1}, "end timestamp must not be before start time"},
		{promql.Query{Expr: "up", End: 1000, Step: -1}, "zero or negative query resolution step widths"},
		{promql.Query{Expr: "up", End: 11_001_000, Step: 1000},
			"exceeded maximum resolution of 11,000 points per timeseries"},
		{promql.Query{Expr: "up[5m]", End: 1000, Step: 1000}, `invalid expression type "range vector" for range query`},
		{promql.Query{Expr: `"x"`, End: 1000, Step: 1000}, `invalid expression type "string" for range query`},
		{promql.Query{Expr: "up[0s * 5]"}, "duration must be greater than 0"},
		{promql.Query{Expr: "up offset (1s / 0)"}, "division by zero"},
	} {
		_, err := c.q.Run(context.Background(), newMemory())
		if err == nil || !strings.Contains(err.Error(), c.want) || errorType(err) != "bad_data" {
			t.Errorf("%s: %v, want %s", c.q.Expr, err, c.want)
		}
	}
	// Clients that cut a range into as many parts as may be ask for one step more.
	if _, err := (promql.Query{Expr: "up", End: 11_000_999, Step: 1000}).Run(context.Background(), newMemory()); err !=
		nil {
		t.Errorf("11,000 intervals: %v", err)
	}
}

// TestLongQuery: what would keep the parser busy for long is refused; strings may be long.
func TestLongQuery(t *testing.T) {
	for _, c := range []struct {
		expr string
		want status.Code
	}{
		{"vector(1)" + strings.Repeat(" + vector(1)", 1_000), status.Success},
		{"vector(1)" + strings.Repeat(" + vector(1)", 100_000), status.InvalidSyntax},
		{"histogram_count(big_total" + strings.Repeat(" or big_total", 1_000) + ")", status.Success},
		{"big_total" + strings.Repeat(" or big_total", 10_000), status.InvalidSyntax},
		{strings.Repeat("(", 500_000) + "1" + strings.Repeat(")", 500_000), status.InvalidSyntax},
		{strings.Repeat("-", 1_000) + "big_total", status.Success},
		{strings.Repeat("-", 500_000) + "big_total", status.InvalidSyntax},
		{`big_total{i=~"` + strings.Repeat("host-1|", 20_000) + `x"}`, status.Success},
	} {
		if _, err := (promql.Query{Expr: c.expr}).Run(context.Background(), newMemory()); status.Of(err) != c.want {
			t.Errorf("%.40s of %d bytes: %v", c.expr, len(c.expr), err)
		}
	}
}

func TestLimit(t *testing.T) {
	q := promql.Query{Expr: "big_total", Start: minute, End: minute, Limit: 3}
	r, err := q.Run(context.Background(), bigStore(5))
	if err != nil || r.Len() != 3 || len(r.Warnings) != 1 || r.Warnings[0] != "results truncated due to limit" {
		t.Errorf("%d series, %q, %v", r.Len(), r.Warnings, err)
	}
}

// TestLabelsTakeMemory: labels that a query makes, groups and rows are counted before they grow.
func TestLabelsTakeMemory(t *testing.T) {
	store := newMemory()
	for i := range 2000 {
		store.Add(promql.NewLabels("__name__", "long", "v", strings.Repeat(fmt.Sprint(i, "-"), 2000)),
			memorySample{V: float64(i)})
	}
	big := strings.Repeat("$1", 100_000)
	for _, expr := range []string{
		`label_replace(long, "b", "$1$1$1$1$1$1$1$1", "v", "(.*)")`,
		`label_join(long, "b", ",", "v", "v", "v", "v", "v", "v", "v", "v")`,
		`label_replace(label_replace(long, "b", "$1$1", "v", "(.*)"), "c", "$1$1", "b", "(.*)")`,
		`topk(1, label_replace(long{v="1-1-"} or topk(1, long), "b", "` + big + `", "v", "(.*)"))`,
	} {
		if _, err := (promql.Query{Expr: expr, Memory: &budget{64 << 20}}).Run(context.Background(),
			store); !errors.Is(err, errBudget) {
			t.Errorf("%.100s under 64 MiB: %v", expr, err)
		}
	}
	for _, expr := range []string{`count_values("v", long)`, `sum by (v) (long)`, `-long`, `long or on(x) long`,
		`label_replace(long, "b", "x", "v", ".*")`} {
		if _, err := (promql.Query{Expr: expr, Memory: &budget{400 << 10}}).Run(context.Background(),
			store); !errors.Is(err, errBudget) {
			t.Errorf("%s of 2,000 series under 400 KiB: %v", expr, err)
		}
		if _, err := (promql.Query{Expr: expr, Memory: &budget{4 << 20}}).Run(context.Background(), store); err !=
			nil && expr[0] != 'l' {
			t.Errorf("%s of 2,000 series under 4 MiB: %v", expr, err)
		}
	}
}

// TestHistogramsTakeMemory: those that a query reads, makes of others, or adds up.
func TestHistogramsTakeMemory(t *testing.T) {
	store := newMemory()
	for i := range 20 {
		var samples []memorySample
		for k := range int64(20) {
			h := &histogram.Histogram{Count: 1000 * float64(k+1)}
			for b := range int32(1000) {
				h.Positive = append(h.Positive, histogram.Bucket{Index: b, Count: float64(k + 1)})
			}
			samples = append(samples, memorySample{T: k * minute, H: h})
		}
		store.Add(promql.NewLabels("__name__", "wide", "i", fmt.Sprint(i)), samples...)
	}
	for _, expr := range []string{"wide", "rate(wide[5m])", "sum by (i) (rate(wide[5m]))", "sum by (i) (wide)",
		"wide * 2", "wide + wide", "last_over_time(wide[2m])"} {
		q := promql.Query{Expr: expr, Start: 5 * minute, End: 15 * minute, Step: 20_000, Memory: &budget{3 << 20}}
		if _, err := q.Run(context.Background(), store); !errors.Is(err, errBudget) {
			t.Errorf("%s under 3 MiB: %v", expr, err)
		}
		q.Memory = &budget{64 << 20}
		if _, err := q.Run(context.Background(), store); err != nil {
			t.Errorf("%s under 64 MiB: %v", expr, err)
		}
	}
	q := promql.Query{Expr: "wide[10m]", Start: 15 * minute, End: 15 * minute, Memory: &budget{2 << 20}}
	if _, err := q.Run(context.Background(), store); !errors.Is(err, errBudget) {
		t.Errorf("%s under 2 MiB: %v", q.Expr, err)
	}
	q = promql.Query{Expr: "sum(rate(wide[5m]))", Start: 5 * minute, End: 15 * minute, Step: 20_000, Workers: 1,
		Memory: &budget{5 << 20}}
	if _, err := q.Run(context.Background(), store); err != nil {
		t.Errorf("%s: series by series it takes little: %v", q.Expr, err)
	}
}

// TestTextsTakeMemory: labels of series are counted before they are read, once.
func TestTextsTakeMemory(t *testing.T) {
	ctx, e, store := context.Background(), openEngine(t), newMemory()
	for i := range 80 {
		store.Add(promql.NewLabels("__name__", "long", "v", strings.Repeat(fmt.Sprint(i, "-"), 20_000)),
			memorySample{T: 1000, V: 1})
	}
	fill(t, e, store)
	const texts = 80 * 3 * 20_000 // bytes, nearly
	ms, err := new(promql.Parser).Selector("long")
	if err != nil {
		t.Fatal(err)
	}
	sels := []promql.Selection{{Matchers: ms, Start: 0, End: 5000}}
	eachState(t, e, func(t *testing.T) {
		for _, c := range []struct {
			name string
			read func(s *promql.Tables) error
		}{
			{"values", func(s *promql.Tables) error { _, err := s.LabelValues(ctx, "v", nil); return err }},
			{"values of series", func(s *promql.Tables) error { _, err := s.LabelValues(ctx, "v", sels); return err }},
			{"values, asked twice", func(s *promql.Tables) error {
				_, err := s.LabelValues(ctx, "v", append(sels, sels...))
				return err
			}},
			{"names", func(s *promql.Tables) error { _, err := s.LabelNames(ctx, sels); return err }},
			{"counts", func(s *promql.Tables) error { _, err := s.Cardinality(ctx, 10); return err }},
			{"a query", func(s *promql.Tables) error {
				_, err := promql.Query{Expr: "long + long", Start: 1000, End: 1000, Memory: s.Memory}.Run(ctx, s)
				return err
			}},
		} {
			if err := c.read(&promql.Tables{Engine: e, DB: "public", Memory: &budget{texts / 2}}); !errors.Is(err,
				errBudget) {
				t.Errorf("%s in half the bytes: %v", c.name, err)
			}
			if err := c.read(&promql.Tables{Engine: e, DB: "public", Memory: &budget{texts * 3 / 2}}); err != nil {
				t.Errorf("%s in half as many again: %v", c.name, err)
			}
		}
	})
}
