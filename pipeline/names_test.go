package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamesOfColumns: what no column can be called fails the entry, or the document, and not the write of all entries.
func TestNamesOfColumns(t *testing.T) {
	const tail = "transform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	long := strings.Repeat("n", 513)
	for _, name := range []string{"", long} {
		for _, document := range []string{"version: 2\n" + tail,
			"dispatcher: {field: a, rules: [{value: 1, table_suffix: x}]}\n" + tail} {
			m := managerWith(t, map[string]string{"p": document})
			body := fmt.Sprintf(`{"a":1,"ts":1} {"a":1,"ts":2,%q:3} {"a":1,"ts":3}`, name)
			r := Request{ContentType: "application/json"}
			if _, _, err := collect(m, r, body); err == nil ||
				!strings.Contains(err.Error(), fmt.Sprintf("Invalid column name: %d bytes", len(name))) ||
				!strings.Contains(err.Error(), "(entry 2 of 3") {
				t.Errorf("%s\n%d bytes: %v", document, len(name), err)
			}
			r.SkipError = true
			if _, out, err := collect(m, r, body); err != nil || out.Rows != 2 || out.Skipped != 1 {
				t.Errorf("%s\n%d bytes: %+v %v", document, len(name), out, err)
			}
		}
	}
	if _, err := Compile([]byte("transform: [{field: 'a, " + long + "', type: string}]\n")); err == nil ||
		!strings.Contains(err.Error(), "Invalid column name: 513 bytes") {
		t.Errorf("a transform's column: %.200v", err)
	}
}
