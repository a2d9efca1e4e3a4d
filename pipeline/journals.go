package pipeline

import (
	"log/slog"
	"sync"

	"varve/pipeline/vrl"
)

// journals hold the log lines of scripts: one for each pipeline, whatever its version, and one for all dry runs. Safe
// for concurrent use.
type journals struct {
	logger *slog.Logger

	mu sync.Mutex
	of map[string]*vrl.Journal
}

// journal is the one of a pipeline.
func (j *journals) journal(title string) *vrl.Journal {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.of[title] == nil && len(j.of) >= maxTitles {
		title = "other"
	}
	if j.of[title] == nil {
		j.of[title] = vrl.NewJournal(j.logger, title)
	}
	return j.of[title]
}
