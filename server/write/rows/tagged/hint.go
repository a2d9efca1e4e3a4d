package tagged

import (
	"strings"

	"varve/engine"
	"varve/engine/schema"
)

// hintKeys are the hints of requests that become options of tables.
var hintKeys = [...]string{"ttl", "append_mode", "merge_mode", "skip_wal", "physical_table", "sst_format"}

// NumbersHint is the hint that says whether integers and floats are one kind.
const NumbersHint = "widen_numbers"

// TimeIndex is the name of the time index of tables that a protocol makes, by the prefix of such names.
func TimeIndex(prefix string) string {
	if prefix == "" {
		return "timestamp"
	}
	return prefix + "_timestamp"
}

// Hint is that of the tables of a request: options are those of its protocol, which the given hints of the request
// override. disabled tells that the configuration lets no write make tables.
func Hint(given, options map[string]string, timeIndex string, disabled bool) (engine.Hint, error) {
	create, err := engine.AutoCreate(given)
	if err != nil {
		return engine.Hint{}, err
	}
	hint := engine.Hint{AutoCreate: create && !disabled, Disabled: disabled, Strict: true, TimeIndex: timeIndex,
		Comment: "Created on insertion"}
	all := make(map[string]string, len(options)+len(given))
	for k, v := range options {
		all[k] = v
	}
	for _, key := range hintKeys {
		if x, ok := given[key]; ok {
			all[key] = x
		}
	}
	if _, merges := all["merge_mode"]; merges && strings.EqualFold(all["append_mode"], "true") {
		all["merge_mode"] = "last_row"
	}
	if text, said := given[NumbersHint]; said {
		hint.StrictNumbers = !strings.EqualFold(text, "true")
	}
	hint.Options, err = schema.ParseOptions(all)
	return hint, err
}
