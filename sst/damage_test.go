package sst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// file reads a file of a file system.
func file(tb testing.TB, fs vfs.FS, name string) []byte {
	tb.Helper()
	m, err := fs.Map(name)
	if err != nil {
		tb.Fatal(err)
	}
	b := bytes.Clone(m.Bytes())
	if err := m.Unmap(); err != nil {
		tb.Fatal(err)
	}
	return b
}

// store writes a file.
func store(tb testing.TB, fs vfs.FS, name string, b []byte) {
	tb.Helper()
	f, err := fs.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// partOrigin is what parts of tests say of themselves.
const partOrigin = `{"tables": ["a table that is described in some hundred bytes, again and again, again and again, again and again"]}`

// smallPart is a part of some series with all kinds of sections.
func smallPart(tb testing.TB) (vfs.FS, *table) {
	tb.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	t := newTable(r, 6, 8, true)
	fs := vfs.NewMem()
	t.write(tb, fs, "p", r, WriterOptions{})
	return fs, t
}

// TestDump holds the layout: an annotated dump of a small part. The part itself, as version 1 wrote it, is kept too and
// must go on opening.
func TestDump(t *testing.T) {
	values, bytesOf := tagBlockValues, tagBlockBytes
	tagBlockValues, tagBlockBytes = 128, 64<<10 // builds with invariants draw others
	defer func() { tagBlockValues, tagBlockBytes = values, bytesOf }()
	fs, _ := smallPart(t)
	var got bytes.Buffer
	if err := Dump(&got, fs, "p", DumpOptions{Rows: 10}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/small.dump", got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/small.dump")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the dump differs from testdata/small.dump (-update rewrites it)\n%s",
			firstDifference(got.String(), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return " got " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}

// TestVersions reads the part that each version of the format wrote.
func TestVersions(t *testing.T) {
	fs, model := smallPart(t)
	for version := oldestVersion; version <= formatVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			name := fmt.Sprintf("testdata/v%d.part", version)
			if _, err := os.Stat(name); *update && errors.Is(err, os.ErrNotExist) && version == formatVersion {
				if err := os.WriteFile(name, file(t, fs, "p"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			store(t, fs, "old", b)
			if errs := checkFile(fs, "old"); len(errs) > 0 {
				t.Fatal(errs)
			}
			p, err := Open(fs, "old", OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			origin, err := p.Origin()
			if want := map[bool]string{true: partOrigin}[version > 2]; err != nil || string(origin) != want {
				t.Errorf("origin %q, %v; want %q", origin, err, want)
			}
			if p.version != uint32(version) {
				t.Errorf("the file is of version %d", p.version)
			}
			checkScan(t, p, model, &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All},
				func(*seriesRows, row) bool { return true })
			findEach(t, fs, "old", model)
		})
	}
}

// readAll reads a part in every way and gives the first error.
func readAll(fs vfs.FS, name string) (rows int, err error) {
	p, err := Open(fs, name, OpenOptions{Cache: NewCache(1 << 20)})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	if _, err := p.Origin(); err != nil {
		return 0, err
	}
	for _, and := range []filter.And{nil, {cond(levelColumn, filter.Equal, "warn")},
		{cond(hostColumn, filter.NotEqual, "x"), cond(bytesColumn, filter.Less, int64(9))},
		{cond(messageColumn, filter.NotEqual, "x")}} { // a condition on every column with postings
		spec := &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All, Filter: and,
			FilterColumns: allColumns}
		if rows, err = drain(p, spec); err != nil {
			return rows, err
		}
		if and == nil && rows != int(p.Meta().Rows) {
			return rows, errors.New("rows are missing")
		}
	}
	for _, c := range fieldColumns {
		if _, _, err := p.Run().Stat(ctx, c); err != nil {
			return rows, err
		}
	}
	if _, err := p.Measure(ctx, &Measure{Column: messageColumn.ID, Time: scan.All,
		Bucket: func(int64) int64 { return 0 }, Group: func([]byte) (int, error) { return 0, nil },
		Add: func(int, int64, int64, int64) error { return nil }}); err != nil {
		return rows, err
	}
	return rows, findAll(p)
}

// shardColumn is a tag that is no text.
var shardColumn = schema.Column{ID: 8, Name: "shard", Type: vector.Int64Type, Semantic: schema.Tag, Nullable: true}

// findAll finds series by a value of each tag and by a test of it, and reads them.
func findAll(p *Part) error {
	anything := func([]byte) bool { return true }
	for _, test := range []scan.TagTest{{Column: hostColumn, Values: [][]byte{[]byte("host-000")}},
		{Column: hostColumn, Match: anything, Null: true},
		{Column: shardColumn, Values: [][]byte{schema.AppendKeyInt(nil, -1)}}, {Column: shardColumn, Match: anything}} {
		f, err := p.Run().Find(&scan.Find{Tables: []schema.TableID{7, 8}, Tests: []scan.TagTest{test}, Time: scan.All,
			TimeColumn: tsColumn, Columns: fieldColumns})
		if err != nil {
			return err
		}
		keys, err := f.Keys()
		if err != nil {
			return err
		}
		rows, err := f.Reader()
		if err != nil {
			return err
		}
		defer rows.Close()
		for i := range f.Len() {
			if _, err := keys.Next(); err != nil {
				return err
			}
			if err := rows.Begin(i, scan.All); err != nil {
				return err
			}
			var s scan.Stretch
			for ok := true; ok; {
				if ok, err = rows.Next(&s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func drain(p *Part, spec *scan.Spec) (rows int, err error) {
	c, err := p.Run().Scan(spec)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if !ok || err != nil {
			break
		}
		for i := range b.N {
			text(&b, i)
		}
		rows += b.N
	}
	walk, err := p.Run().Series(spec)
	if err != nil {
		return rows, err
	}
	defer walk.Close()
	for {
		_, ok, err := walk.Next()
		if !ok || err != nil {
			return rows, err
		}
		for {
			ok, err := walk.Rows(&b)
			if err != nil {
				return rows, err
			}
			if !ok {
				break
			}
		}
	}
}

// filterBytes reports which bytes of a part belong to token filters.
func filterBytes(tb testing.TB, fs vfs.FS, name string) []bool {
	tb.Helper()
	p, err := Open(fs, name, OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer p.Close()
	in := make([]bool, p.file.size())
	for _, c := range p.set.Load().all {
		for i := range c.filterRef.length {
			in[c.filterRef.off+i] = true
		}
	}
	return in
}

// findEach looks every message of the model up by equality and by its last word: each lookup finds its row.
func findEach(tb testing.TB, fs vfs.FS, name string, model *table) {
	tb.Helper()
	p, err := Open(fs, name, OpenOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer p.Close()
	for i := range model.series {
		for _, w := range model.series[i].rows {
			message := w[messageColumn.ID].(string)
			for _, c := range []filter.Cond{cond(messageColumn, filter.Equal, message),
				cond(messageColumn, filter.Term, message[strings.LastIndex(message, " ")+1:])} {
				spec := &scan.Spec{Columns: allColumns, TimeColumn: tsColumn, Time: scan.All, Filter: filter.And{c},
					FilterColumns: allColumns}
				if rows, err := drain(p, spec); err != nil || rows == 0 {
					tb.Fatalf("%q: %d rows, %v", message, rows, err)
				}
			}
		}
	}
}

// TestDamage turns every byte of a part, one at a time: a reader gives an error that wraps ErrCorrupt, and Check finds
// it too. No byte may be believed unchecked. A damaged filter refutes nothing, and no row is lost.
func TestDamage(t *testing.T) {
	fs, model := smallPart(t)
	whole, filters := file(t, fs, "p"), filterBytes(t, fs, "p")
	if errs := checkFile(fs, "p"); len(errs) > 0 {
		t.Fatal(errs)
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		store(t, fs, "bad", b)
		if _, err := readAll(fs, "bad"); filters[i] {
			if err != nil {
				t.Fatalf("byte %d, of a filter, turned: %v", i, err)
			}
			if i%8 == 0 {
				findEach(t, fs, "bad", model)
			}
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d of %d turned: %v", i, len(whole), err)
		} else if !strings.Contains(err.Error(), "bad") {
			t.Fatalf("byte %d turned: the error does not name the file: %v", i, err)
		}
		errs := checkFile(fs, "bad")
		if len(errs) == 0 {
			t.Fatalf("byte %d of %d turned: Check finds nothing", i, len(whole))
		}
		for _, err := range errs {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d turned: Check says %v", i, err)
			}
			if errors.Is(err, ErrPassedOver) != filters[i] {
				t.Fatalf("byte %d, of a filter: %t, turned: Check says %v", i, filters[i], err)
			}
		}
	}
}

// TestTruncated cuts a part at every length.
func TestTruncated(t *testing.T) {
	fs, _ := smallPart(t)
	whole := file(t, fs, "p")
	for n := range whole {
		store(t, fs, "cut", whole[:n])
		if _, err := Open(fs, "cut", OpenOptions{}); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

// TestMisplacedPage swaps two pages with their checksums: each is whole, but not what belongs there.
func TestMisplacedPage(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	fs := vfs.NewMem()
	newTable(r, 1, 3*2048, false).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.set.Load().byID[messageColumn.ID]
	x, err := using(p, func() (*pageIndex, error) { return p.index(ctx, c) })
	if err != nil {
		t.Fatal(err)
	}
	b := file(t, fs, "p")
	n := min(x.length[0], x.length[1])
	page, err := using(p, func() (b []byte, err error) {
		b, _, err = p.file.read(ctx, ref{x.off[0], uint64(n)})
		return b, err
	})
	if err != nil {
		t.Fatal(err)
	}
	copy(b[x.off[1]:], page)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	store(t, fs, "p", b)
	if _, err := readAll(fs, "p"); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), `column "message": block 1`) {
		t.Errorf("%v", err)
	}
}

func TestOtherVersion(t *testing.T) {
	fs, _ := smallPart(t)
	b := file(t, fs, "p")
	end := b[len(b)-footerSize:]
	binary.LittleEndian.PutUint32(end[40:], 9)
	binary.LittleEndian.PutUint32(end[52:], crc32.Checksum(end[:52], castagnoli))
	store(t, fs, "new", b)
	if _, err := Open(fs, "new", OpenOptions{}); err == nil || !errors.Is(err, vfs.ErrNewer) ||
		!strings.Contains(err.Error(), "format version 9, this program reads versions 1 to 7") {
		t.Errorf("%v", err)
	}
}

// resign makes the checksums of a mutated part valid, so that what lies behind them is tested too.
func resign(b []byte) {
	if len(b) < len(partMagic)+footerSize {
		return
	}
	end := b[len(b)-footerSize:]
	off, n := binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(end[8:])
	if off < uint64(len(b)) && n <= uint64(len(b))-off {
		dir := b[off : off+n]
		binary.LittleEndian.PutUint32(end[44:], crc32.Checksum(dir, castagnoli))
		if d, err := readDirectory(dir, off, binary.LittleEndian.Uint32(end[40:])); err == nil {
			sign := func(r ref) {
				if r.present() {
					binary.LittleEndian.PutUint32(b[r.off+r.length:],
						crc32.Checksum(b[r.off:r.off+r.length], castagnoli))
				}
			}
			sign(d.series)
			for _, c := range d.columns {
				sign(c.indexRef)
				sign(c.dictRef)
				sign(c.postRef)
			}
			signPages(b, d, binary.LittleEndian.Uint32(end[40:]))
		}
		binary.LittleEndian.PutUint32(end[44:], crc32.Checksum(dir, castagnoli))
	}
	binary.LittleEndian.PutUint32(end[52:], crc32.Checksum(end[:52], castagnoli))
}

// signPages signs the pages that the page indexes name.
func signPages(b []byte, d *directory, version uint32) {
	p := &Part{file: contents{File: &mapped{data: b}}, ctx: ctx, version: version, dir: d, cache: NewCache(0),
		metrics: NewMetrics(),
		blocks:  make([]block, len(d.rows))}
	for i, n := range d.rows {
		p.blocks[i].rows = int(min(n, MaxBlockRows))
	}
	for i := range d.columns {
		c := &column{columnEntry: &d.columns[i]}
		x, err := using(p, func() (*pageIndex, error) { return p.index(ctx, c) })
		if err != nil {
			continue
		}
		for k := range x.off {
			page := b[x.off[k] : x.off[k]+uint64(x.length[k])]
			body := page[:len(page)-sumSize]
			binary.LittleEndian.PutUint32(page[len(body):], pageSum(c.id, k, body))
			if f := x.filters; f != nil && f.length[k] > 0 {
				filter := b[f.off[k] : f.off[k]+uint64(f.length[k])]
				body := filter[:len(filter)-sumSize]
				binary.LittleEndian.PutUint32(filter[len(body):], pageSum(c.id, k|filterMark, body))
			}
		}
	}
}

// FuzzPart changes a few bytes of a part, as they are and with all checksums made right again: whatever comes out is
// rows or an error.
func FuzzPart(f *testing.F) {
	fs, _ := smallPart(f)
	whole := file(f, fs, "p")
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 300 {
		f.Add(uint32(r.IntN(len(whole))), []byte{byte(r.Uint32()), byte(i)}, i%4 > 0)
	}
	for i := range 200 { // the end: directory and footer
		f.Add(uint32(len(whole)-1-i*4), []byte{byte(r.Uint32())}, true)
	}
	f.Fuzz(func(t *testing.T, at uint32, change []byte, sign bool) {
		b := bytes.Clone(whole)
		if int(at) >= len(b) {
			return
		}
		copy(b[at:], change)
		if sign {
			resign(b)
		}
		fs := vfs.NewMem()
		store(t, fs, "p", b)
		readAll(fs, "p")
		checkFile(fs, "p")
		Dump(&bytes.Buffer{}, fs, "p", DumpOptions{Rows: 10})
	})
}
