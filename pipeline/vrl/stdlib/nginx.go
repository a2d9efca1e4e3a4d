package stdlib

import (
	"strings"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// nginxFields are the types of the fields of each format; they come from the shapes below.
var nginxFields = map[string][]vrl.Known{
	"error": fields(fieldsOf(vrl.Of(vrl.Timestamp), "timestamp"), fieldsOf(vrl.Of(vrl.String), "severity", "message"),
		fieldsOf(vrl.Of(vrl.Integer), "pid", "tid"),
		fieldsOf(vrl.Of(vrl.Integer, vrl.Null), "cid"), fieldsOf(vrl.Of(vrl.Float, vrl.Null), "excess"),
		fieldsOf(vrl.Of(vrl.String, vrl.Null), "zone", "client", "server", "request", "upstream", "host", "referer")),
	"combined":             shapeFields(nginxCombined),
	"main":                 shapeFields(nginxMain),
	"ingress_upstreaminfo": shapeFields(nginxIngress),
}

func nginxType(c *vrl.Call) vrl.Type {
	format, _ := c.Const("format")
	if format.Kind() != value.StringKind {
		return vrl.Of(vrl.Object)
	}
	return vrl.ObjectOf(nginxFields[format.Str()]...)
}

// lineField is one part of a line: its form and its result.
type lineField struct {
	name  string
	form  fieldForm
	kind  vrl.Kinds
	dash  bool // a dash stands for nothing
	maybe bool // may be missing, with all that follow
}

type fieldForm uint8

const (
	bare      fieldForm = iota // up to the next blank
	bracketed                  // [text]
	inQuotes                   // "text"
	aDash                      // a dash that means nothing
)

// lineShape is the fields of a line in their order, and the positions of the named ones in the order of their names.
type lineShape []lineField

var nginxCombined = lineShape{
	{name: "client", dash: true, kind: vrl.String}, {form: aDash}, {name: "user", dash: true, kind: vrl.String},
	{name: "timestamp", form: bracketed, kind: vrl.Timestamp},
	{name: "request", form: inQuotes, kind: vrl.String}, {name: "status", kind: vrl.Integer},
	{name: "size", kind: vrl.Integer},
	{name: "referer", form: inQuotes, kind: vrl.String}, {name: "agent", form: inQuotes, kind: vrl.String},
	{name: "compression", form: inQuotes, kind: vrl.String, dash: true, maybe: true},
}

var nginxMain = lineShape{
	{name: "remote_addr", dash: true, kind: vrl.String}, {form: aDash},
	{name: "remote_user", dash: true, kind: vrl.String}, {name: "timestamp", form: bracketed, kind: vrl.Timestamp},
	{name: "request", form: inQuotes, kind: vrl.String}, {name: "status", kind: vrl.Integer},
	{name: "body_bytes_size", kind: vrl.Integer},
	{name: "http_referer", form: inQuotes, dash: true, kind: vrl.String},
	{name: "http_user_agent", form: inQuotes, dash: true, kind: vrl.String},
	{name: "http_x_forwarded_for", form: inQuotes, dash: true, kind: vrl.String},
}

var nginxIngress = lineShape{
	{name: "remote_addr", dash: true, kind: vrl.String}, {form: aDash},
	{name: "remote_user", dash: true, kind: vrl.String}, {name: "timestamp", form: bracketed, kind: vrl.Timestamp},
	{name: "request", form: inQuotes, kind: vrl.String}, {name: "status", kind: vrl.Integer},
	{name: "body_bytes_size", kind: vrl.Integer},
	{name: "http_referer", form: inQuotes, dash: true, kind: vrl.String},
	{name: "http_user_agent", form: inQuotes, dash: true, kind: vrl.String},
	{name: "request_length", kind: vrl.Integer}, {name: "request_time", kind: vrl.Float},
	{name: "proxy_upstream_name", form: bracketed, kind: vrl.String},
	{name: "proxy_alternative_upstream_name", form: bracketed, kind: vrl.String},
	{name: "upstream_addr", kind: vrl.String},
	{name: "upstream_response_length", kind: vrl.Integer, dash: true},
	{name: "upstream_response_time", kind: vrl.Float, dash: true},
	{name: "upstream_status", kind: vrl.Integer, dash: true}, {name: "req_id", kind: vrl.String},
}

// shapeFields are the types of a shape's fields.
func shapeFields(shape lineShape) []vrl.Known {
	var list []vrl.Known
	for _, p := range shape {
		if p.name == "" {
			continue
		}
		t := vrl.Of(p.kind)
		if p.dash || p.maybe || p.form == bracketed && p.kind == vrl.String {
			t = vrl.Of(p.kind, vrl.Null)
		}
		list = append(list, knownField(p.name, t))
	}
	return list
}

func compileNginxLog(c *vrl.Call) (vrl.Run, error) {
	format, _ := c.Const("format")
	if format.Str() == "error" {
		layout := timeLayout(c, "%Y/%m/%d %H:%M:%S")
		return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return nginxError(f, args[0].Str(), layout, args[2])
		}, nil
	}
	layout := timeLayout(c, commonTime)
	shape := map[string]lineShape{"combined": nginxCombined, "main": nginxMain,
		"ingress_upstreaminfo": nginxIngress}[format.Str()]
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		return shape.object(f, args[0].Str(), layout, args[2])
	}, nil
}

