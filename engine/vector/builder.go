package vector

import (
	"slices"
	"strings"

	"varve/engine/status"
)

// Builder collects the rows of one table, column by column. It is reused between requests: a warm builder does not
// allocate. One goroutine at a time.
//
// A row is the SetX calls since the last EndRow. Columns not set are NULL in the row, at no cost until a later row
// sets them. New columns found within one row are put in byte order of their names at EndRow, because column order is
// observable.
type Builder struct {
	rows   int
	cols   []*ColumnBuilder
	byName map[string]*ColumnBuilder // columns of former rounds too, kept for their buffers: see ColumnBuilder.round
	round  uint64                    // counts Resets
	sorted int                       // cols[:sorted] have their final order
	expect int64                     // bytes of text in all rows; 0: nobody knows
	fields []Field
	batch  Batch

	from    int32   // the entry of the current row; 0: not wanted
	origins []int32 // of the committed rows, where somebody does
}

// ColumnBuilder is one column of a Builder. Pointers stay valid until Reset.
type ColumnBuilder struct {
	b     *Builder
	name  string
	round uint64 // of the builder, when the column was added last; 0: removed
	n     int    // values held, NULLs included: b.rows, or b.rows+1 when the current row has a value
	mark  int    // heap length before the current row's value
	vec   Vector
	valid Bitmap // the buffer of vec.Valid between rounds
}

// NewBuilder is an empty builder.
func NewBuilder() *Builder { return &Builder{byName: map[string]*ColumnBuilder{}, round: 1} }

// Rows is the number of committed rows.
func (b *Builder) Rows() int { return b.rows }

// Columns is the number of columns so far.
func (b *Builder) Columns() int { return len(b.cols) }

// columnBytes is the memory of a column without its values.
const columnBytes = 512

// Bytes is about the memory that the rows take, with the NULLs that Finish will put where columns have no value.
func (b *Builder) Bytes() int64 {
	n := int64(len(b.cols)) * columnBytes
	for _, c := range b.cols {
		n += c.vec.Bytes64(c.n)
		if len(c.vec.Heap) >= largeHeap {
			n += int64(cap(c.vec.Heap) - len(c.vec.Heap))
		}
		if c.n < b.rows && c.vec.Type.Kind() != Bool {
			n += 8 * int64(b.rows-c.n)
		}
	}
	return n
}

// Held is the memory of the buffers, of columns of former rounds as well.
func (b *Builder) Held() (bytes int64) {
	for _, c := range b.byName {
		bytes += int64(columnBytes + len(c.name) + c.held())
	}
	return bytes
}

// Pin fixes the order of the columns so far: those added later in this row come after them. Decoders pin the time
// index before they add an entry's columns.
func (b *Builder) Pin() { b.sorted = len(b.cols) }

// Unpin undoes Pin for the columns after the first n. These columns have a value only in the current row, which
// AbandonRow removes.
func (b *Builder) Unpin(n int) { b.sorted = n }

// Column finds or adds a column. Another type than the column has is an InvalidArguments error.
func (b *Builder) Column(name string, t Type) (*ColumnBuilder, error) {
	c, ok := b.byName[name]
	if ok && c.round == b.round {
		if c.vec.Type != t {
			return nil, status.New(status.InvalidArguments,
				"Column datatype mismatch. For column: %s, expected datatype: %s, actual datatype: %s", name,
				c.vec.Type, t)
		}
		return c, nil
	}
	if !ok {
		c = &ColumnBuilder{b: b, name: strings.Clone(name)}
		b.byName[c.name] = c
	}
	if c.vec.Valid != nil {
		c.valid = c.vec.Valid
	}
	c.round, c.n = b.round, 0
	c.vec.Reset(t)
	b.cols = append(b.cols, c)
	return c, nil
}

// Expect notes about how much text all rows will have; 0: nobody knows. Reset forgets it.
func (b *Builder) Expect(bytes int64) { b.expect = bytes }

// Lookup finds a column by name; nil if it does not exist.
func (b *Builder) Lookup(name string) *ColumnBuilder {
	if c := b.byName[name]; c != nil && c.round == b.round {
		return c
	}
	return nil
}

// EndRow commits the row.
func (b *Builder) EndRow() {
	if b.sorted < len(b.cols) {
		b.sortNew()
	}
	if b.from != 0 {
		b.origins = append(b.origins, b.from)
	}
	b.rows++
}

// From notes the entry of a body, by number from 1, that the rows from now on come from. It is said of all rows of a
// builder, or of none.
func (b *Builder) From(entry int) { b.from = int32(entry) }

