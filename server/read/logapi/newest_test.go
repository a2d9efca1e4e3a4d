package logapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestFirstLines: the first lines of a long time, in both directions, are those of a look at each line, wherever in the
// time they lie and in every state of the tables.
func TestFirstLines(t *testing.T) {
	for n, in := range states {
		r := rand.New(rand.NewPCG(uint64(n), 74))
		const lines, span = 1200, int64(6 * 3600 * 1e9)
		var s script
		times, texts := make([]int64, lines), make([]string, lines)
		for i := range lines {
			times[i] = base*1e9 + int64(i)*(span/lines) + r.Int64N(span/lines)
			texts[i] = fmt.Sprintf("%s took %d ms id=%016x", words[r.IntN(len(words))], r.IntN(50), r.Uint64())
		}
		for _, i := range r.Perm(lines) {
			s.pushes = append(s.pushes, fmt.Sprintf(`{"streams":[{"stream":{"app":"a%d"},"values":[["%d",%q]]}]}`, i%7,
				times[i], texts[i]))
		}
		h := pushed(t, s, in)
		for range 40 {
			word, forward, limit := words[r.IntN(len(words))], r.IntN(2) == 0, 1+r.IntN(60)
			if r.IntN(4) == 0 {
				word = texts[r.IntN(lines)][len(texts[0])-14:]
			}
			from := base*1e9 + r.Int64N(span/2)
			to := from + r.Int64N(span)
			var want []string
			for i, text := range texts {
				if times[i] >= from && times[i] < to && strings.Contains(text, word) {
					want = append(want, fmt.Sprintf("%s {app=\"a%d\"} %s", seconds(float64(times[i]-base*1e9)/1e9), i%7,
						text))
				}
			}
			direction := "backward"
			if forward {
				direction = "forward"
				want = want[:min(limit, len(want))]
			} else {
				want = want[max(0, len(want)-limit):]
			}
			slices.Sort(want)
			compareRows(t, string(in), h, fmt.Sprintf("query_range?limit=%d&direction=%s&start=%d&end=%d&query=%s", limit,
				direction, from, to, url.QueryEscape(`{app=~".+"} |= "`+word+`"`)), want, false)
		}
	}
}

// TestColumnConditions: label filters over columns of a table find the rows that a look at each of them finds.
func TestColumnConditions(t *testing.T) {
	h := house(t, nil)
	h.Want(h.SQL(`CREATE TABLE rows (ts TIMESTAMP(9) TIME INDEX, service STRING, message STRING, status INT, took DOUBLE,
		trace STRING) WITH (append_mode = 'true')`), 200, "")
	var values []string
	for i := range 400 {
		status, trace := fmt.Sprint(200+i%4*100), fmt.Sprintf("'t%d'", i%10)
		if i%9 == 0 {
			status = "NULL"
		}
		if i%11 == 0 {
			trace = "NULL"
		}
		values = append(values, fmt.Sprintf("(%d, 's%d', 'row %d', %s, %d.5, %s)", base*1e9+int64(i), i%3, i, status,
			i%20, trace))
	}
	for some := range slices.Chunk(values, 50) {
		h.Want(h.SQL("INSERT INTO rows VALUES "+strings.Join(some, ", ")), 200, "")
	}
	count := func(filter string, passes func(i int) bool) {
		t.Helper()
		want := 0
		for i := range 400 {
			if passes(i) {
				want++
			}
		}
		query := fmt.Sprintf(`sum(count_over_time({service_table="rows"} %s [1h]))`, filter)
		got := h.Do("GET", fmt.Sprintf("/loki/api/v1/query?time=%d&query=%s", base+60, url.QueryEscape(query)), "").Body
		if !strings.Contains(string(got), fmt.Sprintf(`"%d"]`, want)) {
			t.Errorf("%s: %.200s, want %d", filter, got, want)
		}
	}
	status := func(i int) int { return 200 + i%4*100 }
	there := func(i int) bool { return i%9 != 0 }
	for range 2 {
		count(`| status >= 400`, func(i int) bool { return there(i) && status(i) >= 400 })
		count(`| status != 300 | trace="t3"`, func(i int) bool {
			return there(i) && status(i) != 300 && i%10 == 3 && i%11 != 0
		})
		count(`| status = "500"`, func(i int) bool { return there(i) && status(i) == 500 })
		count(`| status > 299.5 and trace="t1"`, func(i int) bool {
			return there(i) && status(i) >= 300 && i%10 == 1 && i%11 != 0
		})
		count(`| trace=""`, func(i int) bool { return i%11 == 0 })
		count(`|= "row 1" | service="s1" | took > 3`, func(i int) bool {
			return strings.HasPrefix(fmt.Sprint(i), "1") && i%3 == 1 && float64(i%20)+0.5 > 3
		})
		count(`| trace > 3 | status >= 400 | __error__!=""`, func(i int) bool { return i%11 != 0 })
		h.Want(h.SQL("ADMIN flush_table('rows')"), 200, "")
	}
}

