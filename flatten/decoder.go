// Package flatten turns JSON or text bodies into columns: nested objects become columns with dotted names; arrays, and
// objects at the depth limit, become JSON text.
//
// # How it reads
//
// Logs repeat their shape. The predictive reader (predict.go) remembers for each position in an object the key that
// came there last. It compares bytes, knows the column at once and reads the value straight into it. An entry that it
// cannot finish (a key twice, a type that clashes) is undone and read again by the general reader (entry.go), which
// builds a tree, sorts it and decides. Both accept exactly RFC 8259, with bounds for nesting and numbers; they check
// UTF-8 once a window and read half a surrogate pair as U+FFFD.
//
// # Bodies
//
// The decoder reads a body in windows of 256 KiB and never collects it. An entry that is cut at the end of a window
// moves to the front of the next one and is read again.
package flatten

import (
	"errors"
	"io"
	"time"

	"varve/engine/status"
	"varve/engine/vector"
)

// Framing is how a body holds entries.
type Framing uint8

const (
	// JSONStream is a stream of JSON values: objects are entries, arrays hold entries.
	JSONStream Framing = iota
	// NDJSON has one value on each line.
	NDJSON
	// Lines has one text on each line; an entry is its message.
	Lines
)

// messageColumn is the column of text lines.
const messageColumn = "message"

// Options say how to read a body.
type Options struct {
	// MaxDepth is the number of segments of a column's name, past which objects are kept as JSON text. 0 means 10.
	MaxDepth int
	// Time says where the time index comes from.
	Time TimeIndex
	// IgnoreErrors drops entries that cannot be decoded, and gives the current time to rows whose time cannot be read.
	IgnoreErrors bool
	// SkipErrors leaves out entries that fail: no objects, clashing types, unreadable times.
	SkipErrors bool
	// AllFailures tells of all entries that are left out, not of the first only.
	AllFailures bool
	// CheckOnly reads the body for its own errors and makes no rows.
	CheckOnly bool
	// StrictNumbers keeps integers and floats apart. Without it, a column that receives both is a column of floats.
	StrictNumbers bool
	// Origins has rows know their entry (vector.Builder.From): its number in the body and the entries of others Before
	// it.
	Origins bool
	Before  int
	// NoVariables takes option variables for fields.
	NoVariables bool
	// TableType is the type of a column in the table that the rows go to; ok is false where the table or the column is
	// absent. nil: columns have the type of their first value. Asked once for a new column.
	TableType func(column string) (t vector.Type, ok bool)
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// MaxBytes bounds what the rows of a body take; 0: nothing does.
	MaxBytes int64
	// Hold is called with the current memory of the rows whenever it has grown notably. It may wait; its error ends the
	// request. nil: the memory is not counted.
	Hold func(bytes int64) error
}

// Result says what became of the entries.
type Result struct {
	Rows, Skipped int
	// Dropped lines never were entries: they are not UTF-8, or no JSON where errors are ignored.
	Dropped int
	// Entries are the entries of the body, as far as it was read.
	Entries int
	// Failures are the first of those skipped, or all.
	Failures []Failure
}

// Rows returns the builder for rows with the given option variables, or the error of the variables. It is called once
// per body with the zero OptionVars, and when rows carry variables once per change of them.
type Rows func(OptionVars) (*vector.Builder, error)

// Decoder reads bodies. It learns the shape of entries: keep it, a warm decoder allocates nothing per row or field.
// One goroutine at a time.
type Decoder struct {
	shape
	input
	request
	reading
	scratch []byte // keys and values being unescaped
	text    jsonText
}

// shape is the tree of the keys that entries have had. It goes on from body to body, see forget.
type shape struct {
	root  node
	nodes []*node // every node of the tree but root
	edges int     // of all nodes
	paths map[string]*node
}

