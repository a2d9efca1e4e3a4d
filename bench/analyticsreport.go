package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"time"

	"varve/bench/client"
)

// AnalyticsReport is the outcome of a run of the set analytics.
type AnalyticsReport struct {
	Commit     string            `json:"commit"`
	Time       time.Time         `json:"time"`
	Rows       int64             `json:"rows"`
	Runs       int               `json:"runs"`
	Load       *LoadReport       `json:"load,omitempty"`
	Peers      []PeerFigure      `json:"peers,omitempty"`
	Statements []AnalyticsFigure `json:"statements"`
}

// PeerFigure says what a peer is, or why it is left out.
type PeerFigure struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"`
}

// AnalyticsFigure is what one statement took, by engine.
type AnalyticsFigure struct {
	Name    string                   `json:"name"`
	SQL     string                   `json:"sql"`
	Engines map[string]*EngineFigure `json:"engines"`
}

// EngineFigure is what one statement took in one engine.
type EngineFigure struct {
	Rows    int           `json:"rows"`
	P50     time.Duration `json:"p50_ns"`
	Best    time.Duration `json:"best_ns"`
	CPU     time.Duration `json:"cpu_ns"` // mean of the runs; 0 when the process is not known
	Error   string        `json:"error,omitempty"`
	Differs string        `json:"differs,omitempty"` // how the answer differs from ours
}

// digest is an answer reduced to what can be compared between engines, whatever the order of its rows.
type digest struct {
	Rows    int
	Columns []columnDigest
}

// columnDigest is one column of an answer. The peers' script computes the same.
type columnDigest struct {
	Nulls int
	Sum   float64 // of numbers, times (us since the epoch) and booleans (0 and 1)
	Hash  uint64  // the sum of the CRC-32 of the texts of the values, the low 48 bits
	float bool    // values are floats, whose texts differ between engines
}

// usOf holds for each type of times the us in its unit; less than one: how many of the unit are a us.
var usOf = map[string]struct{ times, per int64 }{"TimestampSecond": {1e6, 1}, "TimestampMillisecond": {1e3, 1},
	"TimestampMicrosecond": {1, 1}, "TimestampNanosecond": {1, 1e3}}

// digestOf reduces an answer of our server.
func digestOf(r *client.Rows) (d digest, err error) {
	d = digest{Rows: len(r.Rows), Columns: make([]columnDigest, len(r.Columns))}
	if d.Rows == 0 {
		d.Columns = nil
	}
	for c := range d.Columns {
		d.Columns[c].float = strings.HasPrefix(r.Types[c], "Float") || strings.HasPrefix(r.Types[c], "Decimal")
		for _, row := range r.Rows {
			if err := d.Columns[c].add(row[c], r.Types[c]); err != nil {
				return d, fmt.Errorf("column %s: %w", r.Columns[c], err)
			}
		}
	}
	return d, nil
}

// add adds a value of a column of a type.
func (c *columnDigest) add(value any, typ string) error {
	var text string
	switch v := value.(type) {
	case nil:
		c.Nulls++
		return nil
	case bool:
		text = "0"
		if v {
			text, c.Sum = "1", c.Sum+1
		}
	case json.Number:
		if unit, ok := usOf[typ]; ok {
			n, err := v.Int64()
			if err != nil {
				return err
			}
			v = json.Number(fmt.Sprint(n * unit.times / unit.per))
		}
		x, err := v.Float64()
		if err != nil {
			return err
		}
		text, c.Sum = v.String(), c.Sum+x
	case string:
		text = v
	default:
		return fmt.Errorf("a value of %T", value)
	}
	c.Hash = (c.Hash + uint64(crc32.ChecksumIEEE([]byte(text)))) & (1<<48 - 1)
	return nil
}

// floatTolerance is how far sums of floats may lie apart because they were added in another order.
const floatTolerance = 1e-6

// differs says how another engine's answer differs from ours; empty: it does not. A tolerance holds for all numbers.
func (d *digest) differs(other *digest, tolerance float64) string {
	if d.Rows != other.Rows || len(d.Columns) != len(other.Columns) {
		return fmt.Sprintf("%d rows of %d columns, ours %d of %d", other.Rows, len(other.Columns), d.Rows,
			len(d.Columns))
	}
	for i := range d.Columns {
		a, b := &d.Columns[i], &other.Columns[i]
		apart := math.Abs(a.Sum-b.Sum) > cmp.Or(tolerance, floatTolerance)*max(math.Abs(a.Sum), math.Abs(b.Sum), 1e-9)
		switch {
		case a.Nulls != b.Nulls:
			return fmt.Sprintf("column %d has %d NULLs, ours %d", i+1, b.Nulls, a.Nulls)
		case apart:
			return fmt.Sprintf("column %d adds up to %g, ours to %g", i+1, b.Sum, a.Sum)
		case !a.float && tolerance == 0 && a.Hash != b.Hash:
			return fmt.Sprintf("column %d holds other values", i+1)
		}
	}
	return ""
}

// better is the least of a cost over the peers that answered; ok: there is one.
func (f *AnalyticsFigure) better(cost func(*EngineFigure) time.Duration) (least time.Duration, ok bool) {
	for name, e := range f.Engines {
		if name != "varve" && e.Error == "" && (!ok || cost(e) < least) {
			least, ok = cost(e), true
		}
	}
	return least, ok
}

func best(e *EngineFigure) time.Duration { return e.Best }
func used(e *EngineFigure) time.Duration { return e.CPU }

