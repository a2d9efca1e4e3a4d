package flatten

import (
	"bytes"
	"fmt"
	stdutf8 "unicode/utf8"

	"github.com/bytedance/sonic/utf8"

	"varve/engine/status"
	"varve/engine/vector"
)

// beginRow begins an entry for the predictive reader.
func (d *Decoder) beginRow() {
	d.stamp++
	d.timed = d.o.Time.Kind == Now
	d.group.set = 0
	d.bound = d.bound[:0]
	d.seenN = 0
}

// timeAbsent sets the clock's time for a row that lacks the field of its time, where errors are ignored.
func (d *Decoder) timeAbsent() bool {
	if n := d.paths[d.o.Time.Field]; !d.o.IgnoreErrors || n != nil && n.stamp == d.stamp {
		return false
	}
	d.time.SetInt(d.o.Time.fromClock(d.now()))
	return true
}

// undo takes back what the predictive reader did of a row, its new columns included. It must not look at all columns:
// a body of thousands of columns can have millions of bad lines.
func (d *Decoder) undo() {
	d.set = append(d.set[:0], d.time)
	if d.seenN > len(d.seen) {
		d.set = d.set[:0] // all; such rows are long
	} else {
		for _, n := range d.seen[:d.seenN] {
			if n.col != nil {
				d.set = append(d.set, n.col)
			}
		}
	}
	if d.b.AbandonRow(d.set...) > 0 {
		d.unbindRow()
	}
}

// unbindRow forgets the columns that the row in hand has introduced.
func (d *Decoder) unbindRow() {
	for _, n := range d.bound {
		d.special(n)
	}
}

// skipMark skips a byte order mark at the begin of the body.
func (d *Decoder) skipMark() {
	if d.base+int64(d.pos) == 0 && bytes.HasPrefix(d.buf[:d.end], []byte("\uFEFF")) {
		d.pos = 3
	}
}

// lines reads a body of one JSON value a line.
func (d *Decoder) lines() error {
	for index := 0; ; {
		if err := d.fill(d.pos, "line", index+1); err != nil {
			return err
		}
		d.skipMark()
		stop := d.wholeLines()
		valid := utf8.Validate(d.buf[d.pos:stop])
		for d.pos < stop {
			if err := d.line(index, valid); err != nil {
				return d.ofLines(err, index)
			}
			index++
		}
		if d.last() {
			return nil
		}
	}
}

// wholeLines is the end of the last whole line in the window. A last line of the body that lacks its end gets one.
func (d *Decoder) wholeLines() int {
	stop := d.pos + bytes.LastIndexByte(d.buf[d.pos:d.end], '\n') + 1
	if d.last() && stop < d.end {
		d.buf[d.end] = '\n'
		d.end++
		stop = d.end
	}
	return stop
}

// line reads the line at pos and moves pos after it. valid reports that the line is known to be UTF-8.
func (d *Decoder) line(index int, valid bool) error {
	b, i := d.buf, d.pos
	if b[i] == '\n' {
		d.pos++
		return nil
	}
	if valid && b[i] == '{' && d.making() {
		d.beginRow()
		end, f := d.object(&d.root, i+1, 1)
		if f == fine {
			if b[end] != '\n' {
				end = d.blank(end)
			}
			if b[end] == '\n' && (d.timed || d.timeAbsent()) {
				d.pos = end + 1
				d.entryDone(d.endRow())
				return nil
			}
		}
		d.undo()
	}
	stop := i + bytes.IndexByte(b[i:], '\n')
	d.pos = stop + 1
	if stop == i+1 && b[i] == '\r' {
		return nil
	}
	if !valid && !utf8.Validate(b[i:stop]) {
		return d.badLine("line", index, b[i:stop], "it is not UTF-8")
	}
	start := d.blank(i)
	end, f := d.skip(start, 1)
	if after := d.blank(end); f == fine && after != stop {
		end, f = after, badSyntax
	}
	if f != fine {
		return d.badLine("JSON", index, b[i:stop], fmt.Sprintf("%s at byte %d of the line", f, end-i))
	}
	if d.making() {
		d.entryDone(d.entry(start, end))
	} else {
		d.show(b[start:end])
	}
	return nil
}

// badLine is the error of a line, unless such lines are dropped.
func (d *Decoder) badLine(what string, index int, text []byte, why string) error {
	if d.o.IgnoreErrors {
		d.res.Dropped++
		return nil
	}
	err := status.New(status.InvalidArguments, "Invalid request parameter: invalid %s at index: %d", what, index)
	return &Subject{Err: err, Value: string(text), Hint: why}
}

