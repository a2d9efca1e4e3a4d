package vrl

import (
	"strings"
	"unicode"

	"varve/pipeline/value"
)

// kindFunctions test and assert types.
var kindFunctions = append(assertions("string", String, "int", Integer, "float", Float, "bool", Boolean, "timestamp", Timestamp, "array", Array, "object", Object),
	append(kindTests("is_string", String, "is_integer", Integer, "is_float", Float, "is_boolean", Boolean, "is_timestamp", Timestamp,
		"is_regex", Regex, "is_null", Null, "is_array", Array, "is_object", Object), []Function{
		{Name: "is_nullish", Params: []Param{arg("value", AnyValue)}, Returns: Of(Boolean), Run: func(_ *Frame, args []value.Value) (value.Value, *Failure) {
			return value.Bool(nullish(args[0])), nil
		}},
		{Name: "is_empty", Light: true, Params: []Param{arg("value", String|Array|Object)}, Returns: Of(Boolean), Run: func(_ *Frame, args []value.Value) (value.Value, *Failure) {
			return value.Bool(length(args[0]) == 0), nil
		}},
		{Name: "is_json", Params: []Param{arg("value", String), word("variant", "", "object", "array", "string", "number", "bool", "null").optional()},
			Returns: Of(Boolean), Run: isJSON},
	}...)...)

// assertions declares functions that give their argument when it is of a kind and fail otherwise.
func assertions(namesAndKinds ...any) []Function {
	var table []Function
	for i := 0; i < len(namesAndKinds); i += 2 {
		kind := namesAndKinds[i+1].(Kinds)
		expected := value.String(kind.String())
		table = append(table, Function{
			Name: namesAndKinds[i].(string), Light: true, Params: []Param{arg("value", AnyValue)}, Fails: Unless(kind),
			ReturnsFor: func(c *Call) Type {
				if t := c.Type("value"); t.May(kind) {
					return t.only(kind)
				}
				return Of(kind)
			},
			Run: func(f *Frame, args []value.Value) (value.Value, *Failure) {
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
func kindTests(namesAndKinds ...any) []Function {
	var table []Function
	for i := 0; i < len(namesAndKinds); i += 2 {
		kind := namesAndKinds[i+1].(Kinds)
		table = append(table, Function{
			Name: namesAndKinds[i].(string), Light: true, Params: []Param{arg("value", AnyValue)}, Returns: Of(Boolean),
			Run: func(_ *Frame, args []value.Value) (value.Value, *Failure) { return value.Bool(kind.Has(args[0])), nil },
		})
	}
	return table
}

// nullish says whether a value stands for nothing: null, "", "-" or white space.
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

func isJSON(f *Frame, args []value.Value) (value.Value, *Failure) {
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
