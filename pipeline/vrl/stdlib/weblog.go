package stdlib

import (
	"regexp"
	"strings"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// commonTime is the time of day of the common log format.
const commonTime = "%d/%b/%Y:%T %z"

// weblogFunctions read the lines of web servers.
var weblogFunctions = []vrl.Function{
	{Name: "parse_common_log", Params: []vrl.Param{arg("value", vrl.String), text("timestamp_format", commonTime)},
		Fails:   vrl.Always,
		Returns: vrl.ObjectOf(commonFields...), Compile: func(c *vrl.Call) (vrl.Run, error) {
			layout := timeLayout(c, commonTime)
			return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				var l accessLine
				if !l.read(args[0].Str(), false) {
					return f.Fail("failed parsing common log line")
				}
				return l.object(f, layout, args[1], false)
			}, nil
		}},
	{Name: "parse_apache_log", Params: []vrl.Param{arg("value", vrl.String),
		word("format", "", "common", "combined", "error"), text("timestamp_format", commonTime)},
		Fails: vrl.Always, ReturnsFor: apacheType, Compile: compileApacheLog},
	{Name: "parse_nginx_log", Params: []vrl.Param{arg("value", vrl.String),
		word("format", "", "combined", "error", "ingress_upstreaminfo", "main"), opt("timestamp_format", vrl.String)},
		Fails: vrl.Always, ReturnsFor: nginxType, Compile: compileNginxLog},
}

// fieldsOf declares fields of one type.
func fieldsOf(t vrl.Type, names ...string) []vrl.Known {
	fields := make([]vrl.Known, 0, len(names))
	for _, name := range names {
		fields = append(fields, knownField(name, t))
	}
	return fields
}

