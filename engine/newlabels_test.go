package engine

import (
	"fmt"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// newLabels asks for series of so many new metrics, with a label each that no other has.
func newLabels(t testing.TB, e *Engine, round, count int) {
	t.Helper()
	r := &SeriesRequest{Columns: SampleColumns{Time: "ts", Value: "val", Histogram: "hist", Start: "start"}}
	for i := range count {
		r.Names = append(r.Names, SeriesName{Table: public(fmt.Sprintf("m%d_%d", round, i)), Physical: "phys",
			Labels: []SeriesLabel{{fmt.Sprintf("l%d_%d", round, i), "x"}}})
	}
	_, errs, err := e.Series(ctx, r)
	must(t, err)
	for _, err := range errs {
		must(t, err)
	}
}

// TestLabelsOfARequest: the physical table gets the new labels of all metrics of a request in one version, and a table
// that is known already does not change with them.
func TestLabelsOfARequest(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	physical := func() *schema.Table {
		tab, err := e.Table(public("phys"))
		must(t, err)
		return tab.Schema
	}
	newLabels(t, e, 0, 3)
	old := physical()
	columns := len(old.Columns)
	newLabels(t, e, 1, 40)
	next := physical()
	if next.Version != old.Version+1 || len(next.Columns) != columns+40 {
		t.Errorf("version %d of %d columns follows version %d of %d", next.Version, len(next.Columns), old.Version,
			columns)
	}
	if len(old.Columns) != columns {
		t.Errorf("a version that is known got %d columns", len(old.Columns)-columns)
	}
	ids := map[schema.ColumnID]bool{}
	for i := range next.Columns {
		ids[next.Columns[i].ID] = true
	}
	for i := range 40 {
		tab, err := e.Table(public(fmt.Sprint("m1_", i)))
		must(t, err)
		label := next.Column(fmt.Sprint("l1_", i))
		if at := tab.Schema.Column(fmt.Sprint("l1_", i)); tab.Schema.Columns[at].ID != next.Columns[label].ID {
			t.Errorf("label %d is column %d of its table and %d of the physical one", i, tab.Schema.Columns[at].ID,
				next.Columns[label].ID)
		}
	}
	if len(ids) != len(next.Columns) {
		t.Errorf("%d columns have %d ids", len(next.Columns), len(ids))
	}
}

// BenchmarkNewLabels finds 3,000 series of new metrics with a new label each, where 9,000 labels are there.
func BenchmarkNewLabels(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		e := mustOpen(b, testOptions(vfs.NewMem()))
		for round := range 3 {
			newLabels(b, e, round, 3000)
		}
		b.StartTimer()
		newLabels(b, e, 3, 3000)
	}
}
