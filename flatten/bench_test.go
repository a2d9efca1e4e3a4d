package flatten

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"varve/engine/vector"
)

// accessBody makes n access rows of the shape of real ones, about 490 bytes each. One message in ten has an escape.
func accessBody(n int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	agents := []string{
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6522.72 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0.6946.146 Safari/537.36",
		"shop-app/1.2.8 (build 11748; okhttp 4.12)", "curl/8.5.0",
	}
	messages := []string{
		"session %x renewed for user %d", "Received block blk_%d of size %d from storage backend",
		`upstream said \"%d\" in %d ms`,
		"GET upstream pool order picked backend %d after %d attempts",
		"cache miss for key product:%d, fetched in %d us",
	}
	services := []string{"frontend", "checkout", "cart", "payments", "inventory"}
	regions := []string{"us-west-2", "eu-central-1", "ap-south-1"}
	var b bytes.Buffer
	for i := range n {
		m := messages[rnd.IntN(len(messages))]
		if i%10 != 0 && m[0] == 'u' {
			m = messages[0]
		}
		fmt.Fprintf(&b,
			`{"ts":%d,"level":"info","service":"%s","host":"%s-%03d","region":"%s","method":"GET","path":"/api/v1/products/%d","status":%d,"bytes":%d,"latency_ms":%.3f,"client_ip":"%d.%d.%d.%d","user_id":%d,"user_agent":"%s","referer":"https://shop.example.com/search","trace_id":"%016x%016x","cached":%t,"message":"`,
			1793491200000+i*27, services[rnd.IntN(5)], services[rnd.IntN(5)], rnd.IntN(40), regions[rnd.IntN(3)],
			rnd.IntN(500), []int{200, 200, 200, 304, 404, 500}[rnd.IntN(6)],
			rnd.IntN(100000), rnd.ExpFloat64()*30, rnd.IntN(256), rnd.IntN(256), rnd.IntN(256), rnd.IntN(256),
			rnd.IntN(1000000), agents[rnd.IntN(len(agents))],
			rnd.Uint64(), rnd.Uint64(), rnd.IntN(4) == 0)
		fmt.Fprintf(&b, m, rnd.Int64N(1e12), rnd.IntN(100000))
		b.WriteString("\"}\n")
	}
	return b.Bytes()
}

func nestedBody(n int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b,
			`{"time_us":%d,"did":"did:plc:%016x","kind":"commit","relay":{"host":"relay-%d.example.net","region":"ap-south-1","pod":{"name":"relay-%x","labels":{"app":"relay","tier":"core"}},"lag_ms":%.3f},"commit":{"rev":"%x","operation":"create","record":{"$type":"feed.like","createdAt":"2026-11-01T00:00:00.000Z","langs":["en","de"],"subject":{"uri":"at://did:plc:%x","cid":"bafy%x"}}}`,
			1793491200000946+i, rnd.Uint64(), rnd.IntN(10), rnd.Uint32(), rnd.ExpFloat64()*10, rnd.Uint64(),
			rnd.Uint64(), rnd.Uint64())
		if rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, `,"reply":{"root":"%x","parent":"%x"}`, rnd.Uint64(), rnd.Uint64())
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func textBody(n int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	for range n {
		fmt.Fprintf(&b,
			"Jun 14 15:16:01 combo sshd(pam_unix)[%d]: authentication failure; logname= uid=0 euid=0 tty=NODEVssh ruser= rhost=%d.%d.188.3\n", rnd.IntN(30000), rnd.IntN(256), rnd.IntN(256))
	}
	return b.Bytes()
}

// decodeWarm decodes body into a builder that it resets, as a request does.
type decodeWarm struct {
	d *Decoder
	b *vector.Builder
	r bytes.Reader
	o Options
}

func (w *decodeWarm) rows(OptionVars) (*vector.Builder, error) { return w.b, nil }

func (w *decodeWarm) run(body []byte, f Framing) (Result, error) {
	w.b.Reset()
	w.r.Reset(body)
	res, err := w.d.Decode(&w.r, f, w.o, w.rows)
	w.b.Finish()
	return res, err
}

func BenchmarkDecode(b *testing.B) {
	access := accessBody(5000)
	array := bytes.ReplaceAll(bytes.TrimSuffix(append([]byte("["), access...), []byte("\n")), []byte("\n"),
		[]byte(",\n"))
	array = append(array, ']')
	epoch := Options{Now: time.Now}
	epoch.Time, _ = ParseTimeIndex("ts;epoch;ms")
	spaced := bytes.ReplaceAll(bytes.ReplaceAll(access, []byte(`":`), []byte(`": `)), []byte(`,"`), []byte(`, "`))
	for _, c := range []struct {
		name string
		f    Framing
		body []byte
		o    Options
	}{
		{"access/ndjson", NDJSON, access, Options{Now: time.Now}}, {"access/epoch", NDJSON, access, epoch},
		{"access/array", JSONStream, array, Options{Now: time.Now}},
		{"access/spaced", NDJSON, spaced, Options{Now: time.Now}},
		{"nested", NDJSON, nestedBody(5000), Options{Now: time.Now}},
		{"text", Lines, textBody(20000), Options{Now: time.Now}},
		{"access/rows=10", NDJSON, accessBody(10), Options{Now: time.Now}},
		{"access/check", NDJSON, access, Options{CheckOnly: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := decodeWarm{d: NewDecoder(), b: vector.NewBuilder(), o: c.o}
			if _, err := w.run(c.body, c.f); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.run(c.body, c.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGeneral measures what the predictive reader is compared with: a tree of sonic's.
func BenchmarkGeneral(b *testing.B) {
	lines := bytes.Split(bytes.TrimSpace(accessBody(2000)), []byte("\n"))
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range lines {
			if _, err := parseTree(l, func(int) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
}
