package scantest

import (
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// bounds reads a run while bounds are tightened: every row within them comes, and no row that the reader did not ask
// for.
func (d *Data) bounds(t *testing.T, r *rand.Rand, run scan.Run, spec *scan.Spec, asked []row) {
	all := lines(asked, spec.Columns)
	for _, read := range []func(*scan.Spec, func()) []string{
		func(s *scan.Spec, between func()) []string { return d.drainWith(t, run, s, between) },
		func(s *scan.Spec, between func()) []string { return d.walkWith(t, run, s, between) },
	} {
		bounded := *spec
		bounds := []*scan.Bound{{Column: Time.ID}, {Column: []schema.Column{Host, Float, Int, Text}[r.IntN(4)].ID}}
		bounded.Narrowing, _, _ = scan.Watch(bounds)
		time, and, tightened := scan.All, filter.And(nil), 0
		tighten := func() {
			switch r.IntN(4) {
			case 0:
				time.From = max(time.From, r.Int64N(2000))
				bounds[0].Tighten(time, nil)
			case 1:
				time.To = min(time.To, 500+r.Int64N(2000))
				bounds[0].Tighten(time, nil)
			case 2:
				c := condition(r, false)
				for c.Column != bounds[1].Column {
					c = condition(r, false)
				}
				and = append(and[:len(and):len(and)], c)
				bounds[1].Tighten(scan.All, and)
			}
			tightened++
		}
		got := read(&bounded, tighten)
		within := *spec
		within.Filter = append(within.Filter[:len(within.Filter):len(within.Filter)], and...)
		within.Time = within.Time.And(time)
		came := map[string]int{}
		for _, line := range got {
			came[line]++
		}
		for _, line := range lines(d.passing(t, &within), spec.Columns) {
			if came[line] == 0 {
				t.Fatalf("row %s lies within the bounds and did not come", line)
			}
		}
		for _, line := range all {
			came[line]--
		}
		for line, n := range came {
			if n > 0 {
				t.Fatalf("row %s came %d times too often", line, n)
			}
		}
		if tightened == 0 && len(got) > 0 {
			t.Error("the bounds were never tightened")
		}
	}
}

// drainWith is drain with something done between the batches.
func (d *Data) drainWith(t *testing.T, run scan.Run, spec *scan.Spec, between func()) (out []string) {
	t.Helper()
	c, err := run.Scan(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		out = appendLines(t, out, &b, spec.Columns)
		between()
	}
}

// walkWith is walk with something done between the series and the batches.
func (d *Data) walkWith(t *testing.T, run scan.Run, spec *scan.Spec, between func()) (out []string) {
	t.Helper()
	w, err := run.Series(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var b vector.Batch
	for {
		_, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		for {
			ok, err := w.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			out = appendLines(t, out, &b, spec.Columns)
			between()
		}
	}
}
