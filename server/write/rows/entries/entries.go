// Package entries passes the log entries of a request, JSON objects that the protocol has decoded, to a pipeline. It
// groups the entries by table and writes each group as lines, which the pipeline reads as it reads the body of an
// ingest request.
package entries

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/flatten"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows"
)

// Arrival returns the time for the first entry of a body that has no time. Each further such entry gets a nanosecond
// more: a table that keeps one row for each key and time must not take two of them for one row.
func Arrival(p rows.Pipelines, body []byte) int64 {
	return p.Times(int64(len(body)) + 1) // an entry has at least a byte
}

// Options of the handlers of protocols whose bodies hold entries.
type Options struct {
	rows.Deps
	// Begun remembers the requests that were stored in part; nil: nobody does.
	Begun *Begun
}

const (
	// maxTables bounds the tables of a request.
	maxTables = 1024
	// maxEntry bounds an entry: a pipeline reads no longer line.
	maxEntry = 16 << 20
	// entryBytes and tableBytes are what an entry and a table take besides their text.
	entryBytes = 32
	tableBytes = 1 << 10
)

// Set are the entries of a request. One goroutine at a time.
type Set struct {
	tables []*Table
	byName map[string]*Table
	last   *Table
	// KeepTexts keeps the texts of entries until they are stored, for entries that are refused only then.
	KeepTexts bool
	// TellRest is for protocols whose answer lists every entry: if the store refuses the rest of the entries for a
	// while after it has stored some, only the rest fails.
	TellRest bool
	// Rest is the error of the entries that failed by TellRest; nil: none did.
	Rest error

	request request // identifies the request if it is sent again
	stored  int     // the number of entries at the beginning of the request that are stored by now
	earlier int     // the number that were stored when the same request was refused before

	most int64                   // the most bytes that the entries may take
	hold func(bytes int64) error // is called with the bytes that they take
	held int64                   // the bytes that they take
	told int64                   // held up to which hold need not be called again
}

// Table is the entries for a table.
type Table struct {
	Name string
	// Tags are the columns that become tags, besides those of the request.
	Tags []string
	// Failed are the entries that were left out, by number from 1, and why.
	Failed map[int]error

	set    *Set
	before int     // entries of the tables before it
	all    int     // entries, also when their texts are gone
	read   []int32 // the numbers of the entries that the pipeline saw; nil: all of them
	// texts is the body in which the entries lie, or the text that Make made, in pieces: growing one large text would
	// copy it.
	texts [][]byte
	spans []span
	made  int // bytes in all pieces but the last
}

// span is an entry: texts[piece][from:to].
type span struct{ piece, from, to uint32 }

// text is the text of an entry.
func (t *Table) text(s span) []byte { return t.texts[s.piece][s.from:s.to] }

// Text is the text of an entry by its number from 1.
func (t *Table) Text(number int) []byte { return t.text(t.spans[number-1]) }

// Tables are the tables of the entries, in the order in which they were found.
func (s *Set) Tables() []*Table { return s.tables }

// pieceBytes is the size at which a piece of text is full and the next entry begins another.
const pieceBytes = 1 << 20

// New begins the entries of a request. They may take most bytes besides the body, 0: web.RowBytes. hold is called with
// the bytes that they take.
func New(most int64, hold func(bytes int64) error) *Set {
	return &Set{byName: map[string]*Table{}, most: cmp.Or(most, web.RowBytes), hold: hold}
}

// Beside returns a function that holds the bytes of entries, together with the body that they lie in or are made of.
func Beside(c *web.Ctx, body []byte) func(bytes int64) error {
	size := int64(len(body)) // counted until the end, though the body may be dropped before its entries
	return func(bytes int64) error {
		if err := c.Context.Err(); err != nil {
			return status.Wrap(err, status.Cancelled, "the request ended while its entries were read")
		}
		return c.Hold(size + bytes)
	}
}

// Entries begins the entries of a request with a body.
func (o *Options) Entries(c *web.Ctx, body []byte) *Set {
	s := New(o.RowBytes, Beside(c, body))
	s.request = o.Begun.request(c.Request.RequestURI(), []byte(c.User.Name), []byte(c.HeaderDB()), body)
	return s
}

