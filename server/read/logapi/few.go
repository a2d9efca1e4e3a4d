package logapi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// A column has few values if the newest fewRows rows of its table have at most mostFew, each in fewRepeated rows on
// average. One that was known to have few stays so up to twice as many, so that streams do not change back and forth.
const (
	fewRows     = 20_000
	mostFew     = 100
	fewRepeated = 4
)

// fewFor is how long is believed what was counted, and mostCounted how many tables are remembered.
const (
	fewFor      = time.Minute
	mostCounted = 4_096
)

// census knows which columns of tables have few values. Safe for concurrent use.
type census struct {
	mu     sync.Mutex
	tables map[schema.TableID]counted
}

// counted is what the census knows of a table.
type counted struct {
	schema *schema.Table // of the time of the count
	at     time.Time
	few    []string
}

// find is what is known of a table.
func (c *census) find(id schema.TableID) (counted, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.tables[id]
	return known, ok
}

// note remembers a table.
func (c *census) note(id schema.TableID, known counted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables == nil || len(c.tables) >= mostCounted {
		c.tables = map[schema.TableID]counted{}
	}
	c.tables[id] = known
}

// Few lists those of some columns of a table that have few values.
func (r *request) Few(ctx context.Context, t *engine.Table, columns []string) ([]string, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	before, ok := r.h.census.find(t.Schema.ID)
	if ok && before.schema == t.Schema && time.Since(before.at) < fewFor {
		return before.few, nil
	}
	known := counted{schema: t.Schema, at: time.Now()}
	values, rows, err := r.countValues(ctx, t.Schema, columns)
	if err != nil {
		return nil, err
	}
	for i, name := range columns {
		most := min(int64(mostFew), rows/fewRepeated)
		if slices.Contains(before.few, name) {
			most = 2 * mostFew
		}
		if values[i] > 0 && values[i] <= most {
			known.few = append(known.few, name)
		}
	}
	r.h.census.note(t.Schema.ID, known)
	return known.few, nil
}

// countValues counts the values of columns in the newest rows of a table.
func (r *request) countValues(ctx context.Context, t *schema.Table, columns []string) (values []int64, rows int64,
	err error) {
	names, counts := make([]string, len(columns)), make([]string, len(columns))
	for i, name := range columns {
		names[i] = parse.QuoteIdent(name)
		counts[i] = ", approx_distinct(" + names[i] + ")"
	}
	from := parse.QuoteIdent(t.Name.DB) + "." + parse.QuoteIdent(t.Name.Table)
	result, err := r.Run(ctx, "SELECT count(*)"+strings.Join(counts, "")+" FROM (SELECT "+strings.Join(names, ", ")+
		" FROM "+from+" ORDER BY "+parse.QuoteIdent(t.TimeColumn().Name)+" DESC LIMIT "+
		strconv.Itoa(fewRows)+") AS newest", nil)
	if err != nil {
		return nil, 0, err
	}
	defer result.Close()
	values = make([]int64, len(columns))
	var b vector.Batch
	for {
		more, err := result.Next(&b)
		if err != nil || !more {
			return values, rows, err
		}
		for i := range b.N {
			rows = number(b.Cols[0], i)
			for k := range values {
				values[k] = number(b.Cols[k+1], i)
			}
		}
	}
}

// number is a count; NULL is zero.
func number(v *vector.Vector, i int) int64 {
	switch {
	case v.IsNull(i):
		return 0
	case v.Type.Kind() == vector.Uint64:
		return int64(v.Uint(i))
	}
	return v.Int(i)
}
