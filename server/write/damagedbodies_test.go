package write_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"varve/server/servertest"
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
		for name, f := range servertest.CapturedIn(t, list) {
			t.Run(name, func(t *testing.T) {
				h, body, headers := servertest.Real(t, nil), servertest.Payload(t, name), f.Headers()
				rng := rand.New(rand.NewPCG(uint64(len(body)), 7))
				for i := range each {
					sendDamaged(h, f.Request.Path, damaged(rng, body, i, each), headers)
				}
				if plain, ok := unpacked(body); ok {
					for i, k := range headers {
						if strings.EqualFold(k, "Content-Encoding") {
							headers[i] = "x-unpacked"
						}
					}
					for i := range each {
						sendDamaged(h, f.Request.Path, damaged(rng, plain, i, each), headers)
					}
				}
				h.Want(h.Do("GET", "/health", ""), 200, "{}")
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
func sendDamaged(h *servertest.House, path, body string, headers []string) {
	h.Helper()
	before := stored(h)
	a := h.Do("POST", path, body, headers...)
	if a.Header.Get("Content-Encoding") == "gzip" { // the client that was captured asked for it
		plain, ok := unpacked([]byte(a.Body))
		if !ok {
			h.Fatalf("the answer is not gzip: %q", a.Body)
		}
		a.Body = string(plain)
	}
	switch {
	case a.Status != 200 && a.Status != 202 && a.Status != 204 && a.Status != 400:
		h.Fatalf("%d %q for %q", a.Status, a.Body, body)
	case strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") && !json.Valid([]byte(a.Body)):
		h.Fatalf("no JSON: %q for %q", a.Body, body)
	case a.Status == 400 && a.Body == "":
		h.Fatalf("refused without a reason: %q", body)
	}
	remote := strings.HasPrefix(path, "/v1/metricsapi/") // stores good series although it answers 400
	if after := stored(h); a.Status == 400 && after != before && !remote {
		h.Fatalf("%s rows were %s before what was refused with %s: %q", after, before, a.Body, body)
	}
}

// stored is the number of rows of all tables.
func stored(h *servertest.House) string {
	h.Helper()
	return fmt.Sprint(h.Selected("SELECT CAST(sum(region_rows) AS STRING) FROM information_schema.region_statistics"))
}
