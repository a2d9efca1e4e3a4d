package sst

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vfs"
)

// openPart opens a part until the end of the test.
func openPart(tb testing.TB, fs vfs.FS, name string) *Part {
	tb.Helper()
	p, err := Open(fs, name, OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// sized is the rows and bytes of a group in a bucket.
type sized struct{ rows, bytes int64 }

// wantSizes sums up the texts of a column by series and bucket, row by row, in the blocks of the part but some.
func wantSizes(p *Part, t *table, m *Measure, without map[int]bool) map[string]sized {
	want := map[string]sized{}
	at := 0
	for _, s := range t.series {
		for _, w := range s.rows {
			block := p.blockOf(at, 0)
			at++
			when := w[tsColumn.ID].(int64)
			if text, _ := w[m.Column].(string); m.Time.Holds(when) && !without[block] {
				k := fmt.Sprintf("%x %d", s.key, m.Bucket(when))
				want[k] = sized{want[k].rows + 1, want[k].bytes + int64(len(text))}
			}
		}
	}
	return want
}

// checkSizes compares what a part knows with its rows, and returns how many blocks it does not know.
func checkSizes(tb testing.TB, p *Part, t *table, m Measure) int {
	tb.Helper()
	var keys []string
	got := map[string]sized{}
	m.Group = func(key []byte) (int, error) {
		keys = append(keys, fmt.Sprintf("%x", key))
		return len(keys) - 1, nil
	}
	m.Add = func(group int, bucket, rows, bytes int64) error {
		k := fmt.Sprintf("%s %d", keys[group], bucket)
		got[k] = sized{got[k].rows + rows, got[k].bytes + bytes}
		return nil
	}
	rest, err := p.Measure(ctx, &m)
	if err != nil {
		tb.Fatal(err)
	}
	without := map[int]bool{}
	for _, block := range rest {
		if without[block] {
			tb.Errorf("block %d is to be read twice", block)
		}
		without[block] = true
	}
	// blocks that are read in full were not counted in part
	counted := wantSizes(p, t, &m, without)
	for k, v := range counted {
		if got[k] != v {
			tb.Errorf("%s: got %v, want %v", k, got[k], v)
		}
	}
	if len(got) != len(counted) {
		tb.Errorf("%d sums, want %d", len(got), len(counted))
	}
	return len(rest)
}

// measures are requests for the sizes of a column whose times are of those of newTable.
func measures(r *rand.Rand, p *Part, column schema.ColumnID) (list []Measure) {
	one := func(int64) int64 { return 0 }
	list = append(list, Measure{Column: column, Time: scan.All, Bucket: one})
	span := p.Run().Span()
	for range 20 {
		from := span.From + r.Int64N(span.To-span.From+1)
		to := from + r.Int64N(span.To-from+1)
		step := 1 + r.Int64N(2*(span.To-span.From+1))
		list = append(list, Measure{Column: column, Time: scan.Range{From: from, To: to}, Bucket: one},
			Measure{Column: column, Time: scan.All, Bucket: func(t int64) int64 { return t / step }})
	}
	return list
}

// TestTextSizes: a part knows the bytes of texts of the blocks that lie within a time, and names all others.
func TestTextSizes(t *testing.T) {
	for seed, c := range []struct{ series, rows int }{{1, 20_000}, {3, 9000}, {9, 700}, {40, 300}} {
		r := rand.New(rand.NewPCG(uint64(seed), 81))
		fs := vfs.NewMem()
		model := newTable(r, c.series, c.rows, false)
		model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
		if errs := checkFile(fs, "p"); len(errs) > 0 {
			t.Fatal(errs)
		}
		p := openPart(t, fs, "p")
		if rest := checkSizes(t, p, model, Measure{Column: messageColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 }}); rest != 0 {
			t.Errorf("%d blocks are not known", rest)
		}
		for _, column := range []schema.ColumnID{messageColumn.ID, levelColumn.ID} {
			for _, m := range measures(r, p, column) {
				checkSizes(t, p, model, m)
			}
		}
		if rest := checkSizes(t, p, model, Measure{Column: bytesColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 }}); rest != len(p.blocks) {
			t.Errorf("a column of numbers: %d blocks are to be read, want %d", rest, len(p.blocks))
		}
	}
}

