//go:build dashboard && browser

package dashboard

import "testing"

// TestMetricsOdd: a graph says which values it has no line for.
func TestMetricsOdd(t *testing.T) {
	t.Parallel()
	s := shop(t)
	for _, c := range []struct{ query, want string }{
		{"room_temperature / 0", ` values NaN or infinite: a gap, and in no figure below`},
		{"room_temperature * NaN", ` values NaN or infinite: a gap, and in no figure below`},
		{"room_temperature", ""},
	} {
		p := openMetrics(t, s, c.query, "")
		p.wait("the graph", `document.querySelectorAll('.chart-legend tbody tr').length === 2`)
		if got := p.text(".chart-controls .odd"); (got == "") != (c.want == "") || len(got) < len(c.want) ||
			got[len(got)-len(c.want):] != c.want {
			t.Errorf("%s: %q, want a number and %q", c.query, got, c.want)
		}
	}
}
