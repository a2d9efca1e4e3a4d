package stdlib

import (
	"log/slog"
	"os"
	"sync/atomic"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// hostFunctions look at the server, and write to its log.
var hostFunctions = []vrl.Function{
	{Name: "log", Params: []vrl.Param{arg("value", vrl.AnyValue),
		word("level", "info", "trace", "debug", "info", "warn", "error"),
		with("rate_limit_secs", vrl.Integer, value.Int(1))}, Returns: vrl.Of(vrl.Null), Compile: compileLog},
	{Name: "get_hostname", Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, _ []value.Value) (value.Value, *vrl.Failure) {
			name, err := os.Hostname()
			if err != nil {
				return f.Fail("failed to get hostname: %s", value.String(err.Error()))
			}
			return value.String(name), nil
		}},
	{Name: "get_timezone_name", Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, _ []value.Value) (value.Value, *vrl.Failure) {
			return value.String(f.Zone().String()), nil
		}},
}

var logLevels = map[string]slog.Level{"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo,
	"warn": slog.LevelWarn, "error": slog.LevelError}

// compileLog writes to the journal of the pipeline, for each call in a script at most once in so many seconds.
func compileLog(c *vrl.Call) (vrl.Run, error) {
	level, _ := c.Const("level")
	at := logLevels[level.Str()]
	last := new(atomic.Int64) // nanoseconds of the last line; 0: none yet
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		if !f.Journal.Enabled(at) {
			return value.Null, nil
		}
		now, before := f.Now().UnixNano(), last.Load()
		seconds := min(max(args[2].Int(), 0), 1<<30)
		if before != 0 && now-before < seconds*1e9 || !last.CompareAndSwap(before, now) {
			return value.Null, nil
		}
		missed, ok := f.Journal.Admit(f.Now())
		if !ok {
			return value.Null, nil
		}
		text := args[0]
		if text.Kind() != value.StringKind {
			text = f.Arena.End(value.AppendJSON(f.Arena.Begin(), text))
		}
		f.Journal.Write(at, text.Str(), missed)
		return value.Null, nil
	}, nil
}
