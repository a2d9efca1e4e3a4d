package ingest

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"varve/engine/vector"
)

// mostWindow bounds what unpacking zstd takes, about the window and as much again; only archives made with --ultra or
// --long need more.
const mostWindow = 16 << 20

// flushAfter is how long entries of a live input wait for others. Tests shorten it.
var flushAfter = time.Second

// errIdle: there is nothing to read for now.
var errIdle = errors.New("nothing to read for now")

// source is the unpacked text of an input. Its Read may give errIdle when the input is live or followed.
type source struct {
	r      io.Reader
	head   []byte          // the beginning, at most headSize bytes, not yet read
	whole  bool            // head was all there is when it was read
	packed string          // gzip, zstd, bzip2, a form of rows, or empty
	rows   string          // the form of rows whose lines the text is; empty: none
	fields []vector.Field  // of rows
	live   bool            // somebody may be writing it: entries are not kept for long
	follow bool            // its end is not the end
	stop   <-chan struct{} // closed when nothing further is wanted; nil: never
}

// stopped reports whether nothing further is wanted.
func (s *source) stopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	n, err := s.r.Read(p)
	if err == io.EOF && s.follow {
		err = errIdle
		if n > 0 {
			err = nil
		}
	}
	return n, s.explain(err)
}

// explain says what a failure of unpacking means.
func (s *source) explain(err error) error {
	switch {
	case err == nil || err == io.EOF || errors.Is(err, errIdle) || errors.Is(err, errStopped) || s.packed == "":
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf(
			"the file ends in the middle of its %s: it was cut, or is still being written; once it is whole, --resume "+
				"stores the rest", s.packed)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.As(err, new(*fs.PathError)):
		return err
	}
	return fmt.Errorf("its %s is damaged: %w", s.packed, err)
}

// pause waits for a moment where there is nothing to read for now; false: nothing further is wanted.
func (s *source) pause() bool {
	if s.live { // its Read has waited
		return !s.stopped()
	}
	timer := time.NewTimer(flushAfter)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// passChunk is how much is passed over between two looks at whether to stop, bytes.
const passChunk = 1 << 20

// discard passes over n bytes.
func (s *source) discard(n int64) error {
	for n > 0 {
		if s.stopped() {
			return errStopped
		}
		m, err := io.CopyN(io.Discard, s, min(n, passChunk))
		n -= m
		if errors.Is(err, errIdle) {
			continue
		}
		if err == io.EOF {
			return errors.New("it is shorter than what is stored of it, --restart stores it from its beginning")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countingReader counts what is read.
type countingReader struct {
	r    io.Reader
	done func(n int)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done(n)
	return n, err
}

// magics are how packed inputs begin that are unpacked here.
var magics = []struct {
	begin, name string
	open        func(io.Reader) (io.Reader, error)
}{
	{begin: "\x1f\x8b", name: "gzip", open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{begin: "\x28\xb5\x2f\xfd", name: "zstd", open: openZstd},
	{begin: "\x50\x2a\x4d\x18", name: "zstd", open: openZstd},
	{begin: "BZh", name: "bzip2", open: func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

func openZstd(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return nil, err
	}
	return zstdReader{d}, nil
}

// zstdReader says what to do about a window that is too large.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf(
			"it is packed with a window of more than %d MiB: zstd -dc --long=31 FILE | varve ingest - (%w)",
			mostWindow>>20, err)
	}
	return n, err
}

// unpack looks at the beginning of an input and gives its text.
func unpack(raw io.Reader) (*source, error) {
	begin, _, err := readHead(raw, 8)
	if err != nil {
		return nil, err
	}
	s := &source{}
	for _, m := range magics {
		if !bytes.HasPrefix(begin, []byte(m.begin)) {
			continue
		}
		s.packed = m.name
		if s.r, err = m.open(io.MultiReader(bytes.NewReader(begin), &patient{raw})); err != nil {
			return nil, s.explain(err)
		}
		if s.head, s.whole, err = readHead(s.r, headSize); err != nil {
			return s, s.explain(err)
		}
		return s, s.unrowAny()
	}
	s.r = raw
	rest, whole, err := readHead(raw, headSize-len(begin))
	if s.head, s.whole = append(begin, rest...), whole; err != nil {
		return s, err
	}
	return s, s.unrowAny()
}

// unrowAny makes the text of a source that is a file of rows the lines of them.
func (s *source) unrowAny() error {
	switch rowsOf(s.head) {
	case parquetRows:
		return errors.New("it is Parquet, which is read from its end: write it to a file, unpacked, and name that")
	case arrowRows:
		return s.unrowArrow()
	}
	return nil
}

// patient waits where its reader has nothing for now: who unpacks cannot go on from there.
type patient struct{ r io.Reader }

func (p *patient) Read(b []byte) (int, error) {
	for {
		n, err := p.r.Read(b)
		if n > 0 || !errors.Is(err, errIdle) {
			return n, err
		}
	}
}

// readHead reads up to n bytes; fewer at the end of an input, which is then whole, or when a live one has some and
// pauses.
func readHead(r io.Reader, n int) (head []byte, whole bool, err error) {
	head = make([]byte, 0, n)
	for len(head) < n {
		m, err := r.Read(head[len(head):n])
		head = head[:len(head)+m]
		switch {
		case err == io.EOF, errors.Is(err, errIdle) && len(head) > 0:
			return head, err == io.EOF, nil
		case err != nil && !errors.Is(err, errIdle):
			return head, false, err
		}
	}
	return head, false, nil
}

// pump reads an input that may pause, so that its reader can do something meanwhile.
type pump struct {
	chunks chan []byte
	free   chan []byte
	err    error // of the input, once chunks is closed
	have   []byte
	whole  []byte // that have is the rest of
	stop   <-chan struct{}
}

// pumpChunk is how much is read at once, bytes.
const pumpChunk = 256 << 10

// newPump begins to read. Its goroutine ends with the input, or with the process: a read cannot be taken back.
func newPump(r io.Reader, stop <-chan struct{}) *pump {
	p := &pump{chunks: make(chan []byte), free: make(chan []byte, 2), stop: stop}
	p.free <- make([]byte, pumpChunk)
	p.free <- make([]byte, pumpChunk)
	go func() {
		defer close(p.chunks)
		for {
			chunk := <-p.free
			n, err := r.Read(chunk[:pumpChunk])
			if n > 0 {
				p.chunks <- chunk[:n]
			} else {
				p.free <- chunk
			}
			if err != nil {
				p.err = err
				return
			}
		}
	}()
	return p
}

func (p *pump) Read(b []byte) (int, error) {
	if len(p.have) == 0 {
		timer := time.NewTimer(flushAfter)
		defer timer.Stop()
		select {
		case chunk, ok := <-p.chunks:
			if !ok {
				return 0, p.err
			}
			p.have, p.whole = chunk, chunk
		case <-timer.C:
			return 0, errIdle
		case <-p.stop:
			return 0, errStopped
		}
	}
	n := copy(b, p.have)
	if p.have = p.have[n:]; len(p.have) == 0 {
		p.free <- p.whole
	}
	return n, nil
}

// errStopped: nothing further is wanted.
var errStopped = errors.New("stopped")
