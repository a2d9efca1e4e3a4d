package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Levels besides slog's own.
const (
	levelTrace = slog.LevelDebug - 4
	levelOff   = slog.Level(100)
)

var levelNames = map[string]slog.Level{
	"trace": levelTrace, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError, "off": levelOff,
}

// filter says which lines are logged: from which level on, for everything and for single targets.
type filter struct {
	global  slog.Level
	targets map[string]slog.Level
	text    string
}

// parseFilter reads "level" or "level,target=level,...". A filter that names targets only leaves info for the rest.
func parseFilter(text string) (*filter, error) {
	f := &filter{global: slog.LevelInfo, targets: map[string]slog.Level{}}
	hasGlobal := false
	for part := range strings.SplitSeq(text, ",") {
		target, name, dotted := strings.Cut(strings.TrimSpace(part), "=")
		if !dotted {
			target, name = "", target
		}
		level, ok := levelNames[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return nil, fmt.Errorf("%q: expected one of trace, debug, info, warn, error, off", strings.TrimSpace(name))
		}
		target = strings.TrimSpace(target)
		switch {
		case dotted && target == "":
			return nil, fmt.Errorf("a target is missing before %q", part)
		case !dotted && hasGlobal:
			return nil, fmt.Errorf("the level for everything is given twice")
		case dotted:
			f.targets[target] = level
		default:
			f.global, hasGlobal = level, true
		}
	}
	f.text = f.String()
	return f, nil
}

// String is the filter in the form that parseFilter reads.
func (f *filter) String() string {
	var b strings.Builder
	b.WriteString(levelName(f.global))
	for _, target := range slices.Sorted(maps.Keys(f.targets)) {
		fmt.Fprintf(&b, ",%s=%s", target, levelName(f.targets[target]))
	}
	return b.String()
}

func levelName(l slog.Level) string {
	for name, level := range levelNames {
		if level == l {
			return name
		}
	}
	return strings.ToLower(l.String())
}

// level is the lowest level that is logged for a target; a target's parts are behind a slash: server/auth.
func (f *filter) level(target string) slog.Level {
	for t := target; t != ""; {
		if l, ok := f.targets[t]; ok {
			return l
		}
		cut := strings.LastIndexByte(t, '/')
		if cut < 0 {
			break
		}
		t = t[:cut]
	}
	return f.global
}

// logs writes log lines of all packages. Safe for concurrent use.
type logs struct {
	filter atomic.Pointer[filter]
	inner  slog.Handler
	files  *logFiles // nil: there are none
	setMu  sync.Mutex
}

// newLogs writes to w as text or JSON.
func newLogs(w io.Writer, format string, f *filter) *logs {
	o := &slog.HandlerOptions{Level: levelTrace, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey && len(groups) == 0 {
			if l, ok := a.Value.Any().(slog.Level); ok && l < slog.LevelDebug {
				return slog.String(slog.LevelKey, "TRACE")
			}
		}
		return a
	}}
	l := &logs{}
	if format == "json" {
		l.inner = slog.NewJSONHandler(w, o)
	} else {
		l.inner = slog.NewTextHandler(w, o)
	}
	l.filter.Store(f)
	return l
}

// close ends the writing of files.
func (l *logs) close() error {
	if l.files == nil {
		return nil
	}
	return l.files.Close()
}

// logger is the logger of a target: a package of the house.
func (l *logs) logger(target string) *slog.Logger {
	return slog.New(&targetHandler{l, l.inner.WithAttrs([]slog.Attr{slog.String("target", target)}), target})
}

// Set changes the filter; it is what POST /debug/log_level calls.
func (l *logs) Set(text string) (from, to string, err error) {
	f, err := parseFilter(text)
	if err != nil {
		return "", "", err
	}
	l.setMu.Lock()
	defer l.setMu.Unlock()
	old := l.filter.Swap(f)
	return old.text, f.text, nil
}

// targetHandler drops the lines below its target's level.
type targetHandler struct {
	logs   *logs
	inner  slog.Handler
	target string
}

func (h *targetHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.logs.filter.Load().level(h.target)
}

func (h *targetHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.inner.Handle(ctx, r)
}

func (h *targetHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &targetHandler{h.logs, h.inner.WithAttrs(attrs), h.target}
}

func (h *targetHandler) WithGroup(name string) slog.Handler {
	return &targetHandler{h.logs, h.inner.WithGroup(name), h.target}
}