// input is the window on a body: buf[pos:end] is unread, padBytes of zeros follow at end.
type input struct {
	window   int // bytes to read at a time
	buf      []byte
	pos, end int
	base     int64  // place of buf[0] in the body
	cut      []byte // the begin of a rune, at most three bytes, that belongs at end
	src      io.Reader
	srcErr   error // what the source ended with; io.EOF at the body's end
	total    int64 // bytes read
	partial  bool  // the text may continue after end
	newlines bool  // line ends are blanks between tokens: true for JSONStream
}

// request is what becomes of a body: its rows, and its result.
type request struct {
	o    Options
	rows Rows

	b       *vector.Builder   // of rows without option variables; others are moved on from here
	all     []*vector.Builder // b and those of option variables
	cells   int               // rows times columns past which rows are measured again
	learned int               // keys when rows were measured last
	time    *vector.ColumnBuilder
	msg     *vector.ColumnBuilder // of text lines
	timeNS  int64                 // the time of the last row that got the clock's, in ns
	spare   int                   // rows that may still get the last reading of the clock
	group   group
	wide    bool // an integer column has become one of floats in this body
	res     Result
	err     error                   // the request's error; the rest of the body is read for its own errors only
	each    func(text []byte) error // gets the entries instead of builders: see Entries
}

// reading is the entry that is being read.
type reading struct {
	bound []*node // bound to a column in this row
	seen  [64]*node
	seenN int                     // nodes seen in this row; the first of them are in seen
	stamp uint64                  // number of the entry; a node stamped with it was seen in this entry
	timed bool                    // the current row has its time
	set   []*vector.ColumnBuilder // what the row may have set, when it is undone
}

// NewDecoder makes a decoder.
func NewDecoder() *Decoder {
	return &Decoder{input: input{window: windowBytes}, shape: shape{paths: map[string]*node{}}}
}

