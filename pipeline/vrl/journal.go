package vrl

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// MaxLogText is how many bytes of a text function log writes.
	MaxLogText = 1 << 10
	// logLines is how many lines the scripts of a pipeline may write in logSpan.
	logLines = 20
	logSpan  = 10 * time.Second
)

// Journal takes what the scripts of a pipeline write with function log: so many lines in some time, each cut at
// MaxLogText, so that no script fills the log. Safe for concurrent use; a nil journal takes nothing.
type Journal struct {
	logger *slog.Logger
	name   string

	mu     sync.Mutex // protects what follows
	began  time.Time  // of the current span
	lines  int        // of it
	missed int        // lines that were left out since the last line
}

// NewJournal makes the journal of a pipeline.
func NewJournal(l *slog.Logger, pipeline string) *Journal { return &Journal{logger: l, name: pipeline} }

// Enabled reports whether lines of a level are written.
func (j *Journal) Enabled(at slog.Level) bool {
	return j != nil && j.logger.Enabled(context.Background(), at)
}

// Admit reports whether a line may be written now, and how many were left out before it.
func (j *Journal) Admit(now time.Time) (missed int, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if age := now.Sub(j.began); age >= logSpan || age < 0 {
		j.began, j.lines = now, 0
	}
	if j.lines++; j.lines > logLines {
		j.missed++
		return 0, false
	}
	missed, j.missed = j.missed, 0
	return missed, true
}

// Write writes a line that was admitted.
func (j *Journal) Write(at slog.Level, text string, missed int) {
	about := []any{"pipeline", j.name}
	if missed > 0 {
		about = append(about, "left_out", missed)
	}
	j.logger.Log(context.Background(), at, cutLog(text), about...)
}

// cutLog is a text as the log shows it: its own memory, since the values of an event are gone after it.
func cutLog(text string) string {
	if len(text) <= MaxLogText {
		return strings.Clone(text)
	}
	end := MaxLogText
	for end > MaxLogText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s... (%d bytes)", text[:end], len(text))
}
