package stdlib

import (
	"strings"
	"time"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// syslogFunctions read syslog messages and translate their codes.
var syslogFunctions = []vrl.Function{
	{Name: "parse_syslog", Params: stringParam, Fails: vrl.Always, Returns: syslogType, Run: parseSyslog},
	{Name: "parse_linux_authorization", Params: stringParam, Fails: vrl.Always, Returns: syslogType, Run: parseSyslog},
	{Name: "to_syslog_level", Params: []vrl.Param{arg("value", vrl.Integer)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			if n := args[0].Int(); n >= 0 && n < int64(len(syslogLevels)) {
				return value.String(syslogLevels[n]), nil
			}
			return f.Fail("severity level %s not valid", args[0])
		}},
	{Name: "to_syslog_severity", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Integer),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			if n, ok := syslogSeverities[args[0].Str()]; ok {
				return value.Int(n), nil
			}
			return f.Fail("syslog level %s not valid", args[0])
		}},
	{Name: "to_syslog_facility", Params: []vrl.Param{arg("value", vrl.Integer)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.String), Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			if n := args[0].Int(); n >= 0 && n < int64(len(syslogFacilities)) {
				return value.String(syslogFacilities[n]), nil
			}
			return f.Fail("facility code %s not valid", args[0])
		}},
	{Name: "to_syslog_facility_code", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Integer),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			if n, ok := syslogFacilityCodes[args[0].Str()]; ok {
				return value.Int(n), nil
			}
			return f.Fail("syslog facility '%s' not valid", args[0])
		}},
}

var syslogLevels = [...]string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}

