package memtable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

var (
	ts   = schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
	host = schema.Column{ID: 2, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true}
	msg  = schema.Column{ID: 3, Name: "msg", Type: vector.StringType, Nullable: true}
	num  = schema.Column{ID: 4, Name: "num", Type: vector.Int64Type, Nullable: true, Default: vector.ConstInt(vector.Int64Type, -1)}
)

var logs = &schema.Table{ID: 1, Columns: []schema.Column{ts, msg, num}}
var tagged = &schema.Table{ID: 2, Columns: []schema.Column{ts, host, msg, num}, Tags: []int{1}}

// row is a row of the naive model; fields print as text, NULL as "-".
type row struct {
	key      string
	time     int64
	seq      uint64
	host     string
	msg, num string
}

func (r row) String() string { return fmt.Sprintf("%s|%d|%s|%s", r.host, r.time, r.msg, r.num) }

// batch makes n random rows; num is left out of some batches altogether.
func batch(r *rand.Rand, t *schema.Table, seq uint64, n int) ([]vector.Field, *vector.Batch, []row) {
	b := vector.NewBuilder()
	withNum := r.IntN(3) > 0
	rows := make([]row, n)
	for i := range rows {
		x := row{time: r.Int64N(1000), seq: seq, host: "-", msg: "-", num: "-"}
		c, _ := b.Column("ts", ts.Type)
		c.SetInt(x.time)
		if len(t.Tags) > 0 && r.IntN(4) > 0 {
			x.host = fmt.Sprint("h", r.IntN(5))
			c, _ := b.Column("host", host.Type)
			c.SetString(x.host)
		}
		if r.IntN(3) > 0 {
			x.msg = strings.Repeat("m", r.IntN(6))
			c, _ := b.Column("msg", msg.Type)
			c.SetString(x.msg)
		}
		if withNum {
			c, _ := b.Column("num", num.Type)
			if r.IntN(3) > 0 {
				v := r.Int64N(10)
				x.num = fmt.Sprint(v)
				c.SetInt(v)
			}
		}
		b.EndRow()
		rows[i] = x
	}
	fields, out := b.Finish()
	return fields, out, rows
}

// read drains a batch reader into printed rows; the columns are host, ts, msg, num.
func read(b *vector.Batch) []string {
	var out []string
	text := func(v *vector.Vector, i int) string {
		if v.IsNull(i) {
			return "-"
		}
		if v.Type.Kind() == vector.Int64 {
			return fmt.Sprint(v.Int(i))
		}
		return string(v.Bytes(i))
	}
	for i := range b.N {
		out = append(out, fmt.Sprintf("%s|%s|%s|%s", text(b.Cols[0], i), text(b.Cols[1], i), text(b.Cols[2], i), text(b.Cols[3], i)))
	}
	return out
}

func spec(r *rand.Rand) *scan.Spec {
	s := &scan.Spec{Columns: []schema.Column{host, ts, msg, num}, TimeColumn: ts, Time: scan.All}
	if r.IntN(2) == 0 {
		from := r.Int64N(900)
		s.Time = scan.Range{From: from, To: from + r.Int64N(400)}
	}
	if r.IntN(2) == 0 {
		s.Filter = filter.And{{Column: msg.ID, Op: filter.Equal, Args: vector.ConstString("mm"), NArgs: 1}}
		s.FilterColumns = []schema.Column{msg}
	}
	return s
}

func passes(s *scan.Spec, x row) bool {
	return s.Time.Holds(x.time) && (len(s.Filter) == 0 || x.msg == "mm")
}

func TestScanAgainstModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		table := []*schema.Table{logs, tagged}[seed%2]
		m := New()
		var model []row
		for seq := range uint64(1 + r.IntN(30)) {
			fields, b, rows := batch(r, table, seq, r.IntN(1+r.IntN(6000)))
			m.Append(seq, table, fields, b)
			model = append(model, rows...)
		}
		run := m.Live()
		if run.Rows() != len(model) || m.Rows() != len(model) {
			t.Fatalf("seed %d: %d rows, want %d", seed, run.Rows(), len(model))
		}
		s := spec(r)
		var want []string
		for _, x := range model {
			if passes(s, x) {
				want = append(want, x.String())
			}
		}
		slices.Sort(want)
		got := scanAll(t, run, s)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: scan gives %d rows, want %d", seed, len(got), len(want))
		}
		checkSeries(t, seed, run, s, model)
	}
}

func scanAll(t *testing.T, run scan.Run, s *scan.Spec) []string {
	t.Helper()
	c, err := run.Scan(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []string
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
		got = append(got, read(&b)...)
	}
}

