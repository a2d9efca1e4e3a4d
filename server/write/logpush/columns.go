package logpush

import (
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/write/rows/tagged"
)

// sink takes the streams that a reader finds: for each its labels, sorted, then its lines. It keeps none of the texts.
type sink interface {
	stream(labels []label) error
	line(ns int64, line []byte, metadata []label, body int64) error
}

// columns takes lines into the rows of a table.
type columns struct {
	rows           *tagged.Rows
	table          *tagged.Table
	timeIndex      string
	text, metadata *tagged.Column

	tags   []tagLabel
	values []byte // of tags
	bytes  int
	name   []byte // scratch
}

// tagLabel is a label of the stream in hand: its value lies in columns.values.
type tagLabel struct {
	column *tagged.Column
	value  []byte
}

const (
	lineColumn     = "line"
	metadataColumn = "structured_metadata"
	labelPrefix    = "label_" // of labels that have the name of a fixed column
)

// begin begins the rows of a table.
func (c *columns) begin(rows *tagged.Rows, table, timeIndex string) (err error) {
	c.rows, c.timeIndex, c.tags, c.values = rows, timeIndex, c.tags[:0], c.values[:0]
	if c.table, err = rows.Table([]byte(table)); err != nil {
		return err
	}
	if c.text, err = c.table.Column([]byte(lineColumn), vector.StringType, schema.Field); err != nil {
		return err
	}
	c.metadata, err = c.table.Column([]byte(metadataColumn), vector.JSONType, schema.Field)
	return err
}

// end lets go of the rows.
func (c *columns) end() {
	clear(c.tags[:cap(c.tags)])
	*c = columns{tags: c.tags[:0], values: c.values[:0], name: c.name[:0]}
}

func (c *columns) stream(labels []label) error {
	c.tags, c.bytes = c.tags[:0], 0
	size := 0
	for i := range labels {
		size += len(labels[i].value)
	}
	if cap(c.values) < size {
		c.values = make([]byte, 0, 2*size)
	}
	c.values = c.values[:0]
	for i := range labels {
		name := labels[i].name
		if string(name) == lineColumn || string(name) == metadataColumn || string(name) == c.timeIndex {
			c.name = append(append(c.name[:0], labelPrefix...), name...)
			name = c.name
		}
		column, err := c.table.Tag(name)
		if err != nil {
			return err
		}
		at := len(c.values)
		c.values = append(c.values, labels[i].value...)
		c.tags = append(c.tags, tagLabel{column, c.values[at:]})
	}
	c.bytes = size
	return nil
}

func (c *columns) line(ns int64, line []byte, metadata []label, body int64) error {
	c.table.SetTime(ns)
	c.text.SetBytes(line)
	heap := c.metadata.Heap()
	before := len(heap)
	heap = appendObject(heap, metadata)
	c.metadata.SetHeap(heap)
	for i := range c.tags {
		c.tags[i].column.SetBytes(c.tags[i].value)
	}
	return c.table.EndRow(c.bytes+len(line)+len(heap)-before, body)
}

// appendObject appends pairs as a JSON object. If names are equal, the last pair counts.
func appendObject(dst []byte, pairs []label) []byte {
	dst = append(dst, '{')
	for i := range pairs {
		if repeated(pairs, i) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, pairs[i].name), ':')
		dst = jsontext.AppendString(dst, pairs[i].value)
	}
	return append(dst, '}')
}

// maxCompared bounds the pairs that are compared with each other: in longer lists, pairs with equal names all stay.
const maxCompared = 64

// repeated reports whether the name of pair i comes again.
func repeated(pairs []label, i int) bool {
	if len(pairs) > maxCompared {
		return false
	}
	for k := i + 1; k < len(pairs); k++ {
		if string(pairs[k].name) == string(pairs[i].name) {
			return true
		}
	}
	return false
}
