package exec

import (
	"context"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// distinctCount is count(DISTINCT x) over all rows: the groups of x, counted. So many values are numbered by all
// workers together, as groups are, and nothing is merged.
type distinctCount struct {
	*aggregateSink
	agg *expr.Agg
}

// countsDistinct reports whether an aggregation is one count(DISTINCT x) without keys and filter.
func countsDistinct(keys []expr.Expr, aggs []*expr.Agg) bool {
	return len(keys) == 0 && len(aggs) == 1 && aggs[0].Counts && aggs[0].Distinct && len(aggs[0].Args) == 1 &&
		aggs[0].Filter == nil
}

func (d *distinctCount) String() string { return "Aggregate: by [] of [" + d.agg.String() + "]" }

// Finish counts the groups without the group of NULL.
func (d *distinctCount) Finish(ctx context.Context) (Source, error) {
	src, err := d.aggregateSink.Finish(ctx)
	if err != nil {
		return nil, err
	}
	r := src.Reader(0)
	defer r.Close()
	n := int64(0)
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		n += int64(b.N)
		if v := b.Cols[0].Valid; v != nil {
			n += int64(v.Count() - b.N)
		}
	}
	return Values(&vector.Batch{N: 1, Cols: []*vector.Vector{{Type: d.agg.Type(), Ints: []int64{n}}}}), nil
}
