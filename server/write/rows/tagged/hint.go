package tagged

import (
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/server/write/rows"
)

// TimeIndex is the name of the time index of tables that a protocol makes, by the prefix of such names.
func TimeIndex(prefix string) string {
	if prefix == "" {
		return "timestamp"
	}
	return prefix + "_timestamp"
}

// Hint is the hint for the tables of a request, with the options of its protocol. The hints that the request gives
// override them.
func Hint(d *rows.Deps, given, options map[string]string) (engine.Hint, error) {
	create, err := engine.AutoCreate(given)
	if err != nil {
		return engine.Hint{}, err
	}
	hint := engine.Hint{AutoCreate: create && !d.NoAutoCreate, Disabled: d.NoAutoCreate, Strict: true,
		TimeIndex: TimeIndex(d.Prefix), Comment: "Created on insertion",
		StrictNumbers: engine.StrictNumbers(given, d.StrictNumbers)}
	all := make(map[string]string, len(options)+len(given))
	for k, v := range options {
		all[k] = v
	}
	schema.TakeHints(all, given, schema.TaggedHint)
	if _, merges := all["merge_mode"]; merges && strings.EqualFold(all["append_mode"], "true") {
		all["merge_mode"] = "last_row"
	}
	hint.Options, err = schema.ParseOptions(all)
	return hint, err
}
