package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// version is one row of a run in TestMergeRuns; n and s nil are NULL.
type version struct {
	key  string
	time int64
	seq  uint64
	del  bool
	n, s any
}

func (v version) String() string {
	return fmt.Sprintf("%s@%d #%d del=%t n=%v s=%v", v.key, v.time, v.seq, v.del, v.n, v.s)
}

// versionsRun is a run of versions, ordered by key, time and sequence, in batches of a few rows.
type versionsRun struct {
	scan.Run
	r    *rand.Rand
	rows []version
}

func (v *versionsRun) Series(spec *scan.Spec) (scan.Series, error) {
	return &versionsWalk{versionsRun: v, columns: spec.Columns}, nil
}

type versionsWalk struct {
	*versionsRun
	columns  []schema.Column
	at, last int // rows of the current series not given yet
}

func (w *versionsWalk) Next() ([]byte, bool, error) {
	if w.at = w.last; w.at == len(w.rows) {
		return nil, false, nil
	}
	for w.last < len(w.rows) && w.rows[w.last].key == w.rows[w.at].key {
		w.last++
	}
	return []byte(w.rows[w.at].key), true, nil
}

func (w *versionsWalk) Close() {}

func (w *versionsWalk) Rows(b *vector.Batch) (bool, error) {
	if w.at == w.last {
		return false, nil
	}
	n := min(1+w.r.IntN(1+w.r.IntN(300)), w.last-w.at)
	rows := w.rows[w.at : w.at+n]
	w.at += n
	b.N, b.Cols = n, nil
	for _, c := range w.columns {
		b.Cols = append(b.Cols, w.column(c, rows))
	}
	return true, nil
}

// column is a column of some rows, in a random form that can hold it.
func (w *versionsWalk) column(c schema.Column, rows []version) *vector.Vector {
	flat := vector.NewBatch(c.Type)
	for i, x := range rows {
		v := x.value(c)
		one := vector.ConstNull(c.Type)
		switch v := v.(type) {
		case int64:
			one = vector.ConstInt(c.Type, v)
		case uint64:
			one = vector.ConstUint(c.Type, v)
		case string:
			one = vector.ConstBytes(c.Type, []byte(v))
		}
		flat.Cols[0].Append(i, one, 0, 1)
	}
	v := flat.Cols[0]
	same := !slices.ContainsFunc(rows, func(x version) bool { return x.value(c) != rows[0].value(c) })
	switch {
	case same && w.r.IntN(2) == 0:
		k := vector.NewBatch(c.Type).Cols[0]
		k.Append(0, v, 0, 1)
		k.Form = vector.Const
		return k
	case c.Type.Kind() == vector.Bytes && w.r.IntN(2) == 0:
		d := &vector.Vector{Type: c.Type, Form: vector.Dict, Valid: v.Valid, Values: &vector.Vector{Type: c.Type}}
		codes := map[string]uint32{}
		for i := range rows {
			if v.IsNull(i) {
				d.Codes = append(d.Codes, 0)
				continue
			}
			code, ok := codes[v.Str(i)]
			if !ok {
				code = uint32(len(codes))
				codes[v.Str(i)] = code
				d.Values.Append(int(code), v, i, i+1)
			}
			d.Codes = append(d.Codes, code)
		}
		return d
	}
	return v
}

func (v version) value(c schema.Column) any {
	switch c.Name {
	case "ts":
		return v.time
	case "n":
		return v.n
	case "s":
		return v.s
	}
	if c.ID == schema.SequenceID {
		return v.seq
	}
	if v.del {
		return uint64(schema.KindDelete)
	}
	return uint64(schema.KindPut)
}

// naive merges versions one by one; deleted counts the tombstones that stay.
func naive(all []version, mode mergeMode) (out []version, deleted int) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b version) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.time, b.time), cmp.Compare(a.seq, b.seq))
	})
	if mode.keepAll {
		return all, 0
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].key == all[0].key && all[n].time == all[0].time {
			n++
		}
		versions := all[:n]
		all = all[n:]
		var tomb, put *version
		for i := range versions {
			v := versions[i]
			switch {
			case v.del:
				tomb, put = &v, nil
			case put == nil || !mode.lastNonNull:
				put = &v
				if !mode.lastNonNull {
					tomb = nil
				}
			default:
				folded := v
				if v.n == nil {
					folded.n = put.n
				}
				if v.s == nil {
					folded.s = put.s
				}
				put = &folded
			}
		}
		if tomb != nil && mode.tombstones {
			deleted++
			tomb.n, tomb.s = nil, nil
			out = append(out, *tomb)
		}
		if put != nil {
			out = append(out, *put)
		}
	}
	return out, deleted
}

