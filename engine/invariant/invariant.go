// Package invariant holds the checks of a build with the tag "invariants". Such a build checks what packages promise
// each other, and draws limits at random when the program starts, so that rare paths are taken. Without the tag the
// checks compile to nothing.
//
//	if invariant.On {
//		invariant.Check(from < to, "rows %d to %d", from, to)
//	}
//
// A run prints the seed of its limits first; VARVE_INVARIANTS=seed repeats them.
package invariant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"
)

// Check panics with a sentence when something does not hold.
func Check(holds bool, format string, args ...any) {
	if !holds {
		panic("invariant: " + fmt.Sprintf(format, args...))
	}
}

// Limit returns a limit of a package: the usual one or, with the build tag, any number from least to usual; small
// numbers are as likely as large ones.
func Limit(usual, least int) int {
	if !On {
		return usual
	}
	r := draws()
	drawing.Lock()
	defer drawing.Unlock()
	x := math.Exp(math.Log(float64(least)) + r.Float64()*(math.Log(float64(usual))-math.Log(float64(least))))
	return min(max(int(math.Round(x)), least), usual)
}

// drawing protects the numbers that limits are drawn by.
var drawing sync.Mutex

// draws returns the source of the limits. The same seed gives the same limits, because packages are initialised in a
// fixed order.
var draws = sync.OnceValue(func() *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("VARVE_INVARIANTS"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintf(os.Stderr, "limits are drawn by VARVE_INVARIANTS=%d\n", seed)
	return rand.New(rand.NewPCG(seed, 1))
})
