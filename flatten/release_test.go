package flatten

import (
	"strings"
	"testing"

	"varve/engine/vector"
)

// TestIdleDecoderKeepsNoColumns: a decoder is kept for the next body, the rows of the last one are not.
func TestIdleDecoderKeepsNoColumns(t *testing.T) {
	for name, framing := range map[string]Framing{"stream": JSONStream, "lines": NDJSON} {
		d, b := NewDecoder(), vector.NewBuilder()
		body := strings.Repeat(`{"a":1,"b":{"c":"x"}}`+"\n", 3) + `{"a":1,"a":2}` + "\n"
		if _, err := d.Decode(strings.NewReader(body), framing, Options{},
			func(OptionVars) (*vector.Builder, error) { return b, nil }); err != nil {
			t.Fatal(err)
		}
		for _, n := range d.nodes {
			if n.col != nil {
				t.Errorf("%s: the column of %s is kept", name, n.name)
			}
		}
		for _, c := range d.set[:cap(d.set)] {
			if c != nil {
				t.Errorf("%s: column %s is kept", name, c.Name())
			}
		}
	}
}
