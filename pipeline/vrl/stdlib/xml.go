package stdlib

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// xmlFunctions read XML.
var xmlFunctions = []vrl.Function{
	{Name: "parse_xml", Params: []vrl.Param{arg("value", vrl.String), flag("trim", true), flag("include_attr", true),
		text("attr_prefix", "@"), text("text_key", "text"),
		flag("always_use_text_key", false), flag("parse_bool", true), flag("parse_null", true),
		flag("parse_number", true)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.Object), Run: parseXML},
}

// maxXMLDepth bounds elements inside each other.
const maxXMLDepth = 128

// xmlReader makes values of elements.
type xmlReader struct {
	frame                                                  *vrl.Frame
	tokens                                                 *xml.Decoder
	prefix, textKey                                        string
	trim, attributes, alwaysText, asBool, asNull, asNumber bool
}

// parseXML makes an object of a document: an element with only text is that text, others are objects of their
// attributes, children and texts; of children with one name an array is made. Trimming drops the blanks between
// elements.
func parseXML(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	r := xmlReader{frame: f, trim: args[1].True(), attributes: args[2].True(), prefix: args[3].Str(),
		textKey: args[4].Str(), alwaysText: args[5].True(),
		asBool: args[6].True(), asNull: args[7].True(), asNumber: args[8].True()}
	r.tokens = xml.NewDecoder(strings.NewReader(validText(args[0].Str())))
	// the text is UTF-8 whatever it says
	r.tokens.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := f.Arena.Object(1)
	for {
		t, err := r.tokens.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f.Fail("unable to parse xml: %s", value.String(err.Error()))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if root.Len() > 0 {
				return f.Fail("unable to parse xml: more than one root element")
			}
			v, err := r.element(t, 1)
			if err != nil {
				return f.Fail("unable to parse xml: %s", value.String(err.Error()))
			}
			root.Set(f.Arena, xmlName(t.Name), v)
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return f.Fail("unable to parse xml: text outside of the root element")
			}
		case xml.EndElement:
			return f.Fail("unable to parse xml: an element ends that did not begin")
		}
	}
	if root.Len() == 0 {
		return f.Fail("unable to parse xml: the document does not have a root node")
	}
	return root.Of(), nil
}

// xmlName is a name with its prefix.
func xmlName(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

var errXMLDepth = errors.New("elements nest too deep")

// element makes the value of an element whose start was read.
func (r *xmlReader) element(start xml.StartElement, depth int) (value.Value, error) {
	if depth > maxXMLDepth {
		return value.Null, errXMLDepth
	}
	if fl := r.frame.Spend(1 + len(start.Attr)); fl != nil {
		return value.Null, errXMLDepth
	}
	a := r.frame.Arena
	o := a.Object(4)
	if r.attributes {
		for _, attribute := range start.Attr {
			o.Set(a, a.Concat(r.prefix, xmlName(attribute.Name)).Str(), r.scalar(strings.Clone(attribute.Value)))
		}
	}
	nodes := 0
	var text value.Value // of the last node of text
	for {
		t, err := r.tokens.RawToken()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the document ends inside an element")
			}
			return value.Null, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			v, err := r.element(t, depth+1)
			if err != nil {
				return value.Null, err
			}
			r.child(o, xmlName(t.Name), v)
			nodes++
		case xml.CharData:
			if s := string(t); !r.trim || strings.TrimSpace(s) != "" {
				text = r.scalar(s)
				r.child(o, r.textKey, text)
				nodes++
			}
		case xml.ProcInst:
			nodes++
		case xml.EndElement:
			if t.Name != start.Name {
				return value.Null, errors.New("element " + xmlName(start.Name) + " closed by " + xmlName(t.Name))
			}
			// Text alone is the value itself, unless it has attributes beside it.
			if nodes == 1 && o.Len() == 1 && o.Key(0) == r.textKey && !r.alwaysText && o.At(0) == text {
				return text, nil
			}
			return o.Of(), nil
		}
	}
}

// child adds a child; those with one name make an array.
func (r *xmlReader) child(o *value.Object, name string, v value.Value) {
	a := r.frame.Arena
	old, again := o.Get(name)
	if !again {
		o.Set(a, name, v)
		return
	}
	// An array always stands for several children: a single child is never an array.
	if old.Kind() == value.ArrayKind {
		old.Array().Push(a, v)
		return
	}
	list := a.Array(4)
	list.Push(a, old)
	list.Push(a, v)
	o.Set(a, name, list.Of())
}

// scalar makes the value of a text.
func (r *xmlReader) scalar(s string) value.Value {
	switch {
	case r.asNull && (s == "" || s == "null"):
		return value.Null
	case r.asBool && (s == "true" || s == "false"):
		return value.Bool(s == "true")
	case r.asNumber:
		if n, why := decimal(s); why == "" {
			return value.Int(n)
		}
		if x, ok := floatOf(s); ok && x == x && s[len(s)-1]-'0' <= 9 {
			return value.Float(x)
		}
	}
	return value.String(s)
}
