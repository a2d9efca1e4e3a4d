package ingest

import (
	"bytes"
	"os"
)

// mark is a place in an input: the bytes of unpacked text, and the line ends, before it.
type mark struct {
	Byte int64 `json:"byte"`
	Line int64 `json:"line"`
}

// entryEnd is where an entry ends, and the line on which it begins, from 1.
type entryEnd struct {
	to   mark
	line int64
}

// batch is a run of whole entries of one input. Its buffer is given back once it is dealt with.
type batch struct {
	in     *input
	buffer []byte
	part

	long    *os.File // instead of a body: one entry, larger than a batch; removed already
	bytes   int64    // of long
	refused string   // why the one entry cannot be sent, whatever the server says; its body may be cut
}

// part is a piece of a batch that is sent with one request.
type part struct {
	body     []byte // entries, each on a line of its own; the last may lack its end
	from, to mark
	// ends has one element for each entry; nil: the entries are the lines of the input as they stand.
	ends []entryEnd
	// protocol: the entries are those of line protocol, which may have line ends within quotes and comments between
	// them.
	protocol bool
}

// entries counts the entries of a part: its lines that are not empty, unless it knows better.
func (p *part) entries() int64 {
	switch {
	case p.ends != nil:
		return int64(len(p.ends))
	case p.protocol:
		_, n := protocolEntries(p.body, 0, true)
		return n
	}
	n := int64(0)
	for line := range bytes.Lines(p.body) {
		if len(bytes.TrimRight(line, "\r\n")) > 0 {
			n++
		}
	}
	return n
}

var newline = []byte{'\n'}

// halve cuts a part in two at an end of line near its middle; ok is false for a single entry.
func (p *part) halve() (left, right part, ok bool) {
	at := p.middle()
	if at == 0 || at == len(p.body) {
		return left, right, false
	}
	left, right = part{body: p.body[:at], from: p.from, protocol: p.protocol},
		part{body: p.body[at:], to: p.to, protocol: p.protocol}
	lines := bytes.Count(left.body, newline)
	if p.ends != nil {
		left.ends, right.ends = p.ends[:lines], p.ends[lines:]
		left.to = left.ends[lines-1].to
	} else {
		// the first may stand behind a byte order mark
		left.to = mark{p.to.Byte - int64(len(right.body)), p.from.Line + int64(lines)}
	}
	right.from = left.to
	return left, right, true
}

// middle is where an entry ends near the middle of a part; 0 or its length: there is no second one.
func (p *part) middle() int {
	if p.protocol {
		n := p.entries()
		if n < 2 {
			return 0
		}
		at, _ := protocolEntries(p.body, n/2, true)
		return at
	}
	half := len(p.body) / 2
	at := bytes.IndexByte(p.body[half:], '\n') + half + 1
	if at == half || at == len(p.body) {
		at = bytes.LastIndexByte(p.body[:max(0, min(half, len(p.body)-1))], '\n') + 1
	}
	return at
}

// line is the number of the line on which the first entry begins, from 1.
func (p *part) line() int64 {
	if len(p.ends) > 0 {
		return p.ends[0].line
	}
	begin, _ := p.first()
	return p.from.Line + 1 + int64(bytes.Count(p.body[:begin], newline))
}

// first is where the first entry begins in the body, behind empty lines and comments, and where it ends; both are the
// body's end where there is none.
func (p *part) first() (begin, end int) {
	if p.protocol {
		begin, end, _ = protocolEntry(p.body, true)
		return begin, end
	}
	begin = len(p.body) - len(bytes.TrimLeft(p.body, "\r\n"))
	if end = bytes.IndexByte(p.body[begin:], '\n'); end < 0 {
		return begin, len(p.body)
	}
	return begin, begin + end
}

// text is the first entry, without its line end.
func (p *part) text() []byte {
	begin, end := p.first()
	return bytes.TrimRight(p.body[begin:end], "\r\n")
}

// isBlank reports whether there is nothing to send.
func (p *part) isBlank() bool {
	begin, _ := p.first()
	return begin == len(p.body)
}