// SentAgain identifies the request by its texts, so that the entries that are stored are left out when it is sent
// again.
func (s *Set) SentAgain(b *Begun, texts ...[]byte) { s.request = b.request(texts...) }

// Table finds the entries for a table.
func (s *Set) Table(name []byte) (*Table, error) {
	if s.last != nil && s.last.Name == string(name) {
		return s.last, nil
	}
	t := s.byName[string(name)]
	if t == nil {
		if len(s.tables) == maxTables {
			return nil, status.New(status.InvalidArguments, "the entries of the request belong to more than %d tables",
				maxTables)
		}
		t = &Table{Name: string(name), set: s}
		s.tables = append(s.tables, t)
		s.byName[t.Name] = t
		s.held += tableBytes
	}
	s.last = t
	return t, nil
}

// Len is the number of entries so far.
func (t *Table) Len() int { return len(t.spans) }

// Tag makes a column a tag.
func (t *Table) Tag(name string) {
	if !slices.Contains(t.Tags, name) && len(t.Tags) < maxTags {
		t.Tags = append(t.Tags, name)
	}
}

// maxTags bounds the tags that entries add to a table; further ones are fields.
const maxTags = 64

// Keep adds an entry, which lies in a body of the request.
func (t *Table) Keep(body []byte, from, to int) error {
	if len(body) > maxBody {
		return errBody
	}
	if t.texts == nil {
		t.texts = [][]byte{body}
	}
	t.add(span{0, uint32(from), uint32(to)})
	return t.set.grow(entryBytes)
}

// Make adds an entry whose text make appends.
func (t *Table) Make(make func(dst []byte) ([]byte, error)) error {
	last := len(t.texts) - 1
	if last < 0 || len(t.texts[last]) >= pieceBytes {
		if last >= 0 {
			t.made += len(t.texts[last])
		}
		t.texts = append(t.texts, nil)
		last++
	}
	from, room := len(t.texts[last]), cap(t.texts[last])
	text, err := make(t.texts[last])
	if err != nil {
		return err
	}
	if t.made+len(text) > maxBody {
		return errBody
	}
	t.texts[last] = text
	t.add(span{uint32(last), uint32(from), uint32(len(text))})
	return t.set.grow(entryBytes + int64(cap(text)-room))
}

// add adds an entry. An entry without text fails here: a pipeline skips its line, and would number later entries
// wrongly.
func (t *Table) add(s span) {
	t.spans = append(t.spans, s)
	if isBlank(t.text(s)) {
		t.fail(len(t.spans), errBlank)
	}
}

// isBlank reports whether a pipeline skips a line with this text.
func isBlank(text []byte) bool { return len(bytes.Trim(text, "\r\uFEFF")) == 0 }

// errBlank is the error of an entry without text.
var errBlank = status.New(status.InvalidArguments, "an entry is empty, expected an object")

// maxBody bounds the text of the entries of a table.
const maxBody = 1 << 30

var errBody = status.New(status.InvalidArguments,
	"the entries of the request take more than %d MiB, send fewer at a time", maxBody>>20)

// grow counts bytes bytes more.
func (s *Set) grow(bytes int64) error {
	const step = 1 << 20
	if s.held += bytes; s.held > s.most {
		return status.New(status.InvalidArguments,
			"the entries of the request take %d bytes, the limit is %d, send fewer at a time", s.held, s.most)
	}
	if s.held <= s.told || s.hold == nil {
		return nil
	}
	s.told = s.held + step
	return s.hold(s.held)
}

// Run takes the entries of all tables through the pipeline of a request, whose table and body it fills in. With
// SkipError and AllFailures, an entry that cannot be stored, or that is no JSON object, is noted and the others go on;
// without, its error fails the request.
//
// Entries that a batch in memory cannot hold together (flatten.ErrTooMany) are written in parts by write, and leave no
// rows in set. Entries that such a write leaves out are noted as well.
func (s *Set) Run(ctx context.Context, p rows.Pipelines, r *pipeline.Request, set *engine.WriteSet,
	write func() error) (rows int, err error) {
	if rows, err = s.whole(ctx, p, r, set); r.AllFailures && errors.Is(err, flatten.ErrTooMany) {
		set.Reset()
		rows, err = 0, s.inParts(ctx, p, r, set, write)
	}
	if err == nil && !s.KeepTexts {
		s.forget()
	}
	return rows, err
}

