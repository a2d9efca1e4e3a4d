package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// keyRoom is the longest value of the one tag of a series key that a part takes.
const keyRoom = sst.MaxKeySize - 4 - tagFrame

// TestBounds writes rows at each bound of a part, which are flushed and read again, and rows beyond it, which are
// refused before they are logged: neither the table nor another suffers.
func TestBounds(t *testing.T) {
	zeros := strings.Repeat("\x00", keyRoom/2)
	text := strings.Repeat("h", keyRoom)
	for _, c := range []struct {
		name    string
		kind    modelKind
		fits    modelRow
		exceeds modelRow
	}{
		{"a tag", lastRow, modelRow{"host": text}, modelRow{"host": text + "h"}},
		{"zero bytes, which count twice", lastRow, modelRow{"host": zeros}, modelRow{"host": zeros + "\x00"}},
		{"tags together", metric, modelRow{"host": text[20:], "zone": "0123456789", "value": 1.0},
			modelRow{"host": text[20:], "zone": "0123456789abcde", "value": 1.0}},
		{"a field may be longer than a key", appendOnly, modelRow{"s": text + text}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			e := mustOpen(t, o)
			c.fits["ts"] = int64(1)
			if err := put(e, "t", c.kind, []modelRow{c.fits}); err != nil {
				t.Fatal(err)
			}
			if c.exceeds != nil {
				c.exceeds["ts"] = int64(2)
				good := modelRow{"ts": int64(3), "host": "a", "value": 1.0}
				err := put(e, "t", c.kind, []modelRow{good, c.exceeds})
				if status.Of(err) != status.InvalidArguments ||
					!strings.Contains(err.Error(), "row 2 of 2: the primary key") {
					t.Fatalf("beyond the bound: %v", err)
				}
			}
			for _, table := range []string{"t", "other"} {
				if err := put(e, table, c.kind, []modelRow{{"ts": int64(4), "host": "b", "value": 1.0}}); err != nil {
					t.Fatal(err)
				}
				if err := e.Flush(ctx, public(table)); err != nil {
					t.Fatal(err)
				}
			}
			if err := put(e, "t", c.kind, []modelRow{{"ts": int64(5), "host": "b", "value": 1.0}}); err != nil {
				t.Fatal(err)
			}
			mustClose(t, e)
			e = mustOpen(t, o)
			defer mustClose(t, e)
			if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 3 {
				t.Errorf("%d rows, %v", len(lines), err)
			}
			if aside := e.SetAside(); len(aside) > 0 {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

// TestBoundOfValues asks for values around the largest that a part takes, of every form that a batch may have. Nothing
// looks at their bytes, which are never written to.
func TestBoundOfValues(t *testing.T) {
	heap := make([]byte, sst.MaxValue+1)
	view := func(size int) []vector.View { return []vector.View{{Off: 0, Len: uint32(size)}} }
	for _, size := range []int{sst.MaxValue, sst.MaxValue + 1} {
		values := &vector.Vector{Type: vector.StringType, Heap: heap, Views: view(size)}
		for form, v := range map[string]*vector.Vector{
			"flat":  values,
			"const": {Type: vector.StringType, Form: vector.Const, Heap: heap, Views: view(size)},
			"dict":  {Type: vector.StringType, Form: vector.Dict, Codes: []uint32{0}, Values: values},
			"null":  {Type: vector.StringType, Heap: heap, Views: view(size), Valid: vector.MakeBitmap(1)},
		} {
			r := &record{batch: &vector.Batch{N: 1}}
			r.add(&schema.Column{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
				vector.ConstInt(vector.Timestamp(3), 1))
			r.add(&schema.Column{Name: "message", Type: vector.StringType, Nullable: true}, v)
			err := r.checkBounds(sst.MaxValue)
			if fits := size <= sst.MaxValue || form == "null"; fits != (err == nil) ||
				!fits && !strings.Contains(err.Error(),
					"row 1 of 1: column message: the value has 234881025 bytes, the limit is 234881024") {
				t.Errorf("%s, %d bytes: %v", form, size, err)
			}
		}
	}
}

// TestMaxValue: a value longer than the store is told to take is refused, by itself; one that was taken before stays.
func TestMaxValue(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	row := func(at int64, size int) []modelRow {
		return []modelRow{{"ts": at, "host": "a", "s": strings.Repeat("n", size)}}
	}
	if err := put(e, "t", lastRow, row(1, 5000)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	o.MaxValue = 1000
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if err := put(e, "t", lastRow, row(2, 1000)); err != nil {
		t.Error(err)
	}
	if err := put(e, "t", lastRow, row(3, 1001)); err == nil ||
		!strings.Contains(err.Error(), "row 1 of 1: column s: the value has 1001 bytes, the limit is 1000") {
		t.Errorf("a value of 1001 bytes: %v", err)
	}
	if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 2 {
		t.Errorf("%d rows, %v", len(lines), err)
	}
}

// TestReplayBeyondBounds replays records that programs wrote which did not check all bounds: rows that no part takes
// are set aside, the others served, and the start ends well.
func TestReplayBeyondBounds(t *testing.T) {
	long := strings.Repeat("h", keyRoom+1)
	for _, c := range []struct {
		name  string
		hosts []string
		times []int64 // negative: none
		want  int
	}{
		{"one row of three", []string{"a", long, "b"}, []int64{1, 2, 3}, 2},
		{"all rows", []string{long}, []int64{1}, 0},
		{"a row without time", []string{"a", "b"}, []int64{-1, 3}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			e := mustOpen(t, o)
			if err := put(e, "t", lastRow, []modelRow{{"ts": int64(9), "host": "z"}}); err != nil {
				t.Fatal(err)
			}
			tab, err := e.Table(public("t"))
			if err != nil {
				t.Fatal(err)
			}
			n := len(c.hosts)
			hosts, times := &vector.Vector{Type: vector.StringType},
				&vector.Vector{Type: vector.Timestamp(3), Valid: vector.MakeBitmap(n)}
			for i, h := range c.hosts {
				hosts.Append(i, vector.ConstString(h), 0, 1)
				times.Ints = append(times.Ints, c.times[i])
				if c.times[i] >= 0 {
					times.Valid.Set(i)
				}
			}
			r := &record{table: tab.Schema.ID, seq: e.committer.seq.Add(1), batch: &vector.Batch{N: n}}
			r.add(&tab.Schema.Columns[tab.Schema.Column("host")], hosts)
			r.add(&tab.Schema.Columns[tab.Schema.Time], times)
			if _, err := e.log.Append(logged(r)); err != nil {
				t.Fatal(err)
			}
			mustClose(t, e)
			e = mustOpen(t, o)
			defer mustClose(t, e)
			if err := e.Flush(ctx, public("t")); err != nil {
				t.Fatal(err)
			}
			if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != c.want+1 {
				t.Errorf("%d rows, want %d and one: %v", len(lines), c.want, err)
			}
			if aside := e.SetAside(); len(aside) != 1 || !strings.Contains(aside[0].Reason, "cannot be stored") {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

// TestReplayKeepsWhatItSetsAside replays a record that cannot be kept. Its segment stays when the log is cut, whether
// the start that met it comes so far or a later one, which passes the record over; and every start reports it.
func TestReplayKeepsWhatItSetsAside(t *testing.T) {
	for _, later := range []bool{false, true} {
		disk := vfs.NewMem()
		o := testOptions(disk)
		o.WALFileSize = 1
		e := mustOpen(t, o)
		tables := []string{"t", "other"} // the log is cut when both are flushed, but for what the second has behind
		if later {
			tables = []string{"other", "t"}
		}
		if err := put(e, tables[0], lastRow, []modelRow{{"ts": int64(9), "host": "z"}}); err != nil {
			t.Fatal(err)
		}
		if err := put(e, "t", lastRow, []modelRow{{"ts": int64(10), "host": "z"}}); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(public("t"))
		if err != nil {
			t.Fatal(err)
		}
		r := &record{table: tab.Schema.ID, seq: e.committer.seq.Add(1), batch: &vector.Batch{N: 1}}
		r.add(&tab.Schema.Columns[tab.Schema.Column("host")], vector.ConstString("of a row without time"))
		r.add(&tab.Schema.Columns[tab.Schema.Time], vector.ConstNull(vector.Timestamp(3)))
		poison := logged(r)
		if _, err := e.log.Append(poison); err != nil {
			t.Fatal(err)
		}
		if err := put(e, "other", lastRow, []modelRow{{"ts": int64(11), "host": "z"}}); err != nil {
			t.Fatal(err)
		}
		for round := range 4 {
			disk = disk.Crash(rand.New(rand.NewPCG(1, 1)))
			o.FS = disk
			report, err := Check(CheckOptions{FS: disk, Dir: "/data", Deep: true})
			if err != nil {
				t.Fatal(err)
			}
			e = mustOpen(t, o)
			if aside := e.SetAside(); len(aside) == 0 || len(report.Faults)+len(report.Notes) == 0 {
				t.Errorf("later %t, start %d: set aside: %v, check: %+v", later, round, aside, report)
			}
			if table := []string{"t", "other"}; round < 2 {
				if err := e.Flush(ctx, public(table[round])); err != nil {
					t.Fatal(err)
				}
			}
		}
		names, err := disk.List("/data/wal")
		if err != nil {
			t.Fatal(err)
		}
		var kept []byte
		for _, name := range names {
			m, err := disk.Map("/data/wal/" + name)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, m.Bytes()...)
		}
		if !bytes.Contains(kept, poison[0]) {
			t.Errorf("later %t: the record is gone: %v", later, names)
		}
	}
}

// TestKeysAreNotNamedTwice fills a key to its bound and gives the table a tag with a default afterwards, which keys of
// older rows do not name: they are replayed, replaced and deleted as before.
func TestKeysAreNotNamedTwice(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	row := modelRow{"ts": int64(1), "host": strings.Repeat("h", keyRoom)}
	if err := put(e, "t", lastRow, []modelRow{row}); err != nil {
		t.Fatal(err)
	}
	if err := e.Alter(ctx, public("t"), func(old *schema.Table) (*schema.Table, error) {
		next := *old
		next.Columns = append(slices.Clone(old.Columns),
			schema.Column{ID: 99, Name: "zone", Type: vector.StringType, Semantic: schema.Tag, Nullable: true,
				Default: vector.ConstString("somewhere")})
		next.Tags = append(slices.Clone(old.Tags), len(old.Columns))
		return &next, nil
	}); err != nil {
		t.Fatal(err)
	}
	o.FS = disk.Crash(rand.New(rand.NewPCG(1, 1)))
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if aside := e.SetAside(); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
	row["zone"] = "somewhere"
	if err := put(e, "t", lastRow, []modelRow{row}); err != nil {
		t.Errorf("replaced: %v", err)
	}
	if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 1 {
		t.Errorf("%d rows, want one: %v", len(lines), err)
	}
	host, zone := vector.ConstString(row["host"].(string)), vector.ConstString("somewhere")
	if n, err := e.Delete(ctx, schemaOf(t, e, public("t")),
		&vector.Batch{N: 1, Cols: []*vector.Vector{host, zone,
			vector.ConstInt(vector.Timestamp(3), 1)}}); err != nil || n != 1 {
		t.Errorf("deleted %d: %v", n, err)
	}
	if err := e.Flush(ctx, public("t")); err != nil {
		t.Error(err)
	}
	row["zone"] = "elsewhere"
	if err := put(e, "t", lastRow, []modelRow{row}); status.Of(err) != status.InvalidArguments {
		t.Errorf("a key beyond the bound: %v", err)
	}
}
