package vrl

import (
	"strings"

	"varve/pipeline/value"
)

// tables lists the functions of the library, one table for each file fn_*.go, besides those of the language's own.
func tables() [][]Function {
	return [][]Function{ownFunctions, textFunctions}
}

// textFunctions work on strings.
var textFunctions = []Function{
	{Name: "upcase", Params: []Param{{Name: "value", Kinds: String}}, Returns: Of(String), Run: upcase},
}

func upcase(f *Frame, args []value.Value) (value.Value, *Failure) {
	return value.String(strings.ToUpper(args[0].Str())), nil
}
