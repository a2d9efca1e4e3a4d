// Package stdlib holds the functions that VRL scripts may call, besides those of the language itself. Each file has a
// table of functions; they work on values and never on source text. Package vrl compiles scripts with any library and
// does not import this one, so a caller imports both:
//
//	program, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
//
// vrl/func.go explains how to declare a function; vrl/testdata has the cases of the functions.
package stdlib

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// Library is all functions.
var Library = vrl.NewLibrary(
	coercionFunctions, kindFunctions, stringFunctions, caseFunctions, matchFunctions, redactFunctions, numberFunctions,
	timeFunctions, unitFunctions, objectFunctions, compactFunctions, arrayFunctions, jsonFunctions, keyValueFunctions,
	encodeKeyValueFunctions, weblogFunctions, syslogFunctions, csvFunctions, urlFunctions, baseFunctions, hashFunctions,
	ipFunctions,
	randomFunctions, grokFunctions, cloudlogFunctions, cefFunctions, klogFunctions, influxFunctions, xmlFunctions,
	documentFunctions,
	compressFunctions, codecFunctions, checksumFunctions, agentFunctions, pathFunctions, surveyFunctions, hostFunctions,
	cryptFunctions,
	refusedFunctions, groksFunctions, queryFunctions,
)

// knownField is a field of an object with its type.
func knownField(name string, t vrl.Type) vrl.Known { return vrl.Known{Name: name, Type: t} }

// arg declares an argument that every call has to give.
func arg(name string, kinds vrl.Kinds) vrl.Param { return vrl.Param{Name: name, Kinds: kinds} }

// opt declares an argument that may be left out and is null then.
func opt(name string, kinds vrl.Kinds) vrl.Param {
	return vrl.Param{Name: name, Kinds: kinds, Optional: true}
}

// with declares an argument with a default.
func with(name string, kinds vrl.Kinds, byDefault value.Value) vrl.Param {
	return vrl.Param{Name: name, Kinds: kinds, Default: byDefault}
}

// flag declares a boolean with a default.
func flag(name string, byDefault bool) vrl.Param {
	return with(name, vrl.Boolean, value.Bool(byDefault))
}

// text declares a string with a default.
func text(name, byDefault string) vrl.Param { return with(name, vrl.String, value.String(byDefault)) }

// word declares an argument that is one of some words, with a default unless that is empty.
func word(name, byDefault string, words ...string) vrl.Param {
	p := vrl.Param{Name: name, Kinds: vrl.String, Enum: words}
	if byDefault != "" {
		p.Default = value.String(byDefault)
	}
	return p
}

// optional makes an argument without a default one that may be left out.
func optional(p vrl.Param) vrl.Param {
	p.Optional = true
	return p
}

// constant marks an argument whose value must be known at compile time.
func constant(p vrl.Param) vrl.Param {
	p.Const = true
	return p
}

// stringParam is the one argument of most functions of text.
var stringParam = []vrl.Param{{Name: "value", Kinds: vrl.String}}
