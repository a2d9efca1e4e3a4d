package stage

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"varve/sqlexec/logql/syntax"
)

// logfmtStep makes labels of key=value pairs.
type logfmtStep struct {
	place     int // in Entry.state
	strict    bool
	keepEmpty bool
	want      wanted
	count     int // of wanted names; -1: the line is read to its end

	// With expressions: labels[i] takes the value of the key keys[i].
	named  bool
	keys   []string
	labels []int32
}

// logfmtKeys are the keys that a logfmt stage met, in the order they came.
type logfmtKeys struct {
	keys  []logfmtKey
	index map[string]int32 // position in keys
	next  int              // position in keys where the next key is expected
}

// logfmtKey is a key as it stands in lines and the labels that it gives.
type logfmtKey struct {
	raw  string
	num  int32   // -1: none
	also []int32 // further ones, of several expressions with one key
	seen uint32  // the line in which it was found last

	own, extra bool // the label is wanted under its own name, or under that with the suffix
}

// logfmt compiles a logfmt stage.
func (c *compiler) logfmt(s *syntax.Logfmt) (step, error) {
	w := c.wanted[c.at]
	step := &logfmtStep{place: c.scratch, strict: s.Strict, keepEmpty: s.KeepEmpty, want: w,
		count: parserNames(w), named: len(s.Extractions) > 0}
	for _, x := range s.Extractions {
		key, err := logfmtExpression(x.Expression)
		if err != nil {
			return nil, fmt.Errorf("cannot parse expression [%s]: %w", x.Expression, err)
		}
		if ofErrors(x.Name) {
			continue
		}
		step.keys = append(step.keys, key)
		step.labels = append(step.labels, c.number(x.Name))
	}
	if !w.all && len(w.names) == 0 {
		return nil, nil
	}
	c.scratch++
	return step, nil
}

// logfmtExpression reads the key that an expression names, in quotes or without.
func logfmtExpression(text string) (key string, err error) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		key, rest, _ := strings.Cut(quoted, `"`)
		if rest != "" {
			return "", fmt.Errorf("syntax error: unexpected %q", rest)
		}
		return key, nil
	}
	switch at := strings.IndexAny(text, " \t\"="); {
	case text == "":
		return "", errors.New("it is no key")
	case at < 0:
		return text, nil
	case text[at] == ' ' || text[at] == '\t':
		return "", errors.New("syntax error: unexpected KEY")
	default:
		return "", fmt.Errorf("syntax error: unexpected %q", text[at:])
	}
}

func (s *logfmtStep) newState(*Entry) any { return &logfmtKeys{index: map[string]int32{}} }

func (s *logfmtStep) run(e *Entry) bool {
	k := e.state[s.place].(*logfmtKeys)
	if len(k.keys) > maxKeys {
		*k = logfmtKeys{index: map[string]int32{}}
	}
	k.next = 0
	for _, n := range s.labels {
		if e.find(n) == nil && len(e.Labels) < maxLabels {
			e.add(n, nil, Parsed)
		}
	}
	text, found := e.Line, 0
	for at := 0; at < len(text); {
		if text[at] <= ' ' {
			at++
			continue
		}
		p := scanPair(text, at)
		at = p.next
		if p.wrong != "" {
			if s.strict {
				e.fail(ErrLogfmt, fmt.Sprintf("logfmt syntax error at pos %d : %s", p.wrongAt+1, p.wrong))
				return true
			}
			continue
		}
		if len(p.value) == 0 && !s.keepEmpty && !s.named {
			continue
		}
		key := k.key(e, s, p.key)
		if key.num < 0 || key.seen == e.now {
			continue
		}
		key.seen = e.now
		switch kept := s.keep(e, key, &p); {
		case kept == keptTooMany:
			e.fail(ErrLogfmt, errLabels.Error())
			return true
		case kept == keptOwn && key.own || kept == keptExtra && key.extra:
			if found++; found == s.count {
				return true
			}
		}
	}
	return true
}

