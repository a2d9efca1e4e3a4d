package export

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

var counting = regexp.MustCompile(`- \((-?\d+)\)\) / (\d+), count.*>= (-?\d+) AND "ts" <= (-?\d+)`)

// counts answers the statements that a plan counts with, over sorted instants.
func counts(t *testing.T, at []int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var rows [][]int64
		if m := counting.FindStringSubmatch(r.FormValue("sql")); m == nil {
			rows = [][]int64{{at[0], at[len(at)-1], int64(len(at))}}
		} else {
			var x [4]int64
			for i := range x {
				x[i], _ = strconv.ParseInt(m[i+1], 10, 64)
			}
			for _, a := range at {
				if a < x[2] || a > x[3] {
					continue
				}
				if bucket := (a - x[0]) / x[1]; len(rows) > 0 && rows[len(rows)-1][0] == bucket {
					rows[len(rows)-1][1]++
				} else {
					rows = append(rows, []int64{bucket, 1})
				}
			}
		}
		if err := json.NewEncoder(w).Encode(
			map[string]any{"output": []any{map[string]any{"records": map[string]any{"rows": rows}}}}); err != nil {
			t.Error(err)
		}
	}
}

// TestPlan: spans are the whole range, in order, none too large but those of one instant.
func TestPlan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // of a test
	many := func(n int, one func(i int) int64) []int64 {
		list := make([]int64, n)
		for i := range list {
			list[i] = one(i)
		}
		slices.Sort(list)
		return list
	}
	for name, at := range map[string][]int64{
		"one":              {5},
		"two far apart":    {math.MinInt64, math.MaxInt64},
		"even":             many(200_000, func(i int) int64 { return 1795232760000000000 + int64(i)*1000 }),
		"few instants":     many(160_000, func(i int) int64 { return int64(i % 7) }),
		"one instant":      many(200_000, func(int) int64 { return -3 }),
		"before and after": many(160_000, func(int) int64 { return random.Int64N(2000) - 1000 }),
		"one far away": append([]int64{0},
			many(160_000, func(int) int64 { return 1795232760000000000 + random.Int64N(1e9) })...),
		"two heaps": many(160_000, func(i int) int64 { return int64(i%2)*9e18 + random.Int64N(100_000) }),
		"instant and neighbours": many(160_000, func(i int) int64 {
			if i%3 == 0 {
				return 1_000_000 + random.Int64N(10) - 5
			}
			return 1_000_000
		}),
		"powers": many(160_000, func(int) int64 { return 1 << random.IntN(62) }),
	} {
		for _, newestFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(name, newestFirst), func(t *testing.T) {
				p := &plan{server: connect(t, counts(t, at)), db: "public", table: `"t"`, time: `"ts"`,
					newestFirst: newestFirst}
				all, err := p.begin(t.Context())
				if err != nil || all.rows != int64(len(at)) {
					t.Fatal(all, err)
				}
				p.spans = []span{all}
				var list []span
				for {
					s, ok, err := p.next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						break
					}
					list = append(list, s)
				}
				if newestFirst {
					slices.Reverse(list)
				}
				checkSpans(t, list, all, at)
			})
		}
	}
}

func checkSpans(t *testing.T, list []span, all span, at []int64) {
	t.Helper()
	if list[0].first != all.first || list[len(list)-1].last != all.last {
		t.Errorf("the spans reach from %d to %d, not from %d to %d", list[0].first, list[len(list)-1].last, all.first,
			all.last)
	}
	for i, s := range list {
		if i > 0 && s.first != list[i-1].last+1 {
			t.Errorf("span %d begins at %d, the one before ends at %d", i, s.first, list[i-1].last)
		}
		from, _ := slices.BinarySearch(at, s.first)
		to, found := slices.BinarySearch(at, s.last)
		for found && to < len(at) && at[to] == s.last {
			to++
		}
		if rows := int64(to - from); rows != s.rows || rows > 2*sliceRows && s.first != s.last {
			t.Errorf("span %d from %d to %d has %d rows, counted were %d", i, s.first, s.last, rows, s.rows)
		}
	}
	if most := 2*len(at)/sliceRows + 20; len(list) > most {
		t.Errorf("%d spans of %d rows", len(list), len(at))
	}
}
