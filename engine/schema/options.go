package schema

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/status"
	"varve/engine/timefmt"
)

// optionForms are the forms of the values of the options that need no typed member. A key that ends in a dot stands for
// all keys that begin with it.
var optionForms = map[string]func(string) (string, bool){
	"comment":                              anyText,
	PhysicalOption:                         anyText,
	EncodingOption:                         oneOf("dense", SparseEncoding),
	LogicalOption:                          anyText,
	"compaction.type":                      oneOf("twcs"),
	"compaction.twcs.trigger_file_num":     count,
	"compaction.twcs.time_window":          duration,
	"compaction.twcs.max_output_file_size": size,
	"compaction.twcs.fallback_to_local":    boolean,
	"compaction.override":                  boolean,
	"memtable.type":                        oneOf("time_series", "partition_tree", "bulk"),
	"memtable.":                            anyText,
	"write_buffer_size":                    size,
	"auto_flush_interval":                  period,
	"sst_format":                           oneOf("flat", "primary_key"),
	"max_row_group_row_count":              count,
	"storage":                              local,
	"index.":                               anyText,
	"wal_options":                          anyText,
	"table_data_model":                     anyText,
	"service.semantic.":                    anyText,
	"trace_table_partitions":               count,
	"log_line_column":                      anyText,
	"log_labels":                           anyText,
	ColdOption:                             coldForm,
	OpenOption:                             oneOf(OpenIceberg, OpenNone),
}

// ReadOnlyOption is the option of a table that refuses changes of rows and columns.
const ReadOnlyOption = "read_only"

// ColdOption is the age from which on parts of a table move to the bucket of cold parts.
const ColdOption = "cold_after"

// OpenOption is the format in which a table is also written for other engines: OpenIceberg, or OpenNone where its
// database has another.
const (
	OpenOption  = "open_format"
	OpenIceberg = "iceberg"
	OpenNone    = "none"
)

// ColdAge is the age that a value of the option cold_after says; 0: parts never move.
func ColdAge(text string) time.Duration {
	ns, err := timefmt.ParseDuration(text)
	if err != nil {
		return 0 // never, or longer than nanoseconds count
	}
	return time.Duration(ns)
}

// coldForm is the form of the option cold_after.
func coldForm(s string) (string, bool) {
	if t := strings.ToLower(strings.TrimSpace(s)); t == "never" || t == "forever" {
		return "never", true
	}
	return period(s)
}

// The options of a table that bound what is written to it in a second.
const (
	RowRateOption  = "max_rows_per_second"
	ByteRateOption = "max_bytes_per_second"
)

// ParseOptions checks table options given as text and brings them into normal form. An empty text is the default of the
// option, whatever the database has. InvalidArguments for unknown keys, for values that do not fit and for append_mode
// together with merge_mode last_non_null.
func ParseOptions(given map[string]string) (Options, error) {
	var o Options
	keys := make([]string, 0, len(given))
	for k := range given {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		key, value, err := o.set(k, given[k])
		if err != nil {
			return Options{}, err
		}
		o.All = append(o.All, Option{key, value})
	}
	if o.AppendMode && o.MergeMode != LastRow {
		return Options{}, status.New(status.InvalidArguments,
			"Invalid table option: merge_mode = 'last_non_null' cannot be used together with append_mode = 'true'")
	}
	slices.SortFunc(o.All, func(a, b Option) int { return strings.Compare(a.Key, b.Key) })
	return o, nil
}

// DefaultKeys are the options of a database that tables created in it begin with. Its ttl and compaction.* are not
// among them: those act on tables without their own value, as long as the database has them.
var DefaultKeys = []string{"append_mode", "merge_mode", "skip_wal", "sst_format", "memtable.type"}

// WithDefaults returns a table's own options with the defaults of its database added. A default that contradicts an
// option of the table stays out, and tables of metrics have none.
func (o Options) WithDefaults(database []Option) (Options, error) {
	for _, key := range []string{PhysicalOption, LogicalOption} {
		if _, metric := o.Find(key); metric {
			return o, nil
		}
	}
	n := o
	n.All = slices.Clone(o.All)
	for _, d := range database {
		if _, own := n.Find(d.Key); own || !slices.Contains(DefaultKeys, d.Key) {
			continue
		}
		before := n
		key, value, err := n.set(d.Key, d.Value)
		if err != nil {
			return Options{}, err
		}
		if n.AppendMode && n.MergeMode != LastRow {
			n = before
			continue
		}
		n.All = append(n.All, Option{key, value})
	}
	slices.SortFunc(n.All, func(a, b Option) int { return strings.Compare(a.Key, b.Key) })
	return n, nil
}

