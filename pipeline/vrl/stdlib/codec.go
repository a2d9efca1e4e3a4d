package stdlib

import (
	"encoding/base64"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/encoding/htmlindex"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// codecFunctions translate between encodings of text.
var codecFunctions = []vrl.Function{
	{Name: "decode_mime_q", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: decodeMIMEQ},
	{Name: "encode_punycode", Params: []vrl.Param{arg("value", vrl.String), flag("validate", true)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: encodePunycode},
	{Name: "decode_punycode", Params: []vrl.Param{arg("value", vrl.String), flag("validate", true)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: decodePunycode},
	{Name: "encode_charset", Params: []vrl.Param{arg("value", vrl.String), arg("to_charset", vrl.String)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: encodeCharset},
	{Name: "decode_charset", Params: []vrl.Param{arg("value", vrl.String), arg("from_charset", vrl.String)},
		Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: decodeCharset},
}

// wordDecoder knows the character sets of the web.
var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Reader(in), nil
}}

// decodeMIMEQ decodes the encoded words of RFC 2047, =?charset?Q|B?text?=; a text without any must be such a word
// without its frame and is decoded as quoted-printable.
func decodeMIMEQ(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := args[0].Str()
	if strings.Contains(s, "=?") {
		text, err := wordDecoder.DecodeHeader(s)
		if err != nil || text == s {
			return f.Fail("unable to decode value with MIME Q decoder")
		}
		return value.String(text), nil
	}
	encoding, text, ok := strings.Cut(strings.TrimPrefix(s, "?"), "?")
	if _, body, framed := strings.Cut(text, "?"); ok && framed { // charset?Q?text
		encoding, text = text[:strings.IndexByte(text, '?')], body
	}
	switch strings.ToLower(encoding) {
	case "q":
		decoded, ok := quotedPrintable(f.Arena, text)
		if !ok {
			return f.Fail("unable to decode value with MIME Q decoder")
		}
		return value.String(validText(decoded)), nil
	case "b":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return f.Fail("unable to decode value with MIME Q decoder")
		}
		return value.String(validText(string(b))), nil
	}
	decoded, ok := quotedPrintable(f.Arena, s)
	if !ok {
		return f.Fail("unable to decode value with MIME Q decoder")
	}
	return value.String(validText(decoded)), nil
}

// quotedPrintable resolves =XX and underscores.
func quotedPrintable(a *value.Arena, s string) (text string, ok bool) {
	b := a.Alloc(len(s))[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '_':
			b = append(b, ' ')
		case c != '=':
			b = append(b, c)
		default:
			x, ok := value.Escaped(s[i+1:])
			if !ok {
				return "", false
			}
			b = append(b, x)
			i += 2
		}
	}
	return value.View(b), true
}

// punycodeLoose translates without the rules of names, punycodeStrict with them.
var (
	punycodeStrict = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(true),
		idna.CheckHyphens(false))
	punycodeLoose = idna.Punycode
)

func encodePunycode(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if !args[1].True() {
		text, err := punycodeLoose.ToASCII(args[0].Str())
		if err != nil {
			return f.Fail("unable to encode to punycode")
		}
		return value.String(text), nil
	}
	text, err := punycodeStrict.ToASCII(args[0].Str())
	if err != nil {
		return f.Fail("unable to encode to punycode: %s", value.String(err.Error()))
	}
	return value.String(text), nil
}

func decodePunycode(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	profile := punycodeStrict
	if !args[1].True() {
		profile = punycodeLoose
	}
	text, err := profile.ToUnicode(args[0].Str())
	if err != nil {
		return f.Fail("unable to decode punycode: %s", value.String(err.Error()))
	}
	return value.String(text), nil
}

func encodeCharset(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	e, err := htmlindex.Get(strings.TrimSpace(args[1].Str()))
	if err != nil {
		return f.Fail("Unknown charset: %s", args[1])
	}
	text, err := e.NewEncoder().String(validText(args[0].Str()))
	if err != nil {
		return f.Fail("Unable to encode to %s: %s", args[1], value.String(err.Error()))
	}
	return value.String(text), nil
}

func decodeCharset(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	e, err := htmlindex.Get(strings.TrimSpace(args[1].Str()))
	if err != nil {
		return f.Fail("Unknown charset: %s", args[1])
	}
	if fl := f.Room(utf8.UTFMax * len(args[0].Str())); fl != nil {
		return value.Null, fl
	}
	text, err := e.NewDecoder().String(args[0].Str())
	if err != nil {
		return f.Fail("Unable to decode from %s: %s", args[1], value.String(err.Error()))
	}
	return value.String(text), nil
}
