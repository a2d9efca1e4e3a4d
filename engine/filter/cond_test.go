package filter

import (
	"slices"
	"testing"

	"varve/engine/schema"
)

func TestAppendColumns(t *testing.T) {
	and := And{{Column: 7, Op: IsNull},
		{Op: AnyOf, Any: []And{{{Column: 9, Op: IsNull}},
			{{Column: 7, Op: IsNull}, {Op: AnyOf, Any: []And{{{Column: 8, Op: IsNull}}}}}}}}
	if got := and.AppendColumns(nil); !slices.Equal(got, []schema.ColumnID{7, 9, 8}) {
		t.Errorf("columns %v", got)
	}
}
