package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vfs"
)

// The rows of one store of this test: more than a memtable sorts at once, and more than a block holds.
const (
	rowsTables, rowsHosts, rowsSteps = 2, 41, 1000
	rowsStepMS                       = 15_000
)

// manyRows holds what a store was given: the value of each series at each of its times; NaN: none.
type manyRows struct {
	e      *Engine
	names  []SeriesName
	phase  []int64 // of the times of each series, ms
	values [][]float64
}

// TestManyRows reads many rows of several series, all and some, against a map of what was written, through each way
// that they may lie: in memory, in one part, half in each, and in parts and memory whose times interleave; with steps
// that series lack, and with steps that were written again.
func TestManyRows(t *testing.T) {
	half := rowsSteps / 2
	for _, c := range []struct {
		name   string
		writes [][]int // lists of steps; all but the last are flushed
	}{
		{"memory", [][]int{stepsOf(0, rowsSteps, 1)}},
		{"memory, late rows", [][]int{append(stepsOf(half, rowsSteps, 1), stepsOf(0, half+3, 1)...)}},
		{"half", [][]int{stepsOf(0, half, 1), stepsOf(half, rowsSteps, 1)}},
		{"half, rows again", [][]int{stepsOf(0, half, 1), stepsOf(half-7, rowsSteps, 1)}},
		{"interleaved", [][]int{stepsOf(0, rowsSteps, 3), stepsOf(1, rowsSteps, 3), stepsOf(2, rowsSteps, 3)}},
		{"interleaved, rows again", [][]int{stepsOf(0, half, 2), stepsOf(0, half, 5),
			append(stepsOf(1, half, 2), stepsOf(half, rowsSteps, 1)...)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			m := newManyRows(t, r)
			for k, steps := range c.writes {
				if k > 0 {
					m.flush(t)
				}
				m.write(t, r, steps)
			}
			m.compare(t, r, "written")
			m.flush(t)
			m.compare(t, r, "flushed")
			if err := m.e.Compact(ctx, public("phys")); err != nil {
				t.Fatal(err)
			}
			m.compare(t, r, "merged")
		})
	}
}

// stepsOf lists steps [from, to) with a stride.
func stepsOf(from, to, stride int) (steps []int) {
	for ; from < to; from += stride {
		steps = append(steps, from)
	}
	return steps
}

func newManyRows(t *testing.T, r *rand.Rand) *manyRows {
	e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true, MinFree: 1, FlushBytes: 1 << 30,
		MemtableLimit: 1 << 30})
	t.Cleanup(func() { mustClose(t, e) })
	m := &manyRows{e: e}
	for table := range rowsTables {
		for host := range rowsHosts {
			m.names = append(m.names, named(fmt.Sprint("m", table), "phys", "host", fmt.Sprintf("h%02d", host)))
			m.phase = append(m.phase, int64(host%3)*r.Int64N(rowsStepMS))
			values := make([]float64, rowsSteps)
			for i := range values {
				values[i] = math.NaN()
			}
			m.values = append(m.values, values)
		}
	}
	return m
}

// write writes a sample of each series at each step, some steps a request; every fifth series lacks some.
func (m *manyRows) write(t *testing.T, r *rand.Rand, steps []int) {
	t.Helper()
	list := mustSeries(t, m.e, m.names...)
	for len(steps) > 0 {
		some := steps[:min(len(steps), 1+r.IntN(40))]
		steps = steps[len(some):]
		var set WriteSet
		for _, step := range some {
			for i, s := range list {
				if i%5 == 0 && r.IntN(10) == 0 {
					continue
				}
				v := float64(r.IntN(1 << 20))
				set.Samples(s, &sampleNames).Float(m.at(i, step), v)
				m.values[i][step] = v
			}
		}
		if _, err := m.e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
	}
}

// at is the time of a step of a series.
func (m *manyRows) at(i, step int) int64 { return m.phase[i] + int64(step)*rowsStepMS }

func (m *manyRows) flush(t *testing.T) {
	t.Helper()
	if err := m.e.Flush(ctx, public("phys")); err != nil {
		t.Fatal(err)
	}
}

// compare reads all series at all times, then some of them at some.
func (m *manyRows) compare(t *testing.T, r *rand.Rand, when string) {
	t.Helper()
	m.read(t, when, 0, math.MaxInt64, ".*")
	for range 4 {
		from := r.Int64N(rowsSteps * rowsStepMS)
		m.read(t, when, from, from+r.Int64N(300*rowsStepMS), [...]string{".*", "h07", "h[0-3]."}[r.IntN(3)])
	}
}

// read reads the series of all tables whose host passes in a range of times, by one block, some at a time.
func (m *manyRows) read(t *testing.T, when string, from, to int64, hosts string) {
	t.Helper()
	req := SelectRequest{From: from, To: to, Matchers: []Matcher{{"host", MatchRegex, hosts}}}
	for k := range rowsTables {
		req.Tables = append(req.Tables, everyField(t, m.e, public(fmt.Sprint("m", k))).Tables...)
	}
	sel, err := m.e.Select(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer sel.Close()
	got := map[string][]sampleAt{}
	var b SampleBlock
	defer b.Release()
	cut := cutSeries(sel, 5*rowsSteps)
	for k := 1; k < len(cut); k++ {
		if err := sel.Read(cut[k-1], cut[k], &b); err != nil {
			t.Fatal(err)
		}
		for i := cut[k-1]; i < cut[k]; i++ {
			name := fmt.Sprintf("m%d %s", sel.Table(i), sel.Symbols().String(sel.Labels(i)[0].Value))
			times, values := b.Floats(i, 0)
			for k, at := range times {
				got[name] = append(got[name], sampleAt{at, values[k]})
			}
		}
	}
	m.check(t, fmt.Sprintf("%s, hosts %s from %d to %d", when, hosts, from, to), got, from, to, hosts)
}

// sampleAt is a sample with its time in ms.
type sampleAt struct {
	at    int64
	value float64
}

// check holds what was read against what was written.
func (m *manyRows) check(t *testing.T, when string, got map[string][]sampleAt, from, to int64, hosts string) {
	t.Helper()
	matcher := Matcher{"host", MatchRegex, hosts}
	test, err := matcher.compile(func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range m.names {
		var want []sampleAt
		for step, v := range m.values[i] {
			if at := m.at(i, step); v == v && at >= from && at <= to && test.test([]byte(n.Labels[0].Value)) {
				want = append(want, sampleAt{at, v})
			}
		}
		name := n.Table.Table + " " + n.Labels[0].Value
		if !slices.Equal(got[name], want) {
			t.Fatalf("%s: series %s has %d samples, want %d, or others", when, name, len(got[name]), len(want))
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Fatalf("%s: %d series that were not asked for", when, len(got))
	}
}