var syslogFacilities = [...]string{"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron",
	"authpriv", "ftp", "ntp", "security", "console",
	"solaris-cron", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"}

var syslogSeverities = func() map[string]int64 {
	codes := map[string]int64{"panic": 0, "error": 3, "warn": 4}
	for i, name := range syslogLevels {
		codes[name] = int64(i)
	}
	return codes
}()

var syslogFacilityCodes = func() map[string]int64 {
	codes := map[string]int64{}
	for i, name := range syslogFacilities {
		codes[name] = int64(i)
	}
	return codes
}()

var syslogType = vrl.ObjectWith(vrl.ObjectOfAny(vrl.Of(vrl.String)).Or(vrl.Null),
	knownField("appname", vrl.Of(vrl.String, vrl.Null)), knownField("facility", vrl.Of(vrl.String, vrl.Null)),
	knownField("hostname", vrl.Of(vrl.String, vrl.Null)), knownField("message", vrl.Of(vrl.String)),
	knownField("msgid", vrl.Of(vrl.String, vrl.Null)), knownField("procid", vrl.Of(vrl.Integer, vrl.String, vrl.Null)),
	knownField("severity", vrl.Of(vrl.String, vrl.Null)),
	knownField("timestamp", vrl.Of(vrl.Timestamp, vrl.Null)), knownField("version", vrl.Of(vrl.Integer, vrl.Null)))

// syslogNames are the names of the parts of a message.
var syslogNames = map[string]bool{"appname": true, "facility": true, "hostname": true, "message": true, "msgid": true,
	"procid": true, "severity": true,
	"timestamp": true, "version": true}

// syslogMessage is a message taken apart. Parts that are not there are empty.
type syslogMessage struct {
	priority                                     int // -1 without one
	version                                      int
	timestamp                                    value.Value
	hostname, appname, procid, msgid, data, rest string
}

func parseSyslog(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s := strings.TrimSpace(args[0].Str())
	m := syslogMessage{priority: -1}
	rest, ok := m.takePriority(s)
	if !ok {
		return f.Fail("unable to parse input as valid syslog message")
	}
	if !m.read5424(f, rest) && !m.read3164(f, rest) {
		return f.Fail("unable to parse input as valid syslog message")
	}
	return m.object(f)
}

// takePriority takes <NNN> at the start, if it is there; one beyond 191 is an error.
func (m *syslogMessage) takePriority(s string) (rest string, ok bool) {
	if s == "" || s[0] != '<' {
		return s, s != ""
	}
	n, i := 0, 1
	for ; i < len(s) && i <= 3 && s[i]-'0' <= 9; i++ {
		n = n*10 + int(s[i]-'0')
	}
	if i == 1 || i >= len(s) || s[i] != '>' || n > 191 {
		return "", false
	}
	m.priority = n
	return s[i+1:], true
}

// word5424 takes the text up to the next blank, and one blank.
func word5424(s string) (text, rest string) {
	i := strings.IndexByte(s, ' ')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// undashed is a part of a message; a dash stands for none.
func undashed(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// read5424 reads the message of RFC 5424 behind its priority: version, time, host, application, process, message id,
// structured data, text.
func (m *syslogMessage) read5424(f *vrl.Frame, s string) bool {
	version, s := word5424(s)
	if m.priority < 0 || len(version) == 0 || len(version) > 2 || version[0] == '0' {
		return false
	}
	n, why := decimal(version)
	if why != "" {
		return false
	}
	stamp, s := word5424(s)
	if stamp != "-" {
		at, ok := rfc3339(stamp, f.Zone())
		if !ok {
			return false
		}
		m.timestamp = at
	}
	m.version = int(n)
	var host, app, proc, id string
	host, s = word5424(skipBlanks(s))
	app, s = word5424(skipBlanks(s))
	proc, s = word5424(skipBlanks(s))
	id, s = word5424(skipBlanks(s))
	m.hostname, m.appname, m.procid, m.msgid = undashed(host), undashed(app), undashed(proc), undashed(id)
	s = skipBlanks(s)
	switch {
	case strings.HasPrefix(s, "["):
		m.data, s = takeStructured(f.Arena, s)
	case s == "-" || strings.HasPrefix(s, "- "):
		s = s[1:]
	}
	m.rest = strings.TrimPrefix(skipBlanks(s), "\uFEFF")
	return true
}

// rfc3339 reads an instant with date and time; a space may stand for the T.
func rfc3339(s string, loc *time.Location) (at value.Value, ok bool) {
	if len(s) < len("2006-01-02T15:04:05") || s[4] != '-' || s[10] != 'T' && s[10] != ' ' && s[10] != 't' {
		return value.Null, false
	}
	sec, nanos, err := timefmt.ParseTimestamp(s, loc)
	if err != nil || sec < -9_000_000_000 || sec > 9_000_000_000 {
		return value.Null, false
	}
	return value.Timestamp(sec*1e9 + int64(nanos)), true
}

// takeStructured takes structured data off a text. Elements that are none are left out, whatever stands in their
// brackets.
func takeStructured(a *value.Arena, s string) (data, rest string) {
	if end := structuredEnd(s); end > 0 && (end == len(s) || s[end] != '[') {
		return s[:end], s[end:]
	}
	b := a.Alloc(len(s))[:0]
	for strings.HasPrefix(s, "[") {
		closing := strings.IndexByte(s, ']') + 1
		end := elementEnd(s)
		switch {
		case end > 0:
			b, s = append(b, s[:end]...), s[end:]
		case closing > 0:
			s = s[closing:]
		default:
			return value.View(b), s
		}
	}
	return value.View(b), s
}

// structuredEnd is the offset where structured data ends; 0: the text has none.
func structuredEnd(s string) int {
	i := 0
	for i < len(s) && s[i] == '[' {
		end := elementEnd(s[i:])
		if end == 0 {
			return 0
		}
		i += end
	}
	return i
}

// elementEnd is the offset where the element of structured data at the start of a text ends; 0: there is none.
func elementEnd(s string) int {
	i := nameEnd(s, 1)
	if i == 1 {
		return 0
	}
	for {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && s[i] == ']' {
			return i + 1
		}
		name := nameEnd(s, i)
		quote := valueStart(s, name)
		if name == i || quote == 0 {
			return 0
		}
		if i = valueEnd(s, quote); i == 0 {
			return 0
		}
	}
}

// nameEnd is where a name of structured data ends.
func nameEnd(s string, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] != '=' && s[i] != ']' && s[i] != '"' {
		i++
	}
	return i
}

// valueStart is behind the equals sign and the quote that follow a name, blanks between them; 0 without them.
func valueStart(s string, i int) int {
	if i >= len(s) || s[i] != '=' {
		return 0
	}
	for i++; i < len(s) && s[i] == ' '; i++ {
	}
	if i >= len(s) || s[i] != '"' {
		return 0
	}
	return i + 1
}

// valueEnd is behind the quote that ends the value starting at i, 0 without one. A backslash protects the next
// character.
func valueEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// read3164 reads the older and looser form: time, host, tag[process]: text. Host and tag may be missing; a word alone
// is the host unless it has a process.
func (m *syslogMessage) read3164(f *vrl.Frame, s string) bool {
	at, s, ok := looseTime(f, skipBlanks(s))
	if !ok {
		return false
	}
	m.timestamp = at
	first, s := syslogWord(skipBlanks(s), false)
	second := ""
	if rest := skipBlanks(s); !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "[") {
		second, s = syslogWord(rest, true)
	}
	switch {
	case second != "":
		m.hostname = undashed(first)
		if !m.takeTag(second) {
			m.appname = undashed(second)
		}
	case !m.takeTag(first):
		m.hostname = undashed(first)
	}
	s = skipBlanks(strings.TrimPrefix(skipBlanks(s), ":"))
	if strings.HasPrefix(s, "[") {
		if end := structuredEnd(s); end > 0 && strings.Contains(s[:end], "=") {
			m.data, s = s[:end], skipBlanks(s[end:])
		}
	}
	m.rest = s
	return true
}

// syslogWord takes a word up to a blank or a colon; in a host, which may be an address, a colon counts before a blank
// only.
func syslogWord(s string, tag bool) (word, rest string) {
	for i := range len(s) {
		c := s[i]
		if isBlankByte(c) || c == ':' && (tag || i+1 == len(s) || isBlankByte(s[i+1])) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// takeTag takes "name[process]".
func (m *syslogMessage) takeTag(word string) bool {
	open := strings.IndexByte(word, '[')
	if open <= 0 || !strings.HasSuffix(word, "]") || open+2 == len(word) {
		return false // "name[]" is a name
	}
	m.appname, m.procid = word[:open], word[open+1:len(word)-1]
	return true
}

var monthNumbers = map[string]int{"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8,
	"Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}

// monthOf is the number of a month by its first three letters in any case, 0 for others.
func monthOf(s string) int {
	if len(s) != 3 {
		return 0
	}
	return monthNumbers[string([]byte{s[0] &^ 0x20, s[1] | 0x20, s[2] | 0x20})]
}

// looseTime reads the time of an older message: RFC 3339, or month, day, time with a year before, between or behind, or
// without one: then it is the latest such time that is not a month or more in the future.
func looseTime(f *vrl.Frame, s string) (at value.Value, rest string, ok bool) {
	word, after := word5424(s)
	if at, ok := rfc3339(strings.TrimSuffix(word, ":"), f.Zone()); ok {
		return at, after, true
	}
	year := 0
	if n, is := yearOf(word); is {
		year, s = n, skipBlanks(after)
		word, after = word5424(s)
	}
	month := monthOf(word)
	if month == 0 {
		return value.Null, s, false
	}
	word, after = word5424(skipBlanks(after))
	day, why := decimal(word)
	if why != "" || day < 1 || day > 31 {
		return value.Null, s, false
	}
	word, after = word5424(skipBlanks(after))
	if n, is := yearOf(word); is && year == 0 {
		year = n
		word, after = word5424(skipBlanks(after))
	}
	seconds, nanos, ok := clockTime(strings.TrimSuffix(word, ":"))
	if !ok {
		return value.Null, s, false
	}
	if word, behind := word5424(skipBlanks(after)); year == 0 {
		if n, is := yearOf(strings.TrimSuffix(word, ":")); is {
			year, after = n, behind
		}
	}
	if year == 0 {
		year = yearNear(f.Now().In(f.Zone()), month)
	}
	if int(day) > timefmt.DaysInMonth(year, month) {
		return value.Null, s, false
	}
	t := time.Date(year, time.Month(month), int(day), 0, 0, seconds, nanos, f.Zone())
	v, inRange := value.Time(t)
	return v, after, inRange
}

// yearOf reads a year of four digits.
func yearOf(s string) (year int, ok bool) {
	if len(s) != 4 {
		return 0, false
	}
	n, why := decimal(s)
	return int(n), why == "" && n >= 1900 && n < 2200
}

// yearNear is the year of a stamp without one: the current year, but the last for December when it is January.
func yearNear(now time.Time, month int) int {
	if now.Month() == time.January && month == 12 {
		return now.Year() - 1
	}
	return now.Year()
}

// clockTime reads hh:mm:ss with a fraction or without, as seconds and nanoseconds.
func clockTime(s string) (seconds, nanos int, ok bool) {
	if len(s) < len("00:00:00") || s[2] != ':' || s[5] != ':' {
		return 0, 0, false
	}
	var parts [3]int
	for i := range parts {
		a, b := s[3*i]-'0', s[3*i+1]-'0'
		if a > 9 || b > 9 {
			return 0, 0, false
		}
		parts[i] = int(a)*10 + int(b)
	}
	if parts[0] > 23 || parts[1] > 59 || parts[2] > 60 {
		return 0, 0, false
	}
	if fraction := s[len("00:00:00"):]; fraction != "" {
		if len(fraction) < 2 || len(fraction) > 10 || fraction[0] != '.' {
			return 0, 0, false
		}
		for i := 1; i <= 9; i++ {
			nanos *= 10
			if i < len(fraction) {
				if fraction[i]-'0' > 9 {
					return 0, 0, false
				}
				nanos += int(fraction[i] - '0')
			}
		}
	}
	return parts[0]*3600 + parts[1]*60 + parts[2], nanos, true
}

// object makes the object of a message; its own keys come in order, structured data finds its place.
func (m *syslogMessage) object(f *vrl.Frame) (value.Value, *vrl.Failure) {
	a := f.Arena
	o := a.Object(12)
	addText(a, o, "appname", m.appname)
	if m.priority >= 0 {
		o.Append(a, "facility", value.String(syslogFacilities[m.priority>>3]))
	}
	addText(a, o, "hostname", m.hostname)
	o.Append(a, "message", value.String(m.rest))
	addText(a, o, "msgid", m.msgid)
	if m.procid != "" {
		if n, why := decimal(m.procid); why == "" {
			o.Append(a, "procid", value.Int(n))
		} else {
			o.Append(a, "procid", value.String(m.procid))
		}
	}
	if m.priority >= 0 {
		o.Append(a, "severity", value.String(syslogLevels[m.priority&7]))
	}
	if !m.timestamp.IsNull() {
		o.Append(a, "timestamp", m.timestamp)
	}
	if m.version > 0 {
		o.Append(a, "version", value.Int(int64(m.version)))
	}
	addStructured(a, o, m.data)
	return o.Of(), nil
}

// addStructured adds the elements of structured data, which structuredEnd has checked.
func addStructured(a *value.Arena, o *value.Object, s string) {
	for i := 0; i < len(s); {
		i++
		end := nameEnd(s, i)
		element := a.Object(4)
		if !syslogNames[s[i:end]] { // an element does not take the place of a part of the message
			o.Set(a, s[i:end], element.Of())
		}
		for i = end; s[i] != ']'; {
			if s[i] == ' ' {
				i++
				continue
			}
			name := nameEnd(s, i)
			quote := valueStart(s, name)
			end := valueEnd(s, quote)
			element.Set(a, s[i:name], value.String(unescapedData(a, s[quote:end-1])))
			i = end
		}
		i++
	}
}

// unescapedData resolves \" \\ and \] in a value of structured data.
func unescapedData(a *value.Arena, s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := a.Alloc(len(s))[:0]
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\' || s[i+1] == ']') {
			i++
		}
		b = append(b, s[i])
	}
	return value.View(b)
}
