//go:build dashboard

package dashboard

import (
	"embed"
	"io/fs"

	"varve/docs"
)

//go:embed web/index.html web/*.js web/*.css web/icon.svg web/core web/ui web/page web/lib/*.br
var embedded embed.FS

// Assets are the files of the application, built in by the tag dashboard.
func Assets() fs.FS {
	files, err := fs.Sub(embedded, "web")
	if err != nil {
		panic("the folder of the dashboard's files has no valid name: " + err.Error())
	}
	return files
}

// Documents are the pages of the manual that the application shows.
func Documents() fs.FS { return docs.Files() }
