package shell

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"varve/cmd/varve/client"
	"varve/engine/timefmt"
)

// column is one of a result: how its values, which arrive as JSON, are shown.
type column struct {
	client.Column
	kind   kind
	digits int            // of the fraction of times
	zone   *time.Location // of timestamps; nil: times stay numbers
}

// kind is how the values of a column are shown.
type kind uint8

const (
	kindOther  kind = iota // as they are
	kindNumber             // to the right
	kindText
	kindBinary
	kindTimestamp
	kindDate
	kindClock
)

// units are the ends of the names of types with a resolution and the digits of it.
var units = []struct {
	name   string
	digits int
}{{"Second", 0}, {"Millisecond", 3}, {"Microsecond", 6}, {"Nanosecond", 9}}

// newColumn makes the column of an answer; zone is nil where times are to stay numbers.
func newColumn(c client.Column, zone *time.Location) column {
	v := column{Column: c, zone: zone}
	for _, u := range units {
		switch c.Type {
		case "Timestamp" + u.name:
			v.kind, v.digits = kindTimestamp, u.digits
		case "Time" + u.name:
			v.kind, v.digits = kindClock, u.digits
		case "Duration" + u.name:
			v.kind = kindNumber
		}
	}
	switch {
	case c.Type == "Date":
		v.kind = kindDate
	case c.Type == "String" || strings.HasPrefix(c.Type, "Interval"):
		v.kind = kindText
	case c.Type == "Binary":
		v.kind = kindBinary
	case strings.HasPrefix(c.Type, "Int") || strings.HasPrefix(c.Type, "UInt") || strings.HasPrefix(c.Type, "Float") ||
		strings.HasPrefix(c.Type, "Decimal"):
		v.kind = kindNumber
	}
	if v.zone == nil && (v.kind == kindTimestamp || v.kind == kindDate || v.kind == kindClock) {
		v.kind = kindNumber
	}
	return v
}

// isNull reports whether a value is NULL.
func isNull(raw []byte) bool { return string(raw) == "null" }

// appendText appends the text of a value that is not NULL.
func (c *column) appendText(dst, raw []byte) []byte {
	switch {
	case c.kind == kindBinary:
		return appendHex(dst, raw)
	case raw[0] == '"' && c.Type != "Json":
		return appendUnquoted(dst, raw)
	}
	return c.appendTime(dst, raw, "2006-01-02 15:04:05")
}

// appendJSON appends a value as JSON: times as texts of RFC 3339, the rest as the server sent it.
func (c *column) appendJSON(dst, raw []byte) []byte {
	if isNull(raw) || c.kind != kindTimestamp && c.kind != kindDate && c.kind != kindClock {
		return append(dst, raw...)
	}
	start := len(dst)
	dst = c.appendTime(append(dst, '"'), raw, "2006-01-02T15:04:05")
	if bytes.Equal(dst[start+1:], raw) { // a year that has no form
		return append(dst[:start], raw...)
	}
	return append(dst, '"')
}

// appendTime appends a time; layout is that of a timestamp without fraction, and says with its T whether the zone
// follows. What is none, or of a year that has no four digits, stays as it is.
func (c *column) appendTime(dst, raw []byte, layout string) []byte {
	if c.kind != kindTimestamp && c.kind != kindDate && c.kind != kindClock {
		return append(dst, raw...)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return append(dst, raw...)
	}
	if c.kind == kindDate {
		return timefmt.AppendDate(dst, n)
	}
	unit := int64(1)
	for range c.digits {
		unit *= 10
	}
	at := time.Unix(timefmt.FloorDiv(n, unit), timefmt.FloorMod(n, unit)*(1e9/unit)).UTC()
	fraction := ""
	if c.digits > 0 {
		fraction = "." + strings.Repeat("0", c.digits)
	}
	if c.kind == kindClock {
		return at.AppendFormat(dst, "15:04:05"+fraction)
	}
	at = at.In(c.zone)
	if _, offset := at.Zone(); offset%60 != 0 {
		at = at.UTC()
	}
	if year := at.Year(); year < 0 || year > 9999 {
		return append(dst, raw...)
	}
	layout += fraction
	if strings.Contains(layout, "T") {
		layout += "Z07:00"
	}
	return at.AppendFormat(dst, layout)
}

// appendUnquoted appends what a JSON text says.
func appendUnquoted(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return append(dst, raw[1:len(raw)-1]...)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return append(dst, raw...)
	}
	return append(dst, text...)
}

// appendHex appends a binary value, which arrives as an array of numbers, as \x and two digits a byte.
func appendHex(dst, raw []byte) []byte {
	start := len(dst)
	dst = append(dst, `\x`...)
	for _, number := range strings.Split(strings.Trim(string(raw), "[]"), ",") {
		if number == "" {
			continue
		}
		b, err := strconv.ParseUint(strings.TrimSpace(number), 10, 8)
		if err != nil {
			return append(dst[:start], raw...)
		}
		const digits = "0123456789abcdef"
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

// width is how many columns of a terminal a text without control characters takes.
func width(text []byte) int {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return uniseg.StringWidth(string(text))
		}
	}
	return len(text)
}

// cutTo cuts a text so that it takes at most so many columns, the last of which says that something is missing.
func cutTo(text []byte, most int) []byte {
	if width(text) <= most {
		return text
	}
	at, taken, state := 0, 0, -1
	for rest := text; len(rest) > 0; {
		var w int
		var cluster []byte
		cluster, rest, w, state = uniseg.FirstGraphemeCluster(rest, state)
		if taken+w > most-1 {
			break
		}
		at, taken = at+len(cluster), taken+w
	}
	return append(text[:at:at], "…"...)
}
