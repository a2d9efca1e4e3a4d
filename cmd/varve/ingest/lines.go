package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// cutter fills batches with whole entries of one input.
type cutter interface {
	// fill makes a batch of what it reads into buf, whose capacity is the size of a batch. A batch without a body says
	// that there is nothing for now. The error is io.EOF at the end, with the last batch, or says why the input cannot
	// be read further.
	fill(b *batch, buf []byte) error
}

// lineCutter cuts an input at its line ends, where those of entries are among them.
type lineCutter struct {
	src      *source
	from     mark    // where the next batch begins
	at       mark    // and its text: behind a byte order mark
	ahead    []span  // what is stored behind it, in order
	ends     []int64 // where an earlier run cut it, in order
	carry    []byte  // read, but not cut: the beginning of a line
	mostRows int64   // a batch; 0: any number
	protocol bool    // entries are those of line protocol
	most     int64   // bytes of a line
	temp     string  // directory of lines that are larger than a batch; empty: the usual one
	err      error   // to be told next
}

func newLineCutter(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error) {
	c := &lineCutter{src: src, from: at, at: at, ahead: ahead, ends: in.ends, mostRows: o.Rate.Rows,
		most: int64(max(mostEntry, o.Batch))}
	switch {
	case at.Byte > 0 && in.size > 0 && src.packed == "":
		src.head = nil
		if _, err := in.file.Seek(at.Byte, io.SeekStart); err != nil {
			return nil, err
		}
	case at.Byte > 0:
		return c, src.discard(at.Byte)
	case bytes.HasPrefix(src.head, bom):
		src.head = src.head[len(bom):]
		c.at.Byte = int64(len(bom))
	}
	return c, nil
}

// newProtocolCutter cuts between entries of line protocol, whose texts may have line ends.
func newProtocolCutter(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error) {
	c, err := newLineCutter(in, o, src, at, ahead)
	if c, ok := c.(*lineCutter); ok {
		c.protocol = true
	}
	return c, err
}

func (c *lineCutter) fill(b *batch, buf []byte) error {
	if err := c.err; err != nil {
		c.err = nil
		return err
	}
	if err := c.pass(); err != nil {
		return err
	}
	buf = buf[:cap(buf)]
	end := c.end()
	if end > 0 {
		buf = buf[:min(int64(len(buf)), end-c.at.Byte)]
	}
	n, err := c.read(buf)
	bounded := end > 0 && c.at.Byte+int64(n) == end
	cut := c.cut(buf[:n], err == io.EOF || bounded, bounded)
	if cut == 0 && n == cap(buf) && err != io.EOF && !bounded {
		return c.long(b, buf)
	}
	b.body, b.from, b.protocol = buf[:cut], c.from, c.protocol
	c.at.Byte += int64(cut)
	c.at.Line += int64(bytes.Count(b.body, newline))
	b.to, c.from = c.at, c.at
	c.carry = append(c.carry[:0], buf[cut:n]...)
	switch {
	case errors.Is(err, errIdle):
		return nil
	case err == io.EOF && len(c.carry) > 0: // there is more, though not to read
		c.src.r, c.src.follow = eof{}, false
		return nil
	case cut > 0:
		c.err = err
		return nil
	}
	return err
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// end is where the next batch ends at the latest: where something is stored, or an earlier run cut; 0: nowhere.
func (c *lineCutter) end() (end int64) {
	end, c.ends = nextEnd(c.ends, c.at.Byte)
	if len(c.ahead) > 0 && (end == 0 || c.ahead[0].From.Byte < end) {
		return c.ahead[0].From.Byte
	}
	return end
}

// pass passes over what is stored already.
func (c *lineCutter) pass() error {
	for len(c.ahead) > 0 && c.ahead[0].From.Byte <= c.at.Byte {
		if err := c.src.discard(c.ahead[0].To.Byte - c.at.Byte); err != nil {
			return err
		}
		c.at, c.from = c.ahead[0].To, c.ahead[0].To
		c.ahead = c.ahead[1:]
	}
	return nil
}

// read fills buf with what was carried over and with what can be read without much waiting.
func (c *lineCutter) read(buf []byte) (n int, err error) {
	n = copy(buf, c.carry)
	begun := time.Now()
	for n < len(buf) && err == nil {
		var m int
		m, err = c.src.Read(buf[n:])
		n += m
		if c.src.live && time.Since(begun) > flushAfter {
			return n, errIdle
		}
	}
	if errors.Is(err, errStopped) {
		err = errIdle
	}
	return n, err
}

// cut is where the last whole entry ends that a batch can have of a text; last: the last entry of the text may lack its
// line end; whole: it has all of them, however many they are.
func (c *lineCutter) cut(text []byte, last, whole bool) int {
	most := c.mostRows
	if whole {
		most = 0
	}
	if c.protocol {
		end, _ := protocolEntries(text, most, last)
		return end
	}
	end := len(text)
	if !last {
		end = bytes.LastIndexByte(text, '\n') + 1
	}
	return firstLines(text[:end], most)
}

// firstLines is where so many lines end.
func firstLines(body []byte, lines int64) int {
	if lines <= 0 {
		return len(body)
	}
	at := 0
	for range lines {
		i := bytes.IndexByte(body[at:], '\n')
		if i < 0 {
			return len(body)
		}
		at += i + 1
	}
	return at
}

// mostShown is how much of a line that goes through a file is kept to be shown, bytes.
const mostShown = 64 << 10

// long takes a line that is larger than a batch, and begins with buf, through a file.
func (c *lineCutter) long(b *batch, buf []byte) error {
	f, err := os.CreateTemp(c.temp, "varve-line-")
	if err != nil {
		return fmt.Errorf("line %d is larger than --batch and goes through a file: %w", c.at.Line+1, err)
	}
	if err := os.Remove(f.Name()); err != nil { // what is open stays, and nothing once the process is gone
		return errors.Join(err, f.Close())
	}
	shown := bytes.Clone(buf[:min(len(buf), mostShown)])
	size, err := c.spool(f, buf)
	if err != nil { // a piece of a line is not sent
		return errors.Join(err, f.Close())
	}
	b.from, b.body, b.bytes = c.from, shown, size
	c.at.Byte += b.bytes
	if c.err == nil { // at an end of line
		c.at = mark{c.at.Byte + 1, c.at.Line + 1}
	}
	b.to, b.long, c.from = c.at, f, c.at
	if b.bytes > c.most {
		b.refused = fmt.Sprintf("the line has %d bytes, at most %d can be sent: --batch raises that", b.bytes, c.most)
		b.long = nil
		return f.Close()
	}
	return nil
}

// spool writes a line, of which buf has been read, to a file, but nothing past the bound, and gives its size.
func (c *lineCutter) spool(f *os.File, buf []byte) (size int64, err error) {
	for n := len(buf); ; {
		line, rest, whole := bytes.Cut(buf[:n], newline)
		if size += int64(len(line)); size <= c.most {
			if _, err := f.Write(line); err != nil {
				return size, err
			}
		}
		c.carry = append(c.carry[:0], rest...)
		switch {
		case whole:
			return size, nil
		case err == io.EOF:
			c.err = io.EOF
			return size, nil
		}
		n, err = c.src.Read(buf)
		switch {
		case errors.Is(err, errIdle):
			if !c.src.pause() {
				return size, errStopped
			}
		case err != nil && err != io.EOF:
			return size, err
		}
	}
}
