package otlp

import (
	"varve/engine"
	"varve/engine/schema"
	"varve/server/web"
)

// hint says how to make a table that is absent: with the given options, and those that the headers ask for.
func (h *Handler) hint(c *web.Ctx, timeIndex string, options map[string]string) (engine.Hint, error) {
	given := c.Hints()
	create, err := engine.AutoCreate(given)
	if err != nil {
		return engine.Hint{}, err
	}
	hint := engine.Hint{AutoCreate: create && !h.o.NoAutoCreate, Disabled: h.o.NoAutoCreate, TimeIndex: timeIndex,
		Comment: "Created on insertion", StrictNumbers: engine.StrictNumbers(given, h.o.StrictNumbers)}
	options["comment"] = hint.Comment
	schema.TakeHints(options, given, schema.TraceHint)
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

// skippingIndex is the index of a column that is searched for single values.
func skippingIndex() []schema.Index {
	return []schema.Index{{Kind: schema.Skipping,
		Options: map[string]string{"false_positive_rate": "0.01", "granularity": "10240", "type": "BLOOM"}}}
}

// fulltextIndex is the index of texts.
func fulltextIndex() []schema.Index {
	return []schema.Index{{Kind: schema.Fulltext,
		Options: map[string]string{"analyzer": "English", "backend": "bloom", "case_sensitive": "false",
			"false_positive_rate": "0.01", "granularity": "10240"}}}
}
