package sqlexec

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// windowRow is a row as the naive computation sees it; nil is NULL.
type windowRow struct {
	n    int64
	part string
	i    *int64
	f    *float64
	keep bool
}

// TestWindowFrames holds every function over frames to loops over the frames, for frames of rows that are shorter and
// longer than a sum is put together from, with NULLs, FILTER and IGNORE NULLS.
func TestWindowFrames(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE w (ts TIMESTAMP TIME INDEX, n BIGINT, p STRING, i BIGINT, f DOUBLE, d DECIMAL(20, 2), k BOOLEAN) WITH ('append_mode'='true')`)
	r := rand.New(rand.NewPCG(1, 9))
	parts := map[string][]windowRow{}
	var values []string
	for n := range 1000 {
		row := windowRow{n: int64(n), part: string(rune('a' + r.IntN(3))), keep: r.IntN(3) > 0}
		i, f := "NULL", "NULL"
		if r.IntN(6) > 0 {
			v := r.Int64N(2000) - 1000
			row.i, i = &v, strconv.FormatInt(v, 10)
		}
		if r.IntN(6) > 0 {
			v := float64(r.IntN(100000)) / 64
			row.f, f = &v, strconv.FormatFloat(v, 'f', -1, 64)
		}
		parts[row.part] = append(parts[row.part], row)
		values = append(values, fmt.Sprintf("(%d, %d, '%s', %s, %s, %s, %v)", n, n, row.part, i, f, i, row.keep))
	}
	script(t, x, s, "INSERT INTO w VALUES "+strings.Join(values, ", "))
	for _, c := range []struct {
		call string
		null func(r windowRow) bool
		fold func(rows []windowRow) *float64
	}{
		{"count(*)", nil, func(rows []windowRow) *float64 { return number(float64(len(rows))) }},
		{"count(i)", noInt, func(rows []windowRow) *float64 { return number(float64(len(rows))) }},
		{"sum(i)", noInt, func(rows []windowRow) *float64 { return total(rows, ofInt, false) }},
		{"avg(i)", noInt, func(rows []windowRow) *float64 { return total(rows, ofInt, true) }},
		{"sum(d)", noInt, func(rows []windowRow) *float64 { return total(rows, ofInt, false) }},
		{"sum(f)", noFloat, func(rows []windowRow) *float64 { return total(rows, ofFloat, false) }},
		{"avg(f)", noFloat, func(rows []windowRow) *float64 { return total(rows, ofFloat, true) }},
		{"min(i)", noInt, func(rows []windowRow) *float64 { return best(rows, ofInt, -1) }},
		{"max(f)", noFloat, func(rows []windowRow) *float64 { return best(rows, ofFloat, 1) }},
		{"median(i)", noInt, nil},
		{"first_value(n)", nil, func(rows []windowRow) *float64 { return at(rows, 0) }},
		{"last_value(n)", nil, func(rows []windowRow) *float64 { return at(rows, len(rows)-1) }},
		{"nth_value(n, 3)", nil, func(rows []windowRow) *float64 { return at(rows, 2) }},
	} {
		for _, frame := range [][2]int{{math.MinInt32, 0}, {-2, 0}, {-100, 100}, {-400, -1}, {0, math.MaxInt32},
			{3, 90}, {math.MinInt32, math.MaxInt32}, {-700, 20}} {
			for _, filter := range []bool{false, true} {
				call := c.call
				if filter {
					call += " FILTER (WHERE k)"
				}
				sql := fmt.Sprintf(
					"SELECT p, n, %s OVER (PARTITION BY p ORDER BY n ROWS BETWEEN %s AND %s) FROM w ORDER BY p, n",
					call, bound(frame[0], "PRECEDING"), bound(frame[1], "FOLLOWING"))
				o, err := answer(x, s, sql, false)
				if err != nil || o.err != nil {
					t.Fatalf("%s: %v %v", sql, err, o.err)
				}
				if len(o.rows) != len(values) {
					t.Fatalf("%s: %d rows", sql, len(o.rows))
				}
				if c.fold == nil { // it runs and gives a row each
					continue
				}
				k := 0
				for _, p := range []string{"a", "b", "c"} {
					rows := parts[p]
					for i := range rows {
						var in []windowRow
						for j := max(0, i+frame[0]); j <= min(len(rows)-1, i+frame[1]); j++ {
							if (!filter || rows[j].keep) && (c.null == nil || !c.null(rows[j])) {
								in = append(in, rows[j])
							}
						}
						if got, want := o.rows[k][2], c.fold(in); !sameNumber(got, want) {
							t.Fatalf("%s\nrow %d: %s, want %v", sql, k, got, textOf(want))
						}
						k++
					}
				}
			}
		}
	}
}

func noInt(r windowRow) bool   { return r.i == nil }
func noFloat(r windowRow) bool { return r.f == nil }

func ofInt(r windowRow) float64   { return float64(*r.i) }
func ofFloat(r windowRow) float64 { return *r.f }

func number(x float64) *float64 { return &x }

func at(rows []windowRow, i int) *float64 {
	if i < 0 || i >= len(rows) {
		return nil
	}
	return number(float64(rows[i].n))
}

func total(rows []windowRow, of func(windowRow) float64, mean bool) *float64 {
	if len(rows) == 0 {
		return nil
	}
	sum := 0.0
	for _, r := range rows {
		sum += of(r)
	}
	if mean {
		sum /= float64(len(rows))
	}
	return &sum
}

func best(rows []windowRow, of func(windowRow) float64, sign float64) *float64 {
	var out *float64
	for _, r := range rows {
		if x := of(r); out == nil || (x-*out)*sign > 0 {
			out = &x
		}
	}
	return out
}

// bound writes one end of a frame.
func bound(n int, far string) string {
	switch {
	case n == math.MinInt32 || n == math.MaxInt32:
		return "UNBOUNDED " + far
	case n == 0:
		return "CURRENT ROW"
	case n < 0:
		return fmt.Sprint(-n, " PRECEDING")
	}
	return fmt.Sprint(n, " FOLLOWING")
}

func sameNumber(text string, want *float64) bool {
	if want == nil || text == "" { // how NULL is shown
		return want == nil && text == ""
	}
	got, err := strconv.ParseFloat(text, 64)
	return err == nil && math.Abs(got-*want) <= 1e-9*max(1, math.Abs(*want))
}

func textOf(x *float64) string {
	if x == nil {
		return "NULL"
	}
	return fmt.Sprint(*x)
}

// TestIgnoreNulls holds lag, lead, first_value, last_value and nth_value to what they skip.
func TestIgnoreNulls(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE w (ts TIMESTAMP TIME INDEX, v BIGINT) WITH ('append_mode'='true');
		INSERT INTO w VALUES (1, NULL), (2, 10), (3, NULL), (4, 20), (5, 30), (6, NULL)`)
	for call, want := range map[string]string{
		"lag(v) IGNORE NULLS":           "NULL NULL 10 10 20 30",
		"lag(v, 2) IGNORE NULLS":        "NULL NULL NULL NULL 10 20",
		"lead(v) IGNORE NULLS":          "10 20 20 30 NULL NULL",
		"lead(v, 2) IGNORE NULLS":       "20 30 30 NULL NULL NULL",
		"lag(v, 0) IGNORE NULLS":        "NULL 10 NULL 20 30 NULL",
		"lead(v, 1, -1) IGNORE NULLS":   "10 20 20 30 -1 -1",
		"first_value(v) IGNORE NULLS":   "NULL 10 10 10 10 10",
		"last_value(v) IGNORE NULLS":    "NULL 10 10 20 30 30",
		"nth_value(v, 2) IGNORE NULLS":  "NULL NULL NULL 20 20 20",
		"nth_value(v, 2) RESPECT NULLS": "NULL 10 10 10 10 10",
		"first_value(v) RESPECT NULLS":  "NULL NULL NULL NULL NULL NULL",
	} {
		o, err := answer(x, s, "SELECT "+call+" OVER (ORDER BY ts) FROM w ORDER BY ts", false)
		if err != nil || o.err != nil {
			t.Errorf("%s: %v %v", call, err, o.err)
			continue
		}
		var got []string
		for _, r := range o.rows {
			got = append(got, cmp.Or(r[0], "NULL"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", call, strings.Join(got, " "), want)
		}
	}
}

// TestRangeFramesAtTheEnds: ends of RANGE frames that lie farther out than any number of the key's type hold no row
// back, and months of unequal length move frames back.
func TestRangeFramesAtTheEnds(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE w (ts TIMESTAMP(0) TIME INDEX, u BIGINT UNSIGNED, i BIGINT) WITH ('append_mode'='true');
		INSERT INTO w VALUES ('2024-01-30 12:00:00', 0, -9223372036854775808), ('2024-01-31 01:00:00', 3, 0), ('2024-02-28 12:00:00', 5, 9223372036854775800),
			('2024-02-29 02:00:00', 18446744073709551615, 9223372036854775807), ('2024-02-29 13:00:00', NULL, NULL)`)
	for call, want := range map[string]string{
		"u RANGE BETWEEN 4 PRECEDING AND CURRENT ROW":                                "1 2 2 1 1",
		"u RANGE BETWEEN CURRENT ROW AND 9 FOLLOWING":                                "3 2 1 1 1",
		"u DESC RANGE BETWEEN 9 PRECEDING AND 4 FOLLOWING":                           "3 3 2 1 1",
		"i RANGE BETWEEN 9 PRECEDING AND 9 FOLLOWING":                                "1 1 2 2 1",
		"ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1 month' FOLLOWING":              "4 2 3 2 1",
		"ts RANGE BETWEEN INTERVAL '1 month' FOLLOWING AND UNBOUNDED FOLLOWING":      "1 2 0 0 0",
		"ts DESC RANGE BETWEEN INTERVAL '1 month' PRECEDING AND CURRENT ROW":         "4 2 3 2 1",
		"ts DESC RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1 month' PRECEDING": "1 2 0 0 0",
	} {
		o, err := answer(x, s, "SELECT count(*) OVER (ORDER BY "+call+") FROM w ORDER BY ts", false)
		if err != nil || o.err != nil {
			t.Errorf("%s: %v %v", call, err, o.err)
			continue
		}
		var got []string
		for _, r := range o.rows {
			got = append(got, r[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", call, strings.Join(got, " "), want)
		}
	}
}
