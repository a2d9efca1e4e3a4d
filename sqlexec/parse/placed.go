package parse

import (
	"errors"

	"varve/engine/status"
)

// Placed is an error with its place in the text of the request. The code that finds the error knows the place, and the
// owner of the statement knows the text: Locate joins them.
type Placed struct {
	At  Pos
	Err error
}

func (p *Placed) Error() string { return p.Err.Error() }

// Unwrap returns the error without its place.
func (p *Placed) Unwrap() error { return p.Err }

// PlaceError sets the place of a semantic error (an unknown name, a wrong argument) to at. An error that has a place
// keeps it: the innermost place is the most exact. Errors of execution, and errors of generated expressions, which have
// position 0, are returned unchanged.
func PlaceError(err error, at Pos) error {
	var placed *Placed
	if err == nil || at == 0 || errors.As(err, &placed) {
		return err
	}
	switch status.Of(err) {
	case status.PlanQuery, status.InvalidSyntax, status.Unsupported, status.TableNotFound, status.TableColumnNotFound,
		status.DatabaseNotFound:
		return &Placed{at, err}
	}
	return err
}

// Unplace removes the place from an error whose place is in another text, such as the text of a view.
func Unplace(err error) error {
	var placed *Placed
	if errors.As(err, &placed) {
		return placed.Err
	}
	return err
}

// Locate ends the message of a placed error with line and column in the text that st was read from.
func Locate(st Statement, err error) error {
	var placed *Placed
	var e *status.Error
	if !errors.As(err, &placed) || !errors.As(err, &e) {
		return err
	}
	line, column, length := st.place(placed.At)
	return e.WithMessage("%s (line %d, column %d)", e.Msg, line, column).At(line, column, length)
}

// Target is the table or database that a statement is about; nil for statements about none or several.
func Target(st Statement) Name {
	switch st := st.(type) {
	case *Insert:
		return st.Table
	case *Delete:
		return st.Table
	case *Describe:
		return st.Name
	case *Truncate:
		return st.Name
	case *AlterTable:
		return st.Name
	case *AlterDatabase:
		return st.Name
	case *DropDatabase:
		return st.Name
	case *CreateTable:
		return st.Name
	case *Comment:
		return st.Table
	case *Use:
		return st.Name
	case *Show:
		return st.Table
	case *Admin:
		if len(st.Call.Args) > 0 { // the name is in a string
			return Name{{At: st.Call.Args[0].Position()}}
		}
	case *DropTable:
		if len(st.Names) == 1 {
			return st.Names[0]
		}
	}
	return nil
}
