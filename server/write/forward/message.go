package forward

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
)

// message is one message, whose entries lie in its bytes:
//
//	[tag, time, record, option]                 one entry
//	[tag, [[time, record], ...], option]        entries
//	[tag, bytes of entries, option]             the same, packed, and compressed where the option says so
//
// The option may be missing.
type message struct {
	tag     []byte
	entries []byte // each an array of time and record; of a message of one entry, time and record
	count   int    // of entries; -1: as many as there are
	single  bool
	gzip    bool
	chunk   []byte // the name that the sender gave the message, and waits to read in the answer; nil: it does not wait
}

var errShape = errors.New("the message is not an array of a tag and entries")

// parse takes a message apart.
func (m *message) parse(b []byte) error {
	*m = message{}
	r := reader{b: b}
	head := r.next()
	if head.kind != array && r.err == nil {
		return errShape
	}
	tag := r.next()
	if r.err != nil {
		return r.err
	}
	if head.n < 2 || head.n > 4 || tag.kind != text && tag.kind != binaries {
		return errShape
	}
	m.tag = tag.bytes
	from := r.p
	second := r.next()
	left := head.n - 2
	switch second.kind {
	case array:
		m.count, m.entries = second.n, b[r.p:]
		r.p = from
		r.skip()
	case text, binaries:
		m.count, m.entries = -1, second.bytes
	case integer, unsigned, float, extension:
		if left == 0 {
			return errShape
		}
		r.skip()
		m.single, m.entries, left = true, b[from:r.p], left-1
	default:
		return errShape
	}
	if left > 0 && r.err == nil {
		m.option(&r)
	}
	return r.err
}

// option reads the option of a message.
func (m *message) option(r *reader) {
	from := r.p
	v := r.next()
	if v.kind != object {
		r.p = from
		r.skip()
		return
	}
	for i := 0; i < v.n && r.err == nil; i++ {
		name := string(r.key())
		at := r.p
		value := r.next()
		switch {
		case name == "chunk" && (value.kind == text || value.kind == binaries):
			m.chunk = value.bytes
		case name == "compressed" && value.kind == text && string(value.bytes) != "text":
			if m.gzip = string(value.bytes) == "gzip"; !m.gzip {
				r.fail(fmt.Errorf("the entries are compressed with %.20q, only gzip is supported", value.bytes))
			}
		case value.kind == array || value.kind == object:
			r.p = at
			r.skip()
		}
	}
}

// each calls its function for each entry, with the entry's time and a reader at its record, which the function reads.
// most bounds the entries when they are decompressed.
func (m *message) each(most int, each func(ns int64, timed bool, r *reader) error) error {
	b := m.entries
	if m.gzip {
		var err error
		if b, err = unzip(b, most); err != nil {
			return err
		}
	}
	r := reader{b: b}
	if m.single {
		ns, timed := r.time()
		return each(ns, timed, &r)
	}
	for i := 0; i != m.count && (m.count >= 0 || r.p < len(r.b)); i++ {
		from := r.p
		v := r.next()
		if r.err != nil {
			return r.err
		}
		if v.kind != array || v.n < 2 {
			r.p = from // a map is a record without a time; the function refuses anything else
			if err := each(0, false, &r); err != nil {
				return err
			}
			continue
		}
		ns, timed := r.time()
		if err := each(ns, timed, &r); err != nil {
			return err
		}
		for k := 2; k < v.n; k++ {
			r.skip()
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// unzip decompresses gzip, at most to most bytes.
func unzip(b []byte, most int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("the entries are no gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("the entries are no gzip: %w", err)
	}
	if len(out) > most {
		return nil, fmt.Errorf("the entries are larger than %d bytes when they are decompressed", most)
	}
	return out, nil
}

// time reads a time: seconds, seconds and nanoseconds as an extension, or an array that begins with a time and holds
// metadata of the entry behind it.
func (r *reader) time() (ns int64, ok bool) {
	switch v := r.next(); v.kind {
	case integer:
		return seconds(v.i)
	case unsigned:
		return seconds(int64(min(v.u, math.MaxInt64)))
	case float:
		if math.Abs(v.f) < maxSeconds {
			return int64(math.Floor(v.f * 1e9)), true
		}
	case extension:
		if v.i == 0 && len(v.bytes) == 8 {
			s, ok := seconds(int64(number(v.bytes[:4])))
			return s + int64(min(number(v.bytes[4:]), 999_999_999)), ok
		}
	case array:
		for i := range v.n {
			if i == 0 {
				ns, ok = r.timeInArray()
			} else {
				r.skip()
			}
		}
	}
	return ns, ok
}

// timeInArray reads the time at the head of such an array; an array in the array is no time.
func (r *reader) timeInArray() (ns int64, ok bool) {
	if r.p < len(r.b) {
		if k, _, _ := shape(r.b[r.p]); k == array {
			r.skip()
			return 0, false
		}
	}
	return r.time()
}

// maxSeconds is the last second whose nanoseconds fit 64 bits.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

func seconds(s int64) (ns int64, ok bool) {
	if s > maxSeconds || s < -maxSeconds {
		return 0, false
	}
	return s * 1e9, true
}
