package forward

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"varve/engine/status"
	"varve/server/web"
)

const (
	eventTime = "\xd7\x00\x00\x00\x00\x01\x00\x00\x00\x02" // 1.000000002 s
	record    = "\x81\xa1a\x01"
)

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// packed is text as bytes of MessagePack.
func packed(text string) string {
	return "\xc5" + string([]byte{byte(len(text) >> 8), byte(len(text))}) + text
}

// shares begins shares of what r reads, which nobody else waits for.
func shares(r io.Reader) func() *web.Stream {
	return func() *web.Stream {
		return web.NewIntake(largeBytes, time.Second, status.RegionBusy).Stream(r, netip.Addr{}, leastRate, nil)
	}
}

// show reads a stream and gives its records, or the error.
func show(in string, most int, slow bool) string {
	r := bufio.NewReader(strings.NewReader(in))
	if slow {
		r = bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(in)), 16)
	}
	f := &frames{r: r, most: most, ctx: context.Background(), share: shares(r)}
	defer f.Close()
	var out []string
	for {
		b, acked, err := f.Next()
		if err != nil {
			return strings.Join(append(out, err.Error()), " ")
		}
		var m message
		if err := m.parse(b); err != nil {
			return err.Error()
		}
		if acked {
			out = append(out, "ack="+string(m.chunk))
		}
		if err := m.each(most, func(ns int64, timed bool, r *reader) error {
			text, err := appendRecord(nil, ns, r)
			out = append(out, fmt.Sprintf("%s:%v:%s", m.tag, timed, text))
			return err
		}); err != nil {
			out = append(out, err.Error())
		}
	}
}

func TestMessages(t *testing.T) {
	entry := "\x92\x07" + record
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "EOF"},
		{"message", "\x93\xa1t\x07" + record, `t:true:{"service_timestamp":7000000000,"a":1} EOF`},
		{"event time and chunk", "\x94\xa1t" + eventTime + record + "\x81\xa5chunk\xa2id",
			`ack=id t:true:{"service_timestamp":1000000002,"a":1} EOF`},
		{"two messages", "\x93\xa1t\x07" + record + "\x93\xa1u\x07" + record,
			`t:true:{"service_timestamp":7000000000,"a":1} u:true:{"service_timestamp":7000000000,"a":1} EOF`},
		{"forward", "\x93\xa1t\x92" + entry + entry + "\x82\xa4size\x02\xa5chunk\xa1c",
			`ack=c t:true:{"service_timestamp":7000000000,"a":1} t:true:{"service_timestamp":7000000000,"a":1} EOF`},
		{"packed", "\x92\xa1t" + packed(entry+"\x92\x92"+eventTime+"\x80"+record),
			`t:true:{"service_timestamp":7000000000,"a":1} t:true:{"service_timestamp":1000000002,"a":1} EOF`},
		{"compressed", "\x93\xa1t" + packed(zipped(entry)+zipped(entry)) + "\x81\xaacompressed\xa4gzip",
			`t:true:{"service_timestamp":7000000000,"a":1} t:true:{"service_timestamp":7000000000,"a":1} EOF`},
		{"values",
			"\x93\xa1t\x07\x88\x01\xc3\xa1b\xc0\xa1c\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xa1d\xd0\xff\xa1e\x92\xc2\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa1f\x81\xa1g\xc4\x01\xff\xa1h\xd4\x05\x00\xa1i\xca\x7f\xc0\x00\x00",
			`t:true:{"service_timestamp":7000000000,"1":true,"b":null,"c":1.5,"d":-1,"e":[false,18446744073709551615],"f":{"g":"` + "\uFFFD" + `"},"h":null,"i":null} EOF`},
		{"the time index", "\x93\xa1t\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x81\xb1service_timestamp\x01",
			`t:false:{"service_timestamp":0,"record.service_timestamp":1} EOF`},
		{"no array", "\x81\xa1a\x01", "the message is not an array of a tag and entries"},
		{"an empty tag", "\x93\xa0\x07" + record, `:true:{"service_timestamp":7000000000,"a":1} EOF`},
		{"no tag", "\x93\x01\x07" + record, "the message is not an array of a tag and entries"},
		{"text of HTTP", "GET / HTTP/1.1\r\n", "the message is not an array of a tag and entries"},
		{"no record", "\x93\xa1t\x07\x01", `t:true: a record is not a map EOF`},
		{"no value", "\xc1", "no value begins with the byte 0xc1"},
		{"cut", "\x93\xa1t\x07\x81\xa1a", "the stream ends inside a message"},
		{"cut entries", "\x92\xa1t" + packed("\x92\x07"), "the message ends inside a value"},
		{"a length that lies", "\x92\xa1t\xc6\xff\xff\xff\xff", "a message has more than 4096 bytes"},
		{"an array that lies", "\xdd\xff\xff\xff\xff", "a message has more than 4096 bytes"},
		{"a map that lies inside", "\x92\xa1t" + packed("\x92\x07\xdf\xff\xff\xff\xff"),
			"the message ends inside a value"},
		{"a compressed bomb", "\x93\xa1t" + packed(zipped(strings.Repeat("\x00", 100000))) +
			"\x81\xaacompressed\xa4gzip", "larger than 4096 bytes when they are decompressed"},
		{"no gzip", "\x93\xa1t" + packed("x") + "\x81\xaacompressed\xa4gzip", "the entries are no gzip"},
		{"another compression", "\x93\xa1t" + packed("x") + "\x81\xaacompressed\xa4zstd",
			`the entries are compressed with "zstd"`},
		{"deep", "\x93\xa1t\x07" + strings.Repeat("\x81\xa1a", 100) + "\xc0", "nests deeper than 64"},
		{"deep names", "\x93\xa1t\x07" + strings.Repeat("\x81", 1000) + strings.Repeat("\xc0", 1001),
			"the name of a field is not text"},
	} {
		for _, slow := range []bool{false, true} {
			got := show(c.in, 4096, slow)
			if strings.HasSuffix(c.want, "EOF") && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
	}
}

