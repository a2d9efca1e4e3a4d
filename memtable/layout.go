package memtable

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// layout says which columns chunks have and where the fields of a batch go. Immutable; shared by the chunks of equal
// batches, as most are.
type layout struct {
	table   *schema.Table // the schema version of the rows, or of some of them when none has initial values
	initial bool          // a column of the table has an initial value, or may have one
	// columns are those of the batch that are no tags; index finds them by id.
	columns []schema.Column
	index   map[schema.ColumnID]int
	time    int // position of the time index in columns

	// What follows is of layouts made of a batch.
	fields   []vector.Field
	position []int             // position[i] is the position of field i in columns; -1 for a tag
	prefix   []byte            // what the series keys of the table begin with
	tags     []int             // tags[i] is the field of the table's tag i; -1: the batch lacks it
	tagIDs   []schema.ColumnID // of the table's tags
	absent   [][]byte          // what the table's tags have where a series key does not name them; nil: NULL
}

func newLayout(t *schema.Table, fields []vector.Field) *layout {
	l := &layout{table: t, index: make(map[schema.ColumnID]int, len(fields)), time: -1, fields: slices.Clone(fields),
		prefix: schema.KeyPrefix(t.ID)}
	byName := make(map[string]int, len(t.Columns))
	for p := range t.Columns {
		byName[t.Columns[p].Name] = p
		l.initial = l.initial || t.Columns[p].Initial != nil || t.Columns[p].Default != nil
	}
	for _, p := range t.Tags {
		l.tags, l.tagIDs = append(l.tags, -1), append(l.tagIDs, t.Columns[p].ID)
		l.absent = append(l.absent, schema.InitialTag(t.Columns[p].Initial))
	}
	for i, f := range fields {
		p, ok := byName[f.Name]
		if !ok {
			panic("memtable: column " + f.Name + " is not in the schema; writers align before")
		}
		if k := slices.Index(t.Tags, p); k >= 0 {
			l.tags[k] = i
			l.position = append(l.position, -1)
			continue
		}
		if p == t.Time {
			l.time = len(l.columns)
		}
		l.position = append(l.position, l.add(t.Columns[p]))
	}
	if l.time < 0 {
		panic("memtable: batch without time index; writers check before")
	}
	return l
}

// add puts a column at the end and gives its position.
func (l *layout) add(c schema.Column) int {
	l.index[c.ID] = len(l.columns)
	l.columns = append(l.columns, c)
	return len(l.columns) - 1
}

// fits reports whether the layout is that of a batch of its table.
func (l *layout) fits(fields []vector.Field) bool {
	if len(l.fields) != len(fields) {
		return false
	}
	for i := range fields {
		if l.fields[i].Name != fields[i].Name {
			return false
		}
	}
	return true
}

// joins reports whether chunks of the two layouts may become one: what a row lacks then still reads the same. A column
// with an initial value reads it in rows of schemas that lack the column, and NULL in others.
func (l *layout) joins(o *layout) bool {
	return l.table == o.table || !l.initial && !o.initial && l.columns[l.time].ID == o.columns[o.time].ID
}

// join is the layout of a chunk that holds the rows of both, which joins allows.
func (l *layout) join(o *layout) *layout {
	if l == o || l.holds(o) {
		return l
	}
	n := &layout{table: l.table, initial: l.initial,
		index: make(map[schema.ColumnID]int, len(l.columns)+len(o.columns)), time: l.time}
	for _, c := range l.columns {
		n.add(c)
	}
	for _, c := range o.columns {
		if _, ok := n.index[c.ID]; !ok {
			n.add(c)
		}
	}
	return n
}

// holds reports whether all columns of o are there.
func (l *layout) holds(o *layout) bool {
	if len(l.columns) < len(o.columns) {
		return false
	}
	for _, c := range o.columns {
		if _, ok := l.index[c.ID]; !ok {
			return false
		}
	}
	return true
}
