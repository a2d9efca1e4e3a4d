package main

import (
	"reflect"
	"testing"

	"varve/engine"
)

// TestRates: the rates of users are read from the configuration; what cannot be read stops the start.
func TestRates(t *testing.T) {
	c, err := loadConfig("", nil, []setting{{"--set", "write_rate.rows", "1000"}, {"--set", "write_rate.bytes", "1MiB"},
		{"--set", "write_rate.users", "loader rows=50000 bytes=20MiB, free, few rows=1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Rates{Default: engine.Rate{Rows: 1000, Bytes: 1 << 20}, Users: map[string]engine.Rate{
		"loader": {Rows: 50000, Bytes: 20 << 20}, "free": {}, "few": {Rows: 1}}}
	if got := c.rates(); !reflect.DeepEqual(got, want) {
		t.Errorf("rates %+v, want %+v", got, want)
	}
	if c, err = loadConfig("", nil, nil); err != nil || c.rates().Default != (engine.Rate{}) {
		t.Errorf("without a word: %v", err)
	}
	for _, bad := range []string{"a rows", "a rows=x", "a rows=-1", "a bytes=1x", "a speed=1", "a rows=1, a rows=2"} {
		if _, err := loadConfig("", nil, []setting{{"--set", "write_rate.users", bad}}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
