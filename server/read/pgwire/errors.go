package pgwire

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/status"
	"varve/server/web"
)

// failure is an error as clients of this protocol read it.
type failure struct {
	code, text, hint string
	position         int32 // in characters of the text that was sent, from 1; 0: nowhere in particular
	fatal            bool  // the connection ends with it
}

func (f *failure) Error() string { return f.text }

// fail makes an error with a code.
func fail(code, text string) *failure { return &failure{code: code, text: text} }

// encode appends the message.
func (f *failure) encode(dst []byte) []byte {
	severity := "ERROR"
	if f.fatal {
		severity = "FATAL"
	}
	m := &pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: field(f.code),
		Message: field(f.text), Hint: field(f.hint), Position: f.position}
	return must(m.Encode(dst))
}

// maxField bounds a field of an error, in bytes: texts of errors may repeat what the client has sent.
const maxField = 16 << 10

// field is a text as a field of a message: the byte 0 ends a field.
func field(text string) string {
	if len(text) > maxField {
		cut := maxField
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "..."
	}
	return strings.ReplaceAll(text, "\x00", "")
}

// must is for messages whose encoding cannot fail: they are shorter than 1 GiB.
func must(b []byte, err error) []byte {
	if err != nil {
		panic("pgwire: " + err.Error())
	}
	return b
}

// sqlStates are the codes of SQL of our codes. What is missing is internal.
var sqlStates = map[status.Code]string{
	status.Unsupported: "0A000", status.InvalidArguments: "22023", status.Cancelled: "57014",
	status.DeadlineExceeded: "57014", status.IllegalState: "55000", status.External: "58000",
	status.Suspended: "57P03", status.InvalidSyntax: "42601", status.PlanQuery: "42000",
	status.EngineExecuteQuery: "22000", status.TableAlreadyExists: "42P07", status.TableNotFound: "42P01",
	status.TableColumnNotFound: "42703", status.TableColumnExists: "42701", status.DatabaseNotFound: "3F000",
	status.DatabaseAlreadyExists: "42P06", status.RegionReadonly: "25006", status.RegionNotReady: "57P03",
	status.RegionBusy: "53000", status.TableUnavailable: "58030", status.StorageUnavailable: "53100",
	status.RequestOutdated: "40001", status.RuntimeResourcesExhausted: "53200", status.RateLimited: "53000",
	status.UserNotFound: "28000", status.UserPasswordMismatch: "28P01", status.InvalidAuthHeader: "28000",
	status.UnsupportedPasswordType: "28000", status.AccessDenied: "28000", status.PermissionDenied: "42501",
}

// reasonStates are the codes of SQL of errors whose reason is known.
var reasonStates = map[status.Reason]string{
	status.NoColumn: "42703", status.AmbiguousColumn: "42702", status.NoFunction: "42883",
	status.ReadOnlyTable:  "25006",
	status.DivisionByZero: "22012", status.BadText: "22P02", status.BadTime: "22007", status.OutOfRange: "22003",
}

// stateOf is the code of SQL of an error of ours.
func stateOf(err error, code status.Code) string {
	if state := reasonStates[status.ReasonOf(err)]; state != "" {
		return state
	}
	if state := sqlStates[code]; state != "" {
		return state
	}
	return "XX000"
}

// failureOf is an error of a statement that stands in text after before bytes of it.
func failureOf(err error, text string, before int) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if status.Of(err) == status.Internal && errors.Is(err, context.Canceled) {
		return fail("57014", "Query was cancelled")
	}
	code, message := web.Message(err)
	f = fail(stateOf(err, code), message)
	var e *status.Error
	if errors.As(err, &e) && e.Hint != "" {
		if before, after, ok := strings.Cut(message, e.Hint); ok {
			f.text, f.hint = strings.TrimRight(before, " ")+after, e.Hint
		}
	}
	if e != nil && e.Place != nil && text != "" {
		f.position = position(text, before, e.Place.Line, e.Place.Column)
	}
	return f
}

// position is the number of the character at a line and column of the part of text that begins after before bytes, in
// the whole text, from 1.
func position(text string, before, line, column int) int32 {
	rest := text[before:]
	for at := before; line > 1; line-- {
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			return 0
		}
		at += n + 1
		rest = text[at:]
	}
	return int32(utf8.RuneCountInString(text[:len(text)-len(rest)]) + column)
}
