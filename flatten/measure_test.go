package flatten

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/status"
)

// wideBodies are bodies of little text that is much in memory.
func wideBodies() map[string]string {
	var cells, wide, nulls strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&cells, "{\"c%d\":1}\n", i%100)
		fmt.Fprintf(&wide, ",\"c%d\":1", i)
		fmt.Fprintf(&nulls, ",\"n%d\":null", i)
	}
	return map[string]string{
		"nearly empty rows":   cells.String(),
		"one row of all":      strings.Repeat("{\"c1\":1}\n", 30) + "{" + wide.String()[1:] + "}\n",
		"one row read twice":  strings.Repeat("{\"c1\":1}\n", 30) + `{"c1":1` + wide.String() + "}\n",
		"keys of nulls":       "{" + nulls.String()[1:] + "}\n",
		"an array read twice": `{"a":1,"a":[1` + strings.Repeat(",1", 20_000) + "]}\n",
		"groups of many": strings.Repeat(`{"service_ttl":"1h"`+wide.String()[:20_000]+"}\n"+
			`{"service_ttl":"2h"`+wide.String()[:20_000]+"}\n", 3),
		"a long array":          `{"a":[1e20` + strings.Repeat(",1e20", 30_000) + "]}\n",
		"lines, shorter than 8": strings.Repeat("{\"a\":1}\n", 20_000),
	}
}

// TestRowsAreMeasured: what rows take is told as they grow, in steps that leave little uncounted, in the end all of it.
func TestRowsAreMeasured(t *testing.T) {
	for name, body := range wideBodies() {
		for _, f := range []Framing{NDJSON, JSONStream} {
			var g groups
			told, steps := int64(0), 0
			o := Options{Now: clock, Hold: func(bytes int64) error {
				if more := bytes - told; told > 0 && more > max(4*freeBytes, told) && name != "a long array" {
					t.Errorf("%s: from %d to %d bytes at once", name, told, bytes)
				}
				told, steps = max(told, bytes), steps+1
				return nil
			}}
			if _, err := NewDecoder().Decode(strings.NewReader(body), f, o, g.rows); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			held := int64(0)
			for _, b := range g.builders {
				fields, rows := b.Finish()
				for i := range fields {
					held += rows.Cols[i].Bytes64(rows.N)
				}
			}
			if told < held || steps < 2 {
				t.Errorf("%s: the rows take %d bytes, %d were told in %d steps", name, held, told, steps)
			}
		}
	}
}

// TestRowsFindNoRoom: the request fails as a whole, at once, whatever is done with entries that fail.
func TestRowsFindNoRoom(t *testing.T) {
	full := status.New(status.RegionBusy, "no room")
	for name, body := range wideBodies() {
		for _, o := range []Options{
			{Hold: func(bytes int64) error {
				if bytes > 100<<10 {
					return full
				}
				return nil
			}},
			{MaxBytes: 100 << 10},
		} {
			for _, f := range []Framing{NDJSON, JSONStream} {
				var g groups
				o.SkipErrors, o.IgnoreErrors, o.Now = true, true, clock
				want := status.RegionBusy
				if o.Hold == nil {
					want = status.InvalidArguments
				}
				res, err := NewDecoder().Decode(strings.NewReader(body), f, o, g.rows)
				if status.Of(err) != want || res.Skipped > 0 {
					t.Errorf("%s: %+v, %v", name, res, err)
				}
				held := int64(0)
				for _, b := range g.builders {
					held += b.Bytes()
				}
				if held > 4*freeBytes && name != "a long array" {
					t.Errorf("%s: the rows have grown to %d bytes", name, held)
				}
			}
		}
	}
}