// TestHandshake: with a key nothing is read of a sender before it has shown that it knows the key, and it can tell that
// the server does.
func TestHandshake(t *testing.T) {
	for _, c := range []struct {
		name string
		sent func(nonce string) string // after the greeting
		want string                    // of the answer
		err  string
	}{
		{"the key", func(nonce string) string { return sent("host", "salt", hashed("salt", "host", nonce, "key")) },
			"\x95\xa4PONG\xc3\xa0", ""},
		{"another key", func(nonce string) string {
			return sent("host", "salt", hashed("salt", "host", nonce, "other"))
		}, "\x95\xa4PONG\xc2\xb3shared_key mismatch\xa0\xa0", "the key of the sender"},
		{"the digest of another host", func(nonce string) string {
			return sent("host2", "salt", hashed("salt", "host", nonce, "key"))
		}, "\x95\xa4PONG\xc2", "the key of the sender"},
		{"an old nonce", func(string) string {
			return sent("host", "salt", hashed("salt", "host", strings.Repeat("n", 16), "key"))
		}, "\x95\xa4PONG\xc2", "the key of the sender"},
		{"no digest", func(string) string { return sent("host", "salt", "") }, "\x95\xa4PONG\xc2",
			"the key of the sender"},
		{"a message at once", func(string) string { return "\x93\xa1t\x07" + record }, "", "does not authenticate"},
		{"a short answer", func(string) string { return "\x92\xa4PING\xa1x" }, "", "does not authenticate"},
		{"no text", func(string) string { return "\x96\xa4PING\x01\x02\x03\xa0\xa0" }, "", "does not authenticate"},
		{"a long answer", func(string) string { return sent(strings.Repeat("h", 9000), "s", "d") }, "",
			"more than 8192 bytes"},
		{"something else", func(string) string { return "GET / HTTP/1.1\r\n\r\n" }, "", "does not authenticate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			f := &frames{r: bufio.NewReader(ours), to: ours, key: []byte("key"), most: 1 << 20}
			type read struct {
				text string
				err  error
			}
			got := make(chan read, 1)
			go func() {
				b, _, err := f.Next()
				ours.Close()
				got <- read{string(b), err}
			}()
			head := make([]byte, len("\x92\xa4HELO\x83\xa5nonce\xc4\x10")+16+len("\xa4auth\xa0\xa9keepalive\xc3"))
			if _, err := io.ReadFull(theirs, head); err != nil ||
				!strings.HasPrefix(string(head), "\x92\xa4HELO\x83\xa5nonce\xc4\x10") ||
				!strings.HasSuffix(string(head), "\xa4auth\xa0\xa9keepalive\xc3") {
				t.Fatalf("greeting %q, %v", head, err)
			}
			nonce := string(head[15:31])
			go io.WriteString(theirs, c.sent(nonce))
			answer := make([]byte, len(c.want))
			if _, err := io.ReadFull(theirs, answer); err != nil || string(answer) != c.want {
				t.Fatalf("answer %q, %v; want %q", answer, err, c.want)
			}
			if c.err == "" {
				host, err := os.Hostname()
				if err != nil {
					t.Fatal(err)
				}
				want := string(appendText(appendText(nil, host), hashed("salt", host, nonce, "key")))
				rest := make([]byte, len(want))
				if _, err := io.ReadFull(theirs, rest); err != nil || string(rest) != want {
					t.Fatalf("the server shows %q, %v; want %q", rest, err, want)
				}
				if _, err := io.WriteString(theirs, "\x93\xa1t\x07"+record); err != nil {
					t.Fatal(err)
				}
			} else {
				go io.Copy(io.Discard, theirs)
			}
			r := <-got
			if c.err == "" && (r.err != nil || r.text != "\x93\xa1t\x07"+record) ||
				c.err != "" && (r.err == nil || !strings.Contains(r.err.Error(), c.err)) {
				t.Errorf("got %q, %v; want the error %q", r.text, r.err, c.err)
			}
		})
	}
}