// TestSpanEdges: lines at the edges of the spans that a query looks at are found once, in both directions, in one table
// and in several, also when many lines have one time.
func TestSpanEdges(t *testing.T) {
	const at, length = int64(base * 1e9), int64(1024 * 1e8)
	h := servertest.Real(t, nil)
	for _, table := range []string{"one", "two"} {
		h.Want(h.SQL("CREATE TABLE "+table+" (ts TIMESTAMP(9) TIME INDEX, message STRING) WITH (append_mode = 'true')"), 200,
			"")
	}
	times := map[string][]int64{}
	insert := func(table string, text string, list ...int64) {
		t.Helper()
		values := make([]string, len(list))
		for i, ts := range list {
			values[i] = fmt.Sprintf("(%d, '%s')", ts, text)
		}
		for some := range slices.Chunk(values, 500) {
			h.Want(h.SQL("INSERT INTO "+table+" VALUES "+strings.Join(some, ", ")), 200, "")
		}
		times[text] = append(times[text], list...)
	}
	var filler, same, edges []int64
	for i := range int64(1100) {
		filler, same = append(filler, at+i*length/1100), append(same, at+length/2)
	}
	for _, edge := range []int64{0, length / 1024, length / 32, length - length/32, length - length/1024, length} {
		edges = append(edges, at+edge-1, at+edge, at+edge, at+edge+1)
	}
	insert("one", "filler", filler...)
	insert("one", "same", same...)
	insert("one", "edge", edges...)
	insert("two", "filler", filler...)
	insert("two", "edge", edges...)
	check := func(text string, from, to int64, limit int, forward bool) {
		t.Helper()
		direction, want := "backward", []string{}
		list := slices.Sorted(slices.Values(times[text]))
		if list = slices.DeleteFunc(list, func(ts int64) bool { return ts < from || ts >= to }); forward {
			direction, list = "forward", list[:min(limit, len(list))]
		} else {
			list = list[max(0, len(list)-limit):]
		}
		for _, ts := range list {
			want = append(want, seconds(float64(ts-at)/1e9))
		}
		stages := `|= "` + text + `"`
		if limit%2 == 1 {
			stages = `| label_format x="{{__line__}}" | x="` + text + `"`
		}
		a := h.Do("GET", fmt.Sprintf("/loki/api/v1/query_range?limit=%d&direction=%s&start=%d&end=%d&query=%s", limit,
			direction, from, to, url.QueryEscape(`{service_table=~"one|two"} `+stages)), "")
		got := []string{}
		for _, row := range shownRows(t, a, false) {
			time, _, _ := strings.Cut(row, " ")
			got = append(got, time)
		}
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s from %d to %d, limit %d, %s: got %v, want %v", text, from-at, to-at, limit, direction, got,
				want)
		}
	}
	for range 2 {
		for _, forward := range []bool{false, true} {
			for _, limit := range []int{1, 2, 3, 7, 8, 9, 16, 17, 1000, 1101, 3000} {
				for _, text := range []string{"edge", "same", "filler", "none"} {
					check(text, at, at+length, limit, forward)
					check(text, at-1, at+length+2, limit, forward)
					check(text, at, at+1, limit, forward)
				}
			}
		}
		h.Want(h.SQL("ADMIN flush_table('one')"), 200, "")
		h.Want(h.SQL("ADMIN flush_table('two')"), 200, "")
	}
}

// TestCoarseTimes: the lines of a table whose times are seconds or ms are those of the time of a query, whose ends lie
// between them.
func TestCoarseTimes(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, unit := range []struct{ digits, count int64 }{{0, 1}, {3, 1e3}, {6, 1e6}} {
		table := fmt.Sprintf("coarse%d", unit.digits)
		h.Want(h.SQL(fmt.Sprintf("CREATE TABLE %s (ts TIMESTAMP(%d) TIME INDEX, message STRING) WITH (append_mode = 'true')",
			table, unit.digits)), 200, "")
		values := make([]string, 1200)
		for i := range values {
			values[i] = fmt.Sprintf("(%d, '%d')", base*unit.count+int64(i), i)
		}
		for some := range slices.Chunk(values, 400) {
			h.Want(h.SQL("INSERT INTO "+table+" VALUES "+strings.Join(some, ", ")), 200, "")
		}
		step := int64(1e9) / unit.count
		for _, c := range []struct{ from, to, first, last int64 }{
			{10 * step, 20 * step, 10, 19},
			{10*step + 1, 20*step + 1, 11, 20},
			{10*step - 1, 20*step - 1, 10, 19},
			{10*step + step/2, 1100*step + step/2, 11, 1100},
		} {
			var want []string
			for i := c.first; i <= c.last; i++ {
				want = append(want, fmt.Sprintf("%s {service_table=%q} %d", seconds(float64(i)/float64(unit.count)),
					table, i))
			}
			slices.Sort(want)
			for _, direction := range []string{"forward", "backward"} {
				request := fmt.Sprintf("query_range?limit=5000&direction=%s&start=%d&end=%d&query=%s", direction,
					base*int64(1e9)+c.from, base*int64(1e9)+c.to, url.QueryEscape(`{service_table="`+table+`"}`))
				compareRows(t, table, h, request, want, false)
			}
		}
	}
}
