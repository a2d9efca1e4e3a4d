package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"varve/engine/vfs"
)

// longRows are rows of texts of a megabyte beside short ones and none.
func longRows(n int) (rows []modelRow) {
	for i := range n {
		r := modelRow{"ts": int64(i), "host": fmt.Sprint("h", i%3),
			"stext": strings.Repeat(string(rune('a'+i%26)), 1<<20)}
		if i%2 == 0 {
			r["ssome"] = fmt.Sprint("short ", i)
		}
		if i%5 == 4 {
			delete(r, "stext")
		}
		rows = append(rows, r)
	}
	return rows
}

// TestLongTextsAreTakenOver writes rows whose texts the log and the memtable take from where they lie, and uses the set
// again: what was written stays as it was, in memory, in the log and in a part.
func TestLongTextsAreTakenOver(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxValue = 1 << 20
	e := mustOpen(t, o)
	rows := longRows(50)
	var set WriteSet
	for _, batch := range [][]modelRow{rows[:45], rows[45:]} {
		b := set.Rows(public("t"), hintOf(lastRow))
		if err := fill(b, batch); err != nil {
			t.Fatal(err)
		}
		if out, err := e.Write(ctx, &set); err != nil || out[0].Rows != len(batch) {
			t.Fatalf("%d rows written, answer %v: %v", len(batch), out, err)
		}
		set.Reset()
	}
	want := linesOfLong(t, e, len(rows))
	for i := range rows {
		for _, name := range [...]string{"stext", "ssome"} {
			if text, has := rows[i][name].(string); has &&
				!slices.ContainsFunc(want, func(l string) bool { return strings.Contains(l, text) }) {
				t.Fatalf("%s of row %d is not there", name, i)
			}
		}
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if got := linesOfLong(t, e, len(rows)); !slices.Equal(got, want) {
		t.Error("the log has other rows than memory had")
	}
	if err := e.Flush(ctx, public("t")); err != nil {
		t.Fatal(err)
	}
	if got := linesOfLong(t, e, len(rows)); !slices.Equal(got, want) {
		t.Error("the part has other rows than memory had")
	}
}

func linesOfLong(t *testing.T, e *Engine, n int) []string {
	t.Helper()
	lines, err := scanTable(e, public("t"), everything)
	if err != nil || len(lines) != n {
		t.Fatalf("%d rows, want %d: %v", len(lines), n, err)
	}
	slices.Sort(lines)
	return lines
}

// TestLongTextsAreNotCopied writes 40 MB of them: they are in memory already, and what is made on the way into the log
// and the memtable is far less.
func TestLongTextsAreNotCopied(t *testing.T) {
	o := testOptions(vfs.OS())
	o.Dir, o.MaxValue, o.WALFileSize = t.TempDir(), 1<<20, 0
	e := mustOpen(t, o)
	defer mustClose(t, e)
	var set WriteSet
	b := set.Rows(public("t"), hintOf(lastRow))
	rows := longRows(40)
	text, err := b.Column("stext", typeOf("stext"))
	if err != nil {
		t.Fatal(err)
	}
	text.SetHeap(make([]byte, 0, 34<<20)) // no row has it
	text.SetNull()
	if err := fill(b, rows); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 8<<20 {
		t.Errorf("%d bytes were allocated to write 32 MB of texts", made)
	}
}