// whole takes the entries through the pipeline as one batch.
func (s *Set) whole(ctx context.Context, p rows.Pipelines, r *pipeline.Request,
	set *engine.WriteSet) (rows int, err error) {
	for try := 0; ; try++ {
		rows, err = s.run(ctx, p, r, set)
		if !web.ClientFault(err) || try > 0 || !r.AllFailures ||
			errors.Is(err, flatten.ErrTooMany) {
			return rows, err
		}
		bad := false
		for _, t := range s.tables {
			t.leaveOut()
			bad = bad || len(t.Failed) > 0
		}
		if !bad {
			return 0, err
		}
		set.Reset()
	}
}

// forget lets go of the texts, which are rows now.
func (s *Set) forget() {
	for _, t := range s.tables {
		t.texts, t.spans = nil, nil
	}
}

// errDropped is the error of a body some lines of which are no entries.
var errDropped = status.New(status.InvalidArguments, "an entry is not UTF-8")

func (s *Set) run(ctx context.Context, p rows.Pipelines, r *pipeline.Request,
	set *engine.WriteSet) (rows int, err error) {
	var held int64 // bytes of the rows of tables that are done
	entries := 0
	for _, t := range s.tables {
		t.before = entries
		entries += len(t.spans)
		t.numberRead()
		outcome, bytes, err := t.through(ctx, p, r, set, lot{0, t.seen(), held})
		if err != nil {
			return 0, err
		}
		rows += outcome.Rows
		held += bytes
		t.note(outcome.Failures, 0)
	}
	return rows, nil
}

// lot is a range of the entries, which the pipeline is about to see, and the bytes of the rows made before.
type lot struct {
	from, to int
	held     int64
}

// through takes a lot of the entries of the table through the pipeline, and returns the bytes of the rows.
func (t *Table) through(ctx context.Context, p rows.Pipelines, r *pipeline.Request, set *engine.WriteSet,
	l lot) (outcome pipeline.Outcome, bytes int64, err error) {
	one := *r
	if r.AllFailures {
		one.Before, one.Reject = t.before+l.from, t.set.reject
	}
	one.Table, one.ContentType = t.Name, "application/x-ndjson"
	one.Tags = slices.Concat(r.Tags, t.Tags)
	one.Hold = func(now int64) error {
		bytes = now
		return t.set.hold(t.set.held + l.held + now)
	}
	outcome, err = p.Run(ctx, &one, t.lines(l.from, l.to), set)
	if err == nil && outcome.Dropped > 0 {
		err = errDropped
	}
	return outcome, bytes, err
}

// note notes the entries that the pipeline left out. It numbers only the entries that it saw, from from on.
func (t *Table) note(list []pipeline.Failed, from int) {
	for _, f := range list {
		if number := t.number(from + f.Entry); number > 0 {
			t.fail(number, f.Err)
		}
	}
}

// numberRead notes which entries the pipeline is about to see.
func (t *Table) numberRead() {
	t.read, t.all = nil, len(t.spans)
	if len(t.Failed) == 0 {
		return
	}
	t.read = make([]int32, 0, len(t.spans))
	for i := range t.spans {
		if t.Failed[i+1] == nil {
			t.read = append(t.read, int32(i+1))
		}
	}
}

// seen is the number of entries that the pipeline is about to see.
func (t *Table) seen() int {
	if t.read == nil {
		return t.all
	}
	return len(t.read)
}

// number is the number of the entry that the pipeline saw as its n-th; 0: it saw none.
func (t *Table) number(n int) int {
	switch {
	case n < 1 || n > t.all:
		return 0
	case t.read == nil:
		return n
	case n > len(t.read):
		return 0
	}
	return int(t.read[n-1])
}

// reject notes an entry that its table refused at the write. entry is its place among all entries that the pipeline
// saw.
func (s *Set) reject(entry int, why error) {
	i, _ := slices.BinarySearchFunc(s.tables, entry,
		func(t *Table, entry int) int { return cmp.Compare(t.before, entry) })
	if i--; i < 0 {
		return
	}
	t := s.tables[i]
	if number := t.number(entry - t.before); number > 0 {
		t.fail(number, pipeline.ExplainClash(why))
	}
}