// TestTextSizesUnknown: parts of earlier versions, of replaced rows, and of very many short series know no sizes.
func TestTextSizesUnknown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 81))
	fs := vfs.NewMem()
	many, replaced := newTable(r, 3*fewStretches, 2, false), newTable(r, 3, 900, true)
	many.write(t, fs, "many", r, WriterOptions{})
	replaced.write(t, fs, "replaced", r, WriterOptions{})
	for name, model := range map[string]*table{"many": many, "replaced": replaced} {
		p := openPart(t, fs, name)
		rest := checkSizes(t, p, model, Measure{Column: messageColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 }})
		if rest != len(p.blocks) {
			t.Errorf("%s: %d blocks are to be read, want %d", name, rest, len(p.blocks))
		}
	}
}

// TestTextSizesSpliced: blocks that are taken over keep their sizes; those of a part that knows none are not known.
func TestTextSizesSpliced(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 81))
	fs := vfs.NewMem()
	a, between, b := textTable(r, 9000, 0), textTable(r, 500, 9000), textTable(r, 5000, 9500)
	a.write(t, fs, "a", r, WriterOptions{BlockRows: 2048})
	b.write(t, fs, "b", r, WriterOptions{BlockRows: 2048})
	all := &table{series: []seriesRows{{key: a.series[0].key}}}
	for _, x := range []*table{a, between, b} {
		all.series[0].rows = append(all.series[0].rows, x.series[0].rows...)
	}
	for name, forget := range map[string]bool{"known": false, "old": true} {
		first, second := openPart(t, fs, "a"), openPart(t, fs, "b")
		if forget {
			columns, err := first.columns(ctx)
			if err != nil {
				t.Fatal(err)
			}
			columns.byID[messageColumn.ID].sizesRef = ref{}
		}
		splice(t, fs, name, WriterOptions{BlockRows: 2048}, []*Part{first, second}, between)
		if errs := checkFile(fs, name); len(errs) > 0 {
			t.Fatal(errs)
		}
		p := openPart(t, fs, name)
		want := map[bool]int{true: len(first.blocks)}[forget]
		rest := checkSizes(t, p, all, Measure{Column: messageColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 }})
		if rest != want {
			t.Errorf("%s: %d blocks are to be read, want %d", name, rest, want)
		}
		for _, m := range measures(r, p, messageColumn.ID) {
			checkSizes(t, p, all, m)
		}
	}
}

// TestTextSizesDamaged: damaged sizes, and those of a later form, cost time and no answer; a check names the damage.
func TestTextSizesDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 81))
	fs := vfs.NewMem()
	model := newTable(r, 3, 3000, false)
	model.write(t, fs, "p", r, WriterOptions{})
	columns, err := openPart(t, fs, "p").columns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := columns.byID[messageColumn.ID].sizesRef
	whole := file(t, fs, "p")
	for i := range at.length {
		b := append([]byte(nil), whole...)
		b[at.off+i] ^= 0x41
		store(t, fs, "damaged", b)
		errs := checkFile(fs, "damaged")
		if len(errs) != 1 || !errors.Is(errs[0], ErrPassedOver) || !errors.Is(errs[0], ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, errs)
		}
		p := openPart(t, fs, "damaged")
		if rest := checkSizes(t, p, model, Measure{Column: messageColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 }}); rest != len(p.blocks) {
			t.Fatalf("byte %d: %d blocks are to be read, want %d", i, rest, len(p.blocks))
		}
	}
}

// TestTextSizesAside: a block that is set aside counts no more, and a group that is not wanted never does.
func TestTextSizesAside(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 81))
	fs := vfs.NewMem()
	model := newTable(r, 5, 3000, false)
	model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p := openPart(t, fs, "p")
	p.SetAside(1)
	sums := func(wanted string) map[string]int64 {
		got := map[string]int64{}
		var keys []string
		rest, err := p.Measure(ctx, &Measure{Column: messageColumn.ID, Time: scan.All,
			Bucket: func(int64) int64 { return 0 },
			Group: func(key []byte) (int, error) {
				if keys = append(keys, string(key)); wanted != "" && string(key) != wanted {
					return -1, nil
				}
				return len(keys) - 1, nil
			}, Add: func(group int, _, rows, _ int64) error {
				got[keys[group]] += rows
				return nil
			}})
		if err != nil || len(rest) > 0 {
			t.Fatal(rest, err)
		}
		return got
	}
	want, at := map[string]int64{}, 0
	for _, s := range model.series {
		for range s.rows {
			if p.blockOf(at, 0) != 1 {
				want[string(s.key)]++
			}
			at++
		}
	}
	if got := sums(""); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	last := string(model.series[len(model.series)-1].key)
	if got := sums(last); !maps.Equal(got, map[string]int64{last: want[last]}) {
		t.Errorf("got %v, want %d rows", got, want[last])
	}
}