// ofLines adds the number of a bad line, of how many lines, to its error. It reads the rest of the body to count them.
func (d *Decoder) ofLines(err error, index int) error {
	s, ok := err.(*Subject)
	if !ok {
		return err
	}
	after, ok := d.countLines()
	return status.Wrap(s, status.InvalidArguments, "%s (%s%s)", s.Err, numbered("line", index+1, index+1+after, ok),
		s.about())
}

// countLines counts the lines that are left; ok is false when they cannot all be read.
func (d *Decoder) countLines() (n int, ok bool) {
	for {
		stop := d.wholeLines()
		n += bytes.Count(d.buf[d.pos:stop], []byte{'\n'})
		d.pos = stop
		if d.last() {
			return n, true
		}
		if d.fill(d.pos, "line", 0) != nil {
			return n, false
		}
	}
}

// entryDone deals with the error of an entry whose row is undone: it is skipped, or kept until the body has shown that
// it has no errors of its own.
func (d *Decoder) entryDone(err error) {
	switch {
	case err == nil:
	case d.err != nil: // it is the request's, whatever the entry's is
		d.res.Entries++
	case d.o.SkipErrors:
		d.res.Failures = AddFailure(d.res.Failures, *d.failure(err), d.o.AllFailures)
		d.res.Skipped++
	default:
		d.fail(err)
	}
}

// fail makes the current entry's error that of the request.
func (d *Decoder) fail(err error) {
	d.err = d.failure(err)
	d.res.Entries++ // no row, and not skipped
}

// failure is the error of the current entry.
func (d *Decoder) failure(err error) *Failure { return &Failure{d.entries() + 1, err} }

// entries is the number of entries read: they are rows, were skipped, or were shown.
func (d *Decoder) entries() int { return d.res.Entries + d.res.Rows + d.res.Skipped }

// plainLines reads a body of text lines.
func (d *Decoder) plainLines() error {
	for {
		if err := d.fill(d.pos, "entry", d.entries()+1); err != nil {
			return err
		}
		d.skipMark()
		stop := d.wholeLines()
		valid := utf8.Validate(d.buf[d.pos:stop])
		for d.pos < stop {
			end := d.pos + bytes.IndexByte(d.buf[d.pos:], '\n')
			text := bytes.TrimSuffix(d.buf[d.pos:end], []byte{'\r'})
			d.pos = end + 1
			if len(text) == 0 {
				continue
			}
			if !valid && !utf8.Validate(text) {
				d.res.Dropped++
				continue
			}
			if d.making() {
				d.message(text)
			} else {
				d.show(text)
			}
		}
		if d.last() {
			return nil
		}
	}
}

// message makes the row of a text line.
func (d *Decoder) message(text []byte) {
	if d.o.Time.Kind != Now {
		d.entryDone(d.row([]field{{messageColumn, value{kind: stringValue, text: view(text)}}}))
		return
	}
	if d.msg == nil {
		c, err := d.b.Column(messageColumn, vector.StringType)
		if err != nil {
			d.entryDone(err)
			return
		}
		d.msg = c
	}
	d.msg.SetBytes(text)
	d.time.SetInt(d.now())
	d.origin()
	d.b.EndRow()
	d.counted()
}

// place is where the next token of a stream lies.
type place uint8

const (
	atValue   place = iota // between values
	atFirst                // after [
	atElement              // after a comma
	atComma                // after an element
)

// stream reads a body of JSON values.
func (d *Decoder) stream() error {
	at := atValue
	var odd *Failure // the first value that is not an entry, where only entries are allowed; the rest is only counted
	for {
		if err := d.fill(d.pos, "entry", d.entries()+1); err != nil {
			return err
		}
		d.skipMark()
		whole := d.checkUTF8()
		d.partial = !d.last() || !whole
		i, f := 0, fine
		for f == fine && d.pos < d.end {
			if at, i, f = d.step(at); f == notAnEntry {
				if odd == nil {
					odd = d.failure(&Subject{Err: errNoEntry, Value: string(d.buf[d.pos:i]), Hint: "no object"})
					d.err = odd
				}
				d.res.Entries++
				d.pos, f = i, fine
			}
		}
		failed := f != fine && (i < d.end || !d.partial)
		switch {
		case failed && (i < d.end || f != badSyntax) && whole:
			return d.badStream(odd, f.String(), i, func() (int, bool) { return d.tally(at) })
		case failed && (i < d.end || f != badSyntax):
			return d.badStream(odd, f.String(), i, untold)
		case !whole:
			return d.badStream(odd, "invalid UTF-8", d.end, untold)
		case failed || d.last() && at != atValue:
			return d.badStream(odd, "unexpected end", d.end, onlyThis)
		case d.last() && odd != nil:
			return odd.Explain(d.entries())
		case d.last():
			return nil
		}
	}
}

var errNoEntry = status.New(status.InvalidArguments,
	"Invalid request parameter: json format error, please check the date is valid JSON.")

