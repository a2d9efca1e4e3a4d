package pipe

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"varve/cmd/varve/client"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/pipeline"
)

// Print writes an outcome for people: the tables with their columns and rows, then what failed or was dropped.
func (o *Outcome) Print(out io.Writer) error {
	w := bufio.NewWriter(out)
	entries := make([][]int, len(o.Tables)) // of each row, the entry it is of
	for i := range o.Tables {
		entries[i] = make([]int, o.Tables[i].Rows.N)
	}
	dropped := 0
	for i := range o.Entries {
		for _, row := range o.Entries[i].Rows {
			entries[row.Table][row.Row] = i + 1
		}
		if e := &o.Entries[i]; e.Err == nil && len(e.Rows) == 0 {
			dropped++
		}
	}
	for i := range o.Tables {
		if err := printTable(w, &o.Tables[i], entries[i]); err != nil {
			return err
		}
	}
	for i := range o.Entries {
		if err := o.Entries[i].Err; err != nil {
			fmt.Fprintf(w, "entry %d fails: %s\n", i+1, client.Visible(err.Error()))
		}
	}
	fmt.Fprintf(w, "%d entries, %d failed, %d dropped\n", len(o.Entries), o.Failed, dropped)
	return w.Flush()
}

// printTable writes the columns of a table and its rows.
func printTable(out io.Writer, t *pipeline.DryTable, entries []int) error {
	fmt.Fprintf(out, "table %s\n\n", t.Name)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "  column\ttype\tsemantic\tindex")
	for _, c := range t.Columns {
		index := ""
		if c.Fulltext {
			index = "fulltext"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", client.Visible(c.Name), pipeline.WireName(c.Type), c.Semantic, index)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\n  entry")
	for _, c := range t.Columns {
		fmt.Fprint(w, "\t"+client.Visible(c.Name))
	}
	fmt.Fprintln(w)
	for r := range t.Rows.N {
		fmt.Fprintf(w, "  %d", entries[r])
		for i, c := range t.Columns {
			fmt.Fprint(w, "\t"+cell(t.Rows.Cols[i], c.Type, r))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// cell is a value as text on one line.
func cell(v *vector.Vector, t vector.Type, r int) string {
	switch {
	case v.IsNull(r):
		return "NULL"
	case t.IsTimestamp():
		return string(timefmt.AppendTimestamp(nil, v.Int(r), digits(t)))
	}
	switch t.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(r))
	case vector.Int64:
		return strconv.FormatInt(v.Int(r), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(r), 10)
	case vector.Float64:
		return strconv.FormatFloat(v.Float(r), 'g', -1, 64)
	}
	return client.Visible(string(v.Bytes(r)))
}

// digits is the number of digits of the fraction of a second that a type of times has.
func digits(t vector.Type) (n uint8) {
	for units := t.UnitsPerSecond(); units > 1; units /= 10 {
		n++
	}
	return n
}
