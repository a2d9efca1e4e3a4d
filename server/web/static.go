package web

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// staticAbove is the size above which a static answer is compressed when the client takes that. It is far smaller than
// CompressAbove: the work is done once, and a page of small files is mostly what lies between the two.
const staticAbove = 256

// Static is an answer that never changes. Its other forms are made when they are first asked for, as small as they get,
// and kept. Safe for concurrent use.
type Static struct {
	Type string
	ETag string // with its quotes; empty: none

	small               bool // it is never compressed
	plain, brotli, gzip func() []byte
}

// NewStatic makes a static answer.
func NewStatic(body []byte, mediaType, etag string) *Static {
	s := &Static{Type: mediaType, ETag: etag, small: len(body) < staticAbove}
	s.plain = func() []byte { return body }
	s.brotli = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w := brotli.NewWriterLevel(&out, brotli.BestCompression)
		w.Write(body) // a buffer takes everything
		w.Close()
		return out.Bytes()
	})
	s.gzip = sync.OnceValue(s.gzipped)
	return s
}

// maxPacked is how long an answer may be that was compressed beforehand, bytes.
const maxPacked = 4 << 20

// NewPacked makes a static answer of its brotli form. It makes other forms when a client asks, which takes time but is
// rare.
func NewPacked(packed []byte, mediaType, etag string) (*Static, error) {
	unpack := func() ([]byte, error) {
		body, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(packed)), maxPacked+1))
		if err == nil && len(body) > maxPacked {
			err = fmt.Errorf("longer than %d bytes when unpacked", maxPacked)
		}
		return body, err
	}
	if _, err := unpack(); err != nil {
		return nil, err
	}
	s := &Static{Type: mediaType, ETag: etag}
	s.plain = func() []byte {
		body, _ := unpack() // it went well before
		return body
	}
	s.brotli = func() []byte { return packed }
	s.gzip = sync.OnceValue(s.gzipped)
	return s, nil
}

// Plain is the answer's text.
func (s *Static) Plain() []byte { return s.plain() }

func (s *Static) gzipped() []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a known one
	w.Write(s.plain())                                      // a buffer takes everything
	w.Close()
	return out.Bytes()
}

// Static answers with s: 304 when the client has it already, else the smallest form that the client takes.
func (c *Ctx) Static(s *Static) error {
	h := &c.Response.Header
	h.SetContentType(s.Type)
	if s.ETag != "" {
		h.Set("ETag", s.ETag)
		if bytes.Contains(c.Request.Header.Peek("If-None-Match"), []byte(s.ETag)) {
			c.SetStatusCode(304)
			return nil
		}
	}
	if s.small {
		c.Response.SetBodyRaw(s.plain())
		return nil
	}
	h.Add("Vary", "Accept-Encoding")
	accept := c.HeaderText("Accept-Encoding")
	switch {
	case acceptQuality(accept, "br") > 0:
		h.Set("Content-Encoding", "br")
		c.Response.SetBodyRaw(s.brotli())
	case acceptQuality(accept, "gzip") > 0:
		h.Set("Content-Encoding", "gzip")
		c.Response.SetBodyRaw(s.gzip())
	default: // the answer may be unpacked for this client alone
		err := c.Make(200, s.Type, func() ([]byte, error) {
			h.Set("Content-Encoding", "identity")
			return s.plain(), nil
		})
		if err != nil {
			h.Del("ETag") // an error has none
		}
		return err
	}
	return nil
}
