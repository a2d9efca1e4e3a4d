package stdlib

import (
	"math/big"
	"testing"
)

// TestCRCChecks computes the check that the catalogue gives for each algorithm.
func TestCRCChecks(t *testing.T) {
	if len(crcAlgorithms) < 110 {
		t.Errorf("%d algorithms", len(crcAlgorithms))
	}
	for name, c := range crcAlgorithms {
		want, ok := new(big.Int).SetString(c.check, 16)
		if got := c.sum("123456789"); !ok || got != want.String() {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
