package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// aloneDefiner is a definer without a store, on a new manifest.
func aloneDefiner(t *testing.T, o Options) *definer {
	t.Helper()
	o = o.withDefaults()
	local := parts.At(o.FS, o.Dir)
	v := &inventory{o: o, space: newSpace(&o, nil), ballast: &ballast{fs: o.FS, dir: o.Dir, log: o.Logger},
		files: &partFiles{store: local, local: local, log: o.Logger}}
	for _, dir := range []string{local.Dir(), o.WALDir} {
		if err := o.FS.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	var state *manifest.State
	var err error
	if v.manifest, state, err = manifest.Open(o.FS, o.Dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.manifest.Close(); err != nil {
			t.Error(err)
		}
	})
	m := newMemory(ownMemory(&o), 0)
	v.catalog.Store(newCatalog(m, state))
	return &definer{inventory: v, memory: m, views: newViews(v),
		young: &youngLabels{now: o.Now, made: map[tableLabel]time.Time{}},
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "refused", Help: "Refused."},
			[]string{"reason"})}
}

// TestDatabasesAreToldApart: a database that is made again is another one, whatever the clock says.
func TestDatabasesAreToldApart(t *testing.T) {
	now := time.Unix(1000, 0)
	f := aloneDefiner(t, Options{FS: vfs.NewMem(), Dir: "data", Now: func() time.Time { return now }})
	last := int64(0)
	for _, later := range []time.Duration{0, 0, -time.Hour, 2 * time.Hour} {
		now = now.Add(later)
		f.ddl.Lock()
		err := f.makeDatabase("logs", nil)
		f.ddl.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		made := f.catalog.Load().databases["logs"].Made
		if made <= last || f.manifest.State().Databases["logs"].Made != made {
			t.Errorf("at %v the database is made at %d, after one of %d", now, made, last)
		}
		last = made
	}
	if last != now.UnixNano() {
		t.Errorf("the last is made at %d, not %d", last, now.UnixNano())
	}
}

// TestDefinitionIsWholeOrNothing: of a definition that fails nothing is made, neither in memory nor on the disk, and
// its numbers are given out again.
func TestDefinitionIsWholeOrNothing(t *testing.T) {
	f := aloneDefiner(t, Options{FS: vfs.NewMem(), Dir: "data"})
	table := func(name string) *schema.Table {
		return &schema.Table{Name: public(name), Engine: "mito", Columns: []schema.Column{
			{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}}}
	}
	if err := f.views.Take(public("view")); err != nil {
		t.Fatal(err)
	}
	edit, failed := f.manifest.State().Edit, errors.New("no")
	for _, c := range []struct {
		last func(d *definition) error
		want error
	}{
		{func(*definition) error { return failed }, failed},
		{func(d *definition) error { return d.create(table("b")) }, status.New(status.TableAlreadyExists, "")},
		{func(d *definition) error { return d.create(table("view")) }, status.New(status.InvalidArguments, "")},
	} {
		err := f.define(func(d *definition) error {
			for _, name := range []string{"a", "b"} {
				if err := d.create(table(name)); err != nil {
					return err
				}
			}
			return c.last(d)
		})
		if !errors.Is(err, failed) && status.Of(err) != status.Of(c.want) {
			t.Errorf("it ended with %v, want %v", err, c.want)
		}
		if s := f.manifest.State(); len(f.catalog.Load().byName) > 0 || len(s.Tables) > 0 || s.Edit != edit {
			t.Fatalf("a failed definition made %v", f.catalog.Load().byName)
		}
	}
	if err := f.define(func(d *definition) error {
		return errors.Join(d.create(table("a")), d.create(table("b")))
	}); err != nil {
		t.Fatal(err)
	}
	s, c := f.manifest.State(), f.catalog.Load()
	if s.Edit != edit+1 || len(s.Tables) != 2 || c.byName[public("a")].schema().ID != 1 ||
		c.byName[public("b")].schema().ID != 2 {
		t.Errorf("after edit %d there are the tables %v", s.Edit, c.byName)
	}
}