// Origin is the entry that a committed row came from; 0: nobody said it.
func (b *Builder) Origin(row int) int {
	if row >= len(b.origins) {
		return 0
	}
	return int(b.origins[row])
}

// DropRow undoes the values set in this row. Columns that it introduced stay. Who knows the columns that the row may
// have set names them; without, all are looked at.
func (b *Builder) DropRow(set ...*ColumnBuilder) {
	b.undo(set)
	b.sortNew()
}

// AbandonRow undoes the row as if it had not begun: values and the columns that it introduced, pinned ones excepted. It
// gives the number of columns removed; their builders are dead. set is as in DropRow.
func (b *Builder) AbandonRow(set ...*ColumnBuilder) int {
	b.undo(set)
	removed := len(b.cols) - b.sorted
	for _, c := range b.cols[b.sorted:] {
		c.round = 0
	}
	b.cols = b.cols[:b.sorted]
	return removed
}

func (b *Builder) undo(set []*ColumnBuilder) {
	if len(set) == 0 {
		set = b.cols
	}
	for _, c := range set {
		if c.n > b.rows {
			c.undo()
		}
	}
}

func (b *Builder) sortNew() {
	slices.SortFunc(b.cols[b.sorted:], func(x, y *ColumnBuilder) int { return strings.Compare(x.name, y.name) })
	b.sorted = len(b.cols)
}

// MoveRow hands the current row's values over to another builder and drops them here: the row carried option
// variables, it belongs to another group. The row of to is left open. Columns keep the order they have here.
func (b *Builder) MoveRow(to *Builder) error {
	b.sortNew()
	for _, c := range b.cols {
		if c.n <= b.rows {
			continue
		}
		d, err := to.Column(c.name, c.vec.Type)
		if err != nil {
			b.DropRow()
			to.DropRow()
			return err
		}
		to.sorted = len(to.cols)
		d.setFrom(&c.vec, b.rows)
	}
	b.DropRow()
	to.from = b.from
	return nil
}

// Widen makes a column of integers, signed or not, one of floats: those past 2^53 are rounded.
func (c *ColumnBuilder) Widen() {
	v := &c.vec
	v.Floats = v.Floats[:0]
	for _, x := range v.Ints {
		v.Floats = append(v.Floats, float64(x))
	}
	for _, x := range v.Uints {
		v.Floats = append(v.Floats, float64(x))
	}
	v.Ints, v.Uints, v.Type = v.Ints[:0], v.Uints[:0], FloatType
}

// Retype changes the type of a column. convert converts the values of n rows and sets NULL for values that cannot be
// converted. If there are such values, Retype returns false and the column stays unchanged.
func (c *ColumnBuilder) Retype(to Type, convert func(dst, v *Vector, to Type, n int) *Vector) bool {
	next := convert(new(Vector), &c.vec, to, c.n)
	for i := range c.n {
		if next.IsNull(i) && !c.vec.IsNull(i) {
			return false
		}
	}
	c.vec = *next
	if to.Kind() == Bytes && c.n > 0 {
		c.mark = int(c.vec.Views[c.n-1].Off)
	}
	return true
}

// WidenLike makes the columns of integers that are columns of floats in another builder such as well.
func (b *Builder) WidenLike(other *Builder) {
	for _, c := range b.cols {
		if o := other.Lookup(c.name); o != nil && o.vec.Type == FloatType && c.vec.Type == Int64Type {
			c.Widen()
		}
	}
}

// Accepts reports whether Append would take the rows of from: no column has another type there.
func (b *Builder) Accepts(from *Builder) bool {
	for _, c := range from.cols {
		if own := b.Lookup(c.name); own != nil && own.vec.Type != c.vec.Type {
			return false
		}
	}
	return true
}

// AppendRows adds n rows, between rows, whose values are given column by column, in vectors of any form and of the
// columns' kinds. Columns that are not given are NULL.
func (b *Builder) AppendRows(cols []*ColumnBuilder, values []*Vector, n int) {
	for k, c := range cols {
		c.align()
		c.vec.Append(b.rows, values[k], 0, n)
		c.n = b.rows + n
	}
	if b.sorted < len(b.cols) {
		b.sortNew()
	}
	b.rows += n
}