// checkSeries wants the rows of every series by (time, sequence), series by key: NULL first, then rising hosts.
func checkSeries(t *testing.T, seed uint64, run scan.Run, s *scan.Spec, model []row) {
	t.Helper()
	var want []string
	sorted := slices.Clone(model)
	slices.SortStableFunc(sorted, func(a, b row) int {
		ha, hb := strings.TrimPrefix(a.host, "-"), strings.TrimPrefix(b.host, "-")
		if d := strings.Compare(ha, hb); d != 0 {
			return d
		}
		if a.time != b.time {
			return int(a.time - b.time)
		}
		return int(a.seq) - int(b.seq)
	})
	for _, x := range sorted {
		if passes(s, x) {
			want = append(want, x.String())
		}
	}
	w, err := run.Series(s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got []string
	last := ""
	for {
		key, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if string(key) <= last {
			t.Fatalf("seed %d: keys do not rise", seed)
		}
		last = string(key)
		for {
			var b vector.Batch
			ok, err := w.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, read(&b)...)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: walk differs: %d rows, want %d", seed, len(got), len(want))
	}
}

func TestColumnsYoungerThanTheirRows(t *testing.T) {
	old := &schema.Table{ID: 1, Columns: []schema.Column{ts, msg}}
	m := New()
	b := vector.NewBatch(ts.Type)
	b.Cols[0].Ints, b.N = []int64{1}, 1
	m.Append(1, old, []vector.Field{{Name: "ts", Type: ts.Type}}, b)
	m.Append(2, logs, []vector.Field{{Name: "ts", Type: ts.Type}}, b)
	got := scanAll(t, m.Live(), &scan.Spec{Columns: []schema.Column{msg, ts, msg, num}, TimeColumn: ts, Time: scan.All})
	if want := []string{"-|1|-|-1", "-|1|-|-"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: the default is for rows written before the column", got, want)
	}
}

func TestTombstonesAndSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := New()
	fields, b, _ := batch(r, logs, 5, 10)
	m.Append(5, logs, fields, b)
	keys := vector.NewBatch(ts.Type)
	keys.Cols[0].Ints, keys.N = []int64{7}, 1
	m.AppendDelete(9, logs, []vector.Field{{Name: "ts", Type: ts.Type}}, keys)
	run := m.Freeze()
	if lo, hi := run.Sequences(); lo != 5 || hi != 9 {
		t.Errorf("sequences %d to %d", lo, hi)
	}
	w, err := run.Series(&scan.Spec{Columns: []schema.Column{ts, schema.SequenceColumn, schema.KindColumn}, TimeColumn: ts, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	deletes, rows := 0, 0
	for {
		_, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for {
			var b vector.Batch
			if ok, err := w.Rows(&b); err != nil || !ok {
				break
			}
			for i := range b.N {
				rows++
				if b.Cols[2].Uint(i) == schema.KindDelete {
					deletes++
					if b.Cols[1].Uint(i) != 9 || b.Cols[0].Int(i) != 7 {
						t.Errorf("tombstone at %d has sequence %d", b.Cols[0].Int(i), b.Cols[1].Uint(i))
					}
				}
			}
		}
	}
	if deletes != 1 || rows != 11 {
		t.Errorf("%d tombstones in %d rows", deletes, rows)
	}
}

func TestReadersBesideWriters(t *testing.T) {
	m := New()
	var writers, readers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 9))
			for i := range 50 {
				seq := uint64(g*100 + i)
				fields, b, _ := batch(r, tagged, seq, 100)
				m.Append(seq, tagged, fields, b)
			}
		})
	}
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			last := 0
			for {
				select {
				case <-stop:
					return
				default:
				}
				run := m.Live()
				n := len(scanAll(t, run, &scan.Spec{Columns: []schema.Column{host, ts, msg, num}, TimeColumn: ts, Time: scan.All}))
				if n != run.Rows() || n < last {
					t.Errorf("%d rows read of %d, %d before", n, run.Rows(), last)
					return
				}
				last = n
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if m.Rows() != 4*50*100 {
		t.Errorf("%d rows", m.Rows())
	}
}

func TestManySmallAppendsLeaveFewChunks(t *testing.T) {
	m := New()
	r := rand.New(rand.NewPCG(1, 1))
	for seq := range uint64(3000) {
		fields, b, _ := batch(r, logs, seq, 1)
		m.Append(seq, logs, fields, b)
	}
	if n := m.Live().Blocks(); n > 14 {
		t.Errorf("3,000 rows in %d chunks", n)
	}
}
