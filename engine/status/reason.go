package status

import "errors"

// Reason says more exactly than a code what is wrong, for protocols that tell such errors apart.
type Reason uint8

// The reasons; 0: the code says it all.
const (
	NoColumn        Reason = iota + 1 // a name is no column
	AmbiguousColumn                   // a name is a column of several tables
	NoFunction                        // there is no such function
	DivisionByZero
	BadText       // a text is no value of a type
	BadTime       // a text is no time
	OutOfRange    // a value does not fit its new type
	ReadOnlyTable // a table has the option read_only
)

// Because notes the reason of an error that New or Wrap has made. Other errors stay as they are.
func Because(err error, r Reason) error {
	var e *Error
	if errors.As(err, &e) {
		e.Reason = r
	}
	return err
}

// ReasonOf is the reason of the outermost Error in err's chain that has one.
func ReasonOf(err error) Reason {
	var e *Error
	for errors.As(err, &e) {
		if e.Reason != 0 {
			return e.Reason
		}
		err = e.Cause
	}
	return 0
}