// ratio is our cost over another; 0: one of them is not known.
func (f *AnalyticsFigure) ratio(other time.Duration, cost func(*EngineFigure) time.Duration) float64 {
	ours := f.Engines["varve"]
	if ours == nil || ours.Error != "" || cost(ours) <= 0 || other <= 0 {
		return 0
	}
	return float64(cost(ours)) / float64(other)
}

// line is a statement's figures in few words, for the one who waits.
func (f *AnalyticsFigure) line() string {
	var b strings.Builder
	b.WriteString(f.Name + ":")
	for _, name := range []string{"varve", "duckdb", "chdb"} {
		if e := f.Engines[name]; e != nil {
			fmt.Fprintf(&b, " %s %s", name, e.cell(best))
		}
	}
	return b.String()
}

func (e *EngineFigure) cell(cost func(*EngineFigure) time.Duration) string {
	switch {
	case e == nil:
		return ""
	case e.Error != "":
		return "failed"
	case e.Differs != "":
		return millis(cost(e)) + " (differs)"
	}
	return millis(cost(e))
}

// names are the engines of the report, ours first.
func (r *AnalyticsReport) names() []string {
	names := []string{"varve"}
	for _, p := range r.Peers {
		if p.Missing == "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// print writes the report as Markdown.
func (r *AnalyticsReport) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, commit %s, %d web events, best of %d runs, CPU ms their mean", r.Time.Format(time.DateOnly),
		r.Commit, r.Rows, r.Runs)
	for _, p := range r.Peers {
		if p.Missing != "" {
			fmt.Fprintf(&b, "; %s", p.Missing)
		} else {
			fmt.Fprintf(&b, "; %s %s", p.Name, p.Version)
		}
	}
	if l := r.Load; l != nil {
		fmt.Fprintf(&b, "; written at %.0f rows/s and %s CPU s per million rows (per GB), %.1f bytes a row",
			float64(l.Rows)/l.Took.Seconds(), l.cost(l.ServerCPUFull), float64(l.DataBytes)/float64(l.Rows))
	}
	names := r.names()
	b.WriteString("\n\n| statement |")
	for _, name := range names {
		fmt.Fprintf(&b, " %s ms |", name)
	}
	if len(names) > 1 {
		b.WriteString(" ratio to the better |")
	}
	for _, name := range names {
		fmt.Fprintf(&b, " %s CPU |", name)
	}
	if len(names) > 1 {
		b.WriteString(" ratio |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 2*len(names)+2*min(1, len(names)-1)) + "\n")
	for i := range r.Statements {
		f := &r.Statements[i]
		fmt.Fprintf(&b, "| %s |", f.Name)
		for _, cost := range []func(*EngineFigure) time.Duration{best, used} {
			for _, name := range names {
				fmt.Fprintf(&b, " %s |", f.Engines[name].cell(cost))
			}
			if len(names) > 1 {
				least, _ := f.better(cost)
				fmt.Fprintf(&b, " %s |", ratioText(f.ratio(least, cost)))
			}
		}
		b.WriteByte('\n')
	}
	r.appendMeans(&b, names)
	r.appendTroubles(&b, names)
	_, err := io.WriteString(w, b.String())
	return err
}

func ratioText(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}

// appendMeans appends the geometric means of our cost over that of each peer and of the better one.
func (r *AnalyticsReport) appendMeans(b *strings.Builder, names []string) {
	if len(names) < 2 {
		return
	}
	b.WriteString("\nGeometric means of our time (of our CPU time) over that of")
	for _, name := range append(names[1:len(names):len(names)], "the better one") {
		of := func(cost func(*EngineFigure) time.Duration) float64 {
			var ratios []float64
			for i := range r.Statements {
				f := &r.Statements[i]
				least, _ := f.better(cost)
				if e := f.Engines[name]; e != nil {
					least = 0
					if e.Error == "" {
						least = cost(e)
					}
				}
				if x := f.ratio(least, cost); x > 0 {
					ratios = append(ratios, x)
				}
			}
			return geometricMean(ratios)
		}
		fmt.Fprintf(b, " %s %.2f (%.2f);", name, of(best), of(used))
	}
	var above int
	for i := range r.Statements {
		if least, ok := r.Statements[i].better(best); ok && r.Statements[i].ratio(least, best) > 1.5 {
			above++
		}
	}
	fmt.Fprintf(b, " %d of %d statements above 1.5 of the better one.\n", above, len(r.Statements))
}

// appendTroubles lists what failed and what differs.
func (r *AnalyticsReport) appendTroubles(b *strings.Builder, names []string) {
	for i := range r.Statements {
		f := &r.Statements[i]
		for _, name := range names {
			if e := f.Engines[name]; e != nil && e.Error+e.Differs != "" {
				fmt.Fprintf(b, "\n- %s, %s: %.300s\n", f.Name, name, cmp.Or(e.Error, e.Differs))
			}
		}
	}
}

// geometricMean of no ratios is 0.
func geometricMean(ratios []float64) float64 {
	if len(ratios) == 0 {
		return 0
	}
	var sum float64
	for _, x := range ratios {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(ratios)))
}

// failed reports whether a statement failed on our server, or an answer of a peer differs.
func (r *AnalyticsReport) failed() error {
	for i := range r.Statements {
		f := &r.Statements[i]
		for name, e := range f.Engines {
			switch {
			case name == "varve" && e.Error != "":
				return fmt.Errorf("statement %q failed: %s", f.Name, e.Error)
			case e.Differs != "":
				return fmt.Errorf("statement %q: the answer of %s differs: %s", f.Name, name, e.Differs)
			}
		}
	}
	return nil
}
