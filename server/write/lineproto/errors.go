package lineproto

import (
	"bytes"
	"errors"
	"strings"

	"varve/engine/status"
)

// Errors in the grammar of a line.
var (
	errNoMeasurement = errors.New("missing measurement")
	errNoFields      = errors.New("missing fields")
	errNoTagKey      = errors.New("missing tag key")
	errNoTagValue    = errors.New("missing tag value")
	errEmptyTag      = errors.New("empty tag value")
	errEquals        = errors.New("an equals sign in a tag value is written \\=")
	errNoFieldKey    = errors.New("missing field key")
	errNoFieldValue  = errors.New("missing field value")
	errValue         = errors.New(
		"invalid field value: there are numbers, integers with i or u behind them, true, false and text in double quotes")
	errInteger    = errors.New("the value with i is not an integer between -9223372036854775808 and 9223372036854775807")
	errUnsigned   = errors.New("the value with u is not an integer between 0 and 18446744073709551615")
	errRange      = errors.New("the number is too large for a float of 64 bits")
	errNotANumber = errors.New("NaN and infinite numbers cannot be written")
	errQuote      = errors.New("unbalanced quotes")
	errTime       = errors.New("bad timestamp: it is a whole number")
)

// clash is the error of a line that is well-formed and cannot be stored.
func clash(format string, args ...any) error {
	return status.New(status.InvalidArguments, format, args...)
}

// maxShown is how much of a line an error shows.
const maxShown = 256

// lineError is a line that cannot be stored.
type lineError struct {
	error
	number int    // of the line, from 1
	line   string // cut to maxShown
	reason string // without the line
}

func (e *lineError) Unwrap() error { return e.error }

// explain is the error of a line with a number, which begins at p.
func explain(body []byte, p, number int, err error) *lineError {
	line, _, _ := bytes.Cut(body[p:], []byte{'\n'})
	shown := strings.TrimRight(string(line), "\r")
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "")
	}
	e := &lineError{number: number, line: shown, reason: err.Error()}
	if known, ok := errors.AsType[*status.Error](err); ok {
		e.reason = known.Msg
		e.error = status.Wrap(err, known.Code, "%s (line %d: '%s')", known.Msg, number, shown)
	} else {
		e.error = status.New(status.InvalidArguments,
			"Failed to parse InfluxDB line protocol: line %d: unable to parse '%s': %v", number, shown, err)
	}
	return e
}
