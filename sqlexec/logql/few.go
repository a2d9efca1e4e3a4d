package logql

import (
	"varve/engine/schema"
)

// candidates are the columns of a table that are labels if they have few values; none where the table says itself which
// columns are labels.
func candidates(s *schema.Table) (list []string) {
	if !s.Options.AppendMode || len(s.Tags) > 0 || hasOption(s, LabelsOption) {
		return nil
	}
	line := lineColumn(s)
	traced := isJSON(s, resourceColumn)
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Type.IsText() && c.Name != line && i != s.Time && !traced {
			list = append(list, c.Name)
		}
	}
	return list
}
