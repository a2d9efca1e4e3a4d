package otlp

import (
	"slices"
	"strings"

	"varve/engine/status"
)

// translation says how names of metrics become names of tables, and names of attributes become names of labels.
type translation uint8

const (
	escapedWithSuffixes translation = iota
	escapedWithoutSuffixes
	originalWithSuffixes
	original
)

const translationHeader = "x-service-otlp-metric-translation-strategy"

// parseTranslation reads the header that names a translation.
func parseTranslation(header string) (translation, error) {
	switch header {
	case "", "UnderscoreEscapingWithSuffixes":
		return escapedWithSuffixes, nil
	case "UnderscoreEscapingWithoutSuffixes":
		return escapedWithoutSuffixes, nil
	case "NoUTF8EscapingWithSuffixes":
		return originalWithSuffixes, nil
	case "NoTranslation":
		return original, nil
	}
	return 0, status.New(status.InvalidArguments,
		"Invalid header %s: %.80q, expected: one of UnderscoreEscapingWithSuffixes, "+
			"UnderscoreEscapingWithoutSuffixes, NoUTF8EscapingWithSuffixes, NoTranslation", translationHeader, header)
}

// units are the names of units, perUnits the names of units behind a slash.
var (
	units = map[string]string{
		"d": "days", "h": "hours", "min": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds",
		"ns": "nanoseconds",
		"By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes", "TiBy": "tebibytes",
		"KBy": "kilobytes", "MBy": "megabytes", "GBy": "gigabytes", "TBy": "terabytes",
		"m": "meters", "V": "volts", "A": "amperes", "J": "joules", "W": "watts", "g": "grams", "Cel": "celsius",
		"Hz": "hertz", "1": "", "%": "percent",
	}
	perUnits = map[string]string{"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month",
		"y": "year"}
)

// unitNames are the words that a unit main/per adds to a name, one for each half; empty: the half adds none.
func unitNames(unit string) (main, per string) {
	main, per, _ = strings.Cut(unit, "/")
	return unitName(main, units), unitName(per, perUnits)
}

func unitName(unit string, known map[string]string) string {
	unit = strings.TrimSpace(unit)
	if strings.ContainsAny(unit, "{}") {
		return ""
	}
	if name, ok := known[unit]; ok {
		return name
	}
	return strings.Join(tokens(unit), "_")
}

// tokens are the runs of letters and digits in a text.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !alphanumeric(r) })
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// table is the table of a metric; the tables of its parts, such as buckets, have names that begin with it. empty: no
// name can be made.
func (t translation) table(name, unit string, k metricKind) string {
	if t == original {
		return name
	}
	total, ratio := k == monotonicSum, k == gauge && unit == "1"
	main, per := unitNames(unit)
	if t == originalWithSuffixes {
		return withSuffixes(name, main, per, total, ratio)
	}
	parts := tokens(name)
	if len(parts) == 0 {
		return ""
	}
	if t == escapedWithSuffixes {
		parts = suffixed(parts, main, per, total, ratio)
	}
	table := strings.Join(parts, "_")
	if c := table[0]; '0' <= c && c <= '9' {
		table = "_" + table
	}
	return table
}

// suffixed adds the words of unit and kind to the tokens of a name that does not have them already.
func suffixed(parts []string, main, per string, total, ratio bool) []string {
	if main != "" && !slices.Contains(parts, main) {
		parts = append(parts, main)
	}
	if per != "" && !slices.Contains(parts, per) {
		parts = append(parts, "per", per)
	}
	last := func(word string) {
		parts = append(slices.DeleteFunc(parts, func(p string) bool { return p == word }), word)
	}
	if total {
		last("total")
	}
	if ratio {
		last("ratio")
	}
	return parts
}

// withSuffixes is suffixed for names that are not cut into tokens: a suffix at the end of a name is not doubled.
func withSuffixes(name, main, per string, total, ratio bool) string {
	if name == "" {
		return ""
	}
	end := ""
	switch {
	case total:
		end = "_total"
	case ratio:
		end = "_ratio"
	}
	name = strings.TrimSuffix(name, end)
	if per != "" {
		per = "_per_" + per
		name = strings.TrimSuffix(name, per)
	}
	if main != "" && name != main && !strings.HasSuffix(name, "_"+main) {
		name += "_" + main
	}
	return name + per + end
}

// label appends the label of an attribute.
func (t translation) label(dst []byte, name string) []byte {
	if t >= originalWithSuffixes || name == "" {
		return append(dst, name...)
	}
	switch {
	case '0' <= name[0] && name[0] <= '9':
		dst = append(dst, "key_"...)
	case name[0] == '_' && !strings.HasPrefix(name, "__"):
		dst = append(dst, "key"...)
	}
	for _, r := range name {
		if alphanumeric(r) {
			dst = append(dst, byte(r))
		} else {
			dst = append(dst, '_')
		}
	}
	return dst
}
