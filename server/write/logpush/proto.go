package logpush

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"varve/engine/status"
	"varve/server/protowire"
)

// protoReader reads a push request:
//
//	PushRequest{1: streams*{1: labels text, 2: entries*{1: time{1: seconds, 2: nanos}, 2: line, 3: metadata*{1: name, 2: value}}}}
type protoReader struct {
	labels, metadata []label
	skipped          int
}

// read hands the lines of a message to a sink. skipped counts texts of labels that cannot be read: the lines of these
// streams have no labels.
func (p *protoReader) read(body []byte, into sink) (skipped int, err error) {
	p.skipped = 0
	f := protowire.Of(body)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		if err := p.stream(f.Bytes, into, int64(len(body))); err != nil {
			return 0, err
		}
	}
	if f.Err() != nil {
		return 0, badMessage(f.Err())
	}
	return p.skipped, nil
}

func badMessage(err error) error {
	return status.New(status.InvalidArguments, "Failed to decode Loki request: %v", err)
}

func (p *protoReader) stream(message []byte, into sink, body int64) error {
	p.labels = p.labels[:0]
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		var err error
		if p.labels, err = appendLabels(p.labels[:0], whole(f.Bytes)); err == errPairs {
			return err
		} else if err != nil {
			p.labels = p.labels[:0]
			p.skipped++
		}
	}
	if f.Err() != nil {
		return badMessage(fmt.Errorf("stream: %w", f.Err()))
	}
	if err := into.stream(sortLabels(p.labels)); err != nil {
		return err
	}
	for f = protowire.Of(message); f.Next(); {
		if !f.Is(2, protowire.Bytes) {
			continue
		}
		if err := p.entry(f.Bytes, into, body); err != nil {
			return err
		}
	}
	return nil
}

func (p *protoReader) entry(message []byte, into sink, body int64) error {
	var seconds, nanos int64
	var line []byte
	p.metadata = p.metadata[:0]
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			t := protowire.Of(f.Bytes)
			for t.Next() {
				switch {
				case t.Is(1, protowire.Varint):
					seconds = t.Int()
				case t.Is(2, protowire.Varint):
					nanos = t.Int()
				}
			}
			if t.Err() != nil {
				return badMessage(fmt.Errorf("time: %w", t.Err()))
			}
		case f.Is(2, protowire.Bytes):
			line = whole(f.Bytes)
		case f.Is(3, protowire.Bytes):
			pair, err := readPair(f.Bytes)
			if err != nil {
				return badMessage(fmt.Errorf("metadata: %w", err))
			}
			if len(p.metadata) == maxPairs {
				return errPairs
			}
			p.metadata = append(p.metadata, pair)
		}
	}
	if f.Err() != nil {
		return badMessage(fmt.Errorf("entry: %w", f.Err()))
	}
	if seconds > maxSeconds || seconds < -maxSeconds || nanos < 0 || nanos >= 1e9 {
		return badMessage(fmt.Errorf("the time of %d seconds and %d nanoseconds is out of range", seconds, nanos))
	}
	return into.line(seconds*1e9+nanos, line, p.metadata, body)
}

// maxSeconds is the last whole second whose nanoseconds fit 64 bits.
const maxSeconds = 1<<63/1_000_000_000 - 1

func readPair(message []byte) (l label, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			l.name = whole(f.Bytes)
		case f.Is(2, protowire.Bytes):
			l.value = whole(f.Bytes)
		}
	}
	return l, f.Err()
}

// whole is a text with U+FFFD in place of bytes that are not UTF-8.
func whole(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}