// Decode reads a body into the builders that rows gives. Errors are status errors; a reader's error passes through.
// After an error the builders hold rows that must not be used. An error of an entry comes back only when the whole
// body is readable: errors of the body go first.
func (d *Decoder) Decode(body io.Reader, f Framing, o Options, rows Rows) (Result, error) {
	if o.MaxDepth <= 0 {
		o.MaxDepth = 10
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d.begin(body, f, o, rows)
	defer d.release()
	var err error
	switch f {
	case JSONStream:
		err = d.stream()
	case NDJSON:
		err = d.lines()
	default:
		err = d.plainLines()
	}
	d.res.Entries = d.entries()
	if err == nil && d.err == nil {
		d.measure(0)
	}
	if err == nil {
		err = d.explained()
	}
	return d.res, err
}

// explained is the request's error, with the number of its entry.
func (d *Decoder) explained() error {
	if f, ok := d.err.(*Failure); ok {
		return f.Explain(d.res.Entries)
	}
	return d.err
}

func (d *Decoder) begin(body io.Reader, f Framing, o Options, rows Rows) {
	d.o, d.rows, d.src = o, rows, body
	d.pos, d.end, d.base, d.total, d.srcErr = 0, 0, 0, 0, nil
	d.cut = d.cut[:0]
	d.newlines = f == JSONStream
	d.res, d.err, d.timeNS, d.spare, d.wide = Result{}, nil, 0, 0, false
	d.forget()
	if o.CheckOnly {
		return
	}
	if d.b, d.err = rows(OptionVars{}); d.err == nil {
		d.prepare(d.b)
		d.all = append(d.all, d.b)
		d.cells, d.learned = freeCount, d.edges
		d.time = d.b.Lookup(o.Time.Column())
	}
}

// prepare puts the time index first.
func (d *Decoder) prepare(b *vector.Builder) {
	if b.Columns() > 0 {
		return
	}
	if _, err := b.Column(d.o.Time.Column(), d.o.Time.Type()); err != nil {
		panic("flatten: an empty builder has a column: " + err.Error())
	}
	b.Pin()
}

// release releases everything that belongs to the body.
func (d *Decoder) release() {
	d.o, d.rows, d.src, d.b, d.time, d.msg, d.group = Options{}, nil, nil, nil, nil, nil, group{}
	clear(d.all)
	d.all = d.all[:0]
	d.unbind()
	if cap(d.buf) > maxSpareWindow {
		d.buf = nil
	}
	if cap(d.scratch) > maxSpareScratch {
		d.scratch = nil
	}
	d.text.release()
}

// endRow finishes the row that has its values in d.b. After an error the row is gone.
func (d *Decoder) endRow() error {
	if d.o.Time.Kind == Now {
		d.time.SetInt(d.now())
	}
	d.origin()
	if d.group.set != 0 {
		return d.moveRow()
	}
	d.b.EndRow()
	d.counted()
	return nil
}

// origin notes which entry the current row comes from.
func (d *Decoder) origin() {
	if d.o.Origins {
		d.b.From(d.o.Before + d.entries() + 1)
	}
}

// now is the time of a row without its own, in ns: the clock as it was at the begin of the window, and never the same
// twice, so that rows keep their order and do not replace each other.
func (d *Decoder) now() int64 {
	d.timeNS++
	if d.spare--; d.spare < 0 {
		d.spare = ClockSpan - 1
		d.timeNS = max(d.timeNS, d.o.Now().UnixNano())
	}
	return d.timeNS
}

// ClockSpan is the number of rows that get one reading of the clock, a nanosecond apart. A clock that never gives two
// times within so many nanoseconds keeps the rows of all decoders apart.
const ClockSpan = 4096

// making reports whether entries still become rows.
func (d *Decoder) making() bool { return d.err == nil && !d.o.CheckOnly }

var errNotObject = status.New(status.IllegalState, "Top level value must be map")

func notObject(text []byte) error { return &Subject{Err: errNotObject, Value: string(text)} }

// errTooLong is the error of a line or entry, which is not read to its end; those after it are not told apart.
func errTooLong(what string, n int) error {
	return status.New(status.InvalidArguments, "Invalid request parameter: %s is longer than %d MiB (%s)",
		article(what), maxValueBytes>>20, numbered(what, n, n, false))
}

// article puts the right one before a line or an entry.
func article(what string) string {
	if what == "entry" {
		return "an " + what
	}
	return "a " + what
}

var errBody = status.New(status.InvalidArguments, "body is longer than %d MiB, send it in several requests",
	maxBodyBytes>>20)

// fill moves buf[keep:end] to the front and reads until the window is full or the body ends. It grows the window when
// what is kept fills half of it. What is kept is the line or entry n, for the error when it is too long.
func (d *Decoder) fill(keep int, what string, n int) error {
	d.end += copy(d.buf[d.end:], d.cut)
	d.cut = d.cut[:0]
	d.base += int64(keep)
	rest := d.end - keep
	if rest > maxValueBytes {
		return errTooLong(what, n)
	}
	size := max(len(d.buf)-padBytes, d.window)
	for rest > size/2 && size < maxValueBytes+windowBytes {
		size = min(2*size, maxValueBytes+windowBytes)
	}
	if size > len(d.buf)-padBytes {
		grown := make([]byte, size+padBytes)
		copy(grown, d.buf[keep:d.end])
		d.buf = grown
	} else {
		copy(d.buf, d.buf[keep:d.end])
	}
	d.pos, d.end = 0, rest
	d.spare = 0
	idle := 0
	for d.srcErr == nil && d.end < size {
		n, err := d.src.Read(d.buf[d.end:size])
		d.end += n
		d.total += int64(n)
		d.srcErr = err
		if d.total > maxBodyBytes {
			return errBody
		}
		if n > 0 {
			idle = 0
		} else if idle++; idle > 100 && err == nil {
			d.srcErr = io.ErrNoProgress
		}
	}
	clear(d.buf[d.end : d.end+padBytes])
	d.measure(0)
	if d.srcErr != nil && !errors.Is(d.srcErr, io.EOF) {
		return d.srcErr
	}
	return nil
}

// last reports whether the window holds the body's end.
func (d *Decoder) last() bool { return d.srcErr != nil }
