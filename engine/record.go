package engine

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/memtable"
	"varve/wal"
)

// A record of the log is one batch of one table:
//
//	version 1B | kind 1B | table u32 | sequence u64 | columns u16 | key 16B | column id u32 * | series | batch (docs/format/batch.md)
//
// Columns are found again by id, so a record survives any change of the schema made after it. Records of version 2
// alone have a key, see batches.go, and records of kind 2 alone have series, see seriesrecord.go. A
// record of version 3 holds others, see positions.go.
const (
	recordVersion      = 1
	recordBatchVersion = 2
	recordHead         = 16
)

type record struct {
	kind     uint8
	table    schema.TableID
	seq      uint64
	key      batchKey // of the batch that the rows are of; zero: its client gave it no id
	ids      []schema.ColumnID
	fields   []vector.Field
	roles    []schema.Semantic
	initials []*vector.Vector // what rows read that lack the column; nil: NULL
	batch    *vector.Batch

	// Of recordSeries: whose the rows are, see memtable.AppendSeries.
	refs []*memtable.Ref
	ends []int
}

func (r *record) add(c *schema.Column, v *vector.Vector) {
	r.ids = append(r.ids, c.ID)
	r.fields = append(r.fields, vector.Field{Name: c.Name, Type: c.Type})
	r.roles = append(r.roles, c.Semantic)
	r.initials = append(r.initials, c.Initial)
	r.batch.Cols = append(r.batch.Cols, v)
}

// roomIn is buf, emptied, or a new buffer when the record is large and buf is too small for it.
func (r *record) roomIn(buf []byte) []byte {
	size := int64(recordHead)
	for i, v := range r.batch.Cols {
		if size += v.Bytes64(r.batch.N) + int64(len(r.fields[i].Name)) + 64; len(v.Heap) >= apartBytes {
			size -= int64(len(v.Heap))
		}
	}
	if size < largeRecord || size <= int64(cap(buf)) || size > wal.MaxRecord {
		return buf[:0]
	}
	return vector.Room[byte](int(size))
}

// apartBytes is the length from which on the texts of a column are logged without a copy; shorter ones are copied, so
// that they need a single write.
const apartBytes = 1 << 20

// logged returns the record for the log. It is in buf, except for long texts, which are not copied.
func (r *record) logged(buf []byte) ([]byte, wal.Record) {
	buf, apart := appendRecord(buf, r)
	all := make(wal.Record, 0, 2*len(apart)+1)
	from := 0
	for _, a := range apart {
		all = append(all, buf[from:a.At], a.Text)
		from = a.At
	}
	return buf, append(all, buf[from:])
}

// appendRecord appends a record without its long texts, which are apart.
func appendRecord(dst []byte, r *record) ([]byte, []vector.Apart) {
	version := byte(recordVersion)
	if r.key != (batchKey{}) {
		version = recordBatchVersion
	}
	dst = append(dst, version, r.kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.table))
	dst = binary.LittleEndian.AppendUint64(dst, r.seq)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(r.ids)))
	if version == recordBatchVersion {
		dst = append(dst, r.key[:]...)
	}
	for _, id := range r.ids {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(id))
	}
	if r.kind == recordSeries {
		dst = appendSeries(dst, r.refs, r.ends)
	}
	return vector.AppendBatchApart(dst, nil, apartBytes, r.fields, r.batch)
}

// readRecordHead reads what decides whether a record is needed, without its batch.
func readRecordHead(src []byte) (*record, []byte, error) {
	if len(src) < recordHead {
		return nil, nil, fmt.Errorf("log record of %d bytes", len(src))
	}
	if err := vfs.CheckVersion(uint32(src[0]), recordVersion, recordBatchVersion); err != nil {
		return nil, nil, fmt.Errorf("log record: %w", err)
	}
	r := &record{kind: src[1], table: schema.TableID(binary.LittleEndian.Uint32(src[2:])),
		seq: binary.LittleEndian.Uint64(src[6:])}
	n, named := int(binary.LittleEndian.Uint16(src[14:])), src[0] == recordBatchVersion
	src = src[recordHead:]
	if named && r.kind == recordBatches {
		return r, src, nil
	}
	if named && len(src) >= batchKeySize {
		r.key, src = batchKey(src[:batchKeySize]), src[batchKeySize:]
	}
	if len(src) < 4*n || r.kind > recordSeries || named && r.key == (batchKey{}) {
		return nil, nil, fmt.Errorf("log record of kind %d with %d columns in %d bytes", r.kind, n, len(src))
	}
	for i := range n {
		r.ids = append(r.ids, schema.ColumnID(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return r, src[4*n:], nil
}

// decode reads the batch and aligns it with the schema: names become the current ones, values of a former type convert
// as those in parts do, columns that are gone are left out.
func (r *record) decode(body []byte, t *schema.Table) error {
	body, err := r.decodeSeries(body)
	if err != nil {
		return err
	}
	fields, b, err := vector.DecodeBatch(body)
	if err != nil {
		return err
	}
	if len(fields) != len(r.ids) {
		return fmt.Errorf("log record names %d columns and holds %d", len(r.ids), len(fields))
	}
	if k := len(r.ends); r.kind == recordSeries && (k == 0 && b.N > 0 || k > 0 && r.ends[k-1] != b.N) {
		return fmt.Errorf("log record of %d rows names the series of others", b.N)
	}
	ids := r.ids
	r.ids, r.batch = nil, &vector.Batch{N: b.N}
	haveTime := false
	for i, id := range ids {
		p := t.ByID(id)
		if p < 0 || !convert.Possible(fields[i].Type, t.Columns[p].Type) {
			continue
		}
		c, v := &t.Columns[p], b.Cols[i]
		if fields[i].Type != c.Type {
			v = convert.All(&vector.Vector{}, v, c.Type, b.N)
		}
		haveTime = haveTime || p == t.Time
		r.add(c, v)
	}
	// What lacks a column that has an initial value was written before the column existed: align fills in NULL
	// otherwise.
	for i := range t.Columns {
		if c := &t.Columns[i]; r.kind == schema.KindPut && c.Initial != nil && !slices.Contains(ids, c.ID) {
			r.add(c, c.Initial)
		}
	}
	if !haveTime {
		return fmt.Errorf("log record of table %s has no time index", t.Name)
	}
	return nil
}

// DumpRecord prints a record of the log readably.
func DumpRecord(w io.Writer, rec []byte) error {
	if isTaken(rec) {
		return dumpTaken(w, rec)
	}
	r, body, err := readRecordHead(rec)
	if err != nil {
		_, err := fmt.Fprintf(w, "            %v\n", err)
		return err
	}
	what := "rows"
	switch r.kind {
	case recordBatches:
		_, err := fmt.Fprintf(w, "            ids of %d parts of batches\n", len(body)/batchNoteSize)
		return err
	case schema.KindDelete:
		what = "deletions"
	case recordSeries:
		what = "rows of series"
	}
	if body, err = r.decodeSeries(body); err != nil {
		_, err := fmt.Fprintf(w, "            table %d, sequence %d: %v\n", r.table, r.seq, err)
		return err
	}
	fields, b, err := vector.DecodeBatch(body)
	if err != nil {
		_, err := fmt.Fprintf(w, "            table %d, sequence %d: %v\n", r.table, r.seq, err)
		return err
	}
	_, err = fmt.Fprintf(w, "            table %d, sequence %d, %d %s, columns", r.table, r.seq, b.N, what)
	for i, f := range fields {
		if err == nil && i < len(r.ids) {
			_, err = fmt.Fprintf(w, " %d %s", r.ids[i], f.Type)
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}
