//go:build invariants

package invariant

// On: promises are checked and limits are drawn.
const On = true
