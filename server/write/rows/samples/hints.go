package samples

import (
	"varve/engine"
	"varve/engine/schema"
)

// Hints are what a request says of the tables that it makes.
type Hints struct {
	physical     string
	ttl          string         // of logical tables, which know no other hint
	plain        schema.Options // of tables with storage of their own
	noAutoCreate bool
}

// Hints reads the hints of a request. It ignores hints that are not about tables.
func (t *Tables) Hints(given map[string]string) (Hints, error) {
	h := Hints{plain: t.plain, noAutoCreate: t.o.NoAutoCreate, physical: given["physical_table"], ttl: given["ttl"]}
	if len(given) == 0 {
		return h, nil
	}
	create, err := engine.AutoCreate(given)
	if err != nil {
		return h, err
	}
	h.noAutoCreate = h.noAutoCreate || !create
	options := map[string]string{schema.SemanticOption: schema.SemanticMetric}
	schema.TakeHints(options, given, schema.SampleHint)
	h.plain, err = schema.ParseOptions(options)
	return h, err
}
