package stdlib

import (
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// jsonFunctions read and write JSON.
var jsonFunctions = []vrl.Function{
	{Name: "parse_json", Params: []vrl.Param{arg("value", vrl.String), opt("max_depth", vrl.Integer),
		flag("lossy", true)}, Fails: vrl.Always,
		Returns: vrl.JSON(), Compile: compileParseJSON},
	{Name: "encode_json", Params: []vrl.Param{arg("value", vrl.AnyValue), flag("pretty", false)},
		Returns: vrl.Of(vrl.String), Run: encodeJSON},
}

func compileParseJSON(c *vrl.Call) (vrl.Run, error) {
	if depth, ok := c.Const("max_depth"); ok && !depth.IsNull() && !goodDepth(depth) {
		return nil, c.Invalid("max_depth",
			"max_depth value should be greater than 0 and less than or equal to %d, got %d", value.MaxDepth,
			depth.Int())
	}
	return parseJSON, nil
}

func goodDepth(v value.Value) bool {
	return v.Kind() == value.IntKind && v.Int() >= 1 && v.Int() <= value.MaxDepth
}

func parseJSON(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	var o value.JSONOptions
	if depth := args[1]; !depth.IsNull() {
		if !goodDepth(depth) {
			return f.Fail("max_depth value should be greater than 0 and less than or equal to %s, got %s",
				value.Int(value.MaxDepth), depth)
		}
		o.Shallow = int(depth.Int())
	}
	s := strings.TrimPrefix(args[0].Str(), "\uFEFF")
	if valid := isASCII(s) || validText(s) == s; !valid {
		if !args[2].True() {
			return f.Fail("unable to parse json: the text is not UTF-8")
		}
		s = validText(s)
	}
	v, fault := value.ReadJSON(f.Arena, s, o)
	if fault.Failed() {
		return f.FailErr(jsonError{fault, s})
	}
	return v, nil
}

// jsonError makes its message when it is asked for.
type jsonError struct {
	fault value.JSONFault
	text  string
}

func (e jsonError) Error() string { return "unable to parse json: " + e.fault.In(e.text) }

func encodeJSON(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if args[1].True() {
		return f.Arena.End(value.AppendJSONIndent(f.Arena.Begin(), args[0])), nil
	}
	return f.Arena.End(value.AppendJSON(f.Arena.Begin(), args[0])), nil
}
