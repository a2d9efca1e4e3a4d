package engine

import (
	"slices"
	"testing"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// aloneInventory is an inventory without a store that has tables of some names.
func aloneInventory(tables ...schema.Name) *inventory {
	o := Options{}.withDefaults()
	state := &manifest.State{Tables: map[schema.TableID]*manifest.TableState{}}
	for i, n := range tables {
		id := schema.TableID(i + 1)
		state.Tables[id] = &manifest.TableState{Schema: &schema.Table{ID: id, Name: n}}
	}
	v := &inventory{o: o}
	v.catalog.Store(newCatalog(newMemory(ownMemory(&o), 0), state))
	return v
}

// TestViewsTakeNames: a name is a table's or a view's, never both.
func TestViewsTakeNames(t *testing.T) {
	v := newViews(aloneInventory(public("table")))
	if err := v.Take(public("table")); status.Of(err) != status.TableAlreadyExists {
		t.Errorf("the name of a table was taken: %v", err)
	}
	if err := v.taken(public("table")); err != nil {
		t.Errorf("the name is still given to a view: %v", err)
	}
	for range 2 { // OR REPLACE takes it again
		if err := v.Take(public("view")); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.taken(public("view")); status.Of(err) != status.InvalidArguments {
		t.Errorf("a table would get the name of a view: %v", err)
	}
	if err := v.taken(schema.Name{DB: "other", Table: "view"}); err != nil {
		t.Errorf("a table of another database does not get its name: %v", err)
	}
	v.Free(public("view"))
	if err := v.taken(public("view")); err != nil {
		t.Errorf("the name of a dropped view is not free: %v", err)
	}
}

// TestViewsRefuseRows: who knows the views is asked about absent tables that have rows, and about no others.
func TestViewsRefuseRows(t *testing.T) {
	v := newViews(aloneInventory(public("table")))
	if err := v.refuse(public("view")); err != nil {
		t.Errorf("without views, rows are refused: %v", err)
	}
	var asked []schema.Name
	v.KnownBy(func(n schema.Name) bool {
		asked = append(asked, n)
		return n == public("view")
	})
	var set WriteSet
	row := func(n schema.Name) {
		set.Rows(n, Hint{AutoCreate: true, TimeIndex: "ts"}).EndRow()
	}
	set.Rows(public("view"), Hint{AutoCreate: true, TimeIndex: "ts"}) // without rows
	row(public("table"))
	row(schema.Name{DB: PrivateDB, Table: "own"})
	row(public("new"))
	if err := v.refuseAll(&set); err != nil {
		t.Error(err)
	}
	if want := []schema.Name{public("new")}; !slices.Equal(asked, want) {
		t.Errorf("it was asked about %v, want %v", asked, want)
	}
	row(public("view"))
	if err := v.refuseAll(&set); status.Of(err) != status.InvalidArguments {
		t.Errorf("rows for a view were not refused: %v", err)
	}
}
