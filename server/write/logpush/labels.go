package logpush

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"varve/engine/status"
)

// maxPairs bounds the labels of a stream and the metadata of a line: two bytes of a message can make a pair, which
// takes 48 bytes in memory.
const maxPairs = 16_384

// errPairs refuses a request with more than maxPairs.
var errPairs = status.New(status.InvalidArguments,
	"a stream has more than %d labels, or a line more pairs of metadata: send fewer", maxPairs)

// label is a label of a stream, or a pair of the metadata of a line.
type label struct{ name, value []byte }

// sortLabels sorts labels by name. If names are equal, the last label stays.
func sortLabels(list []label) []label {
	slices.SortStableFunc(list, func(a, b label) int { return bytes.Compare(a.name, b.name) })
	n := 0
	for i := range list {
		if i+1 < len(list) && bytes.Equal(list[i].name, list[i+1].name) {
			continue
		}
		list[n] = list[i]
		n++
	}
	return list[:n]
}

var errLabels = errors.New(`labels are written {name="value", ...}`)

// appendLabels appends the labels of a text such as {a="b", c="d"}, whose values are quoted as in Go.
func appendLabels(dst []label, text []byte) ([]label, error) {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return dst, errLabels
	}
	for text = text[1 : len(text)-1]; ; {
		if text = bytes.TrimLeft(text, " \t"); len(text) == 0 {
			return dst, nil
		}
		name, rest, ok := bytes.Cut(text, []byte{'='})
		if name = bytes.TrimSpace(name); !ok || len(name) == 0 {
			return dst, errLabels
		}
		value, rest, err := quoted(bytes.TrimLeft(rest, " \t"))
		if err != nil {
			return dst, err
		}
		if len(dst) == maxPairs {
			return dst, errPairs
		}
		dst = append(dst, label{name, value})
		if text = bytes.TrimLeft(rest, " \t"); len(text) == 0 {
			return dst, nil
		}
		if text[0] != ',' {
			return dst, errLabels
		}
		text = text[1:]
	}
}

// quoted takes a quoted string from the front of a text.
func quoted(text []byte) (value, rest []byte, err error) {
	if len(text) == 0 || text[0] != '"' && text[0] != '`' {
		return nil, nil, errLabels
	}
	if end := 1 + bytes.IndexByte(text[1:], text[0]); end > 0 &&
		(text[0] == '`' || bytes.IndexByte(text[:end], '\\') < 0) {
		return text[1:end], text[end+1:], nil
	}
	prefix, err := strconv.QuotedPrefix(string(text))
	if err != nil {
		return nil, nil, errLabels
	}
	plain, err := strconv.Unquote(prefix)
	if err != nil {
		return nil, nil, errLabels
	}
	return []byte(plain), text[len(prefix):], nil
}
