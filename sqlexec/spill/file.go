package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// headSize is the length of a block's head.
const headSize = 12

// Writer writes a file. One goroutine at a time.
type Writer struct {
	s       *Space
	name    string
	f       vfs.File
	types   []vector.Type
	fields  []vector.Field
	own     scratch
	rows    int64
	largest int
	closed  bool
}

// scratch is the memory in which a block is made.
type scratch struct{ raw, packed []byte }

// plain are the types in which columns are written; the query knows the meaning of the values.
var plain = map[vector.Kind]vector.Type{
	vector.Bool: vector.BoolType, vector.Int64: vector.Int64Type, vector.Uint64: vector.Uint64Type,
	vector.Float64: vector.FloatType, vector.Bytes: vector.BinaryType,
}

// Create begins a file of rows of the given types.
func (s *Space) Create(types []vector.Type) (*Writer, error) {
	name, f, err := s.create()
	if err != nil {
		return nil, err
	}
	w := &Writer{s: s, name: name, f: f, types: types}
	for _, t := range types {
		w.fields = append(w.fields, vector.Field{Type: plain[t.Kind()]})
	}
	if err := s.opened(w); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// Write appends a batch.
func (w *Writer) Write(b *vector.Batch) error {
	if err := w.encode(&w.own, b); err != nil {
		return err
	}
	return w.put(&w.own, b.N)
}

// encode makes the block of a batch. Goroutines with memory of their own may do so at a time.
func (w *Writer) encode(m *scratch, b *vector.Batch) error {
	out := vector.Batch{N: b.N, Cols: make([]*vector.Vector, len(b.Cols))}
	for i, c := range b.Cols {
		v := *c
		v.Type = w.fields[i].Type
		if v.Form == vector.Dict {
			d := *v.Values
			d.Type = v.Type
			v.Values = &d
		}
		out.Cols[i] = &v
	}
	m.raw = vector.AppendBatch(m.raw[:0], w.fields, &out)
	if len(m.raw) > maxBlock {
		return status.New(status.RuntimeResourcesExhausted, "%d rows of a query take more than %d MiB", b.N,
			maxBlock>>20)
	}
	m.packed = w.s.d.pack.EncodeAll(m.raw, append(m.packed[:0], make([]byte, headSize)...))
	binary.LittleEndian.PutUint32(m.packed, uint32(len(m.packed)-headSize))
	binary.LittleEndian.PutUint32(m.packed[4:], uint32(len(m.raw)))
	binary.LittleEndian.PutUint32(m.packed[8:], crc32.Checksum(m.packed[headSize:], castagnoli))
	return nil
}

// put appends the block of so many rows.
func (w *Writer) put(m *scratch, rows int) error {
	if err := w.s.grow(w.name, int64(len(m.packed))); err != nil {
		return err
	}
	if _, err := w.f.Write(m.packed); err != nil {
		return failed(err)
	}
	w.rows += int64(rows)
	w.largest = max(w.largest, len(m.raw)+len(m.packed))
	return nil
}

// Bytes is how many bytes were written: where the next block begins.
func (w *Writer) Bytes() int64 { return w.s.size(w.name) }

// Close ends a file that is not wanted; after Finish it does nothing.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.s.shut(w)
	return w.f.Close()
}

// Finish ends the file.
func (w *Writer) Finish() (*File, error) {
	if err := w.Close(); err != nil {
		return nil, failed(err)
	}
	return &File{s: w.s, name: w.name, types: w.types, Rows: w.rows, Bytes: w.s.size(w.name), Block: w.largest}, nil
}

// File is a file that was written.
type File struct {
	s     *Space
	name  string
	types []vector.Type
	Rows  int64
	Bytes int64 // on the disk
	Block int   // bytes that the largest block takes, packed and unpacked
}

// Remove takes the file away before the query ends.
func (f *File) Remove() error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.s.closed {
		return nil
	}
	return f.s.remove(f.name)
}

// Open begins to read.
func (f *File) Open() (*Reader, error) {
	file, err := f.s.d.o.FS.Open(f.name)
	if err != nil {
		return nil, failed(err)
	}
	size, err := file.Size()
	if err != nil {
		return nil, errors.Join(failed(err), file.Close())
	}
	r := &Reader{f: f, file: file, size: size}
	if err := f.s.opened(r); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Reader reads a file from its beginning, or from a block on. One goroutine at a time.
type Reader struct {
	f      *File
	file   vfs.File
	at     int64
	size   int64
	packed []byte
	raw    []byte
	closed bool
}

// Next returns the next batch, which stays valid until the following Next.
func (r *Reader) Next(b *vector.Batch) (bool, error) {
	if r.at == r.size {
		return false, nil
	}
	var head [headSize]byte
	if err := r.read(head[:]); err != nil {
		return false, err
	}
	stored, unpacked := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if int64(stored) > r.size-r.at || unpacked > maxBlock {
		return false, r.damaged(fmt.Errorf("a block of %d bytes in %d, %d unpacked", stored, r.size-r.at, unpacked))
	}
	if cap(r.packed) < int(stored) {
		r.packed = make([]byte, stored)
	}
	r.packed = r.packed[:stored]
	if err := r.read(r.packed); err != nil {
		return false, err
	}
	if sum := crc32.Checksum(r.packed, castagnoli); sum != binary.LittleEndian.Uint32(head[8:]) {
		return false, r.damaged(fmt.Errorf("checksum %08x, want %08x", sum, binary.LittleEndian.Uint32(head[8:])))
	}
	if cap(r.raw) < int(unpacked) {
		r.raw = make([]byte, 0, unpacked)
	}
	raw, err := r.f.s.d.open.DecodeAll(r.packed, r.raw[:0])
	if err != nil || len(raw) != int(unpacked) {
		return false, r.damaged(fmt.Errorf("%d bytes unpacked, want %d: %w", len(raw), unpacked, err))
	}
	r.raw = raw
	_, batch, err := vector.DecodeBatch(raw)
	if err != nil || len(batch.Cols) != len(r.f.types) {
		return false, r.damaged(err)
	}
	for i, c := range batch.Cols {
		if c.Type.Kind() != r.f.types[i].Kind() {
			return false, r.damaged(fmt.Errorf("column %d is of %s", i, c.Type))
		}
		c.Type = r.f.types[i]
		if c.Form == vector.Dict {
			c.Values.Type = c.Type
		}
	}
	*b = *batch
	return true, nil
}

// StartAt goes to the beginning of a block, see Writer.Bytes.
func (r *Reader) StartAt(at int64) { r.at = at }

func (r *Reader) read(p []byte) error {
	n, err := r.file.ReadAt(p, r.at)
	r.at += int64(n)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return r.damaged(io.ErrUnexpectedEOF)
	}
	return failed(err)
}

// damaged is the error of a file that does not hold what was written.
func (r *Reader) damaged(err error) error {
	return status.Wrap(err, status.StorageUnavailable, "a temporary file of the query is damaged")
}

// Close ends the reading.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.f.s.shut(r)
	return r.file.Close()
}
