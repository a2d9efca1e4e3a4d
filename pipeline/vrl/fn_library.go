package vrl

import "varve/pipeline/value"

// tables lists the functions of the library, one table for each file fn_*.go, besides those of the language's own.
func tables() [][]Function {
	return [][]Function{
		ownFunctions, coercionFunctions, kindFunctions, stringFunctions, caseFunctions, matchFunctions, redactFunctions, numberFunctions,
		timeFunctions, unitFunctions, objectFunctions, compactFunctions, arrayFunctions, jsonFunctions, keyValueFunctions,
		encodeKeyValueFunctions, weblogFunctions, syslogFunctions, csvFunctions, urlFunctions, baseFunctions, hashFunctions, ipFunctions,
		randomFunctions, grokFunctions, cloudlogFunctions, cefFunctions, klogFunctions, influxFunctions, xmlFunctions, documentFunctions,
		compressFunctions, codecFunctions, checksumFunctions, agentFunctions, pathFunctions, surveyFunctions, hostFunctions, cryptFunctions,
		refusedFunctions, groksFunctions, queryFunctions,
	}
}

// arg declares an argument that every call has to give.
func arg(name string, kinds Kinds) Param { return Param{Name: name, Kinds: kinds} }

// opt declares an argument that may be left out and is null then.
func opt(name string, kinds Kinds) Param { return Param{Name: name, Kinds: kinds, Optional: true} }

// with declares an argument with a default.
func with(name string, kinds Kinds, byDefault value.Value) Param {
	return Param{Name: name, Kinds: kinds, Default: byDefault}
}

// flag declares a boolean with a default.
func flag(name string, byDefault bool) Param { return with(name, Boolean, value.Bool(byDefault)) }

// text declares a string with a default.
func text(name, byDefault string) Param { return with(name, String, value.String(byDefault)) }

// word declares an argument that is one of some words, with a default unless that is empty.
func word(name, byDefault string, words ...string) Param {
	p := Param{Name: name, Kinds: String, Enum: words}
	if byDefault != "" {
		p.Default = value.String(byDefault)
	}
	return p
}

// optional makes an argument without a default one that may be left out.
func (p Param) optional() Param {
	p.Optional = true
	return p
}

// constant makes an argument one that has to be known when the program is compiled.
func (p Param) constant() Param {
	p.Const = true
	return p
}

// stringParam is the one argument of most functions of text.
var stringParam = []Param{{Name: "value", Kinds: String}}