// object reads a line of a shape.
func (shape lineShape) object(f *vrl.Frame, s string, layout *timefmt.Layout, format value.Value) (value.Value,
	*vrl.Failure) {
	o := f.Arena.Object(len(shape))
	s = strings.TrimSpace(s)
	for i := range shape {
		p := &shape[i]
		if s == "" && p.maybe {
			break
		}
		text, rest, ok := p.take(s)
		if !ok {
			return f.Fail("failed parsing log line")
		}
		s = rest
		if p.name == "" || text == "-" && p.dash || text == "" && p.form == bracketed {
			continue
		}
		v, fl := p.value(f, text, layout, format)
		if fl != nil {
			return value.Null, fl
		}
		o.Append(f.Arena, p.name, v)
	}
	if s != "" {
		return f.Fail("failed parsing log line")
	}
	o.Sort()
	return o.Of(), nil
}

// take takes the text of a field, and the blanks behind.
func (p *lineField) take(s string) (text, rest string, ok bool) {
	switch p.form {
	case aDash:
		text, rest = token(s)
		return text, rest, text == "-"
	case bare:
		text, rest = token(s)
		return text, rest, text != ""
	case bracketed:
		end := strings.IndexByte(s, ']')
		if end < 1 || s[0] != '[' {
			return "", "", false
		}
		return s[1:end], skipBlanks(s[end+1:]), true
	}
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(s[1:], '"')
	if end < 0 {
		return "", "", false
	}
	return s[1 : 1+end], skipBlanks(s[end+2:]), true
}

// value makes the value of a field.
func (p *lineField) value(f *vrl.Frame, text string, layout *timefmt.Layout, format value.Value) (value.Value,
	*vrl.Failure) {
	switch p.kind {
	case vrl.Timestamp:
		return logTime(f, layout, format, text)
	case vrl.Integer:
		n, why := decimal(text)
		if why != "" {
			return f.Fail("failed parsing log line")
		}
		return value.Int(n), nil
	case vrl.Float:
		x, ok := floatOf(text)
		if !ok {
			return f.Fail("failed parsing log line")
		}
		return value.Float(x), nil
	}
	return value.String(text), nil
}

// nginxTail are the fields at the end of an error line, last first: how each starts, whether it is in quotes, its name.
var nginxTail = []struct {
	start  string
	quoted bool
	name   string
}{
	{", referrer: ", true, "referer"}, {", referer: ", true, "referer"}, {", host: ", true, "host"},
	{", upstream: ", true, "upstream"}, {", request: ", true, "request"},
	{", server: ", false, "server"}, {", client: ", false, "client"},
}

// nginxError reads: time [severity] pid#tid: *cid message, and fields behind commas.
func nginxError(f *vrl.Frame, s string, layout *timefmt.Layout, format value.Value) (value.Value, *vrl.Failure) {
	s = strings.TrimSpace(s)
	open := strings.Index(s, " [")
	end := strings.IndexByte(s, ']')
	if open < 1 || end < open {
		return f.Fail("failed parsing log line")
	}
	o := f.Arena.Object(16)
	t, fl := logTime(f, layout, format, strings.TrimSpace(s[:open]))
	if fl != nil {
		return value.Null, fl
	}
	o.Append(f.Arena, "timestamp", t)
	o.Append(f.Arena, "severity", value.String(s[open+2:end]))
	numbers, message := token(skipBlanks(s[end+1:]))
	pid, tid, ok := strings.Cut(strings.TrimSuffix(numbers, ":"), "#")
	if !ok || !strings.HasSuffix(numbers, ":") || pid == "" || tid == "" {
		return f.Fail("failed parsing log line")
	}
	cid := ""
	if strings.HasPrefix(message, "*") {
		if word, rest := token(message[1:]); word != "" && strings.Trim(word, "0123456789") == "" {
			cid, message = word, rest
		}
	}
	for _, n := range []struct{ name, digits string }{{"pid", pid}, {"tid", tid}, {"cid", cid}} {
		if fl := addInt(f, o, n.name, n.digits); fl != nil {
			return f.Fail("failed parsing log line")
		}
	}
	if message = nginxFieldsBehind(f.Arena, o, message); message == "" {
		return f.Fail("failed parsing log line")
	}
	o.Append(f.Arena, "message", value.String(message))
	o.Sort()
	return o.Of(), nil
}

// nginxFieldsBehind takes the fields off the end of a message.
func nginxFieldsBehind(a *value.Arena, o *value.Object, s string) (message string) {
	for _, field := range nginxTail {
		at := strings.LastIndex(s, field.start)
		if at < 0 {
			continue
		}
		text := s[at+len(field.start):]
		if field.quoted {
			if len(text) < 2 || text[0] != '"' || strings.IndexByte(text[1:], '"') != len(text)-2 {
				continue
			}
			text = text[1 : len(text)-1]
		} else if strings.Contains(text, ",") {
			continue
		}
		o.Append(a, field.name, value.String(text))
		s = s[:at]
	}
	at := strings.LastIndex(s, ", excess: ")
	if at < 0 {
		return s
	}
	excess, zone := token(s[at+len(", excess: "):])
	x, ok := floatOf(strings.TrimSuffix(excess, ","))
	name, isZone := strings.CutPrefix(zone, `by zone "`)
	if !ok || !isZone || !strings.HasSuffix(name, `"`) {
		return s
	}
	o.Append(a, "excess", value.Float(x))
	o.Append(a, "zone", value.String(strings.TrimSuffix(name, `"`)))
	return s[:at]
}