// TestMergeRuns merges random runs that come in small batches of all forms, in all modes, and compares with a merge of
// one row after the other. VARVE_MODEL_SEEDS asks for more runs.
func TestMergeRuns(t *testing.T) {
	columns := []schema.Column{{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{ID: 2, Name: "n", Type: vector.Int64Type, Nullable: true},
		{ID: 3, Name: "s", Type: vector.StringType, Nullable: true},
		schema.SequenceColumn, schema.KindColumn}
	spec := &scan.Spec{Columns: columns, TimeColumn: columns[0], Time: scan.All}
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(20, 40, 400)) {
		r := rand.New(rand.NewPCG(seed, 3))
		all, runs := randomRuns(r)
		for _, mode := range []mergeMode{{}, {tombstones: true}, {keepAll: true}, {lastNonNull: true},
			{lastNonNull: true, tombstones: true},
			{lastNonNull: true, keepAll: true}} {
			want, deleted := naive(all, mode)
			m, err := mergeRuns(runs, spec, mode)
			if err != nil {
				t.Fatal(err)
			}
			got := readMerged(t, m)
			m.Close()
			if mode.tombstones && m.tombs != deleted {
				t.Errorf("seed %d, %+v: %d tombstones counted, want %d", seed, mode, m.tombs, deleted)
			}
			if len(got) != len(want) {
				t.Fatalf("seed %d, %+v: %d rows, want %d", seed, mode, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("seed %d, %+v: row %d\n got %s\nwant %s", seed, mode, i, got[i], want[i])
				}
			}
		}
	}
}

// randomRuns returns versions and the runs they are spread over; runs overlap in sequences, as parts of replayed logs
// do.
func randomRuns(r *rand.Rand) (all []version, runs []scan.Run) {
	parts := make([][]version, 1+r.IntN(6))
	keys, times := 1+r.IntN(4), int64(1+r.IntN(3000))
	deletes, nulls, stretch := r.IntN(30), r.IntN(60), 1+r.IntN(400)
	at := int64(0)
	for seq := range uint64(r.IntN(3000)) {
		at++
		if r.IntN(stretch) == 0 {
			at = r.Int64N(times)
		}
		v := version{key: fmt.Sprint("key", r.IntN(keys)), time: at, seq: seq + 1, n: int64(seq),
			s: fmt.Sprint("text", r.IntN(20))}
		if r.IntN(100) < nulls {
			v.n = nil
		}
		if r.IntN(100) < nulls {
			v.s = nil
		}
		if r.IntN(100) < deletes {
			v.del, v.n, v.s = true, nil, nil
		}
		k := r.IntN(len(parts))
		parts[k] = append(parts[k], v)
		all = append(all, v)
	}
	for _, p := range parts {
		slices.SortStableFunc(p, func(a, b version) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.time, b.time))
		})
		runs = append(runs, &versionsRun{r: r, rows: p})
	}
	return all, runs
}

func readMerged(t *testing.T, m *merged) (got []version) {
	t.Helper()
	for {
		key, ok, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
		name := string(key)
		var b vector.Batch
		for {
			ok, err := m.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if b.N == 0 || b.N > vector.Size {
				t.Fatalf("a batch of %d rows", b.N)
			}
			for i := range b.N {
				v := version{key: name, time: b.Cols[0].Int(i), seq: b.Cols[3].Uint(i),
					del: b.Cols[4].Uint(i) == schema.KindDelete}
				if !b.Cols[1].IsNull(i) {
					v.n = b.Cols[1].Int(i)
				}
				if !b.Cols[2].IsNull(i) {
					v.s = string(b.Cols[2].Bytes(i))
				}
				got = append(got, v)
			}
		}
	}
}

// TestMergeOfLongRows bounds what is collected of rows that are long: a batch ends when its strings are too many.
func TestMergeOfLongRows(t *testing.T) {
	const rows, size = 150, 1 << 20
	r := rand.New(rand.NewPCG(1, 1))
	parts := make([][]version, 2)
	for i := range rows {
		parts[i%2] = append(parts[i%2], version{key: "k", time: int64(i), seq: uint64(i + 1), n: int64(i),
			s: strings.Repeat(string(rune('a'+i%26)), size)})
	}
	spec := &scan.Spec{Columns: []schema.Column{{ID: 1, Name: "ts", Type: vector.Timestamp(3),
		Semantic: schema.Timestamp},
		{ID: 3, Name: "s", Type: vector.StringType, Nullable: true}}, Time: scan.All}
	spec.TimeColumn = spec.Columns[0]
	m, err := mergeRuns([]scan.Run{&versionsRun{r: r, rows: parts[0]}, &versionsRun{r: r, rows: parts[1]}}, spec,
		mergeMode{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, _, err := m.Next(); err != nil {
		t.Fatal(err)
	}
	var b vector.Batch
	n := 0
	for {
		ok, err := m.Rows(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if held := len(b.Cols[1].Heap); held > mostCollected+size {
			t.Errorf("a batch of %d bytes", held)
		}
		for i := range b.N {
			if s := b.Cols[1].Bytes(i); len(s) != size || s[0] != byte('a'+n%26) || s[size-1] != s[0] ||
				b.Cols[0].Int(i) != int64(n) {
				t.Fatalf("row %d: %d bytes of %q", n, len(s), s[:1])
			}
			n++
		}
	}
	if n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
}