// leaveOut notes the entries that are no JSON objects.
func (t *Table) leaveOut() {
	t.Failed = map[int]error{}
	var r jsontext.Reader
	for i, s := range t.spans {
		if err := check(&r, t.text(s)); err != nil {
			t.Failed[i+1] = err
		}
	}
}

// fail notes an entry that is left out.
func (t *Table) fail(number int, err error) {
	if t.Failed == nil {
		t.Failed = map[int]error{}
	}
	if t.Failed[number] == nil {
		t.Failed[number] = err
	}
}

// check returns the error of a text that is no entry.
func check(r *jsontext.Reader, text []byte) error {
	switch {
	case isBlank(text):
		return errBlank
	case len(text) > maxEntry:
		return status.New(status.InvalidArguments, "an entry is longer than %d MiB", maxEntry>>20)
	case !utf8.Valid(text):
		return errDropped
	}
	if r.Reset(text); r.Peek() != jsontext.Object && r.Peek() != jsontext.None {
		return status.New(status.InvalidArguments, "an entry is %s, expected an object", r.Peek())
	}
	if r.Skip(); !r.End() {
		return status.New(status.InvalidArguments, "an entry is not JSON: %v", r.Err())
	}
	return nil
}

// Lines reads the entries, one on each line.
func (t *Table) Lines() io.Reader {
	t.numberRead()
	return t.lines(0, t.seen())
}

// lines reads a range of the entries that the pipeline is about to see.
func (t *Table) lines(from, to int) io.Reader { return &reader{t: t, next: from, end: to} }

// reader reads the entries of a table as lines.
type reader struct {
	t         *Table
	next, end int  // the rest of the range
	at        int  // the place in the text of the next entry
	line      bool // a line end comes next
}

func (r *reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.line {
			p[n] = '\n'
			n++
			r.line = false
			continue
		}
		if r.next == r.end {
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}
		s := r.t.spans[r.t.number(r.next+1)-1]
		k := copy(p[n:], r.t.text(s)[r.at:])
		n += k
		if r.at += k; int(s.from)+r.at == int(s.to) {
			r.next, r.at, r.line = r.next+1, 0, true
		}
	}
	return n, nil
}

// Through is the request to the pipeline that the query and the headers name, or else to service_identity. An entry
// that cannot be stored fails alone.
func Through(c *web.Ctx, o *Options) (*pipeline.Request, error) {
	r := &pipeline.Request{Pipeline: pipeline.Identity, Hints: c.Hints(), NoAutoCreate: o.NoAutoCreate,
		NoVariables: !o.Variables}
	r.SetNumbers(string(c.QueryArgs().Peek("widen_numbers")))
	if _, err := r.FromHeaders(c.UTF8Header); err != nil {
		return nil, err
	}
	args := c.QueryArgs()
	if name := string(args.Peek("pipeline_name")); name != "" {
		r.Pipeline = name
	}
	if version := string(args.Peek("version")); version != "" {
		r.Version = version
	}
	r.CustomTimeIndex = string(args.Peek("custom_time_index"))
	r.DB, _ = web.Database(c.HeaderDB(), strings.ToValidUTF8(string(args.Peek("db")), "\uFFFD"))
	r.SkipError, r.AllFailures = true, true
	return r, nil
}

// maxName bounds the names that LegalName makes.
const maxName = 128

// LegalName makes the name of a table of a text. Letters, digits, _, - and . stay, other bytes become underscores, and
// bytes behind the first 128 are cut off. The texts "", "." and ".." become underscores.
func LegalName(text []byte) []byte {
	switch string(text) {
	case "", ".":
		return []byte("_")
	case "..":
		return []byte("__")
	}
	out := bytes.Clone(text[:min(len(text), maxName)])
	for i, c := range out {
		if c-'0' > 9 && c|' '-'a' > 25 && c != '_' && c != '-' && c != '.' {
			out[i] = '_'
		}
	}
	return out
}

// maxShown bounds the entries that Show writes.
const maxShown = 100

// Show writes the first entries to the log.
func (s *Set) Show(log *slog.Logger) {
	n := 0
	for _, t := range s.tables {
		for _, at := range t.spans {
			if n++; n > maxShown {
				return
			}
			log.Info("entry that is not stored", "table", t.Name, "entry", string(t.text(at)))
		}
	}
}
