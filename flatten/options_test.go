package flatten

import (
	"testing"

	"varve/engine/schema"
)

// TestOptionsAreHints: each hint that a variable may carry has a place in the variables of a row.
func TestOptionsAreHints(t *testing.T) {
	names := schema.Hints(schema.VariableHint)
	if len(names) != int(OptionCount) || len(optionVariables) != int(OptionCount) {
		t.Fatalf("%d hints and %d variables, but a row has room for %d", len(names), len(optionVariables), OptionCount)
	}
	for i, name := range names {
		if o, ok := optionVariables["service_"+name]; !ok || int(o) != i || o.String() != name {
			t.Errorf("variable service_%s: option %d, known %t", name, o, ok)
		}
	}
}
