package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// Sizes of graphs, characters; series that have marks of their own.
const (
	plotRows    = 16
	plotColumns = 100
	plotMarks   = "*+xo#@%&"
)

// tql is a query of metrics over the range of the session.
func (s *Shell) tql(query string, most int) (sql string, from, to time.Time, err error) {
	if query == "" {
		return "", from, to, usage("expected a metrics query, such as rate(requests_total[5m])")
	}
	if from, to, err = s.rangeNow(); err != nil {
		return "", from, to, err
	}
	step := stepOf(to.Sub(from), most)
	time0 := func(t time.Time) string { return client.Text(t.UTC().Format("2006-01-02T15:04:05.000Z")) }
	return fmt.Sprintf("TQL EVAL (%s, %s, '%ds') %s", time0(from), time0(to), int64(step/time.Second), query), from, to,
		nil
}

// metrics prints a query of metrics as a table.
func (s *Shell) metrics(ctx context.Context, arg string) error {
	sql, _, _, err := s.tql(arg, 60)
	if err != nil {
		return err
	}
	s.last = sql
	return s.statement(ctx, sql, s.chosen(false))
}

// series are the values of one, by column of the graph; NaN: there is none.
type series struct {
	name   string
	values []float64
}

// plot draws a query of metrics.
func (s *Shell) plot(ctx context.Context, arg string) error {
	columns := plotColumns
	if s.o.Size != nil {
		if w, _ := s.o.Size(); w > 0 {
			columns = max(20, min(2*plotColumns, w-14))
		}
	}
	sql, from, to, err := s.tql(arg, columns)
	if err != nil {
		return err
	}
	answer, err := s.o.Client.Query(ctx, s.db, sql)
	if err != nil {
		return err
	}
	list := gather(answer, from, to, columns)
	if len(list) == 0 {
		return s.note("no values from %s until now", s.since)
	}
	return s.show(graph(list, from.In(s.zone), to.In(s.zone), columns))
}

// gather takes an answer apart into series: what is neither the time nor the value names them.
func gather(a *client.Answer, from, to time.Time, columns int) []*series {
	at, value := -1, -1
	unit := time.Millisecond
	for i, c := range a.Columns {
		switch {
		case at < 0 && client.UnitsPerSecond(c.Type) > 0:
			at, unit = i, time.Second/time.Duration(client.UnitsPerSecond(c.Type))
		case value < 0 && strings.HasPrefix(c.Type, "Float"):
			value = i
		}
	}
	if at < 0 || value < 0 {
		return nil
	}
	found := map[string]*series{}
	for _, r := range a.Rows {
		var n int64
		v, ok := r[value].(json.Number)
		if !ok || client.Whole(r[at], &n) != nil {
			continue
		}
		y, err := v.Float64()
		x := float64(columns-1) * float64(time.Unix(0, 0).Add(time.Duration(n)*unit).Sub(from)) / float64(
			max(1, to.Sub(from)))
		if err != nil || x < 0 || x > float64(columns) {
			continue
		}
		name := seriesName(a, r, at, value)
		if found[name] == nil {
			found[name] = &series{name: name, values: slices.Repeat([]float64{math.NaN()}, columns)}
		}
		found[name].values[min(columns-1, int(math.Round(x)))] = y
	}
	var list []*series
	for _, f := range found {
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y *series) int { return cmp.Compare(x.name, y.name) })
	return list
}

// seriesName is what tells a row's series from others.
func seriesName(a *client.Answer, r []any, at, value int) string {
	var parts []string
	for i, c := range a.Columns {
		if i != at && i != value && r[i] != nil {
			parts = append(parts, fmt.Sprintf("%s=%v", c.Name, r[i]))
		}
	}
	if len(parts) == 0 {
		return a.Columns[value].Name
	}
	return strings.Join(parts, " ")
}

// graph draws series, each with a mark of its own as far as there are any.
func graph(list []*series, from, to time.Time, columns int) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, f := range list {
		for _, v := range f.values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	grid := make([][]byte, plotRows)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(" ", columns))
	}
	for i, f := range list {
		for x, v := range f.values {
			if math.IsNaN(v) {
				continue
			}
			row := 0
			if high > low {
				row = int(math.Round((v - low) / (high - low) * (plotRows - 1)))
			}
			grid[plotRows-1-row][x] = plotMarks[i%len(plotMarks)]
		}
	}
	var out strings.Builder
	for i, line := range grid {
		label := ""
		if i == 0 || i == plotRows-1 || i == plotRows/2 {
			label = fmt.Sprintf("%.4g", high-(high-low)*float64(i)/(plotRows-1))
		}
		fmt.Fprintf(&out, "%10s │%s\n", label, strings.TrimRight(string(line), " "))
	}
	const layout = "2006-01-02 15:04:05"
	fmt.Fprintf(&out, "%10s └%s\n%12s%s%*s\n", "", strings.Repeat("─", columns), "", from.Format(layout),
		max(1, columns-len(layout)), to.Format(layout))
	for i, f := range list {
		if i == 3*len(plotMarks) {
			fmt.Fprintf(&out, "%12sand %d more\n", "", len(list)-i)
			break
		}
		fmt.Fprintf(&out, "%12s%c %s\n", "", plotMarks[i%len(plotMarks)], client.AppendVisible(nil, []byte(f.name), ""))
	}
	return out.String()
}
