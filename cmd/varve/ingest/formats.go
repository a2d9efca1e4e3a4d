package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"varve/cmd/varve/client"
)

// format is a way in which entries are written, and how they are sent.
type format struct {
	name, title string
	path        string // of the server
	contentType string
	namesTables bool // the entries say which tables they go to
	newCutter   func(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error)
	before      string // the body is the entries between these, with commas instead of the ends of lines
	after       string
}

// formatNames are all, for messages.
const formatNames = "ndjson, json, text, csv, parquet, arrow, lineproto, jsonput, logpush or insert"

var formats = map[string]*format{
	"ndjson": {name: "ndjson", title: "JSON lines", path: "/v1/ingest", contentType: "application/x-ndjson",
		newCutter: newLineCutter},
	"json": {name: "json", title: "JSON", path: "/v1/ingest", contentType: "application/x-ndjson",
		newCutter: newJSONCutter},
	"text": {name: "text", title: "text lines", path: "/v1/ingest", contentType: "text/plain",
		newCutter: newLineCutter},
	"csv": {name: "csv", title: "CSV", path: "/v1/ingest", contentType: "application/x-ndjson",
		newCutter: newCSVCutter},
	"lineproto": {name: "lineproto", title: "line protocol", path: "/v1/lineproto/write", contentType: "text/plain",
		namesTables: true, newCutter: newProtocolCutter},
	"jsonput": {name: "jsonput", title: "JSON put", path: "/v1/jsonput/api/put", contentType: "application/json",
		namesTables: true, newCutter: newJSONCutter, before: "[", after: "]"},
	"logpush": {name: "logpush", title: "log push", path: "/v1/logpush/api/v1/push", contentType: "application/json",
		newCutter: newStreamsCutter, before: `{"streams":[`, after: "]}"},
	parquetRows: {name: parquetRows, title: "JSON lines", path: "/v1/ingest", contentType: "application/x-ndjson",
		newCutter: newLineCutter},
	arrowRows: {name: arrowRows, title: "JSON lines", path: "/v1/ingest", contentType: "application/x-ndjson",
		newCutter: newLineCutter},
	"insert": insert,
}

// insert is the format of rows that go to a table which is there, with all the types that only SQL can write.
var insert = &format{name: "insert", title: "exported rows", path: "/v1/sql",
	contentType: "application/x-www-form-urlencoded", newCutter: newLineCutter}

// choose sets the format of an input: the one asked for, or what its name and its beginning say.
func (in *input) choose(o *Options, src *source) error {
	if src.rows != "" {
		return in.chooseRows(o, src)
	}
	if err := client.FileKind(src.head, "varve ingest -"); err != nil {
		return err
	}
	switch {
	case o.Format == parquetRows || o.Format == arrowRows:
		return fmt.Errorf("it is not %s: leave out --format to detect the format", o.Format)
	case bytes.HasPrefix(src.head, []byte("\xff\xfe")), bytes.HasPrefix(src.head, []byte("\xfe\xff")):
		return errors.New("it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | varve ingest -")
	case len(src.head) > 262 && string(src.head[257:262]) == "ustar":
		return errors.New("it is a tar archive: tar -xOf FILE | varve ingest -")
	case in.format != nil:
		return nil
	case o.Format != "":
		in.format = formats[o.Format]
		return nil
	case bytes.IndexByte(src.head, 0) >= 0:
		return errors.New("it holds zero bytes, so it is not text; --format says what it is")
	}
	in.format = formats[guess(in.path, src.head)]
	if o.Time != "" && (in.format.namesTables || in.format.name == "text" || in.format.name == "logpush") {
		return fmt.Errorf("it was read as %s, which has no fields for --time; --format says what it is",
			in.format.title)
	}
	return nil
}

// guess finds the format of an input by its name and its beginning.
func guess(path string, head []byte) string {
	name := strings.ToLower(filepath.Base(path))
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	looked := guessByText(text)
	switch ext := filepath.Ext(name); {
	case (ext == ".ndjson" || ext == ".jsonl") && looked != "jsonput" && looked != "logpush":
		return "ndjson"
	case ext == ".json" && (looked == "text" || looked == "csv" || looked == "ndjson" && !json.Valid(firstLine(text))):
		return "json"
	case ext == ".csv":
		return "csv"
	case ext == ".lp":
		return "lineproto"
	case ext == ".txt" && looked == "csv":
		return "text"
	}
	return looked
}

