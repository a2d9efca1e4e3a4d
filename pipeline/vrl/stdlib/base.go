package stdlib

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// baseFunctions write bytes as text and back.
var baseFunctions = []vrl.Function{
	{Name: "encode_base64", Params: []vrl.Param{arg("value", vrl.String), flag("padding", true), base64Charset},
		Returns: vrl.Of(vrl.String), Run: encodeBase64},
	{Name: "decode_base64", Params: []vrl.Param{arg("value", vrl.String), base64Charset}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: decodeBase64},
	{Name: "encode_base16", Params: stringParam, Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			s := args[0].Str()
			b := f.Arena.Alloc(hex.EncodedLen(len(s)))
			hex.Encode(b, []byte(s))
			return value.Bytes(b), nil
		}},
	{Name: "decode_base16", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			s := args[0].Str()
			b := f.Arena.Alloc(hex.DecodedLen(len(s)))
			if _, err := hex.Decode(b, []byte(s)); err != nil {
				return f.Fail("unable to decode value from base16")
			}
			return value.Bytes(b), nil
		}},
	{Name: "encode_percent", Params: []vrl.Param{arg("value", vrl.String),
		word("ascii_set", "NON_ALPHANUMERIC", "NON_ALPHANUMERIC", "CONTROLS", "FRAGMENT", "QUERY", "SPECIAL",
			"PATH", "USERINFO", "COMPONENT",
			"WWW_FORM_URLENCODED")}, Returns: vrl.Of(vrl.String), Compile: compileEncodePercent},
	{Name: "decode_percent", Params: stringParam, Returns: vrl.Of(vrl.String), Run: decodePercent},
}

var base64Charset = word("charset", "standard", "standard", "url_safe")

func encodeBase64(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	encoding := base64.StdEncoding
	if args[2].Str() == "url_safe" {
		encoding = base64.URLEncoding
	}
	if !args[1].True() {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	s := args[0].Str()
	b := f.Arena.Alloc(encoding.EncodedLen(len(s)))
	encoding.Encode(b, []byte(s))
	return value.Bytes(b), nil
}

func decodeBase64(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	encoding := base64.RawStdEncoding.Strict() // bits that stand for no byte are 0
	if args[1].Str() == "url_safe" {
		encoding = base64.RawURLEncoding.Strict()
	}
	s := strings.TrimRight(args[0].Str(), "=")
	if padding := len(args[0].Str()) - len(s); padding > 2 || strings.ContainsAny(s, "\r\n") {
		return f.Fail("unable to decode value from base64")
	}
	b := f.Arena.Alloc(encoding.DecodedLen(len(s)))
	n, err := encoding.Decode(b, []byte(s))
	if err != nil {
		return f.Fail("unable to decode value from base64")
	}
	return value.Bytes(b[:n]), nil
}

// asciiSet says which bytes below 0x80 are written as %XX; all others are always.
type asciiSet [2]uint64

func (s *asciiSet) has(c byte) bool { return c >= 0x80 || s[c>>6]>>(c&63)&1 != 0 }

func (s asciiSet) and(more string) asciiSet {
	for i := range len(more) {
		s[more[i]>>6] |= 1 << (more[i] & 63)
	}
	return s
}

// percentSets are the sets of the URL standard.
var percentSets = func() map[string]asciiSet {
	var controls, others asciiSet
	controls[0] = 1<<32 - 1
	controls = controls.and("\x7f")
	for c := byte(0); c < 0x80; c++ {
		if !isNameByte(c) || c == '_' {
			others = others.and(string(rune(c)))
		}
	}
	query := controls.and(" \"#<>")
	path := query.and("?`{}")
	userinfo := path.and("/:;=@[\\]^|")
	component := userinfo.and("$%&+,")
	return map[string]asciiSet{"NON_ALPHANUMERIC": others, "CONTROLS": controls, "FRAGMENT": controls.and(" \"<>`"),
		"QUERY": query, "SPECIAL": query.and("'"),
		"PATH": path, "USERINFO": userinfo, "COMPONENT": component, "WWW_FORM_URLENCODED": component.and("!'()~")}
}()

func compileEncodePercent(c *vrl.Call) (vrl.Run, error) {
	name, _ := c.Const("ascii_set")
	set := percentSets[name.Str()]
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		s := args[0].Str()
		if fl := f.Room(3 * len(s)); fl != nil {
			return value.Null, fl
		}
		b := f.Arena.Begin()
		for i := range len(s) {
			if c := s[i]; set.has(c) {
				b = value.AppendPercentEncoded(b, c)
			} else {
				b = append(b, c)
			}
		}
		return f.Arena.End(b), nil
	}, nil
}

func decodePercent(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	if strings.IndexByte(s, '%') < 0 {
		return value.String(validText(s)), nil
	}
	b := value.AppendPercentDecoded(f.Arena.Alloc(len(s))[:0], s)
	return value.String(validText(value.View(b))), nil
}