// sent is the answer of a sender to the greeting.
func sent(host, salt, digest string) string {
	long := func(s string) string { return "\xda" + string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	return "\x96\xa4PING" + long(host) + long(salt) + long(digest) + "\xa0\xa0"
}

// hashed is the digest of some texts.
func hashed(parts ...string) string {
	sum := sha512.Sum512([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(sum[:])
}

// TestQuietConnectionsHoldLittle: while the next message is waited for nothing is kept of a large one before.
func TestQuietConnectionsHoldLittle(t *testing.T) {
	for _, size := range []int{1000, smallBytes - 100, smallBytes + 100, 1 << 20, 4 << 20} {
		in := "\x92\xa1t\xc6" + string(binary.BigEndian.AppendUint32(nil, uint32(size))) + strings.Repeat("\xc0", size)
		room := web.NewIntake(largeBytes, time.Second, status.RegionBusy)
		f := &frames{most: 8 << 20, ctx: t.Context()}
		f.share = func() *web.Stream { return room.Stream(f.r, netip.Addr{}, leastRate, nil) }
		held := -1
		f.r = bufio.NewReader(io.MultiReader(strings.NewReader(in), readFunc(func([]byte) (int, error) {
			held = cap(f.b) + cap(f.m.entries)
			return 0, io.EOF
		})))
		if _, _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.Next(); err != io.EOF {
			t.Fatal(err)
		}
		if held < 0 || held > 4*smallBytes || room.Bytes() > 0 {
			t.Errorf("a message of %d bytes: %d are held while the next one is waited for, %d are counted", size, held,
				room.Bytes())
		}
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"\x93\xa1t\x07" + record, "\x93\xa1t\x91\x92" + eventTime + record +
		"\x81\xa5chunk\xa1c", "\x92\xa1t" + packed("\x92\x07"+record),
		"\x93\xa1t" + packed(zipped("\x92\x07"+record)) + "\x81\xaacompressed\xa4gzip"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if m.parse(b) != nil {
			return
		}
		_ = m.each(1<<16, func(ns int64, _ bool, r *reader) error {
			text, err := appendRecord(nil, ns, r)
			if err == nil && (!json.Valid(text) || !utf8.Valid(text)) {
				t.Errorf("%q is not JSON", text)
			}
			return err
		})
	})
}

func BenchmarkMessage(b *testing.B) {
	entry := "\x92" + eventTime + "\x83\xa3log\xd9\x40" + strings.Repeat("x", 64) +
		"\xa6stream\xa6stdout\xa1n\xcd\x01\x00"
	in := []byte("\x92\xa1t" + packed(strings.Repeat(entry, 500)))
	b.SetBytes(int64(len(in)))
	var dst []byte
	for b.Loop() {
		var m message
		if err := m.parse(in); err != nil {
			b.Fatal(err)
		}
		if err := m.each(1<<20, func(ns int64, _ bool, r *reader) (err error) {
			dst, err = appendRecord(dst[:0], ns, r)
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
}
