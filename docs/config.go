package docs

import _ "embed"

// Config is the document of the configuration, whose table the command line reads.
//
//go:embed config.md
var Config string
