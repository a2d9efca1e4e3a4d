package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// entryCutter cuts an input whose entries are not its lines: a scanner finds where they end and writes them as lines.
type entryCutter struct {
	src      *source
	scanner  scanner
	drop     []span  // what is stored already, in order
	ends     []int64 // where an earlier run cut it, in order
	mostRows int64   // a batch

	window, chunk []byte // read, but not looked at; its buffer
	at, cutAt     mark   // where window begins; end of the last entry
	line          int64  // where the present entry begins, from 1
	pending       bool   // the scanner holds an entry that did not fit
	err           error  // to be told next
	batchEntries  int    // that the last batch has
}

// scanner finds entries.
type scanner interface {
	// scan looks at text up to the end of an entry. n bytes are used. begin is where an entry begins in them, or -1;
	// done: it ends behind them. An error says why what follows cannot be read.
	scan(text []byte) (n, begin int, done bool, err error)
	// end tells that the text is over; done: that ends an entry.
	end() (done bool, err error)
	// size is about what the entry takes, bytes; of one that is too large, only the beginning is kept.
	size() int64
	// appendLine appends the entry as one line without its end, or says why it is none.
	appendLine(dst []byte) (line []byte, refused string)
	// drop forgets the entry.
	drop()
}

// mostEnds bounds the entries of a batch whose places are noted.
const mostEnds = 64 << 10

func newEntryCutter(s scanner, in *input, o *Options, src *source, at mark, ahead []span) *entryCutter {
	c := &entryCutter{src: src, scanner: s, drop: ahead, ends: in.ends, mostRows: mostEnds,
		chunk: make([]byte, 256<<10)}
	if o.Rate.Rows > 0 {
		c.mostRows = min(mostEnds, o.Rate.Rows)
	}
	if at.Byte > 0 {
		c.drop = append([]span{{To: at}}, ahead...)
	}
	if bytes.HasPrefix(src.head, bom) {
		src.head = src.head[len(bom):]
		c.at.Byte = int64(len(bom))
	}
	return c
}

func (c *entryCutter) fill(b *batch, buf []byte) error {
	if c.err != nil {
		return c.err
	}
	b.body, b.from = buf[:0], c.cutAt
	b.ends = make([]entryEnd, 0, c.batchEntries+c.batchEntries/8) // the next batch is mostly like the last
	c.err = c.scanAll(b)
	b.to, c.batchEntries = c.cutAt, len(b.ends)
	if len(b.body) > 0 || b.refused != "" {
		return nil
	}
	return c.err
}

// scanAll puts entries into the batch until it is full, there is nothing for now, or the input ends.
func (c *entryCutter) scanAll(b *batch) error {
	begun := time.Now()
	for {
		for c.pending || len(c.window) > 0 {
			if full, err := c.next(b); full || err != nil {
				return err
			}
		}
		if c.src.stopped() {
			return nil
		}
		n, err := c.src.Read(c.chunk)
		c.window = c.chunk[:n]
		switch {
		case n > 0 && (!c.src.live || time.Since(begun) < flushAfter):
		case n > 0, errors.Is(err, errIdle), errors.Is(err, errStopped):
			return nil
		case err == io.EOF:
			var bad error
			if c.pending, bad = c.scanner.end(); bad != nil {
				return fmt.Errorf("line %d: %w", c.line, bad)
			}
			if c.pending {
				if full, err := c.next(b); full || err != nil {
					return err
				}
			}
			return io.EOF
		case err != nil:
			return err
		}
	}
}

// next scans to the end of the window or of an entry, and takes the entry into the batch.
func (c *entryCutter) next(b *batch) (full bool, err error) {
	if !c.pending {
		n, begin, done, err := c.scanner.scan(c.window)
		if begin >= 0 {
			c.line = c.at.Line + int64(bytes.Count(c.window[:begin], newline)) + 1
		}
		c.at.Byte += int64(n)
		c.at.Line += int64(bytes.Count(c.window[:n], newline))
		c.window = c.window[n:]
		if err != nil {
			return false, fmt.Errorf("line %d: %w", c.at.Line+1, err)
		}
		if !done {
			return false, nil
		}
	}
	before := c.cutAt.Byte
	if full = c.take(b); !full {
		c.cutAt = c.at
	}
	return full || b.refused != "" || c.ended(b, before), nil
}

// ended reports whether a batch ends with its last entry, which begins behind a place: an earlier run cut there, or,
// where none did behind it, it has enough.
func (c *entryCutter) ended(b *batch, before int64) bool {
	_, c.ends = nextEnd(c.ends, before)
	end, rest := nextEnd(c.ends, c.at.Byte)
	if len(rest) < len(c.ends) {
		return len(b.ends) > 0
	}
	return int64(len(b.ends)) >= mostEnds || end == 0 && int64(len(b.ends)) >= c.mostRows
}

// take takes the entry of the scanner into a batch, unless it does not fit or is stored already.
func (c *entryCutter) take(b *batch) (full bool) {
	c.pending = false
	for len(c.drop) > 0 && c.drop[0].To.Byte < c.at.Byte {
		c.drop = c.drop[1:]
	}
	if len(c.drop) > 0 && c.drop[0].From.Byte < c.at.Byte {
		c.scanner.drop()
		return false
	}
	most, before := cap(b.body), len(b.body)
	if before > 0 && before+int(c.scanner.size()) > most {
		c.pending = true
		return true
	}
	line, refused := c.scanner.appendLine(b.body)
	if refused == "" && len(line)-before >= most {
		refused = fmt.Sprintf("it has more than %d bytes: --batch raises that", most)
	}
	if refused != "" && before > 0 {
		c.pending = true // it goes alone
		return true
	}
	c.scanner.drop()
	b.body, b.refused = append(line, '\n'), refused
	b.ends = append(b.ends, entryEnd{c.at, c.line})
	return false
}
