package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestDamagedBodies: what clients really sent, cut anywhere, with bits turned, bytes that are no UTF-8, and pieces that
// come twice, is stored as far as it can be read or is the sender's fault, in each protocol and encoding; of what is
// refused nothing is stored, and the server goes on.
func TestDamagedBodies(t *testing.T) {
	each := 60
	if testing.Short() {
		each = 12
	}
	for _, list := range []string{"lineproto.json", "logpush.json", "otlp.json", "jsonput.json", "shippers.json",
		"remote.json"} {
		for name, f := range capturedIn(t, list) {
			t.Run(name, func(t *testing.T) {
				h, body, headers := real(t, nil), payload(t, name), f.headers()
				rng := rand.New(rand.NewPCG(uint64(len(body)), 7))
				for i := range each {
					h.sendDamaged(f.Request.Path, damaged(rng, body, i, each), headers)
				}
				if plain, ok := unpacked(body); ok {
					for i, k := range headers {
						if strings.EqualFold(k, "Content-Encoding") {
							headers[i] = "x-unpacked"
						}
					}
					for i := range each {
						h.sendDamaged(f.Request.Path, damaged(rng, plain, i, each), headers)
					}
				}
				h.want(h.do("GET", "/health", ""), 200, "{}")
			})
		}
	}
}

// damaged is a body with a damage: number i of so many.
func damaged(rng *rand.Rand, body []byte, i, of int) string {
	at := rng.IntN(len(body))
	switch i % 4 {
	case 0:
		return string(body[:i*len(body)/of])
	case 1:
		out := bytes.Clone(body)
		out[at] ^= 1 << rng.IntN(8)
		return string(out)
	case 2:
		return string(body[:at]) + "\xff\xfe" + string(body[at:])
	}
	end := at + rng.IntN(len(body)-at)
	return string(body[:end]) + string(body[at:])
}

// unpacked is a body whose compression is undone.
func unpacked(body []byte) ([]byte, bool) {
	var plain bytes.Buffer
	if r, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
		_, err = plain.ReadFrom(r)
		return plain.Bytes(), err == nil
	}
	if d, err := zstd.NewReader(bytes.NewReader(body)); err == nil {
		defer d.Close()
		_, err = plain.ReadFrom(d)
		return plain.Bytes(), err == nil
	}
	return nil, false
}

// sendDamaged sends a body that was damaged.
func (h *house) sendDamaged(path, body string, headers []string) {
	h.Helper()
	before := h.stored()
	a := h.do("POST", path, body, headers...)
	if a.header.Get("Content-Encoding") == "gzip" { // the client that was captured asked for it
		plain, ok := unpacked([]byte(a.body))
		if !ok {
			h.Fatalf("the answer is not gzip: %q", a.body)
		}
		a.body = string(plain)
	}
	switch {
	case a.status != 200 && a.status != 202 && a.status != 204 && a.status != 400:
		h.Fatalf("%d %q for %q", a.status, a.body, body)
	case strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && !json.Valid([]byte(a.body)):
		h.Fatalf("no JSON: %q for %q", a.body, body)
	case a.status == 400 && a.body == "":
		h.Fatalf("refused without a reason: %q", body)
	}
	remote := strings.HasPrefix(path, "/v1/metricsapi/") // stores good series although it answers 400
	if after := h.stored(); a.status == 400 && after != before && !remote {
		h.Fatalf("%s rows were %s before what was refused with %s: %q", after, before, a.body, body)
	}
}

// stored is the number of rows of all tables.
func (h *house) stored() string {
	h.Helper()
	return fmt.Sprint(h.selected("SELECT CAST(sum(region_rows) AS STRING) FROM information_schema.region_statistics"))
}
