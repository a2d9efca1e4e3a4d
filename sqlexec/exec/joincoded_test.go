package exec

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestCodedTextsAreCounted: a join has counted the dictionaries of its build rows beside the rows themselves, and makes
// none of texts that take much memory once more.
func TestCodedTextsAreCounted(t *testing.T) {
	const rows, distinct = 6000, 600
	for _, size := range []int{10, 250, 16 << 10} {
		types := []vector.Type{vector.Int64Type, vector.StringType}
		build := vector.NewBatch(types...)
		for i := range rows {
			build.Cols[0].Append(i, vector.ConstInt(types[0], int64(i)), 0, 1)
			build.Cols[1].Append(i, vector.ConstString(fmt.Sprint(i%distinct, strings.Repeat("x", size))), 0, 1)
		}
		build.N = rows
		number, budget := &expr.Column{Index: 0, T: types[0]}, NewBudget(1<<30)
		j, err := NewJoin(JoinSpec{Kind: Inner, Probe: []expr.Expr{number}, Build: []expr.Expr{number},
			ProbeTypes: types, BuildTypes: types, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&Pipeline{Stream{Source: Values(build)}, j.Build()}).Run(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		texts, held := j.pairs.Cols[1], BatchBytes(j.rows)
		if texts.Form == vector.Dict {
			held += 4*rows + int64(cap(texts.Values.Heap)+8*cap(texts.Values.Views))
		}
		if coded := texts.Form == vector.Dict; coded != (size < 16<<10) {
			t.Errorf("texts of %d bytes have codes: %v", size, coded)
		}
		if used := budget.Used(); used < held {
			t.Errorf("texts of %d bytes: a join holds %d KiB and counts %d KiB", size, held>>10, used>>10)
		}
	}
}