// Append adds the rows of another builder, between rows of both. Columns that are new here come behind, in the order
// they have there. The types must fit: see Accepts.
func (b *Builder) Append(from *Builder) error {
	for _, c := range from.cols {
		d, err := b.Column(c.name, c.vec.Type)
		if err != nil {
			return err
		}
		b.sorted = len(b.cols)
		c.pad(from.rows)
		d.pad(b.rows)
		if more := len(c.vec.Heap); more > cap(d.vec.Heap)-len(d.vec.Heap) {
			d.room(more)
		}
		d.vec.Append(b.rows, &c.vec, 0, from.rows)
		d.n = b.rows + from.rows
	}
	b.origins = append(b.origins, from.origins...)
	b.rows += from.rows
	return nil
}

// Finish pads all columns to the same length and returns the collected rows. They stay valid until Reset; the builder
// may not be written to in between.
func (b *Builder) Finish() ([]Field, *Batch) {
	b.fields, b.batch.Cols = b.fields[:0], b.batch.Cols[:0]
	for _, c := range b.cols {
		c.pad(b.rows)
		b.fields = append(b.fields, Field{c.name, c.vec.Type})
		b.batch.Cols = append(b.batch.Cols, &c.vec)
	}
	b.batch.N = b.rows
	return b.fields, &b.batch
}

// Reset empties the builder and keeps its buffers, each for a column of the same name. Column builders handed out
// before are dead.
func (b *Builder) Reset() {
	if b.Outgrown() {
		for _, c := range b.byName {
			c.vec, c.valid = Vector{}, nil // a decoder may still know the column
		}
		clear(b.byName)
	}
	b.round++
	clear(b.cols)
	clear(b.batch.Cols)
	b.cols, b.rows, b.sorted, b.expect = b.cols[:0], 0, 0, 0
	b.from, b.origins = 0, b.origins[:0]
	b.fields, b.batch = b.fields[:0], Batch{Cols: b.batch.Cols[:0]}
}

// What a reset builder keeps for the next request: an outlier must not be kept for ever.
const (
	maxSpareBytes   = 32 << 20
	maxSpareColumns = 4096
)

// Outgrown reports whether the buffers are too large to be kept at Reset.
func (b *Builder) Outgrown() bool { return b.Held() > maxSpareBytes || len(b.byName) > maxSpareColumns }

// held is the memory of the column's buffers.
func (c *ColumnBuilder) held() int {
	v := &c.vec
	return 8*(cap(v.Valid)+cap(v.Bools)+cap(v.Ints)+cap(v.Uints)+cap(v.Floats)+cap(v.Views)+cap(c.valid)) + cap(v.Heap)
}

// Name is the column's name.
func (c *ColumnBuilder) Name() string { return c.name }

// Type is the column's type.
func (c *ColumnBuilder) Type() Type { return c.vec.Type }

// IsSet reports whether the current row has a value in this column.
func (c *ColumnBuilder) IsSet() bool { return c.n > c.b.rows }

// FirstOutside is the first value of a column of integers or times that is not in low <= x < high.
func (c *ColumnBuilder) FirstOutside(low, high int64) (x int64, found bool) {
	for i, x := range c.vec.Ints {
		if (x < low || x >= high) && (c.vec.Valid == nil || c.vec.Valid.Get(i)) {
			return x, true
		}
	}
	return 0, false
}

// align makes the next append land on the current row: it pads rows that had no value, and undoes a value that the
// row already has (a repeated key: the last one wins).
func (c *ColumnBuilder) align() {
	if c.n > c.b.rows {
		c.undo()
	}
	c.pad(c.b.rows)
}

func (c *ColumnBuilder) pad(rows int) {
	if k := rows - c.n; k > 0 {
		if c.vec.Valid == nil {
			c.vec.Valid = c.valid[:0].resize(c.n)
			c.vec.Valid.Fill(c.n)
		}
		c.vec.AppendNulls(c.n, k)
		c.n = rows
	}
}

func (c *ColumnBuilder) undo() {
	c.n--
	v := &c.vec
	if v.Valid != nil {
		v.Valid = v.Valid.resize(c.n)
	}
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(c.n)
	case Int64:
		v.Ints = v.Ints[:c.n]
	case Uint64:
		v.Uints = v.Uints[:c.n]
	case Float64:
		v.Floats = v.Floats[:c.n]
	default:
		v.Views = v.Views[:c.n]
		v.Heap = v.Heap[:c.mark]
	}
}

// valued counts a value that was just appended.
func (c *ColumnBuilder) valued() {
	if c.vec.Valid != nil {
		if w, mask := uint(c.n)>>6, uint64(1)<<(uint(c.n)&63); w < uint(len(c.vec.Valid)) {
			c.vec.Valid[w] |= mask
		} else {
			c.vec.Valid = append(c.vec.Valid, mask)
		}
	}
	c.n++
}

