package stdlib

import (
	"strings"
	"unicode"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// kindFunctions test and assert types.
var kindFunctions = append(assertions("string", vrl.String, "int", vrl.Integer, "float", vrl.Float, "bool", vrl.Boolean,
	"timestamp", vrl.Timestamp, "array", vrl.Array, "object", vrl.Object),
	append(kindTests("is_string", vrl.String, "is_integer", vrl.Integer, "is_float", vrl.Float, "is_boolean",
		vrl.Boolean, "is_timestamp", vrl.Timestamp,
		"is_regex", vrl.Regex, "is_null", vrl.Null, "is_array", vrl.Array, "is_object", vrl.Object), []vrl.Function{
		{Name: "is_nullish", Params: []vrl.Param{arg("value", vrl.AnyValue)}, Returns: vrl.Of(vrl.Boolean),
			Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				return value.Bool(nullish(args[0])), nil
			}},
		{Name: "is_empty", Light: true, Params: []vrl.Param{arg("value", vrl.String|vrl.Array|vrl.Object)},
			Returns: vrl.Of(vrl.Boolean), Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				return value.Bool(length(args[0]) == 0), nil
			}},
		{Name: "is_json", Params: []vrl.Param{arg("value", vrl.String),
			optional(word("variant", "", "object", "array", "string", "number", "bool", "null"))},
			Returns: vrl.Of(vrl.Boolean), Run: isJSON},
	}...)...)

// assertions declares functions that give their argument when it is of a kind and fail otherwise.
func assertions(namesAndKinds ...any) []vrl.Function {
	var table []vrl.Function
	for i := 0; i < len(namesAndKinds); i += 2 {
		kind := namesAndKinds[i+1].(vrl.Kinds)
		expected := value.String(kind.String())
		table = append(table, vrl.Function{
			Name: namesAndKinds[i].(string), Light: true, Params: []vrl.Param{arg("value", vrl.AnyValue)},
			Fails: vrl.Unless(kind),
			ReturnsFor: func(c *vrl.Call) vrl.Type {
				if t := c.Type("value"); t.May(kind) {
					return t.Only(kind)
				}
				return vrl.Of(kind)
			},
			Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				if kind.Has(args[0]) {
					return args[0], nil
				}
				return f.Fail("expected %s, got %k", expected, args[0])
			},
		})
	}
	return table
}

// kindTests declares functions that say whether their argument is of a kind.
func kindTests(namesAndKinds ...any) []vrl.Function {
	var table []vrl.Function
	for i := 0; i < len(namesAndKinds); i += 2 {
		kind := namesAndKinds[i+1].(vrl.Kinds)
		table = append(table, vrl.Function{
			Name: namesAndKinds[i].(string), Light: true, Params: []vrl.Param{arg("value", vrl.AnyValue)},
			Returns: vrl.Of(vrl.Boolean),
			Run: func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				return value.Bool(kind.Has(args[0])), nil
			},
		})
	}
	return table
}

// nullish reports whether a value stands for nothing: null, "", "-" or white space.
func nullish(v value.Value) bool {
	switch v.Kind() {
	case value.NullKind:
		return true
	case value.StringKind:
		s := v.Str()
		return s == "" || s == "-" || strings.TrimFunc(s, unicode.IsSpace) == ""
	}
	return false
}

// length is the number of bytes of a string, of items or of keys.
func length(v value.Value) int {
	switch v.Kind() {
	case value.ArrayKind:
		return v.Array().Len()
	case value.ObjectKind:
		return v.Object().Len()
	}
	return len(v.Str())
}

func isJSON(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v, fault := value.ReadJSON(f.Arena, args[0].Str(), value.JSONOptions{})
	if fault.Failed() {
		return value.Bool(false), nil
	}
	if args[1].IsNull() {
		return value.Bool(true), nil
	}
	kind := v.Kind()
	switch args[1].Str() {
	case "object":
		return value.Bool(kind == value.ObjectKind), nil
	case "array":
		return value.Bool(kind == value.ArrayKind), nil
	case "string":
		return value.Bool(kind == value.StringKind), nil
	case "number":
		return value.Bool(v.IsNumber()), nil
	case "bool":
		return value.Bool(kind == value.BoolKind), nil
	}
	return value.Bool(kind == value.NullKind), nil
}
