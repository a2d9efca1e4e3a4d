package syslog

import (
	"bytes"
	"strings"
	"time"

	"varve/engine/timefmt"
)

// message is a message taken apart; parts that are not there are empty.
type message struct {
	priority                              int // -1: none
	ns                                    int64
	timed                                 bool
	hostname, appName, procID, msgID, msg []byte
	data                                  []byte // structured data, as it is written
}

// parse takes a message apart. A line in no form of syslog is the text of a message without other parts.
func (m *message) parse(line []byte, now time.Time) {
	*m = message{priority: -1}
	rest := bytes.TrimLeft(line, " \t")
	if p, after, ok := priority(rest); ok {
		m.priority, rest = p, after
		if m.rfc5424(rest) {
			return
		}
	}
	m.rfc3164(rest, now)
}

// priority takes <NNN> off a message.
func priority(s []byte) (n int, rest []byte, ok bool) {
	end := bytes.IndexByte(s[:min(len(s), 5)], '>')
	if end < 2 || s[0] != '<' {
		return 0, s, false
	}
	for _, c := range s[1:end] {
		if c-'0' > 9 {
			return 0, s, false
		}
		n = n*10 + int(c-'0')
	}
	return n, s[end+1:], n <= 191
}

// word takes the text up to the next blank, and the blank.
func word(s []byte) (text, rest []byte) {
	text, rest, _ = bytes.Cut(s, []byte{' '})
	return text, rest
}

// undashed is a part of a message; a dash stands for none.
func undashed(s []byte) []byte {
	if len(s) == 1 && s[0] == '-' {
		return nil
	}
	return s
}

// rfc5424 reads what follows the priority: version, time, host, application, process, message id, structured data,
// text.
func (m *message) rfc5424(s []byte) bool {
	version, s := word(s)
	if len(version) != 1 || version[0] != '1' {
		return false
	}
	stamp, s := word(s)
	if undashed(stamp) != nil {
		if m.ns, m.timed = instant(stamp, time.UTC); !m.timed {
			return false
		}
	}
	for _, part := range [...]*[]byte{&m.hostname, &m.appName, &m.procID, &m.msgID} {
		var text []byte
		text, s = word(s)
		*part = undashed(text)
	}
	switch end := structured(s); {
	case end > 0:
		m.data, s = s[:end], s[end:]
	case len(s) > 0 && s[0] == '-' && (len(s) == 1 || s[1] == ' '):
		s = s[1:]
	}
	s = bytes.TrimPrefix(s, []byte{' '})
	m.msg = bytes.TrimPrefix(s, []byte("\uFEFF"))
	return true
}

// instant reads a time with date; zone is that of a time without one.
func instant(s []byte, zone *time.Location) (ns int64, ok bool) {
	if len(s) < len("2006-01-02T15:04:05") || len(s) > 64 || s[4] != '-' || s[10] != 'T' && s[10] != ' ' {
		return 0, false
	}
	sec, nanos, err := timefmt.ParseTimestamp(string(s), zone)
	if err != nil || sec > maxSeconds || sec < -maxSeconds {
		return 0, false
	}
	return sec*1e9 + int64(nanos), true
}

// maxSeconds is the last second whose nanoseconds fit 64 bits.
const maxSeconds = 1<<63/1_000_000_000 - 1

// rfc3164 reads the older, looser form: time, host, tag[process]: text. All but the text may be missing.
func (m *message) rfc3164(s []byte, now time.Time) {
	s = bytes.TrimLeft(s, " ")
	after, ok := m.looseTime(s, now)
	if !ok {
		if m.msg = s; m.priority >= 0 { // some senders leave time and host out
			m.takeTag(s)
		}
		return
	}
	s = bytes.TrimLeft(after, " ")
	host, rest := word(s)
	if len(host) == 0 || host[len(host)-1] == ':' || bytes.IndexByte(host, '[') > 0 { // a tag without a host
		m.takeTag(s)
		return
	}
	m.hostname = undashed(host)
	m.takeTag(bytes.TrimLeft(rest, " "))
}

// takeTag takes "tag: " or "tag[process]: " off the text.
func (m *message) takeTag(s []byte) {
	m.msg = s
	i := 0
	for i < len(s) && s[i] > ' ' && s[i] != ':' && s[i] != '[' {
		i++
	}
	if i == 0 || i == len(s) || i > 255 {
		return
	}
	tag, process, rest := s[:i], []byte(nil), s[i:]
	if rest[0] == '[' {
		end := bytes.IndexByte(rest, ']')
		if end < 0 || end > 128 {
			return
		}
		process, rest = rest[1:end], rest[end+1:]
	}
	if len(rest) == 0 || rest[0] != ':' || len(rest) > 1 && rest[1] != ' ' {
		return
	}
	m.appName, m.procID, m.msg = tag, process, bytes.TrimPrefix(rest[1:], []byte{' '})
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// looseTime reads the time of an older message: "Jan _2 15:04:05", with a fraction and the year behind the day or
// without, or one with date and zone.
func (m *message) looseTime(s []byte, now time.Time) (rest []byte, ok bool) {
	first, after := word(s)
	if m.ns, m.timed = instant(first, now.Location()); m.timed {
		return after, true
	}
	if len(first) != 3 {
		return nil, false
	}
	at := strings.Index(months, string(first))
	if at < 0 || at%3 != 0 {
		return nil, false
	}
	month := time.Month(at/3 + 1)
	text, after := word(bytes.TrimLeft(after, " "))
	day, ok := digits(text, 2)
	if !ok {
		return nil, false
	}
	clock, after := word(after)
	year, given := digits(clock, 4)
	if given = given && len(clock) == 4; given {
		clock, after = word(after)
	}
	clock = bytes.TrimSuffix(clock, []byte{':'})
	if len(clock) < 8 || clock[2] != ':' || clock[5] != ':' {
		return nil, false
	}
	of, err := time.Parse("15:04:05.999999999", string(clock[:min(len(clock), 18)]))
	if err != nil {
		return nil, false
	}
	date := func(year int) time.Time {
		return time.Date(year, month, day, of.Hour(), of.Minute(), of.Second(), of.Nanosecond(), now.Location())
	}
	t := date(year)
	if !given {
		t = date(now.Year())
		if t.Sub(now) > 31*24*time.Hour { // December, read in January
			t = date(now.Year() - 1)
		} else if now.Sub(t) > 334*24*time.Hour {
			t = date(now.Year() + 1)
		}
	}
	if t.Day() != day || t.Year() < 1900 || t.Year() > 2200 {
		return nil, false
	}
	m.ns, m.timed = t.UnixNano(), true
	return after, true
}

// digits reads a number of at most most digits.
func digits(s []byte, most int) (n int, ok bool) {
	if len(s) == 0 || len(s) > most {
		return 0, false
	}
	for _, c := range s {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
