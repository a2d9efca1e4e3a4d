// Package docs holds the documents that the web application shows. Builds without the dashboard do not import it.
package docs

import "embed"

// Files are the documents of those who send and ask; those of operators and of formats are read in the tree.
//
//go:embed http.md sql.md promql.md pipelines.md vrl.md
//go:embed ingest/json-lines.md ingest/line-protocol.md ingest/otlp.md ingest/remote-write.md ingest/log-push.md
//go:embed ingest/json-put.md ingest/journald.md ingest/syslog.md
var Files embed.FS
