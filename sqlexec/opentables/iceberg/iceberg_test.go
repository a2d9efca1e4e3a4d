package iceberg

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"testing"
)

// TestWidens: which changes of a type readers follow.
func TestWidens(t *testing.T) {
	for _, c := range []struct {
		from, to Type
		want     bool
	}{
		{Int, Long, true}, {Float, Double, true}, {Decimal(9, 2), Decimal(12, 2), true}, {String, String, true},
		{Long, Int, false}, {Long, Double, false}, {Decimal(9, 2), Decimal(9, 3), false},
		{Decimal(9, 2), Decimal(8, 2), false}, {Int, String, false},
	} {
		if got := c.to.Widens(c.from); got != c.want {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
	}
}

// TestFields: what is written of a field reads back, a map too.
func TestFields(t *testing.T) {
	want := []Field{{ID: 1, Name: "a", Type: Decimal(9, 2), Required: true, Doc: "d"},
		{ID: 2, Name: "m", Map: &Map{3, 4}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []Field
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v %v", text, got, err)
	}
}

// TestExpire: old snapshots go, the current one stays, with the schemas that are left.
func TestExpire(t *testing.T) {
	m := New("u", "file:///t", 1, ByDay(1, "ts_day"))
	for i := range int64(4) {
		m.Evolve([]Field{{ID: 1, Name: "ts", Type: Timestamptz}}, 1)
		m.Add(Snapshot{ID: 10 + i, Sequence: i + 1, TimeMS: 100 * i})
	}
	m.Expire(200, 100)
	if len(m.Snapshots) != 2 || len(m.SnapshotLog) != 2 || len(m.Schemas) != 2 || *m.Snapshots[1].Parent != 12 {
		t.Errorf("left are %+v, %+v, %+v", m.Snapshots, m.SnapshotLog, m.Schemas)
	}
	m.Expire(1000, 100)
	if len(m.Snapshots) != 1 || m.Snapshots[0].ID != m.Snapshot || m.Current() == nil {
		t.Errorf("left is %+v", m.Snapshots)
	}
}

// TestManifest: a container has the schema, one block with the number of its records, and the marker behind both.
func TestManifest(t *testing.T) {
	s := &Schema{Type: "struct", Fields: []Field{{ID: 1, Name: "ts", Type: Timestamptz}}}
	spec := ByDay(1, "ts_day")
	files := []File{{Path: "file:///t/a", Rows: 3, Size: 10, Day: 5, Splits: []int64{4},
		Columns: map[int]Column{1: {Bytes: 7, Values: 3, Lower: LongBound(1), Upper: LongBound(9)}}},
		{Path: "file:///t/b", Rows: 2, Size: 9, Day: 5, Removed: true, Sequence: 1}}
	b, err := WriteManifest(s, &spec, 42, files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := WriteManifest(s, &spec, 42, files)
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("another manifest of the same files, %v", err)
	}
	rest, ok := bytes.CutPrefix(b, []byte("Obj\x01"))
	if !ok {
		t.Fatalf("no container: %q", b[:4])
	}
	number := func() int64 {
		n, size := binary.Varint(rest)
		if size <= 0 {
			t.Fatal("no number")
		}
		rest = rest[size:]
		return n
	}
	text := func() string {
		n := number()
		word := string(rest[:n])
		rest = rest[n:]
		return word
	}
	meta := map[string]string{}
	for range number() {
		key := text()
		meta[key] = text()
	}
	if end := number(); end != 0 || meta["format-version"] != "2" || meta["content"] != "data" ||
		!json.Valid([]byte(meta["avro.schema"])) || !json.Valid([]byte(meta["schema"])) {
		t.Errorf("the head is %v", meta)
	}
	sync := rest[:16]
	rest = rest[16:]
	if n := number(); n != 2 {
		t.Errorf("%d records", n)
	}
	size := number()
	if status := rest[0]; status != 1<<1 {
		t.Errorf("the first file has the status %d", status)
	}
	if !bytes.Equal(rest[size:], sync) {
		t.Error("the marker is not behind the block")
	}
	if list := WriteManifestList(42, nil, 2, []Manifest{{Path: "file:///t/m", Day: 5}}); !bytes.Contains(list,
		[]byte("file:///t/m")) {
		t.Error("the list has no manifest")
	}
}
