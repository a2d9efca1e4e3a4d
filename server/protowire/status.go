package protowire

// A google.rpc.Status{1: code, 2: message} is the error of a call of gRPC, and the body of an error of protocols that
// have calls.

// Codes of gRPC.
const (
	deadlineExceeded  = 4
	invalidArgument   = 3
	permissionDenied  = 7
	resourceExhausted = 8
	internalError     = 13
	unavailable       = 14
	unauthenticated   = 16
)

// StatusCode is the code of gRPC for the HTTP status of an answer that is an error.
func StatusCode(httpStatus int) uint32 {
	switch httpStatus {
	case 401:
		return unauthenticated
	case 403:
		return permissionDenied
	case 413, 429:
		return resourceExhausted
	case 502, 503:
		return unavailable
	case 504:
		return deadlineExceeded
	}
	if httpStatus < 500 {
		return invalidArgument
	}
	return internalError
}

// AppendStatus appends a google.rpc.Status.
func AppendStatus(dst []byte, code uint32, text string) []byte {
	return AppendBytes(AppendVarint(dst, 1, uint64(code)), 2, text)
}

// AppendRetryInfo appends to a google.rpc.Status a google.rpc.RetryInfo{1: delay{1: seconds}} among its
// details{1: type, 2: message}.
func AppendRetryInfo(dst []byte, seconds int) []byte {
	return AppendMessage(dst, 3, func(any []byte) []byte {
		any = AppendBytes(any, 1, "type.googleapis.com/google.rpc.RetryInfo")
		return AppendMessage(any, 2, func(info []byte) []byte {
			return AppendMessage(info, 1, func(delay []byte) []byte { return AppendVarint(delay, 1, uint64(seconds)) })
		})
	})
}

// HasDetails reports whether a google.rpc.Status has details.
func HasDetails(body []byte) bool {
	f := Of(body)
	for f.Next() {
		if f.Is(3, Bytes) {
			return true
		}
	}
	return false
}

// StatusText is the message of a google.rpc.Status.
func StatusText(body []byte) (text string) {
	f := Of(body)
	for f.Next() {
		if f.Is(2, Bytes) {
			text = string(f.Bytes)
		}
	}
	return text
}
