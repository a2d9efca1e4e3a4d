package syslog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"

	"varve/server/listen"
)

// maxCounted bounds the length that a message may announce. Of a message up to this length, the bytes beyond the limit
// of messages are read and dropped.
const maxCounted = 64 << 20

// frames finds the messages of a stream, in one of the two framings of RFC 6587, by the beginning of the stream:
// digits, a blank and < are a length with a message behind it,
//
//	18 <13>1 - - - - - - x
//
// anything else is a line, which ends with a line end, or with a zero byte.
type frames struct {
	r    *bufio.Reader
	most int
	cut  func() // is called for each message that is cut off

	known   bool // which framing the stream has
	counted bool // messages have their length before them
	text    []byte
}

// Next reads the next message.
func (f *frames) Next() (text []byte, acked bool, err error) {
	if !f.known {
		if f.counted, err = f.beginsCounted(); err != nil {
			return nil, false, err
		}
		f.known = true
	}
	for {
		if f.counted {
			err = f.octets()
		} else {
			err = f.line()
		}
		if err != nil || len(f.text) > 0 {
			return f.text, false, err
		}
	}
}

// maxDigits bounds the digits of a length.
const maxDigits = 10

// beginsCounted reports whether the stream begins with a length. It waits for no more bytes than it needs to know.
func (f *frames) beginsCounted() (bool, error) {
	for n := 1; ; n++ {
		begin, err := f.r.Peek(n)
		if err != nil {
			if n > 1 {
				err = nil // a line that ends the stream
			}
			return false, err
		}
		switch c := begin[n-1]; {
		case c-'0' <= 9 && n <= maxDigits:
		case c == ' ' && n > 1:
			begin, err = f.r.Peek(n + 1)
			return err == nil && begin[n] == '<', nil
		default:
			return false, nil
		}
	}
}

// Stored is for protocols with answers; this one has none.
func (f *frames) Stored(net.Conn) error { return nil }

// Close is for protocols that hold more than their buffer.
func (f *frames) Close() {}

// octets reads a message behind its length.
func (f *frames) octets() error {
	n, digits := 0, 0
	f.text = f.text[:0]
	for {
		c, err := f.r.ReadByte()
		if err == nil {
			f.text = append(f.text, c)
		}
		switch {
		case err != nil && digits == 0:
			return err
		case err != nil:
			return f.cutStream(err)
		case c == ' ' && digits > 0:
			return f.take(n)
		case digits == 0 && (c == '\n' || c == '\r' || c == 0): // some senders add a line end to messages
			f.text = f.text[:0]
		case c-'0' > 9:
			return f.broken("expected the length of a message, found %q", c)
		default:
			if n, digits = n*10+int(c-'0'), digits+1; n > maxCounted || digits > maxDigits {
				return f.broken("a message is said to have more than %d bytes", maxCounted)
			}
		}
	}
}

// take reads a message of n bytes. It takes memory only for bytes that have come.
func (f *frames) take(n int) error {
	f.text = f.text[:0]
	for kept := min(n, f.most); len(f.text) < kept; {
		k := min(kept-len(f.text), 4096)
		f.text = append(f.text, make([]byte, k)...)
		if n, err := io.ReadFull(f.r, f.text[len(f.text)-k:]); err != nil {
			f.text = f.text[:len(f.text)-k+n]
			return f.cutStream(err)
		}
	}
	f.text = trimmed(f.text)
	if n > f.most {
		f.cut()
		if _, err := f.r.Discard(n - f.most); err != nil {
			return f.cutStream(err)
		}
	}
	return nil
}

// trimmed is a message without the line end that some senders put into it.
func trimmed(text []byte) []byte { return bytes.TrimRight(text, "\r\n\x00") }

// line reads a message up to a line end or a zero byte. Bytes beyond the limit are dropped.
func (f *frames) line() error {
	f.text = f.text[:0]
	for long := false; ; {
		if _, err := f.r.Peek(1); err != nil {
			if err == io.EOF && len(f.text) > 0 {
				return nil // the last line has no end
			}
			return err
		}
		piece, _ := f.r.Peek(f.r.Buffered())
		end := bytes.IndexAny(piece, "\n\x00")
		size := end + 1
		if end < 0 {
			end, size = len(piece), len(piece)
		}
		room := min(end, f.most-len(f.text))
		f.text = append(f.text, piece[:room]...)
		if room < end && !long {
			long = true
			f.cut()
		}
		ended := size > end
		if _, err := f.r.Discard(size); err != nil {
			return err
		}
		if ended {
			f.text = bytes.TrimRight(f.text, "\r")
			return nil
		}
	}
}

// cutStream is the error of a read within a message. An error other than the end of the stream stays as it is: the
// server itself may have ended the connection.
func (f *frames) cutStream(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return f.broken("the stream ends inside a message")
	}
	return err
}

// broken is the error of a stream whose next message cannot be found, with the bytes of it that were read and those
// that wait in the buffer.
func (f *frames) broken(format string, args ...any) error {
	if behind, err := f.r.Peek(f.r.Buffered()); err == nil {
		f.text = append(f.text, behind...)
	}
	return &listen.Broken{Text: f.text, Why: fmt.Errorf(format, args...)}
}
