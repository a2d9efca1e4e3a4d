package journald

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/web"
	"varve/server/write/rows/tagged"
)

// noTables is a database without tables.
type noTables struct{}

func (noTables) Table(schema.Name) (*engine.Table, error) {
	return nil, errors.New("there is no such table")
}

func newDecoder(t testing.TB, set *engine.WriteSet, most int64) (*decoder, *tagged.Rows) {
	t.Helper()
	rows := tagged.New(&tagged.Request{DB: "public", Tables: noTables{},
		Hint: engine.Hint{AutoCreate: true, TimeIndex: "ts"}, Time: vector.Timestamp(9), Most: most}, set)
	table, err := rows.Table([]byte("j"))
	if err != nil {
		t.Fatal(err)
	}
	return &decoder{table: table, now: 7}, rows
}

// long is a field with its length in front.
func long(key, value string) string {
	return key + "\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(value)))) + value + "\n"
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rows     int
		want     string // of the error
	}{
		{"nothing", "", 0, ""},
		{"empty lines", "\n\n\n", 0, ""},
		{"entries", "__REALTIME_TIMESTAMP=1700000000000000\nMESSAGE=a=b\n_HOSTNAME=h\n\n\nMESSAGE=\n\n", 2, ""},
		{"no line behind the last", "MESSAGE=a\n", 1, ""},
		{"binary", long("MESSAGE", "a\nb\xff\n\n") + "P=1\n\n" + long("MESSAGE", "") + "\n", 2, ""},
		{"a field twice", "A=1\nA=2\n\n", 1, ""},
		{"cut line", "A=1\nB=", 0, "entry 1: the last line does not end"},
		{"cut length", "A=1\n\nMESSAGE\n\x01\x00", 0, "entry 2: field \"MESSAGE\" has neither"},
		{"cut value", "MESSAGE\n\x05\x00\x00\x00\x00\x00\x00\x00abc\n", 0, "said to have 5 bytes, 4 are left"},
		{"lying length", "MESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffabc\n\n", 0,
			"said to have 18446744073709551615 bytes"},
		{"no line end", "MESSAGE\n\x01\x00\x00\x00\x00\x00\x00\x00ab\n", 0, "has no line end behind its 1 bytes"},
		{"no time", "__REALTIME_TIMESTAMP=soon\n\n", 0, "not a time in microseconds"},
		{"time out of range", "__REALTIME_TIMESTAMP=9223372036854775807\n\n", 0, "not a time in microseconds"},
		{"no name", "=x\n\n", 0, "Invalid column name"},
		{"the time index", "ts=x\n\n", 0, "semantic_type incompatible"},
		{"name that is not UTF-8", "\xff=x\n\n", 0, "not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, rows := newDecoder(t, new(engine.WriteSet), 1<<30)
			err := d.read([]byte(c.in))
			if c.want == "" && (err != nil || rows.Count() != c.rows) ||
				c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%d rows, %v; want %d, %s", rows.Count(), err, c.rows, c.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	var wide, fields strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, "F%d=x\n\n", i)
		fmt.Fprintf(&fields, "F=%d\n", i)
	}
	for _, c := range []struct {
		in   string
		most int64
		want string
	}{{wide.String(), 4 << 20, "the limit is 4194304"}, {wide.String(), 1 << 40, "at most 4096 columns"},
		{fields.String() + "\n", 1 << 40, "more than 4096 fields"}} {
		d, _ := newDecoder(t, new(engine.WriteSet), c.most)
		if err := d.read([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func benchBody(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			"__CURSOR=s=de55ac8089014ea3ae7e43a7758b2728;i=%x\n__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=4b2f1a3c5d6e4f708192a3b4c5d6e7f8\nPRIORITY=%d\n_HOSTNAME=h1\n_SYSTEMD_UNIT=web.service\n_PID=%d\nMESSAGE=GET /api/v1/items/%d HTTP/1.1\n\n",
			i, 1700000000000000+i, i, i%8, i%1000, i*7)
	}
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	body, set := benchBody(5000), new(engine.WriteSet)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		set.Reset()
		d, _ := newDecoder(b, set, 1<<30)
		if err := d.read(body); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead: any bytes give entries or an error of the client's.
func FuzzRead(f *testing.F) {
	f.Add(benchBody(2))
	f.Add([]byte(long("MESSAGE", "a\nb") + "A=1\n\nA=2\n" + long("B", "\xff")))
	f.Add([]byte("MESSAGE\n\xff\xff\xff\xff\xff\xff\xff\x7fabc\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, rows := newDecoder(t, new(engine.WriteSet), 1<<20)
		if err := d.read(body); err != nil {
			if _, text := web.Message(err); strings.HasPrefix(text, "Internal") {
				t.Fatalf("no client's error: %v", err)
			}
		} else if rows.Count() != d.entries {
			t.Fatalf("%d rows of %d entries", rows.Count(), d.entries)
		}
	})
}
