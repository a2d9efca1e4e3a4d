package bulk

import (
	"bytes"
	"slices"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/write/rows/entries"
)

// action says what to do with a document: the first two add it, the others are not supported.
type action uint8

const (
	index action = iota
	create
	update
	remove // has no document
)

var actions = [...]string{"index", "create", "update", "delete"}

func (a action) String() string { return actions[a] }

// item is a document of a body: its table and its number there.
type item struct {
	action       action
	entry        int32
	idFrom, idTo uint32         // its id is decoder.ids[idFrom:idTo]
	table        *entries.Table // nil: the action is broken, entry is its number among those
}

// failure is why the document was not stored, nil if it was.
func (d *decoder) failure(it *item) error {
	switch {
	case it.table != nil:
		return it.table.Failed[int(it.entry)]
	case int(it.entry) < len(d.broken):
		return d.broken[it.entry]
	}
	return errMore
}

// maxBroken bounds the broken actions whose reasons are kept.
const maxBroken = 1000

var errMore = malformed("the action is broken; only the first %d reasons are kept", maxBroken)

// maxItems bounds the documents of a request: each has its place in the answer.
const maxItems = 1 << 20

// decoder reads the lines of a body: an action, then its document. Shippers repeat their actions, so an action line
// equal to the one before is not read again.
type decoder struct {
	set *entries.Set
	// index is the table of actions that name none.
	index string
	// message is the member of documents that is the entry; fields is what the parameters say of documents. If they are
	// empty and nil, documents are entries as they are.
	message string
	fields  *entries.Fields
	now     int64 // the time of the next document that has none

	items  []item
	broken []error // why actions are broken
	ids    []byte  // the ids that actions name, one behind the other
	before []byte  // the action line that was read last
	action action
	idFrom int // the id of that action is ids[idFrom:]
	table  *entries.Table
	r      jsontext.Reader
}

// id is the id that the action of a document names, empty if it names none. It has no meaning here.
func (d *decoder) id(it *item) []byte { return d.ids[it.idFrom:it.idTo] }

// answerBytes is about the size of the answer without the reasons of failures, few of which are long.
func (d *decoder) answerBytes() int64 {
	const itemBytes = 128
	size := int64(len(d.ids))
	for i := range d.items {
		if size += itemBytes; d.items[i].table != nil {
			size += int64(len(d.items[i].table.Name))
		}
	}
	return size
}

func malformed(format string, args ...any) error {
	return status.New(status.InvalidArguments, format, args...)
}

// read takes the documents of a body. A broken action fails alone, with its document. If all actions are broken, the
// error of the first is the error of the body.
func (d *decoder) read(body []byte) error {
	for p, number := 0, 1; p < len(body); number++ {
		line, next := cut(body, p)
		if len(line) == 0 {
			p = next
			continue
		}
		if len(d.items) == maxItems {
			return malformed("a request can have at most %d documents", maxItems)
		}
		var broken error
		if d.table == nil || !bytes.Equal(line, d.before) {
			d.table, broken = d.readAction(line, number)
			d.before = line
		}
		if broken == nil && next >= len(body) {
			broken = malformed("line %d: the document of the last action is missing", number)
		}
		if broken != nil {
			d.refuse(broken)
			if p = next; d.hasDocument(body, next) {
				_, p = cut(body, next)
				number++
			}
			continue
		}
		from := next
		line, p = cut(body, from)
		number++
		if err := d.add(body, from, line); err != nil {
			return err
		}
		d.took()
	}
	if len(d.broken) > 0 && !slices.ContainsFunc(d.items, func(it item) bool { return it.table != nil }) {
		return d.broken[0]
	}
	return nil
}

// refuse notes an action that is broken.
func (d *decoder) refuse(why error) {
	number := int32(maxBroken)
	if len(d.broken) < maxBroken {
		number = int32(len(d.broken))
		d.broken = append(d.broken, why)
	}
	d.items = append(d.items, item{action: d.action, entry: number, idFrom: uint32(d.idFrom), idTo: uint32(len(d.ids))})
}

// hasDocument reports whether the line behind a broken action is its document, and not the next action.
func (d *decoder) hasDocument(body []byte, at int) bool {
	if at >= len(body) || d.action == remove {
		return false
	}
	line, _ := cut(body, at)
	r := &d.r
	r.Reset(line)
	r.Enter(jsontext.Object)
	return !r.Member() || !slices.Contains(actions[:], string(r.Key)) || r.Peek() != jsontext.Object
}