// SetInt sets the row's value in an Int64-kind column.
func (c *ColumnBuilder) SetInt(x int64) {
	if c.n != c.b.rows {
		c.align()
	}
	c.vec.Ints = append(c.vec.Ints, x)
	c.valued()
}

// SetUint sets the row's value in a Uint64-kind column.
func (c *ColumnBuilder) SetUint(x uint64) {
	if c.n != c.b.rows {
		c.align()
	}
	c.vec.Uints = append(c.vec.Uints, x)
	c.valued()
}

// SetFloat sets the row's value in a Float64-kind column.
func (c *ColumnBuilder) SetFloat(x float64) {
	if c.n != c.b.rows {
		c.align()
	}
	c.vec.Floats = append(c.vec.Floats, x)
	c.valued()
}

// SetBool sets the row's value in a BOOLEAN column.
func (c *ColumnBuilder) SetBool(x bool) {
	if c.n != c.b.rows {
		c.align()
	}
	c.vec.Bools = c.vec.Bools.resize(c.n + 1)
	if x {
		c.vec.Bools.Set(c.n)
	}
	c.valued()
}

// SetBytes sets the row's value in a Bytes-kind column. x is copied.
func (c *ColumnBuilder) SetBytes(x []byte) {
	if c.n != c.b.rows {
		c.align()
	}
	if len(x) > cap(c.vec.Heap)-len(c.vec.Heap) {
		c.room(len(x))
	}
	c.mark = len(c.vec.Heap)
	c.vec.Views = append(c.vec.Views, View{uint32(c.mark), uint32(len(x))})
	c.vec.Heap = append(c.vec.Heap, x...)
	c.valued()
}

// SetString sets the row's value in a Bytes-kind column.
func (c *ColumnBuilder) SetString(x string) {
	if c.n != c.b.rows {
		c.align()
	}
	if len(x) > cap(c.vec.Heap)-len(c.vec.Heap) {
		c.room(len(x))
	}
	c.mark = len(c.vec.Heap)
	c.vec.Views = append(c.vec.Views, View{uint32(c.mark), uint32(len(x))})
	c.vec.Heap = append(c.vec.Heap, x...)
	c.valued()
}

// largeHeap is the size from which on a heap of texts grows by the expected size instead of by append.
const largeHeap = 1 << 20

// room makes room for n bytes of text. append grows large slices by a quarter, and both are there meanwhile: 60 MB of
// texts take 75 and for a moment 135. Where it is known how much text there will be, and what is there tells how much
// of it is the column's, large ones become sixteen times as large, up to that: 60 MB of texts take 60 and for a moment
// 64 or less.
func (c *ColumnBuilder) room(n int) {
	heap := c.vec.Heap
	if len(heap)+n < largeHeap || c.b.expect == 0 {
		return
	}
	all := int64(n)
	for _, o := range c.b.cols {
		all += int64(len(o.vec.Heap))
	}
	if all > c.b.expect { // it is more than was thought: nobody knows
		return
	}
	size := len(heap) + n
	likely := int(float64(size) * float64(c.b.expect) / float64(all))
	if size = max(size, min(likely, 16*size)); size > cap(heap) {
		c.vec.Heap = append(Room[byte](size), heap...)
	}
}

// Heap lets a decoder unescape straight into the column: it appends to what Heap returns and hands the result to
// SetHeap. Nothing else may be set in this column in between.
func (c *ColumnBuilder) Heap() []byte {
	if c.n != c.b.rows {
		c.align()
	}
	if n := len(c.vec.Heap); n >= largeHeap && cap(c.vec.Heap)-n < n/8 {
		c.room(n / 8)
	}
	c.mark = len(c.vec.Heap)
	return c.vec.Heap
}

// SetHeap sets the row's value to what was appended to Heap.
func (c *ColumnBuilder) SetHeap(heap []byte) {
	c.vec.Heap = heap
	c.vec.Views = append(c.vec.Views, View{uint32(c.mark), uint32(len(heap) - c.mark)})
	c.valued()
}

// SetNull makes the row NULL in this column, undoing a value set before in it.
func (c *ColumnBuilder) SetNull() {
	if c.n > c.b.rows {
		c.undo()
	}
}

func (c *ColumnBuilder) setFrom(v *Vector, i int) {
	switch v.Type.Kind() {
	case Bool:
		c.SetBool(v.Bools.Get(i))
	case Int64:
		c.SetInt(v.Ints[i])
	case Uint64:
		c.SetUint(v.Uints[i])
	case Float64:
		c.SetFloat(v.Floats[i])
	default:
		c.SetBytes(v.Bytes(i))
	}
}
