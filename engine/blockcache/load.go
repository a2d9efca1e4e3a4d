package blockcache

import (
	"errors"
	"fmt"
	"io"

	"varve/engine/vfs"
)

// load finds what an earlier process has left. What is not whole is removed, and the oldest files if they are too many.
func (w *writer) load() error {
	names, err := w.c.o.FS.List(w.c.o.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		number, ok := numberOf(name)
		if !ok {
			continue
		}
		w.next = max(w.next, number+1)
		s, err := w.open(number)
		if err != nil {
			if rm := w.c.o.FS.Remove(w.path(number)); rm != nil && !vfs.NotExist(rm) {
				return errors.Join(err, rm)
			}
			continue
		}
		w.adopt(s)
	}
	total := w.c.count.bytes.Load()
	for _, s := range w.segments {
		if total <= w.c.o.Size {
			break
		}
		total -= s.disk
		w.kill(s)
	}
	w.forgetDead()
	return nil
}

// adopt takes a file into the cache.
func (w *writer) adopt(s *segment) {
	w.segments = append(w.segments, s)
	w.c.count.files.Add(1)
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.count.bytes.Add(s.disk)
	for _, sp := range s.spans {
		w.c.insert(w.c.of(sp.object), sp)
	}
}

// open reads head and index of a file.
func (w *writer) open(number uint64) (s *segment, err error) {
	f, err := w.c.o.FS.Open(w.path(number))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", fileName(number), errors.Join(err, f.Close()))
		}
	}()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	head := make([]byte, headFixed+len(w.c.o.Of))
	if size < int64(len(head)+tailSize) {
		return nil, errDamaged
	}
	if err := readWhole(f, head, 0); err != nil {
		return nil, err
	}
	if err := checkHead(head, w.c.o.Of); err != nil {
		return nil, err
	}
	tail := make([]byte, tailSize)
	if err := readWhole(f, tail, size-tailSize); err != nil {
		return nil, err
	}
	_, index, err := parseTail(tail)
	if err != nil {
		return nil, err
	}
	end := size - tailSize - int64(index)
	if end < int64(len(head)) {
		return nil, errDamaged
	}
	all := make([]byte, index+tailSize)
	if err := readWhole(f, all, end); err != nil {
		return nil, err
	}
	spans, err := parseIndex(all, int64(len(head)), end)
	if err != nil {
		return nil, err
	}
	s = &segment{number: number, file: f, size: end, disk: size, refs: 1, spans: spans}
	for _, sp := range spans {
		sp.segment = s
	}
	return s, nil
}

// readWhole fills b.
func readWhole(f io.ReaderAt, b []byte, off int64) error {
	if n, err := f.ReadAt(b, off); n < len(b) {
		return err
	}
	return nil
}
