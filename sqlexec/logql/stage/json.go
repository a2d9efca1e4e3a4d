package stage

import (
	"errors"
	"slices"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// maxKeys bounds the keys that a JSON stage remembers. Beyond it the stage forgets them all.
const maxKeys = 8 << 10

// jsonStep makes labels of all values of an object, objects in it flattened. Arrays and null are left out.
type jsonStep struct {
	place  int // in Entry.state
	all    bool
	wanted []string // without all: names of labels, sorted
	count  int      // of wanted; -1: the line is read to its end
}

// jsonKeys are the keys that a JSON stage met, as a tree. Lines of one source have the same keys in the same order, so
// that each key is looked for first behind the one before it.
type jsonKeys struct {
	root  *jsonKey
	count int
	found int // wanted labels of the line
	name  []byte
}

// jsonKey is a key below others.
type jsonKey struct {
	raw    string // as it stands in the line, with its escapes
	name   string // of the label: the names of keys above and this one, joined by "_"
	num    int32  // of the label; -1: it is not wanted
	inside bool   // labels below the key may be wanted
	own    bool   // the label is wanted under its own name
	extra  bool   // the label is wanted under the name with the suffix
	subs   []*jsonKey
	next   int                 // position in subs where the next key is expected
	index  map[string]*jsonKey // of subs, if they are many
}

// fewSubs is the number of keys that are looked through one by one.
const fewSubs = 8

// json compiles a json stage without expressions.
func (c *compiler) json() (step, error) {
	w := c.wanted[c.at]
	if !w.all && len(w.names) == 0 {
		return nil, nil
	}
	s := &jsonStep{place: c.scratch, all: w.all, wanted: w.names, count: parserNames(w)}
	c.scratch++
	return s, nil
}

// parserNames is the number of labels behind which a parser may stop; -1: it has to read all of the line, since all
// labels, or its errors, are wanted.
func parserNames(w wanted) int {
	if w.all || w.has(syntax.LabelError) || w.has(syntax.LabelErrorDetails) {
		return -1
	}
	return len(w.names)
}

func (s *jsonStep) newState(*Entry) any { return &jsonKeys{root: &jsonKey{inside: true, num: -1}} }

func (s *jsonStep) run(e *Entry) bool {
	k := e.state[s.place].(*jsonKeys)
	if k.count > maxKeys {
		*k = jsonKeys{root: &jsonKey{inside: true, num: -1}, name: k.name}
	}
	k.found = 0
	if _, err := s.object(e, k, k.root, jsonBlank(e.Line, 0), 0); err != nil && err != errEnough {
		e.fail(ErrJSON, err.Error())
	}
	return true
}

// errEnough ends the reading of a line of which nothing more is wanted.
var errEnough = errors.New("enough")

// object makes labels of the values of the object that begins at a position, and returns the position behind it.
func (s *jsonStep) object(e *Entry, k *jsonKeys, above *jsonKey, at, level int) (int, error) {
	text := e.Line
	if at >= len(text) || text[at] != '{' {
		return at, errObject
	}
	if level == maxNesting {
		return at, errNesting
	}
	above.next = 0
	at = jsonBlank(text, at+1)
	for {
		if at < len(text) && text[at] == '}' {
			return at + 1, nil
		}
		if at >= len(text) || text[at] != '"' {
			return at, errObject
		}
		key, end := above.expected(text, at+1)
		if key == nil {
			var escaped bool
			if end, escaped = jsonString(text, at+1); end < 0 {
				return at, errString
			}
			key = k.sub(e, s, above, text[at+1:end], escaped)
		}
		at = jsonBlank(text, end+1)
		if at >= len(text) || text[at] != ':' {
			return at, errMalformed
		}
		var err error
		if at, err = s.value(e, k, key, jsonBlank(text, at+1), level); err != nil {
			return at, err
		}
		at = jsonBlank(text, at)
		switch {
		case at < len(text) && text[at] == ',':
			at = jsonBlank(text, at+1)
		case at >= len(text) || text[at] != '}':
			return at, errObject
		}
	}
}

// value makes labels of the value of a key and returns the position behind it.
func (s *jsonStep) value(e *Entry, k *jsonKeys, key *jsonKey, at, level int) (int, error) {
	if at < len(e.Line) && e.Line[at] == '{' && key.inside {
		before := len(e.Labels)
		next, err := s.object(e, k, key, at, level+1)
		if err != nil && err != errEnough && level == 0 && jsonBlock(e.Line, at) < 0 {
			e.truncate(before) // an object that is cut off gives no labels
			err = errObject
		}
		return next, err
	}
	if key.num < 0 && at < len(e.Line) && e.Line[at] == '"' { // nobody wants it
		end := jsonTextEnd(e.Line, at+1)
		if end < 0 {
			return at, errString
		}
		return end + 1, nil
	}
	value, kind, escaped, next, err := jsonValue(e.Line, at)
	if err != nil {
		return at, err
	}
	if key.num < 0 || kind != jsonText && kind != jsonPlain {
		return next, nil
	}
	if kind == jsonText {
		value = e.unescape(value, escaped)
	}
	kept := e.extract(key.num, value)
	if kept == keptTooMany {
		return at, errLabels
	}
	if kept == keptOwn && key.own || kept == keptExtra && key.extra {
		if k.found++; k.found == s.count {
			return next, errEnough
		}
	}
	return next, nil
}

// expected returns the key that the line before had at this place, and the position of the quote behind it; nil: the
// content of the string that begins at a position is another.
func (above *jsonKey) expected(text []byte, at int) (key *jsonKey, end int) {
	if above.next >= len(above.subs) {
		return nil, 0
	}
	key = above.subs[above.next]
	end = at + len(key.raw)
	if end >= len(text) || text[end] != '"' || string(text[at:end]) != key.raw {
		return nil, 0
	}
	above.next++
	return key, end
}

// sub returns the key of a text below another.
func (k *jsonKeys) sub(e *Entry, s *jsonStep, above *jsonKey, raw []byte, escaped bool) *jsonKey {
	if i := above.next; i < len(above.subs) && above.subs[i].raw == string(raw) {
		above.next = i + 1
		return above.subs[i]
	}
	if above.index != nil {
		if key := above.index[string(raw)]; key != nil {
			return key
		}
	} else {
		for i, key := range above.subs {
			if key.raw == string(raw) {
				above.next = i + 1
				return key
			}
		}
	}
	return k.learn(e, s, above, raw, escaped)
}

// learn adds a key.
func (k *jsonKeys) learn(e *Entry, s *jsonStep, above *jsonKey, raw []byte, escaped bool) *jsonKey {
	k.count++
	key := &jsonKey{raw: string(raw), num: -1, inside: s.all}
	text := raw
	if escaped {
		text = e.unescape(raw, true)
	}
	k.name = append(k.name[:0], above.name...)
	if above.name != "" {
		k.name = append(k.name, '_')
	}
	k.name = appendName(k.name, text)
	key.name = string(k.name)
	if (wanted{s.all, s.wanted}).parses(key.name) {
		key.num = e.number(k.name)
		key.own, key.extra = (wanted{names: s.wanted}).has(key.name), (wanted{names: s.wanted}).has(key.name+suffix)
	}
	if !s.all {
		prefix := key.name + "_"
		at, _ := slices.BinarySearch(s.wanted, prefix)
		key.inside = at < len(s.wanted) && strings.HasPrefix(s.wanted[at], prefix) || key.name == ""
	}
	above.subs = append(above.subs, key)
	above.next = len(above.subs)
	if len(above.subs) > fewSubs {
		if above.index == nil {
			above.index = map[string]*jsonKey{}
			for _, sub := range above.subs {
				above.index[sub.raw] = sub
			}
		}
		above.index[key.raw] = key
	}
	return key
}

// has reports whether a name is wanted.
func (w wanted) has(name string) bool {
	_, ok := slices.BinarySearch(w.names, name)
	return ok
}

// parses reports whether a parser should give a name: it is wanted, or what it becomes if it is taken. Parsers do not
// give the labels of errors.
func (w wanted) parses(name string) bool {
	return name != "" && !ofErrors(name) && (w.all || w.has(name) || w.has(name+suffix))
}

// ofErrors reports whether a name is that of a label of errors.
func ofErrors(name string) bool { return name == syntax.LabelError || name == syntax.LabelErrorDetails }
