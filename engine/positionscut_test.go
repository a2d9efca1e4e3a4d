package engine

import (
	"testing"

	"varve/wal"
)

// TestTakenCut: of a record of positions that is cut at any byte nothing else is read than what is whole, and damage
// ends in no panic.
func TestTakenCut(t *testing.T) {
	taking := &Taking{Steps: []Advance{
		{From: 3, Position: Position{Source: "s", Topic: "t", Partition: 7, Queue: queueID, Next: 9}},
		{From: 9, Rewound: true, Position: Position{Source: "s", Topic: "other", Queue: queueID, Next: 2}}}}
	inner := make([]byte, recordHead+5)
	inner[0] = 2
	one, err := taking.record([]wal.Record{{inner}, {inner}})
	if err != nil {
		t.Fatal(err)
	}
	var whole []byte
	for _, piece := range one {
		whole = append(whole, piece...)
	}
	steps, records, err := readTaken(whole)
	if err != nil || len(records) != 2 || len(steps) != 2 || steps[0] != taking.Steps[0] ||
		steps[1] != taking.Steps[1] {
		t.Fatalf("read %v, %d records, %v", steps, len(records), err)
	}
	boundaries := 0
	for n := range whole {
		if !isTaken(whole[:n]) {
			continue
		}
		if steps, records, err := readTaken(whole[:n]); err == nil {
			if boundaries++; len(steps) != 2 || len(records) > 1 {
				t.Errorf("cut at %d of %d: %v, %d records", n, len(whole), steps, len(records))
			}
		}
		for bit := range 8 {
			damaged := append([]byte(nil), whole...)
			damaged[n] ^= 1 << bit
			if isTaken(damaged) {
				_, _, _ = readTaken(damaged) // it returns
			}
		}
	}
	if boundaries != 2 {
		t.Errorf("%d cuts were read as whole records, want the 2 behind the steps and behind the first record", boundaries)
	}
}
