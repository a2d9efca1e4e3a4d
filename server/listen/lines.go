package listen

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// linesBurst is the number of lines of one kind that are written in a linesWindow. Further lines are counted, and
	// one line at the end of the window says how many there were: senders that connect and break off by the thousand do
	// not fill the log.
	linesBurst  = 10
	linesWindow = 10 * time.Second
)

// lines writes warnings to a log, of each kind not too many. Safe for concurrent use.
type lines struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[string]*window // by the text of the line
}

// window is what was written of a kind of lines since it began.
type window struct {
	begun         time.Time
	written, left int
	end           *time.Timer // writes how many lines were left out; nil: none was
}

// warn writes a line, or counts it.
func (l *lines) warn(text string, args ...any) {
	if l.take(text) {
		l.log.Warn(text, args...)
	}
}

// take reports whether a line is to be written.
func (l *lines) take(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.kinds[text]
	if w == nil {
		w = &window{}
		l.kinds[text] = w
	}
	now := time.Now()
	if w.end == nil && now.Sub(w.begun) >= linesWindow {
		w.begun, w.written = now, 0
	}
	if w.written < linesBurst {
		w.written++
		return true
	}
	if w.left++; w.end == nil {
		w.end = time.AfterFunc(w.begun.Add(linesWindow).Sub(now), func() { l.sum(text) })
	}
	return false
}

// sum writes how many lines of a kind were left out, and begins its next window.
func (l *lines) sum(text string) {
	l.mu.Lock()
	w := l.kinds[text]
	left := w.left
	*w = window{}
	l.mu.Unlock()
	if left > 0 {
		l.log.Warn(text, "left_out", left, "within", linesWindow)
	}
}

// close ends all windows: it writes how many lines each left out.
func (l *lines) close() {
	l.mu.Lock()
	var open []string
	for text, w := range l.kinds {
		if w.end != nil && w.end.Stop() {
			open = append(open, text)
		}
	}
	l.mu.Unlock()
	for _, text := range open {
		l.sum(text)
	}
}