var bom = []byte("\xef\xbb\xbf")

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, newline)
	return line
}

// guessByText finds a format by the beginning of the text, without blanks before it.
func guessByText(text []byte) string {
	if len(text) == 0 {
		return "text"
	}
	switch text[0] {
	case '{', '[':
		return guessJSON(text)
	}
	lines := wholeLines(text, 100)
	if all(lines, isLineProtocol) && !all(lines, isComment) {
		return "lineproto"
	}
	if isCSV(lines) {
		return "csv"
	}
	return "text"
}

// guessJSON tells what a text that begins like JSON is.
func guessJSON(text []byte) string {
	line := bytes.TrimSpace(firstLine(text))
	whole := json.Valid(line)
	if !whole && text[0] == '[' && isPlainText(line) {
		return "text" // [2026-11-21 10:00:00] a log
	}
	first := firstObject(text)
	switch {
	case looksLike(first, "metric", "timestamp", "value", "tags"):
		return "jsonput"
	case looksLike(first, "streams") && bytes.Contains(first, []byte(`"stream"`)):
		return "logpush"
	case whole && text[0] == '{':
		return "ndjson"
	}
	return "json"
}

// isPlainText reports whether a line in brackets is no JSON, however it goes on.
func isPlainText(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	for {
		if _, err := d.Token(); err != nil {
			var bad *json.SyntaxError
			return errors.As(err, &bad)
		}
	}
}

// firstObject is the text from the first brace to where its object ends, or to the end.
func firstObject(text []byte) []byte {
	begin := bytes.IndexByte(text, '{')
	if begin < 0 {
		return nil
	}
	var raw json.RawMessage
	if json.NewDecoder(bytes.NewReader(text[begin:])).Decode(&raw) == nil {
		return raw
	}
	return text[begin:]
}

// looksLike reports whether an object has members, among its first ones where it is cut.
func looksLike(object []byte, members ...string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) == nil {
		for _, name := range members {
			if m[name] == nil {
				return false
			}
		}
		return true
	}
	return len(members) == 1 && bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(object, []byte("{")), " \t\r\n"),
		[]byte(`"`+members[0]+`"`))
}

// wholeLines are the first lines that are not empty; the last of the text is left out unless it is the only one.
func wholeLines(text []byte, most int) [][]byte {
	lines := bytes.Split(text, newline)
	if len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	var out [][]byte
	for _, l := range lines {
		if l = bytes.TrimRight(l, "\r"); len(l) > 0 && len(out) < most {
			out = append(out, l)
		}
	}
	return out
}

func all(lines [][]byte, ok func([]byte) bool) bool {
	for _, l := range lines {
		if !ok(l) {
			return false
		}
	}
	return true
}

// A line of the protocol, with a time: without one, too many logs look like it.
var lineProtocol = client.Pattern(`^([^\s,=]|\\.)+(,([^\s,=]|\\.)+=([^\s,=]|\\.)+)* ` +
	`([^\s,="]|\\.)+=(-?[0-9][-+.0-9eE]*[iu]?|"([^"\\]|\\.)*"|[tTfF]|true|false|True|False)` +
	`(,([^\s,="]|\\.)+=(-?[0-9][-+.0-9eE]*[iu]?|"([^"\\]|\\.)*"|[tTfF]|true|false|True|False))* -?[0-9]{9,19}$`)

func isLineProtocol(line []byte) bool { return isComment(line) || lineProtocol().Match(line) }

func isComment(line []byte) bool { return line[0] == '#' }

// A head line of CSV holds names.
var headLine = client.Pattern(`^"?[A-Za-z_@][\w .@/-]{0,60}"?(,"?[A-Za-z_@][\w .@/-]{0,60}"?)+$`)

// isCSV reports whether lines have a head and as many cells each as it.
func isCSV(lines [][]byte) bool {
	if len(lines) < 2 || !headLine().Match(lines[0]) {
		return false
	}
	cells := bytes.Count(lines[0], []byte(","))
	return all(lines[1:], func(l []byte) bool {
		if bytes.IndexByte(l, '"') >= 0 {
			return bytes.Count(l, []byte(",")) >= cells
		}
		return bytes.Count(l, []byte(",")) == cells
	})
}