// took notes the document that was added last.
func (d *decoder) took() {
	d.items = append(d.items, item{d.action, int32(d.table.Len()), uint32(d.idFrom), uint32(len(d.ids)), d.table})
}

// one takes a body that is a document of the index in the path.
func (d *decoder) one(body []byte) (err error) {
	if d.table, err = d.set.Table([]byte(d.index)); err != nil {
		return err
	}
	r := &d.r
	r.Reset(body)
	if r.Peek() == jsontext.Object {
		r.Skip()
	} else {
		return malformed("the document is not a JSON object")
	}
	if r.End(); r.Err() != nil {
		return malformed("malformed document: %v", r.Err())
	}
	line := entries.AppendRaw(nil, body)
	if err := d.add(line, 0, line); err != nil {
		return err
	}
	d.took()
	return nil
}

// cut returns the line at p without its end, and where the next one begins.
func cut(body []byte, p int) (line []byte, next int) {
	line, _, _ = bytes.Cut(body[p:], []byte{'\n'})
	next = p + len(line) + 1
	return bytes.TrimSuffix(line, []byte{'\r'}), next
}

// add adds a document to its table.
func (d *decoder) add(body []byte, from int, line []byte) error {
	if d.message == "" && d.fields == nil {
		return d.table.Keep(body, from, from+len(line))
	}
	return d.table.Make(func(dst []byte) ([]byte, error) { return d.made(dst, line), nil })
}

// made appends the entry of a document. A document that is no object stays as it is: the pipeline refuses it.
func (d *decoder) made(dst, document []byte) []byte {
	if d.message != "" {
		document = d.inner(document)
	}
	at := len(dst)
	if d.fields == nil {
		return append(dst, document...)
	}
	d.now++
	dst, err := d.fields.Append(dst, document, d.now-1)
	if err != nil {
		return append(dst[:at], document...)
	}
	return dst
}

// inner is the log that a member of a document holds: JSON text is the entry itself, other text its message. A document
// without the member is the entry.
func (d *decoder) inner(document []byte) []byte {
	r := &d.r
	r.Reset(document)
	if r.Peek() != jsontext.Object {
		return document
	}
	var text []byte
	found := false
	for r.Enter(jsontext.Object); r.Member(); {
		if string(r.Key) == d.message && r.Peek() != jsontext.Null {
			text, found = r.Plain()
		} else {
			r.Skip()
		}
	}
	if r.End(); r.Err() != nil || !found {
		return document
	}
	var in jsontext.Reader
	in.Reset(text)
	if in.Peek() == jsontext.Object && in.Skip() && in.End() {
		return entries.AppendRaw(nil, text)
	}
	return append(jsontext.AppendString([]byte(`{"`+entries.MessageColumn+`":`), text), '}')
}

// readAction reads the line {"create":{"_index":"table"}}, and finds the table.
func (d *decoder) readAction(line []byte, number int) (*entries.Table, error) {
	r := &d.r
	r.Reset(line)
	name, found := []byte(d.index), false
	d.idFrom, d.action = len(d.ids), index
	for r.Enter(jsontext.Object); r.Member(); {
		if r.Peek() != jsontext.Object { // a library puts a counter of its own beside the action
			r.Skip()
			continue
		}
		if found {
			return nil, malformed("line %d: more than one action", number)
		}
		found = true
		d.action = action(max(0, slices.Index(actions[:], string(r.Key))))
		if k := string(r.Key); k != actions[index] && k != actions[create] {
			return nil, malformed("line %d: action %.40q is not supported: there are index and create", number, k)
		}
		for r.Enter(jsontext.Object); r.Member(); {
			switch key := string(r.Key); {
			case key == "_index" && r.Peek() == jsontext.String:
				name = r.String()
			case key == "_id":
				id, _ := r.Plain()
				d.ids = append(d.ids[:d.idFrom], id...)
			default:
				r.Skip()
			}
		}
	}
	r.End()
	switch {
	case r.Err() != nil:
		return nil, malformed("line %d: malformed action: %v", number, r.Err())
	case !found:
		return nil, malformed("line %d: malformed action: it is empty", number)
	case len(name) == 0:
		return nil, malformed("line %d: neither the action nor the path names an index", number)
	}
	return d.set.Table(name)
}
