package expr

import (
	"bytes"
	"encoding/json"
	"iter"

	"varve/engine/jsontext"
	"varve/engine/vector"
)

// Lists are JSON arrays in memory.

// listItems returns the elements of a JSON list, as parts of it, with their positions from 0. A text that is not an
// array has none.
func listItems(list []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		at := bytes.IndexByte(list, '[')
		if at < 0 || len(bytes.Trim(list[:at], " \n\r\t")) > 0 {
			return
		}
		for k := 0; at < len(list) && list[at] != ']'; k++ {
			from := at + 1
			if at = elementEnd(list, from); at == len(list) {
				return
			}
			m := bytes.Trim(list[from:at], " \n\r\t")
			if len(m) == 0 || !yield(k, m) { // the empty list has one element of no text
				return
			}
		}
	}
}

// elementEnd returns the position of the comma or bracket after the element that begins at i; len(list) if there is
// none.
func elementEnd(list []byte, i int) int {
	depth := 0
	for ; i < len(list); i++ {
		switch list[i] {
		case '"':
			for i++; i < len(list) && list[i] != '"'; i++ {
				if list[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ',':
			if depth == 0 {
				return i
			}
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(list)
}

// ItemCount is the number of elements of a list.
func ItemCount(list []byte) (n int) {
	for range listItems(list) {
		n++
	}
	return n
}

// itemAt returns the element at a position from 0, or from the end if negative; ok reports whether it exists.
func itemAt(list []byte, place int64) (item json.RawMessage, ok bool) {
	if place < 0 {
		place += int64(ItemCount(list))
	}
	if place < 0 {
		return nil, false
	}
	for k, m := range listItems(list) {
		if int64(k) == place {
			return m, true
		}
	}
	return nil, false
}

// indexOf returns the position of an element from 0; -1 if it does not occur.
func indexOf(list, item []byte) int {
	for k, m := range listItems(list) {
		if bytes.Equal(m, item) {
			return k
		}
	}
	return -1
}

// itemText returns the value of an element that is a text, else the element as written.
func itemText(m []byte) []byte {
	if text, ok := jsontext.Unquote(m); ok {
		return text
	}
	return m
}

// appendElement appends an element of a list to v, which is of the element's type and has n rows.
func appendElement(v *vector.Vector, n int, m []byte) {
	if !appendFromJSON(v, v.Type, n, m) {
		v.AppendNulls(n, 1)
	} else if v.Valid != nil {
		v.Valid = v.Valid.With(n)
	}
}

// AppendElements appends the elements of a list to v, which has the element's type and n rows, and returns their
// number.
func AppendElements(v *vector.Vector, n int, list []byte) (count int) {
	for k, m := range listItems(list) {
		appendElement(v, n+k, m)
		count++
	}
	return count
}
