package kafka

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/pipeline"
	"varve/server/protowire"
	"varve/server/write/rows/entries"
)

// format is a way to read messages.
type format struct {
	name string
	// entries says that messages are entries of a pipeline, to which columns of the message can be added.
	entries bool
	// request is the request without its body.
	request func(c *Config, topic string, value []byte) *Request
	// check refuses a message that must not share a body with others.
	check func(value []byte) error
	// alone says that the message needs a body of its own.
	alone func(value []byte) bool
	// add appends a message to a body.
	add func(dst []byte, c *Config, r *kgo.Record) []byte
}

// forms are all formats.
var forms = []format{
	{name: "json", entries: true, request: ingest, check: checkText, alone: isArray, add: addJSON},
	{name: "ndjson", entries: true, request: ingest, check: checkText, alone: never, add: addLines},
	{name: "text", entries: true, request: ingest, check: checkText, alone: never, add: addText},
	{name: "lines", entries: true, request: ingest, check: checkText, alone: never, add: addTexts},
	{name: "line_protocol", request: lineProtocol, check: checkText, alone: openQuote, add: addRaw},
	{name: "otlp_logs", request: otlp("logs", "x-service-log-table-name"), check: checkOTLP, alone: isJSON,
		add: addMessage},
	{name: "otlp_metrics", request: otlp("metrics", ""), check: checkOTLP, alone: isJSON, add: addMessage},
	{name: "otlp_traces", request: otlp("traces", "x-service-trace-table-name"), check: checkOTLP, alone: isJSON,
		add: addMessage},
}

// Columns are the names of what a message can add to its entries.
var Columns = []string{"key", "headers", "topic", "partition", "offset", "timestamp"}

// TakesColumns reports whether a format makes entries, to which Columns can be added.
func TakesColumns(name string) bool { return formatOf(name).entries }

// formatOf finds a format; the configuration knows that there is one.
func formatOf(name string) *format {
	return &forms[slices.IndexFunc(forms, func(f format) bool { return f.name == name })]
}

// tableOf is the table for the messages of a topic.
func (c *Config) tableOf(topic string) string {
	switch {
	case c.Table != "":
		return c.Table
	case schema.CheckName("table", topic) == nil:
		return topic
	}
	return string(entries.LegalName([]byte(topic)))
}

func ingest(c *Config, topic string, value []byte) *Request {
	r := &Request{Path: "/v1/ingest", Headers: [][2]string{{"Content-Type", "application/x-ndjson"}},
		Query: [][2]string{{"db", c.DB}, {"table", c.tableOf(topic)}, {"pipeline_name", c.Pipeline}}}
	if isArray(value) {
		r.Headers[0][1] = "application/json"
	}
	if c.Pipeline == "" {
		r.Query[2][1] = pipeline.Identity
	}
	if c.TimeIndex != "" {
		r.Query = append(r.Query, [2]string{"custom_time_index", c.TimeIndex})
	}
	return r
}

func lineProtocol(c *Config, _ string, _ []byte) *Request {
	return &Request{Path: "/v1/lineproto/write", Query: [][2]string{{"db", c.DB}, {"precision", c.Precision}}}
}

// otlp makes requests of a signal; header names its table, empty: metrics name theirs.
func otlp(signal, header string) func(c *Config, topic string, value []byte) *Request {
	return func(c *Config, _ string, value []byte) *Request {
		kind := "application/x-protobuf"
		if isJSON(value) {
			kind = "application/json"
		}
		r := &Request{Path: "/v1/otlp/v1/" + signal,
			Headers: [][2]string{{"Content-Type", kind}, {"x-service-db-name", c.DB}}}
		if header != "" && c.Table != "" {
			r.Headers = append(r.Headers, [2]string{header, c.Table})
		}
		if c.Pipeline != "" {
			r.Headers = append(r.Headers, [2]string{"x-service-pipeline-name", c.Pipeline})
		}
		return r
	}
}

func never([]byte) bool { return false }

// isArray reports whether a message is an array of JSON.
func isArray(value []byte) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	return len(value) > 0 && value[0] == '['
}

// isJSON reports whether a message of OTLP is JSON. No message in protocol buffers begins so: the brace would be a
// group.
func isJSON(value []byte) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	return len(value) > 0 && value[0] == '{'
}

