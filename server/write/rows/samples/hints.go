package samples

import (
	"varve/engine"
	"varve/engine/schema"
)

// Hints are what a request says of the tables that it makes.
type Hints struct {
	physical     string
	ttl          string // of logical tables
	plain        schema.Options
	noAutoCreate bool
}

// plainHints are the hints that become options of tables with storage of their own. Logical tables know a ttl alone.
var plainHints = [...]string{"ttl", "append_mode", "merge_mode", "skip_wal", "sst_format"}

// Hints reads the hints of a request; others than those of tables are nobody's fault.
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
	for _, key := range plainHints {
		if x, ok := given[key]; ok {
			options[key] = x
		}
	}
	h.plain, err = schema.ParseOptions(options)
	return h, err
}
