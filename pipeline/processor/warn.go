package processor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// settingKeys are the settings of each processor, beside commonKeys.
var settingKeys = map[string][]string{
	"cmcd": nil, "csv": {"target_fields", "separator", "quote", "trim", "empty_value"},
	"date":       {"formats", "timezone", "locale"},
	"decolorize": nil, "digest": {"presets", "regex"}, "dissect": {"pattern", "patterns", "append_separator"},
	"epoch": {"resolution"}, "filter": {"targets", "match_op", "mode", "case_insensitive"},
	"gsub": {"pattern", "replacement"},
	"join": {"separator"}, "json_parse": nil, "json_path": {"json_path", "result_index"}, "letter": {"method"},
	"regex": {"pattern", "patterns"}, "select": {"type"}, "simple_extract": {"key"}, "urlencoding": {"method"},
	"vrl": {"source"},
}

var commonKeys = []string{"field", "fields", "ignore_missing"}

// UnknownKeys warns of the keys of a map that mean nothing there.
func UnknownKeys(n *yaml.Node, where string, known []string) (list []string) {
	n = Follow(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, ok := Text(n.Content[i]); ok && !slices.Contains(known, key) {
			list = append(list, fmt.Sprintf("%s has no setting %q, at line %d, column %d; there are %s",
				where, cut(key), n.Content[i].Line, n.Content[i].Column, strings.Join(known, ", ")))
		}
	}
	return list
}

// Warnings are what to warn of in an element of a document's list of processors that compiles.
func Warnings(n *yaml.Node, where string) (list []string) {
	n = Follow(n)
	name, body := NameOf(n), Follow(n.Content[1])
	where += ", " + name + ","
	for i := 2; i+1 < len(n.Content); i += 2 {
		list = append(list,
			fmt.Sprintf(
				"%s stands in one element with %q, at line %d, column %d, which counts for nothing: give it an "+
					"element of its own, or indent it",
				where, cut(n.Content[i].Value), n.Content[i].Line, n.Content[i].Column))
	}
	known := settingKeys[name]
	if name != "vrl" {
		known = append(slices.Clone(commonKeys), known...)
	}
	list = append(list, UnknownKeys(body, where, known)...)
	if name == "date" {
		list = append(list, formatWarnings(body, where)...)
	}
	return list
}

// MakesAnything reports whether the processor can make fields that its document does not name.
func MakesAnything(n *yaml.Node) bool {
	n = Follow(n)
	switch NameOf(n) {
	case "vrl":
		return true
	case "dissect": // the value of %{*k} names a field
		return holdsText(n.Content[1], "%{*")
	}
	return false
}

// holdsText reports whether a text of a tree holds another.
func holdsText(n *yaml.Node, text string) bool {
	n = Follow(n)
	if n.Kind == yaml.ScalarNode {
		return strings.Contains(n.Value, text)
	}
	return slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return holdsText(c, text) })
}

// formatWarnings warns of formats in the letters of other languages.
func formatWarnings(body *yaml.Node, where string) (list []string) {
	for i := 0; i+1 < len(body.Content); i += 2 {
		if key, _ := Text(body.Content[i]); key != "formats" {
			continue
		}
		for _, n := range Follow(body.Content[i+1]).Content {
			format, ok := Text(n)
			if !ok {
				continue
			}
			meant := inStrftime(format)
			switch {
			case meant != format:
				list = append(list,
					fmt.Sprintf("%s takes the format %q letter by letter: formats are those of strftime, is %q meant?",
						where, cut(format), cut(meant)))
			case !strings.Contains(format, "%"):
				list = append(list,
					fmt.Sprintf(
						"%s has the format %q without a %% in it, which fits no time: formats are those of strftime, "+
							"such as %%Y-%%m-%%d %%H:%%M:%%S", where, cut(format)))
			}
		}
	}
	return list
}

// foreign finds the letters of other layouts: those of Java and its kin, and the reference time of Go.
var foreign = regexp.MustCompile(
	`%.?\w|yyyy|YYYY|yy|MMMM|MMM|MM|dd|DD|EEEE|EEE|HH|hh|mm|ss|\.S+|SSS+|X{3}|\b2006\b|\b01\b|\b02\b|\b15:|\b04\b|\b05\b|\bJan\b|\bMon\b|-0700|Z07:00|\.0+\b|\.9+\b`)

var foreignLetters = map[string]string{
	"yyyy": "%Y", "YYYY": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d", "DD": "%d", "EEEE": "%A",
	"EEE": "%a",
	"HH":  "%H", "hh": "%I", "mm": "%M", "ss": "%S", strings.Repeat("X", 3): "%:z",
	"2006": "%Y", "01": "%m", "02": "%d", "15:": "%H:", "04": "%M", "05": "%S", "Jan": "%b", "Mon": "%a", "-0700": "%z",
	"Z07:00": "%#z",
}

// inStrftime is a format with the letters of other languages as strftime has them; a format without such stays as it
// is.
func inStrftime(format string) string {
	telling := func(s string) bool { return strings.Contains(format, s) }
	if telling("%") && !slices.ContainsFunc([]string{"yyyy", "2006", "HH:mm", "hh:mm", "15:04"}, telling) {
		return format // letters between strftime conversions are literal text
	}
	return foreign.ReplaceAllStringFunc(strings.ReplaceAll(format, "'", ""), func(s string) string {
		switch {
		case foreignLetters[s] != "":
			return foreignLetters[s]
		case strings.HasPrefix(s, "S"):
			return fmt.Sprintf("%%%df", min(3*((len(s)+2)/3), 9))
		case strings.HasPrefix(s, "."):
			return fmt.Sprintf("%%.%df", min(3*((len(s)+1)/3), 9))
		}
		return s
	})
}
