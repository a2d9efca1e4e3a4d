// Package docs embeds the documents that the dashboard shows. Builds without the dashboard do not import it.
package docs

import (
	"embed"
	"io/fs"
)

// packed has the documents of those who send and ask, as browsers get them, the one that explains the keys of the
// configuration, and the boards that the dashboard shows as its own; the others of operators, and those of formats, are
// read in the tree.
//
//go:embed packed
var packed embed.FS

// Files are the documents, compressed: NAME.md.br is NAME.md of this folder. They are written by go test ./docs
// -update.
func Files() fs.FS {
	files, err := fs.Sub(packed, "packed")
	if err != nil {
		panic("the folder of packed documents has no valid name: " + err.Error())
	}
	return files
}
