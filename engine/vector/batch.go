package vector

// Batch is some rows of some columns, dense: no selection vector. The owner passes it to Next and the callee fills it.
// Its content stays valid until the following Next or Close; copy rows to keep them longer.
type Batch struct {
	N    int
	Cols []*Vector
}

// Field names a column of a batch or of a result.
type Field struct {
	Name string
	Type Type
}

// Append appends rows [from, to) of src to b, column by column; b's columns are Flat and its own.
func (b *Batch) Append(src *Batch, from, to int) {
	for i, c := range b.Cols {
		c.Append(b.N, src.Cols[i], from, to)
	}
	b.N += to - from
}

// NewBatch is an empty batch with own Flat columns of the given types.
func NewBatch(types ...Type) *Batch {
	b := &Batch{Cols: make([]*Vector, len(types))}
	for i, t := range types {
		b.Cols[i] = &Vector{Type: t}
	}
	return b
}

// Reset empties a batch that owns its columns.
func (b *Batch) Reset() {
	b.N = 0
	for _, c := range b.Cols {
		c.Reset(c.Type)
	}
}
