package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"varve/engine/vfs"
)

// rowsOfTags are rows of one series each, whose tag has so many bytes.
func rowsOfTags(from, count, tagBytes int) []modelRow {
	rows := make([]modelRow, count)
	for i := range rows {
		name := fmt.Sprintf("%d-", from+i)
		rows[i] = modelRow{"ts": int64(i), "host": name + strings.Repeat("x", max(0, tagBytes-len(name))),
			"v": int64(i)}
	}
	return rows
}

// TestRegistriesGiveWay fills the memory with series of several tables: each write waits for a flush and is taken,
// although the flushed memtables have nothing but their series.
func TestRegistriesGiveWay(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	o.NoBackground, o.WriteWait, o.FlushBytes = false, time.Minute, 1<<30
	o.MemtableLimit, o.SeriesBytes = 96<<10, 32<<10
	e := mustOpen(t, o)
	rows := 0
	for round := range 4 {
		for table := range 3 {
			batch := rowsOfTags(100*round, 10, 4<<10)
			if err := put(e, fmt.Sprint("t", table), lastRow, batch); err != nil {
				t.Fatalf("round %d, table %d: %v", round, table, err)
			}
			rows += len(batch)
		}
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	defer mustClose(t, e)
	found := 0
	for table := range 3 {
		lines, err := scanTable(e, public(fmt.Sprint("t", table)), everything)
		if err != nil {
			t.Fatal(err)
		}
		found += len(lines)
	}
	if found != rows {
		t.Errorf("%d rows are there after a start, want %d", found, rows)
	}
}

// TestFullMemoryPasses plays random loads of rows and series on many tables: whatever fills the memory, the flushes
// that a waiting write asks for make room for it.
func TestFullMemoryPasses(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			o := testOptions(vfs.NewMem())
			o.NoBackground, o.WriteWait, o.FlushBytes = false, time.Minute, int64(8<<10)<<r.IntN(6)
			o.MemtableLimit, o.SeriesBytes = int64(16<<10)<<r.IntN(5), int64(1)<<(10+r.IntN(7))
			e := mustOpen(t, o)
			defer mustClose(t, e)
			tables := 1 + r.IntN(20)
			for i := range 150 {
				name := fmt.Sprint("t", r.IntN(tables))
				batch := rowsOfTags(r.IntN(1000), 1+r.IntN(40), 1<<r.IntN(12))
				if err := put(e, name, []modelKind{lastRow, lastNonNull, appendOnly}[len(name)%3], batch); err != nil {
					t.Fatalf("write %d: %v", i, err)
				}
			}
		})
	}
}

// TestReplayDropsRegistries replays a log whose series alone exceed the memory: parts are written for what makes room,
// not at every record from then on.
func TestReplayDropsRegistries(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	o.FlushBytes, o.MemtableLimit, o.SeriesBytes = 1<<30, 1<<30, 1
	e := mustOpen(t, o)
	const tables, rounds = 3, 100
	for round := range rounds {
		for table := range tables {
			if err := put(e, fmt.Sprint("t", table), lastRow, rowsOfTags(round*10, 10, 512)); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustClose(t, e)
	o.MemtableLimit = 256 << 10
	e = mustOpen(t, o)
	defer mustClose(t, e)
	parts := 0
	for _, r := range e.catalog.Load().regions {
		parts += len(r.snap.Load().parts)
	}
	// 300 records of 10 keys of 512 bytes are six times the limit.
	if parts > 60 {
		t.Errorf("replay wrote %d parts", parts)
	}
}
