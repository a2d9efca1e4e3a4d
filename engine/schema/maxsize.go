package schema

import (
	"strconv"
	"strings"

	"varve/engine/status"
)

// MaxSizeOption is the option of a database that bounds the bytes of its parts.
const MaxSizeOption = "max_size"

// leastMaxSize is the smallest bound that a database takes: one below it would leave the newest part alone.
const leastMaxSize = 1 << 20

// ParseMaxSize reads a bound of a database: bytes (0: none, whatever the configuration says) and its normal form.
// Units are those of table options and mean powers of 1024. InvalidArguments where the text is no size, or one below
// 1MiB.
func ParseMaxSize(text string) (bytes int64, normal string, err error) {
	normal = strings.TrimSpace(text)
	switch strings.ToLower(normal) {
	case "0", "none", "unlimited":
		return 0, "0", nil
	}
	bytes, ok := ParseBytes(normal)
	switch {
	case !ok:
		return 0, "", status.New(status.InvalidArguments,
			"Invalid value of database option max_size: %q: expected a size such as 10GiB, or 0 for no bound", text)
	case bytes < leastMaxSize:
		return 0, "", status.New(status.InvalidArguments,
			"Invalid value of database option max_size: %q: the least is 1MiB, and 0 means no bound", text)
	}
	return bytes, normal, nil
}

// ParseBytes reads a size as options of tables have it, such as 64MB or 2g; false: it is none, or more
// than an int64 counts.
func ParseBytes(text string) (bytes int64, ok bool) {
	text, ok = size(text)
	if !ok {
		return 0, false
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	n, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(text[digits:]))
	if unit = strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i"); unit != "" {
		n *= float64(int64(1) << (10 * (1 + strings.Index("kmgtp", unit))))
	}
	return int64(n), n < 1<<62
}