// openQuote reports whether a quoted text may go on behind the message.
func openQuote(value []byte) bool {
	quotes := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			quotes++
		}
	}
	return quotes%2 != 0
}

func checkText(value []byte) error {
	if !utf8.Valid(value) {
		return fmt.Errorf("the message is not valid UTF-8")
	}
	return nil
}

// checkOTLP refuses a message whose outermost fields do not end with it: in one body with others it would swallow some
// of theirs.
func checkOTLP(value []byte) error {
	if isJSON(value) {
		return checkText(value)
	}
	f := protowire.Of(value)
	for f.Next() { //nolint:revive // the fields are looked at by who decodes them
	}
	if err := f.Err(); err != nil {
		return fmt.Errorf("the message is no message of OTLP: %w", err)
	}
	return nil
}

func addRaw(dst []byte, _ *Config, r *kgo.Record) []byte {
	return append(append(dst, r.Value...), '\n')
}

func addMessage(dst []byte, _ *Config, r *kgo.Record) []byte { return append(dst, r.Value...) }

// addJSON appends a message as one line: line ends of JSON are blanks.
func addJSON(dst []byte, c *Config, r *kgo.Record) []byte {
	from := len(dst)
	dst = appendEntry(dst, c, r, bytes.TrimSpace(r.Value))
	for i := from; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' '
		}
	}
	return append(dst, '\n')
}

// addLines appends the lines of a message that have an object.
func addLines(dst []byte, c *Config, r *kgo.Record) []byte {
	for line := range bytes.SplitSeq(r.Value, []byte{'\n'}) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			dst = append(appendEntry(dst, c, r, line), '\n')
		}
	}
	return dst
}

// addText appends a message as an entry whose member message is the text.
func addText(dst []byte, c *Config, r *kgo.Record) []byte {
	return append(appendMessage(dst, c, r, string(bytes.TrimRight(r.Value, "\r\n"))), '\n')
}

// addTexts appends each line of a message as an entry.
func addTexts(dst []byte, c *Config, r *kgo.Record) []byte {
	for line := range bytes.SplitSeq(r.Value, []byte{'\n'}) {
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			dst = append(appendMessage(dst, c, r, string(line)), '\n')
		}
	}
	return dst
}

func appendMessage(dst []byte, c *Config, r *kgo.Record, text string) []byte {
	dst = c.appendColumns(append(dst, '{'), r)
	return append(jsontext.AppendString(append(dst, `"message":`...), text), '}')
}

// appendEntry appends an object with the columns of its message in front. Members of the object win.
func appendEntry(dst []byte, c *Config, r *kgo.Record, object []byte) []byte {
	if len(c.Columns) == 0 || len(object) == 0 || object[0] != '{' {
		return append(dst, object...)
	}
	dst = c.appendColumns(append(dst, '{'), r)
	rest := bytes.TrimLeft(object[1:], " \t\r\n")
	if len(rest) > 0 && rest[0] == '}' {
		dst = dst[:len(dst)-1] // the comma
	}
	return append(dst, rest...)
}

// appendColumns appends the columns of a message as members, each with a comma behind it.
func (c *Config) appendColumns(dst []byte, r *kgo.Record) []byte {
	for _, name := range c.Columns {
		switch name {
		case "key":
			if r.Key == nil {
				continue
			}
			dst = jsontext.AppendString(append(dst, `"kafka_key":`...), asText(r.Key))
		case "headers":
			dst = append(dst, `"kafka_headers":{`...)
			for i, h := range r.Headers {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = append(jsontext.AppendString(dst, asText([]byte(h.Key))), ':')
				dst = jsontext.AppendString(dst, asText(h.Value))
			}
			dst = append(dst, '}')
		case "topic":
			dst = jsontext.AppendString(append(dst, `"kafka_topic":`...), r.Topic)
		case "partition":
			dst = strconv.AppendInt(append(dst, `"kafka_partition":`...), int64(r.Partition), 10)
		case "offset":
			dst = strconv.AppendInt(append(dst, `"kafka_offset":`...), r.Offset, 10)
		case "timestamp":
			dst = strconv.AppendInt(append(dst, `"kafka_timestamp":`...), r.Timestamp.UnixMilli(), 10)
		}
		dst = append(dst, ',')
	}
	return dst
}

// asText is bytes as text: as they are, or in base64 with a word in front if they are not UTF-8.
func asText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return "base64:" + base64.StdEncoding.EncodeToString(b)
}
