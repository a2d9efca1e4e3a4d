// Package docs holds the manual, for readers of the dashboard's help: the texts of the same version, without a network.
package docs

import "embed"

// Files are the texts by name.
//
//go:embed config.md dashboard.md http.md pipelines.md promql.md sql.md store.md vrl.md ingest/*.md
var Files embed.FS