// badStream is the error of a stream that cannot be read on at byte i of the window, unless it ends quietly there. A
// value that is no entry goes first. left counts the entries from that at fault on, where they can be told apart.
func (d *Decoder) badStream(odd *Failure, reason string, i int, left func() (n int, ok bool)) error {
	if d.o.IgnoreErrors {
		return nil
	}
	place, shown := d.base+int64(i), Cut(string(bytes.TrimSpace(d.buf[d.pos:min(d.pos+4*MaxShown, d.end)])))
	n, ok := left()
	switch {
	case odd != nil && ok:
		return odd.Explain(d.entries() + n)
	case odd != nil:
		return odd.Explain(0)
	}
	return status.New(status.InvalidArguments, "Failed to parse payload as json: %s at byte %d (%s, value %s)", reason,
		place,
		numbered("entry", d.entries()+1, d.entries()+n, ok), shown)
}

// untold is for bodies in which the entries after the failing one cannot be told apart.
func untold() (n int, ok bool) { return 0, false }

// onlyThis counts the entries of a body that ends within one.
func onlyThis() (n int, ok bool) { return 1, true }

// tally counts the entries from pos on; pos is a place in the stream where an entry begins that cannot be read.
func (d *Decoder) tally(at place) (n int, ok bool) {
	t := newTally(at)
	for {
		t.feed(d.buf[d.pos:d.end])
		if d.last() {
			return t.count()
		}
		if d.fill(d.end, "entry", 0) != nil {
			return 0, false
		}
	}
}

// checkUTF8 cuts the window where it stops being UTF-8. It reports whether the only reason is that a character is
// incomplete.
func (d *Decoder) checkUTF8() (whole bool) {
	text := d.buf[d.pos:d.end]
	if !d.last() {
		d.cut = append(d.cut[:0], text[wholeRunes(text):]...)
		text = text[:len(text)-len(d.cut)]
	}
	n := len(text)
	if whole = utf8.Validate(text); !whole {
		n = 0
		for {
			r, size := stdutf8.DecodeRune(text[n:])
			if r == stdutf8.RuneError && size <= 1 {
				break
			}
			n += size
		}
	}
	d.end = d.pos + n
	clear(d.buf[d.end : d.end+padBytes])
	return whole
}

// wholeRunes is the length of text without a rune at its end that goes on after it.
func wholeRunes(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-3; n-- {
		if stdutf8.RuneStart(text[n]) {
			if !stdutf8.FullRune(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

// step reads the next token or entry at pos and moves pos behind it. A fault leaves pos before what could not be read,
// and gives the index of the byte that does not fit.
func (d *Decoder) step(at place) (next place, i int, f fault) {
	i = d.blank(d.pos)
	d.pos = i
	if i >= d.end {
		return at, i, fine
	}
	c := d.buf[i]
	switch {
	case at == atComma:
		if c != ',' && c != ']' {
			return at, i, badSyntax
		}
		d.pos++
		if c == ',' {
			return atElement, i, fine
		}
		return atValue, i, fine
	case at == atFirst && c == ']':
		d.pos++
		return atValue, i, fine
	case at == atValue && c == '[':
		d.pos++
		return atFirst, i, fine
	}
	next = atComma
	if at == atValue {
		next = atValue
	}
	if c == '{' {
		if i, f = d.streamEntry(i); f == fine {
			d.pos = i
			return next, i, fine
		}
		return at, i, f
	}
	end, f := d.skip(i, 1)
	if f == fine && end == d.end && d.partial {
		return at, end, badSyntax // a number may go on
	}
	if f != fine {
		return at, end, f
	}
	d.pos = end
	if at != atValue {
		if d.making() {
			d.entryDone(notObject(d.buf[i:end]))
		} else {
			d.show(d.buf[i:end])
		}
	} else if !d.o.IgnoreErrors {
		d.pos = i
		return at, end, notAnEntry
	}
	return next, end, fine
}

// streamEntry reads the entry at i, an object.
func (d *Decoder) streamEntry(i int) (end int, f fault) {
	if !d.making() {
		if end, f = d.skip(i, 1); f == fine {
			d.show(d.buf[i:end])
		}
		return end, f
	}
	d.beginRow()
	end, f = d.object(&d.root, i+1, 1)
	if f == fine && (d.timed || d.timeAbsent()) {
		d.entryDone(d.endRow())
		return end, fine
	}
	d.undo()
	if f != fine && f != odd {
		return end, f
	}
	if end, f = d.skip(i, 1); f != fine {
		return end, f
	}
	if d.err != nil { // the row found no room
		d.res.Entries++
		return end, fine
	}
	d.entryDone(d.entry(i, end))
	return end, fine
}
