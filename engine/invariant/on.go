//go:build invariants

package invariant

// On says that promises are checked and limits are drawn.
const On = true