// fields joins lists of fields.
func fields(lists ...[]vrl.Known) []vrl.Known {
	var all []vrl.Known
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var commonFields = fields(fieldsOf(vrl.Of(vrl.String, vrl.Null), "host", "identity", "user", "message", "method",
	"path", "protocol"),
	fieldsOf(vrl.Of(vrl.Integer, vrl.Null), "status", "size"), fieldsOf(vrl.Of(vrl.Timestamp, vrl.Null), "timestamp"))

func apacheType(c *vrl.Call) vrl.Type {
	format, _ := c.Const("format")
	if format.Kind() != value.StringKind {
		return vrl.Of(vrl.Object)
	}
	switch format.Str() {
	case "common":
		return vrl.ObjectOf(commonFields...)
	case "combined":
		return vrl.ObjectOf(fields(commonFields, fieldsOf(vrl.Of(vrl.String, vrl.Null), "referrer", "agent"))...)
	}
	return vrl.ObjectOf(fields(fieldsOf(vrl.Of(vrl.String, vrl.Null), "module", "severity", "thread", "client",
		"message", "message1", "message2"),
		fieldsOf(vrl.Of(vrl.Integer, vrl.Null), "pid", "port"),
		fieldsOf(vrl.Of(vrl.Timestamp, vrl.Null), "timestamp"))...)
}

// timeLayout compiles the constant timestamp_format of a call, or byDefault when there is none. nil: the call has to.
func timeLayout(c *vrl.Call, byDefault string) *timefmt.Layout {
	format, known := c.Const("timestamp_format")
	if !known {
		return nil
	}
	if format.Kind() == value.StringKind {
		byDefault = format.Str()
	}
	l, err := timefmt.CompileStrict(byDefault)
	if err != nil {
		return nil // the call says so when it runs
	}
	return l
}

// logTime reads the time of a log line.
func logTime(f *vrl.Frame, l *timefmt.Layout, format value.Value, text string) (value.Value, *vrl.Failure) {
	if l == nil {
		var err error
		if l, err = layoutOf(format.Str()); err != nil {
			return f.Fail("failed parsing timestamp %s using format %s: bad or unsupported format string",
				value.String(text), format)
		}
	}
	ns, _, err := l.Parse(text, f.Zone())
	if err != nil {
		return f.Fail("failed parsing timestamp %s using format %s: input contains invalid characters",
			value.String(text), value.String(l.String()))
	}
	return value.Timestamp(ns), nil
}

// accessLine is a line of the common or combined log format, taken apart. Parts that are not there are empty.
type accessLine struct {
	host, identity, user, timestamp          string
	message, method, path, protocol          string
	status, size                             string
	referrer, agent                          string
	hasMessage, hasTimestamp, hasRef, hasAgt bool
}

// read takes a line apart: host identity user [time] "request" status size, and for the combined format "referrer"
// "agent". Each may be a dash.
func (l *accessLine) read(s string, combined bool) bool {
	s = strings.TrimSpace(s)
	var ok bool
	if s, ok = l.names(s); !ok {
		return false
	}
	if s, ok = l.time(s); !ok {
		return false
	}
	if s, ok = l.request(s, combined); !ok {
		return false
	}
	if !combined {
		return true
	}
	if l.referrer, l.hasRef, s, ok = optionalQuoted(s); !ok {
		return false
	}
	if l.agent, l.hasAgt, _, ok = optionalQuoted(s); !ok {
		return false
	}
	return true
}

// names takes host, identity and user; the user may have blanks in it.
func (l *accessLine) names(s string) (rest string, ok bool) {
	l.host, s = token(s)
	l.identity, s = token(s)
	open, quote := strings.IndexByte(s, '['), strings.IndexByte(s, '"')
	if open > 0 && isBlankByte(s[open-1]) && (quote < 0 || open < quote) {
		l.user, rest = strings.TrimSpace(s[:open]), s[open:]
	} else {
		l.user, rest = token(s)
	}
	for _, p := range []*string{&l.host, &l.identity, &l.user} {
		if *p == "" {
			return "", false
		}
		if *p == "-" {
			*p = ""
		}
	}
	return rest, true
}

// token takes the text up to the next blank, and the blanks.
func token(s string) (text, rest string) {
	i := 0
	for i < len(s) && !isBlankByte(s[i]) {
		i++
	}
	return s[:i], skipBlanks(s[i:])
}

func skipBlanks(s string) string {
	i := 0
	for i < len(s) && isBlankByte(s[i]) {
		i++
	}
	return s[i:]
}

// time takes the time in brackets, or a dash.
func (l *accessLine) time(s string) (rest string, ok bool) {
	if text, rest := token(s); text == "-" {
		return rest, true
	}
	if s == "" || s[0] != '[' {
		return "", false
	}
	end := strings.IndexByte(s, ']')
	if end < 0 || end+1 >= len(s) || !isBlankByte(s[end+1]) {
		return "", false
	}
	if l.timestamp = s[1:end]; l.timestamp != "-" {
		l.hasTimestamp = true
	}
	return skipBlanks(s[end+1:]), true
}

// request takes the request in quotes, status and size. The request ends at the first quote that numbers follow.
func (l *accessLine) request(s string, more bool) (rest string, ok bool) {
	if text, rest := token(s); text == "-" {
		return l.numbers(rest, more)
	}
	if s == "" || s[0] != '"' {
		return "", false
	}
	for end := 1; ; end++ {
		i := strings.IndexByte(s[end:], '"')
		if i < 0 {
			return "", false
		}
		end += i
		if end+1 >= len(s) || !isBlankByte(s[end+1]) {
			continue
		}
		if rest, ok = l.numbers(skipBlanks(s[end+1:]), more); ok {
			l.splitRequest(strings.TrimSpace(s[1:end]))
			return rest, true
		}
	}
}

// numbers takes status and size; more says that something follows, else that nothing does.
func (l *accessLine) numbers(s string, more bool) (rest string, ok bool) {
	if l.status, s, ok = number(s); !ok || s == "" {
		return "", false
	}
	l.size, s, ok = number(s)
	return s, ok && (s != "") == more
}

// number takes digits, or a dash for a missing number, and the blanks after it.
func number(s string) (digits, rest string, ok bool) {
	text, rest := token(s)
	if text == "-" {
		return "", rest, true
	}
	for i := range len(text) {
		if text[i]-'0' > 9 {
			return "", "", false
		}
	}
	return text, rest, text != ""
}

// splitRequest takes a request apart if it has three words.
func (l *accessLine) splitRequest(s string) {
	if s == "-" {
		return
	}
	l.message, l.hasMessage = s, true
	method, rest := token(s)
	for i := range len(method) {
		if !isNameByte(method[i]) {
			return
		}
	}
	path, protocol := token(rest)
	if protocol != "" {
		l.method, l.path, l.protocol = method, path, protocol
	}
}

// optionalQuoted takes a text in quotes, or a dash; a backslash protects a quote. present is false for dashes.
func optionalQuoted(s string) (text string, present bool, rest string, ok bool) {
	if word, rest := token(s); word == "-" {
		return "", false, rest, true
	}
	if s == "" || s[0] != '"' {
		return "", false, "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			text = strings.TrimLeft(s[1:i], " \t")
			return text, text != "-", skipBlanks(s[i+1:]), true
		}
	}
	return "", false, "", false
}

