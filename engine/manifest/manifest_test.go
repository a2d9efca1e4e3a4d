package manifest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"reflect"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/wal"
)

const dir = "/data"

func newFS(t testing.TB) *vfs.Mem {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	return fs
}

func open(t *testing.T, fs vfs.FS) (*Manifest, *State) {
	t.Helper()
	m, s, err := Open(fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func apply(t *testing.T, m *Manifest, e Edit) {
	t.Helper()
	if err := m.Apply(e); err != nil {
		t.Fatal(err)
	}
}

func table(id schema.TableID) *schema.Table {
	return &schema.Table{ID: id, Name: schema.Name{DB: "public", Table: fmt.Sprint("t", id)}, Time: 0, Tags: []int{1},
		NextColumn: 4,
		Columns: []schema.Column{
			{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
			{ID: 2, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true},
			{ID: 3, Name: "x", Type: vector.FloatType, Nullable: true,
				Default:     vector.ConstFloat(vector.FloatType, math.Inf(-1)),
				Initial:     vector.ConstFloat(vector.FloatType, math.Copysign(0, -1)),
				DefaultText: "-inf", Indexes: []schema.Index{{Kind: schema.Skipping,
					Options: map[string]string{"granularity": "10240"}}}},
		},
		Options: schema.Options{AppendMode: true, TTL: 5, All: []schema.Option{{Key: "append_mode", Value: "true"}}}}
}

func part(file uint64) PartMeta {
	return PartMeta{File: file, Bytes: 10, Rows: 3, MinTime: math.MinInt64, MaxTime: math.MaxInt64, MinSeq: 1,
		MaxSeq: math.MaxUint64}
}

func TestEditsSurviveReopen(t *testing.T) {
	fs := newFS(t)
	m, _ := open(t, fs)
	apply(t, m, Edit{PutDatabase: map[string]Database{"d": {Options: []schema.Option{{Key: "ttl", Value: "1day"}}}},
		PutTable: []*schema.Table{table(1), table(2)}})
	apply(t, m, Edit{AddParts: []PartEdit{{1, part(7)}, {1, part(8)}}, Flushed: []FlushedEdit{{1, 9}}})
	apply(t, m, Edit{RemoveParts: []PartEdit{{1, part(7)}}, AddParts: []PartEdit{{1, part(9)}},
		DropTable: []schema.TableID{2}})
	want := m.State()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, got := open(t, fs)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got.NextTable != 3 || got.NextFile != 10 || len(got.Tables[1].Parts) != 2 || got.Tables[1].Flushed != 9 {
		t.Errorf("state %+v, table %+v", got, got.Tables[1])
	}
	if err := m.Apply(Edit{RemoveParts: []PartEdit{{1, part(1)}}}); err == nil {
		t.Error("removing a part that is not there gave no error")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFoldsIntoASnapshot(t *testing.T) {
	fs := newFS(t)
	m, _ := open(t, fs)
	apply(t, m, Edit{PutTable: []*schema.Table{table(1)}})
	for i := range uint64(20000) {
		apply(t, m, Edit{AddParts: []PartEdit{{1, part(i + 1)}}})
		if i > 0 {
			apply(t, m, Edit{RemoveParts: []PartEdit{{1, part(i)}}, Swept: []uint64{part(i - 1).File}})
		}
	}
	info, err := fs.Stat(path.Join(dir, FileName))
	if err != nil || info.Size() > 2*foldBytes {
		t.Errorf("manifest of one part has %d bytes, %v", info.Size(), err)
	}
	want := m.State()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, got := open(t, fs)
	if !reflect.DeepEqual(got, want) {
		t.Error("state differs after folding")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashAndFaultsKeepAcknowledgedEdits fails or cuts at every operation.
func TestCrashAndFaultsKeepAcknowledgedEdits(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		fs := newFS(t)
		m, _ := open(t, fs)
		apply(t, m, Edit{PutTable: []*schema.Table{table(1)}})
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		acked, tried := map[uint64]bool{}, map[uint64]bool{}
		next := uint64(1)
		for range 3 {
			at := -1
			m, _ := open(t, vfs.WithFaults(fs, func(op vfs.Op, _ string) error {
				switch op {
				case vfs.OpWrite, vfs.OpSync, vfs.OpSyncDir, vfs.OpCreate, vfs.OpRename:
					if at--; at == 0 {
						return errors.New("injected")
					}
				}
				return nil
			}))
			for f := range tried {
				have := false
				for _, p := range m.State().Tables[1].Parts {
					have = have || p.File == f
				}
				if acked[f] && !have {
					t.Fatalf("seed %d: acknowledged part %d is lost", seed, f)
				}
				acked[f] = have
			}
			at = 1 + r.IntN(12)
			for range 5 {
				err := m.Apply(Edit{AddParts: []PartEdit{{1, part(next)}}})
				tried[next], acked[next] = true, err == nil
				next++
			}
			fs = fs.Crash(r)
		}
	}
}

// TestFailingDiskNeverLosesTheManifest fails everything from the k'th operation on, then cuts the power.
func TestFailingDiskNeverLosesTheManifest(t *testing.T) {
	for k := 1; k < 24; k++ {
		for seed := range uint64(10) {
			fs := newFS(t)
			m, _ := open(t, fs)
			apply(t, m, Edit{PutTable: []*schema.Table{table(1)}})
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			fault := vfs.FailAt(0, true, vfs.ErrNoSpace)
			m, _ = open(t, vfs.WithFaults(fs, fault.Before))
			fault.Arm(k)
			acked := 0
			for i := range uint64(8) {
				if err := m.Apply(Edit{AddParts: []PartEdit{{1, part(i + 1)}}}); err == nil {
					acked++
				} else if status.Of(err) != status.StorageUnavailable || !vfs.IsNoSpace(err) {
					t.Fatalf("operation %d: %v", k, err)
				}
			}
			_, s := open(t, fs.Crash(rand.New(rand.NewPCG(seed, uint64(k)))))
			if s.Tables[1] == nil || len(s.Tables[1].Parts) < acked {
				t.Fatalf("operation %d, seed %d: %d acknowledged parts, state %+v", k, seed, acked, s)
			}
		}
	}
}

func TestDamageIsAnErrorNotAPanic(t *testing.T) {
	fs := newFS(t)
	m, _ := open(t, fs)
	apply(t, m, Edit{PutTable: []*schema.Table{table(1)}})
	apply(t, m, Edit{AddParts: []PartEdit{{1, part(1)}}})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	name := path.Join(dir, FileName)
	info, err := fs.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	lastEdit := int(m.edits) - 100
	for off := range int(info.Size()) - lastEdit {
		if err := fs.Damage(name, off); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(fs, dir); err == nil {
			t.Fatalf("damage at %d was not found", off)
		}
		if err := fs.Damage(name, off); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(fs, dir); !errors.Is(err, ErrCorrupt) {
		t.Errorf("empty manifest: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	fs := newFS(f)
	m, _, err := Open(fs, dir)
	if err != nil {
		f.Fatal(err)
	}
	if err := m.Apply(Edit{PutTable: []*schema.Table{table(1)}, AddParts: []PartEdit{{1, part(1)}}}); err != nil {
		f.Fatal(err)
	}
	src, err := fs.Map(path.Join(dir, FileName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src.Bytes())
	body, err := encodeSnapshot(m.State())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	edit, err := encodeEdit(&Edit{PutTable: []*schema.Table{table(1)}, AddParts: []PartEdit{{1, part(1)}},
		DropTable: []schema.TableID{2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(edit)
	head := src.Bytes()[:fileHead:fileHead]
	empty, err := encodeSnapshot(newState())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		// With checksums that fit, as a snapshot and as an edit.
		file := wal.AppendFrame(head, wal.Frame{Type: typeSnapshot, Number: 1, Body: src})
		if s, _, err := new(Manifest).read(file); err == nil {
			if _, err := encodeSnapshot(s); err != nil {
				t.Errorf("a snapshot that was read cannot be written: %v", err)
			}
		}
		file = wal.AppendFrame(head, wal.Frame{Type: typeSnapshot, Number: 1, Body: empty})
		file = wal.AppendFrame(file, wal.Frame{Type: typeEdit, Number: 2, Synced: 1, Body: src})
		if s, clean, err := new(Manifest).read(file); err == nil && (s == nil || !clean) {
			t.Errorf("edit: state %v, clean %v", s, clean)
		}
		s, _, err := new(Manifest).read(src)
		if err == nil && s == nil {
			t.Error("no state and no error")
		}
		if e, err := decodeEdit(src); err == nil {
			if _, err := encodeEdit(e); err != nil {
				t.Errorf("an edit that was read cannot be written: %v", err)
			}
		}
	})
}

// TestPartElsewhere: a manifest that lists a part in a place that is not known here is not taken for one without it;
// once the part is removed by an edit, it opens.
func TestPartElsewhere(t *testing.T) {
	fs := newFS(t)
	m, _ := open(t, fs)
	far := part(8)
	far.Location = "cold/8"
	apply(t, m, Edit{PutTable: []*schema.Table{table(1)}})
	apply(t, m, Edit{AddParts: []PartEdit{{1, part(7)}, {1, far}}})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"open": openError(fs), "read": readError(fs)} {
		if !errors.Is(err, ErrElsewhere) || errors.Is(err, ErrCorrupt) ||
			!strings.Contains(err.Error(), `part 8 of table`) || !strings.Contains(err.Error(), `"cold/8"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	state := m.State()
	if got := state.Tables[1].Parts[1]; got.Location != "cold/8" {
		t.Errorf("the location is %q", got.Location)
	}
	back, err := state.apply(&Edit{RemoveParts: []PartEdit{{1, far}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(fs, dir, back); err != nil {
		t.Fatal(err)
	}
	if err := openError(fs); err != nil {
		t.Errorf("without the part: %v", err)
	}
}

func openError(fs vfs.FS) error {
	m, _, err := Open(fs, dir)
	if err != nil {
		return err
	}
	return m.Close()
}

func readError(fs vfs.FS) error {
	_, _, err := Read(fs, dir)
	return err
}
