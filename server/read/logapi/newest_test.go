package logapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
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
