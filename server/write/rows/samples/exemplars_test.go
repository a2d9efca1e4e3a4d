package samples

import (
	"fmt"
	"testing"

	"varve/sqlexec/promql"
)

// TestExemplarsGoOn: after a restart new exemplars still take the places of the oldest.
func TestExemplarsGoOn(t *testing.T) {
	e := open(t)
	all := [][]*promql.Matcher{{}}
	number := 0
	keep := func(tables *Tables, n int) {
		t.Helper()
		var list []Exemplar
		for range n {
			series := promql.NewLabels("__name__", "m")
			list = append(list, Exemplar{DB: "public", Metric: "m", Series: series,
				Labels: promql.NewLabels("n", fmt.Sprint(number)), At: int64(number)})
			number++
		}
		if kept, err := tables.KeepExemplars(t.Context(), list); kept != min(n, 4) || err != nil {
			t.Fatalf("%d of %d kept, %v", kept, n, err)
		}
	}
	check := func(tables *Tables, want string) {
		t.Helper()
		list, err := tables.Exemplars(t.Context(), "public", all, 0, 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range list {
			got += x.Labels.Get("n") + " "
		}
		if got != want {
			t.Errorf("kept are %s, want %s", got, want)
		}
	}
	tables := New(Options{Store: e, MaxExemplars: 4})
	check(tables, "")
	keep(tables, 3)
	check(tables, "0 1 2 ")
	for range 3 {
		tables = New(Options{Store: e, MaxExemplars: 4})
		keep(tables, 1)
	}
	check(tables, "2 3 4 5 ")
	keep(tables, 9)
	check(New(Options{Store: e, MaxExemplars: 4}), "11 12 13 14 ")
	if kept, err := New(Options{Store: e}).KeepExemplars(t.Context(), make([]Exemplar, 1)); kept != 0 || err != nil {
		t.Errorf("%d kept where none may be, %v", kept, err)
	}
}
