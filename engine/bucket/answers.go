package bucket

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxListing bounds the answer with one page of a listing, in bytes: a thousand names of a thousand bytes, and what is
// said about each.
const maxListing = 8 << 20

// answers lets answers through that are what they claim to be. A store may say 200 and send an error: read as a
// listing, an error is an empty one.
type answers struct{ transport http.RoundTripper }

// RoundTrip sends a request.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := a.transport.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || res.StatusCode != http.StatusOK {
		return res, err
	}
	if r.URL.Query().Get("list-type") == "" {
		return res, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxListing+1))
	if closed := res.Body.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("a listing ends after %d bytes: %w: %w", len(body), errDamaged, err)
	case len(body) > maxListing:
		return nil, fmt.Errorf("a listing of more than %d bytes: %w", maxListing, errDamaged)
	case !isListing(body):
		return nil, fmt.Errorf("a listing was asked for, %q came: %w", shorten(string(body)), errDamaged)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// isListing reports whether a document's first element is that of a listing, and whether it is whole.
func isListing(doc []byte) bool {
	doc = bytes.TrimSpace(doc)
	if bytes.HasPrefix(doc, []byte("<?xml")) {
		_, doc, _ = bytes.Cut(doc, []byte("?>"))
		doc = bytes.TrimSpace(doc)
	}
	rest, ok := bytes.CutPrefix(doc, []byte("<ListBucketResult"))
	return ok && len(rest) > 0 && strings.IndexByte(" \t\r\n>/", rest[0]) >= 0 &&
		(bytes.HasSuffix(rest, []byte("</ListBucketResult>")) || bytes.HasSuffix(rest, []byte("/>")))
}

// parseContentRange reads "bytes 0-9/100"; the positions are of the first and the last byte, the size of the object.
func parseContentRange(text string) (from, to, size int64, ok bool) {
	rest, ok := strings.CutPrefix(text, "bytes ")
	if !ok {
		return 0, 0, 0, false
	}
	span, total, ok := strings.Cut(rest, "/")
	first, last, both := strings.Cut(span, "-")
	if !ok || !both {
		return 0, 0, 0, false
	}
	var errs [3]error
	from, errs[0] = digits(first)
	to, errs[1] = digits(last)
	size, errs[2] = digits(total)
	ok = errs == [3]error{} && from <= to && to < size
	return from, to, size, ok
}

// digits reads a number without a sign.
func digits(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err
}
