package gen

import (
	"bytes"
	"strconv"
)

// lines are the access entries as a shipper reads them from files: the text of each with its time and the labels of its
// file.
type lines struct {
	access *access
}

// fileRows is the number of rows that come from one file before the next one.
const fileRows = 1000

// appendJSON appends row i: {"ts":ns,"line":"text","app":"web","host":"host-7"}. See PushBody, which takes it apart.
func (l *lines) appendJSON(dst []byte, i int64) []byte {
	at := len(dst)
	dst = l.access.appendCombined(dst, i)
	text := bytes.TrimSuffix(bytes.Clone(dst[at:]), []byte{'\n'})
	var r random
	dst = append(dst[:at], `{"ts":`...)
	dst = strconv.AppendInt(dst, l.access.clock.micros(i, &r)*1000, 10)
	dst = append(dst, lineKey...)
	dst = append(dst, bytes.ReplaceAll(text, []byte{'"'}, []byte(`\"`))...)
	dst = append(dst, labelKey...)
	dst = strconv.AppendInt(dst, i/fileRows%50, 10)
	return append(dst, "\"}\n"...)
}

const (
	lineKey  = `,"line":"`
	labelKey = `","app":"web","host":"host-`
)

// PushBody appends rows of lines as a document of log push: a stream for each run of rows of one file.
func PushBody(dst, rows []byte) []byte {
	dst = append(dst, `{"streams":[`...)
	var file []byte
	for row := range bytes.Lines(rows) {
		moment, rest, _ := bytes.Cut(row[len(`{"ts":`):], []byte(lineKey))
		line, host, _ := bytes.Cut(rest, []byte(labelKey))
		switch {
		case file == nil:
			dst = appendStream(dst, host)
		case !bytes.Equal(file, host):
			dst = appendStream(append(dst, "]},"...), host)
		default:
			dst = append(dst, ',')
		}
		file = host
		dst = append(append(append(dst, `["`...), moment...), `","`...)
		dst = append(append(dst, line...), `"]`...)
	}
	if file != nil {
		dst = append(dst, "]}"...)
	}
	return append(dst, "]}"...)
}

func appendStream(dst, host []byte) []byte {
	dst = append(dst, `{"stream":{"app":"web","host":"host-`...)
	return append(append(dst, bytes.TrimRight(host, "}\n")...), `},"values":[`...)
}

// BulkBody appends rows as documents of a bulk request whose path names the table.
func BulkBody(dst, rows []byte) []byte {
	for row := range bytes.Lines(rows) {
		dst = append(append(dst, "{\"create\":{}}\n"...), row...)
	}
	return dst
}
