package pipeline

import (
	"maps"
	"slices"

	"varve/engine/schema"
)

func parseOptions(text map[string]string) (schema.Options, error) {
	o := schema.Options{AppendMode: text["append_mode"] == "true"}
	for _, k := range slices.Sorted(maps.Keys(text)) {
		o.All = append(o.All, schema.Option{Key: k, Value: text[k]})
	}
	return o, nil
}
