package stdlib

import (
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// pathFunctions work on file paths.
var pathFunctions = []vrl.Function{
	{Name: "basename", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String, vrl.Null),
		Run: basename},
	{Name: "dirname", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: dirname},
	{Name: "split_path", Params: stringParam, Returns: vrl.ArrayOf(vrl.Of(vrl.String)), Run: splitPath},
}

// basename returns the last name of a path; null if there is none.
func basename(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := strings.TrimRight(args[0].Str(), "/")
	name := s[strings.LastIndexByte(s, '/')+1:]
	if name == "" {
		return value.Null, nil
	}
	return value.String(name), nil
}

// dirname is a path without its last name.
func dirname(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	trimmed := strings.TrimRight(s, "/")
	at := strings.LastIndexByte(trimmed, '/')
	switch {
	case trimmed == "" && s != "":
		return value.String("/"), nil
	case at < 0:
		return value.String("."), nil
	}
	if dir := strings.TrimRight(trimmed[:at], "/"); dir != "" {
		return value.String(dir), nil
	}
	return value.String("/"), nil
}

// splitPath returns the names of a path; the root is one.
func splitPath(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	list := f.Arena.Array(8)
	if strings.HasPrefix(s, "/") {
		list.Push(f.Arena, value.String("/"))
	}
	for name := range strings.SplitSeq(s, "/") {
		if name != "" {
			list.Push(f.Arena, value.String(name))
		}
	}
	return list.Of(), f.Spend(list.Len())
}
