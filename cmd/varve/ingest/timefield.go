package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"varve/cmd/varve/client"
)

// autoTime is the value of --time that lets the field be found.
const autoTime = "auto"

// looked is how many entries are looked at for their time.
const looked = 100

// checkTime refuses what the server would refuse only with the first entries.
func checkTime(time string) error {
	if time == "" || time == autoTime {
		return nil
	}
	parts := strings.Split(time, ";")
	wrong := func(what string) error {
		return &client.UsageError{Err: fmt.Errorf(
			"--time %s: %s; wanted is auto, 'FIELD;epoch;ms' or 'FIELD;datestr;FORMAT'", time, what)}
	}
	switch {
	case len(parts) != 3 || parts[0] == "":
		return wrong("there are not three parts")
	case parts[1] == "epoch" && !slices.Contains([]string{"s", "ms", "us", "ns"}, parts[2]):
		return wrong("the unit of an epoch is s, ms, us or ns")
	case parts[1] != "epoch" && parts[1] != "datestr":
		return wrong("the second part is epoch or datestr")
	}
	return nil
}

// findTime sets the time index of an input: the one given, or the one its first entries have.
func (in *input) findTime(o *Options, src *source) error {
	if o.Time != autoTime {
		in.timeIndex = o.Time
		return nil
	}
	entries, err := firstEntries(in.format, src.head, looked)
	if err != nil {
		return err
	}
	if in.timeIndex = timeOf(entries); in.timeIndex == "" {
		return fmt.Errorf(
			"--time auto: none of the fields of its first entries is a time: 'FIELD;epoch;ms' or " +
				"'FIELD;datestr;FORMAT' names one")
	}
	return nil
}

// firstEntries reads the first entries of a text, as many as its beginning holds whole.
func firstEntries(f *format, head []byte, most int) ([]map[string]any, error) {
	lines, err := firstOfHead(f, head, most)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, line := range lines {
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if d.Decode(&m) == nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// firstOfHead cuts the first entries of the beginning of a text, as lines.
func firstOfHead(f *format, head []byte, most int) ([][]byte, error) {
	src := &source{head: bytes.Clone(head), r: eof{}}
	c, err := f.newCutter(&input{}, &Options{Batch: max(leastBatch, 16*len(head))}, src, mark{}, nil)
	if err != nil {
		return nil, err
	}
	var b batch
	if err := c.fill(&b, make([]byte, 0, max(leastBatch, 16*len(head)))); err != nil && len(b.body) == 0 {
		return nil, nil //nolint:nilerr // it is told when the input is read
	}
	lines := bytes.Split(bytes.TrimRight(b.body, "\r\n"), newline)
	if len(lines) > 1 && len(head) == headSize && b.ends == nil {
		lines = lines[:len(lines)-1] // cut
	}
	lines = slices.DeleteFunc(lines, func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 })
	return lines[:min(len(lines), most)], nil
}

// usualTimes are the names that times have, the most usual first.
var usualTimes = []string{"timestamp", "@timestamp", "time", "ts", "datetime", "date", "created_at", "event_time",
	"eventtime", "_time", "t"}

// timeOf finds the field that holds the time of entries: the one of a usual name, or the only one that reads as a time.
func timeOf(entries []map[string]any) string {
	fields := map[string][]any{}
	for _, e := range entries {
		flat(fields, "", e)
	}
	found := map[string]string{}
	for name, values := range fields {
		if form := formOf(values); form != "" && !strings.Contains(name, ";") && len(values)*2 > len(entries) {
			found[name] = name + ";" + form
		}
	}
	for _, usual := range usualTimes {
		for name, index := range found {
			if strings.EqualFold(name, usual) {
				return index
			}
		}
	}
	if len(found) == 1 {
		for _, index := range found {
			return index
		}
	}
	return ""
}

// flat collects the values of fields by their names, those of objects with a dot.
func flat(fields map[string][]any, prefix string, e map[string]any) {
	for name, v := range e {
		if object, ok := v.(map[string]any); ok {
			flat(fields, prefix+name+".", object)
		} else if v != nil {
			fields[prefix+name] = append(fields[prefix+name], v)
		}
	}
}

// timeForms are how times are written as text, and the formats of the server that read them.
var timeForms = []struct {
	text   func() *regexp.Regexp
	format string
}{
	{client.Pattern(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$`), "datestr;%+"},
	{client.Pattern(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ?[+-]\d\d:?\d\d$`), "datestr;%Y-%m-%d %H:%M:%S%#z"},
	{client.Pattern(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9} ?[+-]\d\d:?\d\d$`), "datestr;%Y-%m-%d %H:%M:%S%.f%#z"},
	{client.Pattern(`^\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}$`), "datestr;%d/%b/%Y:%H:%M:%S %z"},
	{client.Pattern(`^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$`),
		"datestr;%a, %d %b %Y %H:%M:%S %z"},
}

// formOf is the second and third part of the time index that reads all values; empty: there is none.
func formOf(values []any) string {
	for _, f := range timeForms {
		if !slices.ContainsFunc(values, func(v any) bool {
			s, ok := v.(string)
			return !ok || !f.text().MatchString(s)
		}) {
			return f.format
		}
	}
	unit := epochUnit(values[0])
	if unit == "" || slices.ContainsFunc(values, func(v any) bool { return epochUnit(v) != unit }) {
		return ""
	}
	return "epoch;" + unit
}

// epochUnit finds the unit of a number by its size: an instant between 2001 and 2100.
func epochUnit(v any) string {
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil {
		return ""
	}
	for _, u := range []struct {
		name  string
		scale int64
	}{{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}} {
		if n >= 1e9*u.scale && n/u.scale < 4.1e9 {
			return u.name
		}
	}
	return ""
}
