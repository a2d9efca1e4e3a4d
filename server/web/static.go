package web

import (
	"bytes"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
)

// staticAbove is the size above which a static answer is compressed when the client takes that. It is far smaller than
// CompressAbove: the work is done once, and a page of small files is mostly what lies between the two.
const staticAbove = 256

// Static is an answer that never changes. Its compressed forms are made when they are first asked for, as small as they
// get, and kept. Safe for concurrent use.
type Static struct {
	Body []byte
	Type string
	ETag string // with its quotes; empty: none

	brotli, gzip func() []byte
}

// NewStatic makes a static answer.
func NewStatic(body []byte, mediaType, etag string) *Static {
	s := &Static{Body: body, Type: mediaType, ETag: etag}
	s.brotli = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		level := brotli.BestCompression
		if len(body) > 256<<10 {
			level = 9 // the best takes seconds for half a megabyte
		}
		w := brotli.NewWriterLevel(&out, level)
		w.Write(body) // a buffer takes everything
		w.Close()
		return out.Bytes()
	})
	s.gzip = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a known one
		w.Write(body)
		w.Close()
		return out.Bytes()
	})
	return s
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
	if len(s.Body) < staticAbove {
		c.Response.SetBodyRaw(s.Body)
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
	default:
		h.Set("Content-Encoding", "identity")
		c.Response.SetBodyRaw(s.Body)
	}
	return nil
}
