package server

import (
	"bytes"
	"testing"
)

// FuzzFraming holds what checkFraming lets through against the rules: at most one of each header that ends a request.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("Host: x\r\nContent-Length: 3\r\n\r\n"))
	f.Add([]byte("Host: x\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Add([]byte("Content-Length: 0\ncontent-length : 1\r\n x\r\n:\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fr, err := checkFraming(raw)
		if err != nil {
			return
		}
		lower := bytes.ToLower(raw)
		lengths := bytes.Count(append([]byte("\n"), lower...), []byte("\ncontent-length:"))
		codings := bytes.Count(append([]byte("\n"), lower...), []byte("\ntransfer-encoding:"))
		if lengths > 1 || codings > 1 || lengths+codings > 1 {
			t.Fatalf("let through: %q", raw)
		}
		if fr.body && lengths+codings == 0 {
			t.Fatalf("a body from nowhere: %q", raw)
		}
	})
}
