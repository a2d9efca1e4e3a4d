//go:build !dashboard

package dashboard

import "io/fs"

// Docs is nil: who has no dashboard reads the manual elsewhere.
func Docs() fs.FS { return nil }

// Assets is nil: this build has no dashboard.
func Assets() fs.FS { return nil }
