package server

import (
	"bytes"
	"math"
	"strconv"

	"varve/server/web"
)

// framing is what the raw header lines say about where the request ends.
type framing struct {
	// body says that the request announces a body.
	body bool
	// length is the Content-Length; 0: none.
	length int64
}

// checkFraming refuses requests whose end two readers could see at different places, which is what request smuggling
// lives on: both Content-Length and Transfer-Encoding, either of them twice, a coding other than chunked, blanks in or
// around a header's name, folded lines, control characters.
func checkFraming(raw []byte) (framing, error) {
	var f framing
	lengths, codings, hosts := 0, 0, 0
	for len(raw) > 0 {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			continue
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !isToken(line[:colon]) {
			return f, badFraming("a header name holds characters that it must not")
		}
		value := bytes.Trim(line[colon+1:], " \t")
		if bytes.IndexByte(value, 0) >= 0 || bytes.IndexByte(value, '\r') >= 0 {
			return f, badFraming("a header value holds control characters")
		}
		switch name := line[:colon]; {
		case bytes.EqualFold(name, headerContentLength):
			lengths++
			if !isDigits(value) {
				return f, badFraming("Content-Length is not a number")
			}
			f.body = f.body || len(bytes.Trim(value, "0")) > 0
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				f.length = n
			} else {
				f.length = math.MaxInt64 // digits, more than 64 bits take
			}
		case bytes.EqualFold(name, headerTransferEncoding):
			codings++
			f.body = true
			if !bytes.EqualFold(value, valueChunked) {
				return f, badFraming("the only Transfer-Encoding understood is chunked")
			}
		case bytes.EqualFold(name, headerHost):
			hosts++
		}
	}
	switch {
	case lengths > 0 && codings > 0:
		return f, badFraming("Content-Length together with Transfer-Encoding")
	case lengths > 1 || codings > 1 || hosts > 1:
		return f, badFraming("Content-Length, Transfer-Encoding or Host given twice")
	}
	return f, nil
}

var (
	headerContentLength    = []byte("Content-Length")
	headerTransferEncoding = []byte("Transfer-Encoding")
	headerHost             = []byte("Host")
	valueChunked           = []byte("chunked")
)

func badFraming(reason string) error {
	return &web.Reject{Status: 400, Text: "Bad request: " + reason, Close: true}
}

func isDigits(b []byte) bool {
	for _, d := range b {
		if d < '0' || d > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isToken reports whether b may be a header's name.
func isToken(b []byte) bool {
	for _, x := range b {
		if !tokenBytes[x] {
			return false
		}
	}
	return true
}

var tokenBytes = func() (t [256]bool) {
	for b := '0'; b <= '9'; b++ {
		t[b] = true
	}
	for b := 'a'; b <= 'z'; b++ {
		t[b], t[b-'a'+'A'] = true, true
	}
	for _, b := range "!#$%&'*+-.^_`|~" {
		t[b] = true
	}
	return t
}()
