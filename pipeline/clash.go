package pipeline

import (
	"errors"
	"fmt"
	"strconv"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

// ExplainClash is the error of a write, with the first row that clashes with a column of the table behind it. Other
// errors stay as they are.
func ExplainClash(err error) error {
	var clash *engine.TypeClash
	var e *status.Error
	if !errors.As(err, &clash) || !errors.As(err, &e) {
		return err
	}
	text := fmt.Sprintf("row %d of %d, field %q, value %s", clash.Row+1, clash.Rows, flatten.Cut(clash.Column),
		flatten.Cut(cellText(clash.Value, 0)))
	if hint := flatten.NumbersHint(clash.Want, clash.Given); hint != "" {
		text += ": " + hint
	}
	return status.Wrap(err, e.Code, "%s (%s)", e.Msg, text)
}

// cellText is a value of a column as error texts show it.
func cellText(v *vector.Vector, r int) string {
	if v.IsNull(r) {
		return "null"
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(r))
	case vector.Int64:
		return strconv.FormatInt(v.Int(r), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(r), 10)
	case vector.Float64:
		return strconv.FormatFloat(v.Float(r), 'g', -1, 64)
	}
	return strconv.Quote(flatten.Cut(string(v.Bytes(r))))
}
