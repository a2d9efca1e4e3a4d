//go:build !dashboard

package dashboard

import "io/fs"

// Assets is nil: this build has no dashboard.
func Assets() fs.FS { return nil }

// Documents is nil: nothing would show them.
func Documents() fs.FS { return nil }
