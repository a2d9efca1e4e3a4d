package datadog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/flatten"
	"varve/server/write/rows/entries"
)

// The tags of logs.
var tags = []string{"ddsource", "hostname", "service"}

// decoder makes entries of logs.
type decoder struct {
	table    *entries.Table
	ddtags   []byte    // of the query
	defaults [3][]byte // values of tags, from the query
	now      int64     // the time of the next log that has none

	r     jsontext.Reader
	body  []byte // that r reads
	from  int    // where the log in hand begins there
	pairs []pair
	place map[string]int // of the pairs, by key, where there are many

	count  int
	logs   []int32 // the numbers of the logs that are entries
	failed []failure
}

// pair is a tag. Values of a key that came again are joined, in memory of its own.
type pair struct {
	key, value []byte
	own        bool
}

func malformed(format string, args ...any) error {
	return status.New(status.InvalidArguments, format, args...)
}

// read takes logs: an object, or objects in an array or one behind the other.
func (d *decoder) read(body []byte) error {
	r := &d.r
	base := 0 // where d.body begins
	d.body = body
	r.Reset(body)
	for r.Past(",[]") {
		r.Forget()
		d.count++
		d.from = r.Offset()
		from := base + d.from
		var fault error
		if r.Peek() == jsontext.Object {
			err := d.table.Make(d.log)
			if fault = r.Err(); err == errUTF8 {
				fault = err
			} else if fault == nil && err != nil {
				return err
			}
		} else {
			fault = fmt.Errorf("it is %s, expected an object", r.Peek())
		}
		if fault == nil {
			d.logs = append(d.logs, int32(d.count))
			continue
		}
		d.failed = append(d.failed, failure{d.count, malformed("log %d is not a JSON object: %v", d.count, fault)})
		if base = jsontext.Next(body, from); base < 0 {
			break // nobody knows where the next log begins
		}
		d.body = body[base:]
		r.Reset(d.body)
	}
	if text := bytes.TrimSpace(body); base >= 0 && len(text) > 0 && text[0] == '[' && text[len(text)-1] != ']' {
		d.failed = append(d.failed,
			failure{d.count + 1, malformed("the body ends before the ] of its logs: it is cut")})
	}
	return nil
}

var errUTF8 = malformed("it is not valid UTF-8")

// lines takes logs that are lines of text.
func (d *decoder) lines(body []byte) error {
	d.beginPairs()
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) == 0 {
			continue
		}
		d.count++
		if !utf8.Valid(line) {
			d.failed = append(d.failed, failure{d.count, errUTF8})
			continue
		}
		err := d.table.Make(func(dst []byte) ([]byte, error) {
			dst = jsontext.AppendString(append(dst, `{"message":`...), line)
			return d.end(dst, d.now, d.defaults), nil
		})
		if err != nil {
			return err
		}
		d.logs = append(d.logs, int32(d.count))
	}
	return nil
}

// log appends the entry of the log that follows: its members, but for its time, which becomes the time index, and its
// tags.
func (d *decoder) log(dst []byte) ([]byte, error) {
	r := &d.r
	at := len(dst)
	ns, known := d.now, d.defaults
	d.beginPairs()
	for r.Enter(jsontext.Object); r.Member(); {
		key := string(r.Key)
		if i := slices.Index(tags, key); i >= 0 {
			if text, ok := r.Plain(); ok {
				known[i] = text
			}
			continue
		}
		switch key {
		case "ddtags":
			if text, ok := r.Plain(); ok {
				d.addPairs(text)
			}
			continue
		case "timestamp", "date":
			value := r.Raw()
			var in jsontext.Reader
			in.Reset(value)
			text, _ := in.Plain()
			if x, ok := entries.Time(text); ok {
				ns = x
				continue
			}
			dst = entries.AppendAsText(member(dst, at, key), value)
			continue
		case "message":
			dst = entries.AppendAsText(member(dst, at, key), r.Raw())
			continue
		}
		dst = entries.AppendRaw(member(dst, at, key), r.Raw())
	}
	switch {
	case r.Err() != nil:
		return dst, r.Err()
	case !utf8.Valid(d.body[d.from:r.Offset()]):
		return dst, errUTF8
	}
	if len(dst) == at {
		dst = append(dst, '{')
	}
	return d.end(dst, ns, known), nil
}

// member begins a member of the object at a place.
func member(dst []byte, at int, key string) []byte {
	if len(dst) == at {
		dst = append(dst, '{')
	} else {
		dst = append(dst, ',')
	}
	return append(jsontext.AppendString(dst, key), ':')
}

// end appends the members that all entries have: tags, and the time index.
func (d *decoder) end(dst []byte, ns int64, known [3][]byte) []byte {
	if ns == d.now {
		d.now++
	}
	next := func(name string) {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendString(dst, name), ':')
	}
	for i, value := range known {
		if value != nil {
			next(tags[i])
			dst = jsontext.AppendString(dst, value)
		}
	}
	for _, p := range d.pairs {
		next("ddtags." + string(p.key))
		dst = jsontext.AppendString(dst, p.value)
	}
	next(flatten.DefaultTimeColumn)
	return append(strconv.AppendInt(dst, ns, 10), '}')
}

// maxPairs bounds the tags of a log; further ones are left out.
const maxPairs = 256

// maxJoined bounds the values of a key that comes again; further ones are left out.
const maxJoined = 64 << 10

// beginPairs begins the tags of a log with those of the query.
func (d *decoder) beginPairs() {
	d.pairs = d.pairs[:0]
	d.addPairs(d.ddtags)
}

// addPairs adds the tags of a text such as env:prod,team:a. Of a key that comes again the values are joined.
func (d *decoder) addPairs(text []byte) {
	for one := range bytes.SplitSeq(text, []byte{','}) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(one), []byte{':'})
		if len(key) == 0 {
			continue
		}
		i := d.pairOf(key)
		switch {
		case i >= 0:
			d.pairs[i].join(value)
		case len(d.pairs) < maxPairs:
			d.pairs = append(d.pairs, pair{key: key, value: value})
			if d.place != nil {
				d.place[string(key)] = len(d.pairs) - 1
			}
		}
	}
}

// fewPairs is the number of pairs up to which looking at each is faster than a map.
const fewPairs = 8

// pairOf is the place of the pair of a key; -1: there is none yet.
func (d *decoder) pairOf(key []byte) int {
	if len(d.pairs) <= fewPairs {
		d.place = nil
		return slices.IndexFunc(d.pairs, func(p pair) bool { return bytes.Equal(p.key, key) })
	}
	if d.place == nil {
		d.place = make(map[string]int, 2*len(d.pairs))
		for i, p := range d.pairs {
			d.place[string(p.key)] = i
		}
	}
	if i, ok := d.place[string(key)]; ok {
		return i
	}
	return -1
}

// join adds a value of the key.
func (p *pair) join(value []byte) {
	if bytes.Equal(p.value, value) || len(p.value)+len(value) > maxJoined {
		return
	}
	if !p.own {
		p.value, p.own = bytes.Clone(p.value), true
	}
	p.value = append(append(p.value, ','), value...)
}
