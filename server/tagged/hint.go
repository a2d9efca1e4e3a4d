package tagged

import (
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
)

// hintKeys are the hints of requests that become options of tables.
var hintKeys = [...]string{"ttl", "append_mode", "merge_mode", "skip_wal", "physical_table", "sst_format"}

// Hint is that of the tables of a request: options are those of its protocol, which the given hints of the request override. disabled tells that the configuration
// lets no write make tables.
func Hint(given, options map[string]string, timeIndex string, disabled bool) (engine.Hint, error) {
	hint := engine.Hint{AutoCreate: !disabled, Disabled: disabled, Strict: true, TimeIndex: timeIndex, Comment: "Created on insertion"}
	all := make(map[string]string, len(options)+len(given))
	for k, v := range options {
		all[k] = v
	}
	for _, key := range hintKeys {
		if x, ok := given[key]; ok {
			all[key] = x
		}
	}
	if strings.EqualFold(all["append_mode"], "true") {
		delete(all, "merge_mode")
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
	hint.Options, err = schema.ParseOptions(all)
	return hint, err
}
