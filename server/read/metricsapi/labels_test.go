package metricsapi

import (
	"bytes"
	"testing"

	"varve/server/write/rows/samples"
)

// TestManyLabels: a label takes two bytes in a message and far more in memory.
func TestManyLabels(t *testing.T) {
	var w request
	list, err := w.labels1(bytes.Repeat([]byte{1<<3 | 2, 0}, 1<<20))
	if err != nil || len(list) != samples.MaxLabels+1 {
		t.Errorf("%d labels, %v", len(list), err)
	}
}
