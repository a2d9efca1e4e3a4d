package engine

import (
	"testing"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
)

// TestTimeToLive: a table's own ttl counts before that of its physical table, and that before its database's.
func TestTimeToLive(t *testing.T) {
	options := func(set ...string) schema.Options {
		m := map[string]string{}
		for i := 0; i < len(set); i += 2 {
			m[set[i]] = set[i+1]
		}
		o, err := schema.ParseOptions(m)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	table := func(id, physical schema.TableID, db string, o schema.Options) *manifest.TableState {
		return &manifest.TableState{Schema: &schema.Table{ID: id, Physical: physical, Options: o,
			Name: schema.Name{DB: db, Table: string(rune('a' + id))}}}
	}
	o := Options{}.withDefaults()
	c := newCatalog(newMemory(ownMemory(&o), 0), &manifest.State{
		Databases: map[string]manifest.Database{"logs": {Options: []schema.Option{{Key: "ttl", Value: "1h"}}},
			"bad": {Options: []schema.Option{{Key: "ttl", Value: "soon"}}}},
		Tables: map[schema.TableID]*manifest.TableState{
			1: table(1, 0, PublicDB, options()), 2: table(2, 0, PublicDB, options("ttl", "1m")),
			3: table(3, 0, "logs", options()), 4: table(4, 0, "logs", options("ttl", "1m")),
			5: table(5, 0, "logs", options("ttl", "instant")), 6: table(6, 0, "bad", options()),
			7: table(7, 2, PublicDB, options()), 8: table(8, 3, PublicDB, options()),
			9: table(9, 2, "logs", options("ttl", "1s")), 10: table(10, 2, "logs", options())}})
	for id, want := range map[schema.TableID]int64{1: 0, 2: int64(time.Minute), 3: int64(time.Hour),
		4: int64(time.Minute), 5: schema.TTLInstant, 6: 0, 7: int64(time.Minute), 8: int64(time.Hour),
		9: int64(time.Second), 10: int64(time.Minute)} {
		p, ok := c.find(id)
		if !ok {
			t.Fatalf("there is no table %d", id)
		}
		if got := c.ttl(p.schema()); got != want {
			t.Errorf("table %d: the time to live is %d, want %d", id, got, want)
		}
	}
}