// object makes the object of a line; its keys come in order.
func (l *accessLine) object(f *vrl.Frame, layout *timefmt.Layout, format value.Value, combined bool) (value.Value,
	*vrl.Failure) {
	a := f.Arena
	o := a.Object(16)
	if l.hasAgt {
		o.Append(a, "agent", value.String(l.agent))
	}
	addText(a, o, "host", l.host)
	addText(a, o, "identity", l.identity)
	if l.hasMessage {
		o.Append(a, "message", value.String(l.message))
	}
	addText(a, o, "method", l.method)
	addText(a, o, "path", l.path)
	addText(a, o, "protocol", l.protocol)
	if combined && l.hasRef {
		o.Append(a, "referrer", value.String(l.referrer))
	}
	if fl := addInt(f, o, "size", l.size); fl != nil {
		return value.Null, fl
	}
	if fl := addInt(f, o, "status", l.status); fl != nil {
		return value.Null, fl
	}
	if l.hasTimestamp {
		t, fl := logTime(f, layout, format, l.timestamp)
		if fl != nil {
			return value.Null, fl
		}
		o.Append(a, "timestamp", t)
	}
	addText(a, o, "user", l.user)
	return o.Of(), nil
}

// addText adds a text that is not empty.
func addText(a *value.Arena, o *value.Object, key, s string) {
	if s != "" {
		o.Append(a, key, value.String(s))
	}
}

// addInt adds digits as an integer.
func addInt(f *vrl.Frame, o *value.Object, key, digits string) *vrl.Failure {
	if digits == "" {
		return nil
	}
	n, why := decimal(digits)
	if why != "" {
		_, fl := f.Fail("failed parsing %s: %s", value.String(key), value.String(why))
		return fl
	}
	o.Append(f.Arena, key, value.Int(n))
	return nil
}

// The two forms of Apache's error log: the simple form and the form of threaded servers.
var apacheErrors = []*regexp.Regexp{
	regexp.MustCompile(
		`^\s*(?:-|\[(?:-|(?P<timestamp>[^\[]*))\])\s+(?:-|\[(?:-|(?P<module>[^:]*):(?P<severity>[^\[]*))\])\s+` +
			`(?:-|\[\s*pid\s*(?:-|(?P<pid>[^:]*)(?::\s*tid\s*(?P<thread>[^\[]*))?)\])\s+(?:-|\[\s*client\s*(?:-|(?P<client>.*:?):(?P<port>[^\[]*))\])\s+(?:-|(?P<message>.*))\s*$`),
	regexp.MustCompile(
		`^\s*\[(?P<timestamp>[^\]]+)\]\s+\[(?:-|(?P<module>[^:]+)):(?P<severity>[^\]]+)\]\s+\[pid\s+(?P<pid>\d+)(?::tid\s+(?P<thread>\d+))?\]\s+` +
			`(?P<message1>[^\[]*?:\s+(?:[^\[]*?:\s+)?)?(?:\[client\s+(?P<client>.+?):(?P<port>\d+)\]\s+)?(?P<message2>.*)\s*$`),
}

func compileApacheLog(c *vrl.Call) (vrl.Run, error) {
	layout := timeLayout(c, commonTime)
	format, _ := c.Const("format")
	combined := format.Str() == "combined"
	if format.Str() == "error" {
		return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			s := args[0].Str()
			for _, re := range apacheErrors {
				if at := re.FindStringSubmatchIndex(s); at != nil {
					return errorObject(f, s, at, re.SubexpNames(), layout, args[2])
				}
			}
			return f.Fail("failed parsing common log line")
		}, nil
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		var l accessLine
		if !l.read(args[0].Str(), combined) {
			return f.Fail("failed parsing common log line")
		}
		return l.object(f, layout, args[2], combined)
	}, nil
}

// errorObject makes the object of an error line from the groups that took part.
func errorObject(f *vrl.Frame, s string, at []int, names []string, layout *timefmt.Layout,
	format value.Value) (value.Value, *vrl.Failure) {
	o := f.Arena.Object(len(names))
	for i, name := range names {
		if name == "" || at[2*i] < 0 {
			continue
		}
		text := s[at[2*i]:at[2*i+1]]
		if name != "message" && name != "message2" { // the text at the end of the line is not trimmed
			text = strings.TrimSpace(text)
		}
		switch name {
		case "timestamp":
			t, fl := logTime(f, layout, format, text)
			if fl != nil {
				return value.Null, fl
			}
			o.Append(f.Arena, name, t)
		case "pid", "port":
			if fl := addInt(f, o, name, text); fl != nil {
				return value.Null, fl
			}
		default:
			o.Append(f.Arena, name, value.String(text))
		}
	}
	o.Sort()
	return o.Of(), nil
}