// keep keeps the labels of a pair.
func (s *logfmtStep) keep(e *Entry, key *logfmtKey, p *pair) outcome {
	value := p.value
	if p.escaped || !plain(value) {
		begin := len(e.buf)
		e.appendText(value, p.escaped, logfmtEscape)
		value = e.buf[begin:len(e.buf):len(e.buf)]
	}
	if !s.named {
		return e.extract(key.num, value)
	}
	if !e.overwrite(key.num, value) {
		return keptTooMany
	}
	for _, n := range key.also {
		if !e.overwrite(n, value) {
			return keptTooMany
		}
	}
	return keptBefore
}

// pair is a key and its value, or what is wrong with it.
type pair struct {
	key, value []byte
	escaped    bool // value has escapes
	next       int  // position behind the pair
	wrong      string
	wrongAt    int
}

// scanPair reads the pair that begins at a position. It is skipped up to the next blank if it is not well formed. The
// next pair may follow a quote without a blank.
func scanPair(text []byte, at int) pair {
	begin := at
	for at < len(text) && text[at] > ' ' && text[at] != '=' && text[at] != '"' {
		at++
	}
	p := pair{key: text[begin:at], next: at}
	switch {
	case at < len(text) && (text[at] == '"' || text[at] == '=' && at == begin):
		return p.skip(text, at, "unexpected '"+string(rune(text[at]))+"'")
	case !plain(p.key):
		return p.skip(text, at, "invalid key")
	case at == len(text) || text[at] <= ' ':
		return p
	}
	at++
	if at < len(text) && text[at] == '"' {
		end, escaped := jsonString(text, at+1)
		if end < 0 {
			p.next = len(text)
			p.wrong, p.wrongAt = "unterminated quoted value", len(text)
			return p
		}
		p.value, p.escaped, p.next = text[at+1:end], escaped, end+1
		if escaped && !logfmtEscapes(p.value) {
			return p.skip(text, p.next, "invalid quoted value")
		}
		return p
	}
	begin = at
	for at < len(text) && text[at] > ' ' {
		if text[at] == '=' || text[at] == '"' {
			return p.skip(text, at, "unexpected '"+string(rune(text[at]))+"'")
		}
		at++
	}
	p.value, p.next = text[begin:at], at
	return p
}

// logfmtEscapes reports whether all escapes of a text are those of logfmt.
func logfmtEscapes(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return true
		}
		_, n := logfmtEscape(text[at:])
		if n == 0 {
			return false
		}
		text = text[at+n:]
	}
}

// logfmtEscape reads the escape that a text begins with: that of JSON, \' or half of a pair, which is the replacement
// character. n is its length; 0: it is none.
func logfmtEscape(text []byte) (r rune, n int) {
	switch r, n := jsonEscape(text); {
	case n > 0:
		return r, n
	case len(text) > 1 && text[1] == '\'':
		return '\'', 2
	case jsonHex(text) >= 0:
		return utf8.RuneError, 6
	}
	return 0, 0
}

// skip makes a pair a wrong one, which ends at the next blank.
func (p pair) skip(text []byte, at int, wrong string) pair {
	p.wrong, p.wrongAt = wrong, at
	for at < len(text) && text[at] > ' ' {
		at++
	}
	p.next = at
	return p
}

// key returns what a key gives.
func (k *logfmtKeys) key(e *Entry, s *logfmtStep, raw []byte) *logfmtKey {
	if k.next < len(k.keys) && k.keys[k.next].raw == string(raw) {
		k.next++
		return &k.keys[k.next-1]
	}
	if at, ok := k.index[string(raw)]; ok {
		k.next = int(at) + 1
		return &k.keys[at]
	}
	key := logfmtKey{raw: string(raw), num: -1}
	name := appendName(nil, raw)
	switch text := string(name); {
	case s.named:
		for i, x := range s.keys {
			if x != key.raw && x != text {
				continue
			}
			if key.num < 0 {
				key.num = s.labels[i]
			} else {
				key.also = append(key.also, s.labels[i])
			}
		}
	case s.want.parses(text):
		key.num = e.number(name)
		key.own, key.extra = s.want.has(text), s.want.has(text+suffix)
	}
	k.index[key.raw] = int32(len(k.keys))
	k.keys = append(k.keys, key)
	k.next = len(k.keys)
	return &k.keys[k.next-1]
}
