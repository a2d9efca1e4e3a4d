package datadog

import (
	"bytes"
	"slices"
	"strconv"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/flatten"
	"varve/server/entries"
)

// The tags of logs.
var tags = []string{"ddsource", "hostname", "service"}

// decoder makes entries of logs.
type decoder struct {
	table    *entries.Table
	ddtags   []byte // of the query
	defaults [3][]byte
	now      int64

	r     jsontext.Reader
	pairs []pair
}

type pair struct{ key, value []byte }

func malformed(format string, args ...any) error {
	return status.New(status.InvalidArguments, format, args...)
}

// read takes logs: an object, or objects in an array or one behind the other.
func (d *decoder) read(body []byte) error {
	r := &d.r
	r.Reset(body)
	for r.Past(",[]") {
		r.Forget()
		if r.Peek() != jsontext.Object {
			return malformed("log %d is %s, an object is wanted", d.table.Len()+1, r.Peek())
		}
		if err := d.table.Make(d.log); err != nil {
			return err
		}
	}
	return nil
}

// lines takes logs that are lines of text.
func (d *decoder) lines(body []byte) error {
	d.pairs = appendPairs(d.pairs[:0], d.ddtags)
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) == 0 {
			continue
		}
		err := d.table.Make(func(dst []byte) ([]byte, error) {
			dst = jsontext.AppendString(append(dst, `{"message":`...), line)
			return d.end(dst, d.now, d.defaults), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// log appends the entry of the log that follows: its members, but for its time, which becomes the time index, and its tags.
func (d *decoder) log(dst []byte) ([]byte, error) {
	r := &d.r
	at := len(dst)
	ns, known := d.now, d.defaults
	d.pairs = appendPairs(d.pairs[:0], d.ddtags)
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
				d.pairs = appendPairs(d.pairs, text)
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
	if r.Err() != nil {
		return dst, malformed("log %d is no JSON object: %v", d.table.Len()+1, r.Err())
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

// end appends what all entries have.
func (d *decoder) end(dst []byte, ns int64, known [3][]byte) []byte {
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

// appendPairs appends the tags of a text such as env:prod,team:a. Of a key that comes again the values are joined.
func appendPairs(dst []pair, text []byte) []pair {
	for one := range bytes.SplitSeq(text, []byte{','}) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(one), []byte{':'})
		if len(key) == 0 || len(dst) == maxPairs {
			continue
		}
		if i := slices.IndexFunc(dst, func(p pair) bool { return bytes.Equal(p.key, key) }); i >= 0 {
			if !bytes.Equal(dst[i].value, value) {
				dst[i].value = slices.Concat(dst[i].value, []byte{','}, value)
			}
			continue
		}
		dst = append(dst, pair{key, value})
	}
	return dst
}
