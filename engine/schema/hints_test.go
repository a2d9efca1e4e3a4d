package schema

import (
	"strings"
	"testing"
)

// TestHints: who may say what of a table. A new hint shows here where it is heeded.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		use  HintUse
		want string
	}{
		{HeaderHint,
			"ttl skip_wal auto_create_table append_mode merge_mode physical_table widen_numbers read_preference"},
		{VariableHint, "ttl skip_wal auto_create_table append_mode merge_mode physical_table"},
		{LogHint, "ttl skip_wal auto_create_table physical_table sst_format"},
		{TaggedHint, "ttl skip_wal append_mode merge_mode physical_table sst_format"},
		{SampleHint, "ttl skip_wal append_mode merge_mode sst_format"},
		{TraceHint, "ttl skip_wal sst_format"},
	} {
		if got := strings.Join(Hints(c.use), " "); got != c.want {
			t.Errorf("use %06b: got %s, want %s", c.use, got, c.want)
		}
	}
}

// TestTakeHints: a hint without the use is ignored, and the options that were there stay.
func TestTakeHints(t *testing.T) {
	options := map[string]string{"append_mode": "true", "ttl": "1d"}
	TakeHints(options, map[string]string{"ttl": "7d", "append_mode": "false", "nonsense": "1"}, TraceHint)
	if len(options) != 2 || options["ttl"] != "7d" || options["append_mode"] != "true" {
		t.Errorf("options %v", options)
	}
}

// TestHintsAreOptions: what a table is made with is an option of tables.
func TestHintsAreOptions(t *testing.T) {
	values := map[string]string{"ttl": "1d", "merge_mode": "last_row", "physical_table": "p", "sst_format": "flat"}
	for _, name := range Hints(LogHint | TaggedHint | SampleHint | TraceHint) {
		value, ok := values[name]
		if !ok {
			value = "false"
		}
		if _, err := ParseOptions(map[string]string{name: value}); err != nil && name != AutoCreateHint {
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
}
