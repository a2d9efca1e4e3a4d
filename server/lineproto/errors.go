package lineproto

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"varve/engine/status"
)

// What can be wrong with the grammar of a line.
var (
	errNoMeasurement = errors.New("missing measurement")
	errNoFields      = errors.New("missing fields")
	errNoTagKey      = errors.New("missing tag key")
	errNoTagValue    = errors.New("missing tag value")
	errEmptyTag      = errors.New("empty tag value")
	errEquals        = errors.New("an equals sign in a tag value is written \\=")
	errNoFieldKey    = errors.New("missing field key")
	errNoFieldValue  = errors.New("missing field value")
	errValue         = errors.New("invalid field value: there are numbers, integers with i or u behind them, true, false and text in double quotes")
	errInteger       = errors.New("the value with i is no integer between -9223372036854775808 and 9223372036854775807")
	errUnsigned      = errors.New("the value with u is no integer between 0 and 18446744073709551615")
	errRange         = errors.New("the number is too large for a float of 64 bits")
	errNotANumber    = errors.New("NaN and infinite numbers cannot be written")
	errQuote         = errors.New("unbalanced quotes")
	errTime          = errors.New("bad timestamp: it is a whole number")
)

// conflict is a line that is well-formed and cannot be stored.
type conflict struct{ text string }

func (c *conflict) Error() string { return c.text }

func clash(format string, args ...any) error { return &conflict{fmt.Sprintf(format, args...)} }

// maxShown is how much of a line an error shows.
const maxShown = 256

// explain tells in which line of a body an error is: that which begins at p.
func explain(body []byte, p int, err error) error {
	number := bytes.Count(body[:p], []byte{'\n'}) + 1
	line, _, _ := bytes.Cut(body[p:], []byte{'\n'})
	shown := strings.TrimRight(string(line), "\r")
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "")
	}
	var c *conflict
	var known *status.Error
	switch {
	case errors.As(err, &c):
		return status.New(status.InvalidArguments, "%s (line %d: '%s')", c.text, number, shown)
	case errors.As(err, &known):
		return status.Wrap(err, known.Code, "%s (line %d: '%s')", known.Msg, number, shown)
	}
	return status.New(status.InvalidArguments, "Failed to parse InfluxDB line protocol: line %d: unable to parse '%s': %v", number, shown, err)
}
