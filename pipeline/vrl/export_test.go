package vrl

import "varve/pipeline/value"

// What the tests of the language with its library, which are outside of the package, look at.
const (
	MaxSourceBytes = maxSourceBytes
	MaxVariables   = maxVariables
	MaxRendered    = maxRendered
	LogLines       = logLines
	LogSpan        = logSpan
)

// CompilePlain is Compile without the ops made for frequent forms.
func CompilePlain(source string, l *Library, o Options) (*Program, error) {
	return compileScript(source, l, o, true)
}

// CutLog is a text as function log shows it.
func CutLog(text string) string { return cutLog(text) }

// IsWordByte reports whether a byte can be part of a name.
func IsWordByte(c byte) bool { return isWordByte(c) }

// Special reports whether a function is compiled by the language itself.
func (fn *Function) Special() bool { return fn.special != nil }

// Required reports whether every call has to give the argument.
func (p *Param) Required() bool { return p.required() }

// Conforms reports whether a value is of a type, with all that is inside of it: what the compiler knows is relied on
// when programs run.
func Conforms(t Type, v value.Value) bool {
	if !t.kinds.Has(v) {
		return false
	}
	switch v.Kind() {
	case value.ArrayKind:
		for i := range v.Array().Len() {
			if t.array != nil && !Conforms(t.array.at("", i), v.Array().At(i)) {
				return false
			}
		}
	case value.ObjectKind:
		if t.object == nil {
			return true
		}
		for i := range v.Object().Len() {
			if m := v.Object().Member(i); !Conforms(t.object.at(m.Key, 0), m.Value) {
				return false
			}
		}
		for _, k := range t.object.known {
			if v.Object().Index(k.key) < 0 && !k.typ.May(Undefined|Null) {
				return false
			}
		}
	}
	return true
}
