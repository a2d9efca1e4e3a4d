package engine

import (
	"os"
	"testing"
)

// effort chooses how long a loop of random runs is: short under the race detector, plain in every run of the tests,
// long in that of `make long`, which sets VARVE_LONG.
func effort(short, plain, long int) int {
	switch {
	case os.Getenv("VARVE_LONG") != "":
		return long
	case testing.Short():
		return short
	}
	return plain
}