// set takes one option and gives it in normal form.
func (o *Options) set(key, value string) (string, string, error) {
	ok := true
	switch key {
	case "ttl":
		ns, text, err := ParseTTL(value)
		if err != nil {
			return "", "", err
		}
		o.TTL = ns
		return key, text, nil
	case "append_mode":
		value, ok = orDefault(boolean)(value)
		o.AppendMode = value == "true"
	case "skip_wal":
		value, ok = orDefault(boolean)(value)
		o.SkipWAL = value == "true"
	case ReadOnlyOption:
		value, ok = orDefault(boolean)(value)
		o.ReadOnly = value == "true"
	case RowRateOption:
		if value, ok = orDefault(count)(value); ok && value != "" {
			o.RowRate, _ = strconv.ParseInt(value, 10, 64) // count has read it
		}
	case ByteRateOption:
		if value, ok = orDefault(size)(value); ok && value != "" {
			o.ByteRate, ok = ParseBytes(value)
		}
	case "merge_mode":
		if value, ok = orDefault(oneOf("last_row", "last_non_null"))(value); value == "last_non_null" {
			o.MergeMode = LastNonNull
		}
	case "physical_table":
		return LogicalOption, value, nil
	default:
		form := optionForm(key)
		if form == nil {
			return "", "", errUnknownOption(key)
		}
		if value, ok = orDefault(form)(value); key == "comment" {
			o.Comment = value
		}
	}
	if !ok {
		return "", "", status.New(status.InvalidArguments, "Invalid value of table option %s: %q", key, value)
	}
	return key, value, nil
}

// CheckOption fails if no option of a table has this key.
func CheckOption(key string) error {
	switch key {
	case "ttl", "append_mode", "skip_wal", "merge_mode", "physical_table", ReadOnlyOption, RowRateOption,
		ByteRateOption:
		return nil
	}
	if optionForm(key) == nil {
		return errUnknownOption(key)
	}
	return nil
}

func errUnknownOption(key string) error {
	return status.New(status.InvalidArguments, "Unrecognized table option key: %s", key)
}

// optionForm checks the value of an option that has no field of its own; nil: there is no such option.
func optionForm(key string) func(string) (string, bool) {
	if f := optionForms[key]; f != nil && !strings.HasSuffix(key, ".") {
		return f
	}
	for prefix, f := range optionForms {
		if strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix) && len(key) > len(prefix) {
			return f
		}
	}
	return nil
}

// ParseTTL reads a time to live: nanoseconds (0: for ever, TTLInstant) and its normal form.
func ParseTTL(text string) (ns int64, normal string, err error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "forever", "null":
		return 0, "forever", nil
	case "instant":
		return TTLInstant, "instant", nil
	}
	if ns, err = timefmt.ParseDuration(text); errors.Is(err, timefmt.ErrRange) {
		return 0, asGiven(text), nil // nothing expires by it
	}
	if err != nil {
		return 0, "", status.Wrap(err, status.InvalidArguments, "Invalid value of table option ttl: %v", err)
	}
	if ns == 0 {
		return 0, "forever", nil
	}
	return ns, timefmt.FormatDuration(ns), nil
}

// Find returns the value of an option.
func (o *Options) Find(key string) (string, bool) {
	for _, p := range o.All {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// WithComment returns the options with another comment.
func (o Options) WithComment(text string) Options {
	o.Comment = text
	o.All = append(slices.DeleteFunc(slices.Clone(o.All), func(p Option) bool { return p.Key == "comment" }),
		Option{"comment", text})
	slices.SortFunc(o.All, func(a, b Option) int { return strings.Compare(a.Key, b.Key) })
	return o
}

// Equal reports whether the options are the same in normal form.
func (o *Options) Equal(p *Options) bool { return slices.Equal(o.All, p.All) }

// The forms of values: each gives the normal form and whether the text has the form. Text that has not stays as it is.

// orDefault adds the empty text to a form: it stands for the default.
func orDefault(form func(string) (string, bool)) func(string) (string, bool) {
	return func(s string) (string, bool) {
		if strings.TrimSpace(s) == "" {
			return "", true
		}
		return form(s)
	}
}

func anyText(s string) (string, bool) { return s, true }

func boolean(s string) (string, bool) {
	if l := strings.ToLower(strings.TrimSpace(s)); l == "true" || l == "false" {
		return l, true
	}
	return s, false
}

func oneOf(choices ...string) func(string) (string, bool) {
	return func(s string) (string, bool) {
		l := strings.ToLower(strings.TrimSpace(s))
		if slices.Contains(choices, l) {
			return l, true
		}
		return s, false
	}
}

func count(s string) (string, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 63)
	if err != nil {
		return s, false
	}
	return strconv.FormatUint(n, 10), true
}

// duration takes a duration that is longer than nanoseconds can count, too: it acts as the longest that they can.
func duration(s string) (string, bool) {
	ns, err := timefmt.ParseDuration(s)
	switch {
	case errors.Is(err, timefmt.ErrRange):
		return asGiven(s), true
	case err != nil:
		return s, false
	}
	return timefmt.FormatDuration(ns), true
}

// asGiven is how a duration is shown that nanoseconds cannot count: as it was written, without blanks.
func asGiven(s string) string { return strings.Join(strings.Fields(s), "") }

// period is a duration that is not zero.
func period(s string) (string, bool) {
	text, ok := duration(s)
	return text, ok && text != timefmt.FormatDuration(0)
}

// local is the only location of parts: files of this machine. It keeps its spelling.
func local(s string) (string, bool) { return s, strings.EqualFold(strings.TrimSpace(s), "file") }

// size is a number of bytes with an optional unit: 512, 64MB, 1GiB, 2g.
func size(s string) (string, bool) {
	t := strings.TrimSpace(s)
	digits := len(t) - len(strings.TrimLeft(t, "0123456789."))
	if _, err := strconv.ParseFloat(t[:digits], 64); err != nil {
		return s, false
	}
	unit := strings.ToLower(strings.TrimSpace(t[digits:]))
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i")
	return t, unit == "" || len(unit) == 1 && strings.Contains("kmgtp", unit)
}
