package gen

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEventsShape(t *testing.T) {
	const n = 20_000
	rows, size := objects(t, "analytics", n)
	within(t, "bytes a row", size, 600, 720)
	columns := set(t, "analytics", n).Columns
	if len(columns) != 30 {
		t.Fatalf("%d columns, want 30", len(columns))
	}
	distinct, last := map[string]map[any]bool{}, 0.0
	for i, o := range rows {
		for _, c := range columns {
			v, there := o[c.Name]
			if !there && c.Kind != AbsentText && c.Kind != AbsentFloat {
				t.Fatalf("row %d has no %s", i, c.Name)
			}
			if there && !fits(v, c.Kind) {
				t.Fatalf("row %d: %s is %v", i, c.Name, v)
			}
			if distinct[c.Name] == nil {
				distinct[c.Name] = map[any]bool{}
			}
			distinct[c.Name][v] = true
			delete(o, c.Name)
		}
		if len(o) > 0 {
			t.Fatalf("row %d has more than its columns: %v", i, o)
		}
	}
	for ts := range distinct["ts"] {
		last = max(last, ts.(float64))
	}
	within(t, "distinct times", float64(len(distinct["ts"])), n, n)
	within(t, "hours", (last/1000-float64(Start))/3.6e6, 23.9, 24)
	within(t, "hosts", float64(len(distinct["host"])), 195, eventHosts)
	// 79 spans of 64 sessions, of which some have no row.
	within(t, "sessions", float64(len(distinct["session_id"])), 4_700, 5_056)
	within(t, "users", float64(len(distinct["user_id"])), 3_400, 4_900)
	within(t, "addresses", float64(len(distinct["client_ip"])), 3_400, 5_056)
	within(t, "countries", float64(len(distinct["country"])), 50, 50)
	within(t, "paths", float64(len(distinct["path"])), 5_500, 9_500)
	within(t, "queries", float64(len(distinct["query"])), 1_000, 4_000)
}

// fits reports whether a value of JSON is one of a kind of column.
func fits(v any, kind ColumnKind) bool {
	var ok bool
	switch kind {
	case Time, Int, Float, AbsentFloat:
		_, ok = v.(float64)
	case Text, AbsentText:
		_, ok = v.(string)
	case Bool:
		_, ok = v.(bool)
	}
	return ok
}

// TestEventsHoldJSON: props and tags are texts that are JSON themselves.
func TestEventsHoldJSON(t *testing.T) {
	rows, _ := objects(t, "analytics", 500)
	for i, o := range rows {
		var props struct {
			Plan string
			Cart struct {
				Items *int
				Total *float64
			}
			Request string
		}
		var tags []string
		if err := json.Unmarshal([]byte(o["props"].(string)), &props); err != nil ||
			!slices.Contains(eventPlans[:], props.Plan) || props.Cart.Items == nil || props.Cart.Total == nil ||
			len(props.Request) != 16 {
			t.Fatalf("row %d: props %v, %v", i, o["props"], err)
		}
		if err := json.Unmarshal([]byte(o["tags"].(string)), &tags); err != nil || len(tags) < 1 || len(tags) > 3 {
			t.Fatalf("row %d: tags %v, %v", i, o["tags"], err)
		}
	}
}

// TestDimensions: users, hosts and releases are those that events name, each of them once.
func TestDimensions(t *testing.T) {
	users, _ := objects(t, "analytics-users", 7_000)
	buckets := map[any]int{}
	for i, o := range users {
		if o["user_id"].(float64) != float64(4*i) {
			t.Fatalf("user %d is %v", i, o["user_id"])
		}
		buckets[o["bucket"]]++
	}
	if len(buckets) != UserBuckets || buckets[3.0] != 1_000 {
		t.Errorf("buckets %v", buckets)
	}
	hosts, _ := objects(t, "analytics-hosts", HostRows)
	named := map[any]bool{}
	for _, o := range hosts {
		named[o["host"]] = true
	}
	events, _ := objects(t, "analytics", 2_000)
	for _, o := range events {
		if !named[o["host"]] {
			t.Fatalf("host %v of an event is in no row", o["host"])
		}
	}
	releases, _ := objects(t, "analytics-releases", ReleaseRows)
	of := map[any]int{}
	for _, o := range releases {
		of[o["host"]]++
	}
	for host, n := range of {
		if n != releasesOf || !named[host] {
			t.Errorf("host %v has %d releases", host, n)
		}
	}
	if len(named) != HostRows || len(of) != HostRows {
		t.Errorf("%d hosts, %d with releases, want %d", len(named), len(of), HostRows)
	}
}
