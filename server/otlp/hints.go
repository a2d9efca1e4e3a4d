package otlp

import (
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/server/web"
)

// requestHints are the hints of requests that become options of the tables that a request makes.
var requestHints = [...]string{"ttl", "skip_wal", "sst_format"}

// hint says what to make where a table is absent: its options are those given, and what the headers ask for.
func (h *Handler) hint(c *web.Ctx, timeIndex string, options map[string]string) (engine.Hint, error) {
	hint := engine.Hint{AutoCreate: !h.o.NoAutoCreate, Disabled: h.o.NoAutoCreate, TimeIndex: timeIndex, Comment: "Created on insertion"}
	given := c.Hints()
	options["comment"] = hint.Comment
	for _, key := range requestHints {
		if x, ok := given[key]; ok {
			options[key] = x
		}
	}
	if x, ok := given["auto_create_table"]; ok {
		switch strings.ToLower(x) {
		case "true":
		case "false":
			hint.AutoCreate = false
		default:
			return hint, status.New(status.InvalidArguments, "Invalid InsertRequest, reason: `auto_create_table` hint must be a boolean")
		}
	}
	var err error
	hint.Options, err = schema.ParseOptions(options)
	return hint, err
}

// tableName is the table that a header names.
func tableName(c *web.Ctx, header, otherwise string) (string, error) {
	name, err := c.UTF8Header(header)
	if err == nil && name == "" {
		name = otherwise
	}
	return name, err
}

// skippingIndex is the index of a column whose values are looked for one at a time.
func skippingIndex() []schema.Index {
	return []schema.Index{{Kind: schema.Skipping, Options: map[string]string{"false_positive_rate": "0.01", "granularity": "10240", "type": "BLOOM"}}}
}

// fulltextIndex is the index of texts.
func fulltextIndex() []schema.Index {
	return []schema.Index{{Kind: schema.Fulltext, Options: map[string]string{"analyzer": "English", "backend": "bloom", "case_sensitive": "false", "false_positive_rate": "0.01", "granularity": "10240"}}}
}
