// Package status defines the errors that a client may see: a code of the HTTP contract, a sentence, and the cause for
// the log. It knows nothing of HTTP; server/web maps codes to status lines.
package status

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a status code of the interface. The numbers are part of the contract and never change.
type Code int

// The codes, in the order of the contract's table.
const (
	Success                   Code = 0
	Unknown                   Code = 1000
	Unsupported               Code = 1001
	Unexpected                Code = 1002
	Internal                  Code = 1003
	InvalidArguments          Code = 1004
	Cancelled                 Code = 1005
	IllegalState              Code = 1006
	External                  Code = 1007
	DeadlineExceeded          Code = 1008
	Suspended                 Code = 1009
	InvalidSyntax             Code = 2000
	PlanQuery                 Code = 3000
	EngineExecuteQuery        Code = 3001
	TableAlreadyExists        Code = 4000
	TableNotFound             Code = 4001
	TableColumnNotFound       Code = 4002
	TableColumnExists         Code = 4003
	DatabaseNotFound          Code = 4004
	RegionNotFound            Code = 4005
	RegionAlreadyExists       Code = 4006
	RegionReadonly            Code = 4007
	RegionNotReady            Code = 4008
	RegionBusy                Code = 4009
	TableUnavailable          Code = 4010
	DatabaseAlreadyExists     Code = 4011
	StorageUnavailable        Code = 5000
	RequestOutdated           Code = 5001
	RuntimeResourcesExhausted Code = 6000
	RateLimited               Code = 6001
	UserNotFound              Code = 7000
	UnsupportedPasswordType   Code = 7001
	UserPasswordMismatch      Code = 7002
	AuthHeaderNotFound        Code = 7003
	InvalidAuthHeader         Code = 7004
	AccessDenied              Code = 7005
	PermissionDenied          Code = 7006
)

var names = map[Code]string{
	Success: "Success", Unknown: "Unknown", Unsupported: "Unsupported", Unexpected: "Unexpected", Internal: "Internal",
	InvalidArguments: "InvalidArguments", Cancelled: "Cancelled", IllegalState: "IllegalState", External: "External",
	DeadlineExceeded: "DeadlineExceeded", Suspended: "Suspended", InvalidSyntax: "InvalidSyntax",
	PlanQuery:          "PlanQuery",
	EngineExecuteQuery: "EngineExecuteQuery", TableAlreadyExists: "TableAlreadyExists", TableNotFound: "TableNotFound",
	TableColumnNotFound: "TableColumnNotFound", TableColumnExists: "TableColumnExists",
	DatabaseNotFound: "DatabaseNotFound",
	RegionNotFound:   "RegionNotFound", RegionAlreadyExists: "RegionAlreadyExists", RegionReadonly: "RegionReadonly",
	RegionNotReady: "RegionNotReady", RegionBusy: "RegionBusy", TableUnavailable: "TableUnavailable",
	DatabaseAlreadyExists: "DatabaseAlreadyExists", StorageUnavailable: "StorageUnavailable",
	RequestOutdated:           "RequestOutdated",
	RuntimeResourcesExhausted: "RuntimeResourcesExhausted", RateLimited: "RateLimited", UserNotFound: "UserNotFound",
	UnsupportedPasswordType: "UnsupportedPasswordType", UserPasswordMismatch: "UserPasswordMismatch",
	AuthHeaderNotFound: "AuthHeaderNotFound", InvalidAuthHeader: "InvalidAuthHeader", AccessDenied: "AccessDenied",
	PermissionDenied: "PermissionDenied",
}

// String is the code's name in the contract, as the metrics API shows it in errorType.
func (c Code) String() string {
	if s, ok := names[c]; ok {
		return s
	}
	return fmt.Sprintf("Code(%d)", int(c))
}

// Error is an error that a client may see. Msg is shown as it is; Cause goes only to the log.
type Error struct {
	Code   Code
	Reason Reason // 0: none is known
	Msg    string
	Cause  error
	// Hint is the end of Msg that says what may have been meant, for protocols that tell it apart; empty: nothing does.
	Hint string
	// Place is where in the text of the request the error is; nil: nowhere in particular.
	Place *Place
}

// Place is a place in a text: line and column count from 1, columns and length in characters.
type Place struct{ Line, Column, Length int }

// At notes the place of the error.
func (e *Error) At(line, column, length int) *Error {
	e.Place = &Place{line, column, length}
	return e
}

// WithMessage is the error with another message and without its place.
func (e *Error) WithMessage(format string, args ...any) *Error {
	return &Error{Code: e.Code, Reason: e.Reason, Msg: fmt.Sprintf(format, args...), Hint: e.Hint,
		Cause: e.Cause}
}

// Hinted notes the end of the message of an error that New or Wrap has made as its hint. Other errors stay as they are.
func Hinted(err error, hint string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Hint = strings.TrimLeft(hint, ". ")
	}
	return err
}

func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause, so errors.Is finds sentinels of the lower layers.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error with a formatted message and no cause.
func New(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...)}
}

// Wrap makes an error with a formatted message that keeps cause for the log.
func Wrap(cause error, c Code, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...), Cause: cause}
}

// Of is the code of the outermost Error in err's chain: Success for nil, Internal for an error to which nobody gave a
// code.
func Of(err error) Code {
	if err == nil {
		return Success
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
