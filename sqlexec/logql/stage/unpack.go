package stage

import "errors"

// entryKey is the key of a packed line whose value is the line as it was.
const entryKey = "_entry"

// errUnpack says that a line is no object.
var errUnpack = errors.New("expecting json object(6), but it is not")

// unpackStep makes labels of the strings of an object and takes its key _entry as the line. An object without this key
// gives no labels.
type unpackStep struct{}

func (s unpackStep) run(e *Entry) bool {
	if len(e.Line) == 0 {
		return true
	}
	entry, packed, err := s.scan(e, false)
	if err != nil {
		e.fail(ErrJSON, err.Error())
		return true
	}
	if packed {
		if _, _, err := s.scan(e, true); err != nil {
			e.fail(ErrJSON, err.Error())
			return true
		}
		e.Line = entry
	}
	return true
}

// scan walks over the keys of the line. It returns the value of _entry, and keeps the labels if it is asked to.
func (s unpackStep) scan(e *Entry, keep bool) (entry []byte, packed bool, err error) {
	text := e.Line
	at := jsonBlank(text, 0)
	if at == len(text) || text[at] != '{' {
		return nil, false, errUnpack
	}
	at = jsonBlank(text, at+1)
	var name [128]byte
	for {
		if at < len(text) && text[at] == '}' {
			return entry, packed, nil
		}
		if at >= len(text) || text[at] != '"' {
			return nil, false, errObject
		}
		end, escapedKey := jsonString(text, at+1)
		if end < 0 {
			return nil, false, errString
		}
		key := text[at+1 : end]
		if at = jsonBlank(text, end+1); at >= len(text) || text[at] != ':' {
			return nil, false, errMalformed
		}
		value, kind, escaped, next, err := jsonValue(text, jsonBlank(text, at+1))
		if err != nil {
			return nil, false, err
		}
		if kind == jsonText {
			if string(key) == entryKey {
				packed = true
				if !keep {
					entry = e.unescape(value, escaped)
				}
			} else if keep {
				label := appendName(name[:0], e.unescape(key, escapedKey))
				if (wanted{all: true}).parses(string(label)) &&
					e.extract(e.number(label), e.unescape(value, escaped)) == keptTooMany {
					return nil, false, errLabels
				}
			}
		}
		if at = jsonBlank(text, next); at < len(text) && text[at] == ',' {
			at = jsonBlank(text, at+1)
		} else if at >= len(text) || text[at] != '}' {
			return nil, false, errObject
		}
	}
}
