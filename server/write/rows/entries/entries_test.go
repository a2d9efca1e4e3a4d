package entries

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/valyala/fasthttp"
)

func TestTime(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1700000000": 1700000000e9, "1700000000.5": 17000000005e8, "-1.25": -1250000000,
		"1700000000123": 1700000000123e6, "1700000000123456": 1700000000123456e3,
		"1700000000123456789": 1700000000123456789, "1.7e9": 1700000000e9, "2023-11-14T22:13:20Z": 1700000000e9,
		"2023-11-14 22:13:20.25": 170000000025e7, "2023-11-14T23:13:20+01:00": 1700000000e9,
		" 2023-11-14 ": 1699920000e9, "1700000000.1234567891": 1700000000123456789, "1700000000000.5": 17000000000005e5,
	} {
		if ns, ok := Time([]byte(in)); !ok || ns != want {
			t.Errorf("Time(%q) = %d, %v; want %d", in, ns, ok, want)
		}
	}
	for _, in := range []string{"", "x", "1x", "1.x", "NaN", "Infinity", "0x10", "99999999999999999999", "2023-13-01",
		"1e300", "-", "9999-01-01"} {
		if ns, ok := Time([]byte(in)); ok {
			t.Errorf("Time(%q) = %d", in, ns)
		}
	}
}

func parse(t *testing.T, query string) (*Fields, error) {
	t.Helper()
	var args fasthttp.Args
	args.Parse(query)
	return ParseFields(&args)
}

func TestFields(t *testing.T) {
	for _, c := range []struct{ query, in, want string }{
		{"_msg_field=log", `{"a":1,"log":"x"}`, `{"a":1,"message":"x"}`},
		{"_msg_field=a,log", `{"log":"x","a":"","b":{}}`, `{"a":"","b":{},"message":"x"}`},
		{"_msg_field=log", `{"a":1}`, `{"a":1}`},
		{"_msg_field=o.log", `{"o":{"log":{"k":1},"z":2},"p":{"log":3}}`,
			`{"o":{"z":2},"p":{"log":3},"message":{"k":1}}`},
		{"_time_field=t", `{"t":"1970-01-01T00:00:01Z","u":1}`, `{"service_timestamp":1000000000,"u":1}`},
		{"_time_field=t,u", `{"t":"never","u":1}`, `{"t":"never","service_timestamp":1000000000}`},
		{"_time_field=t", `{}`, `{"service_timestamp":7}`},
		{"_time_field=t", "{ \"u\":1\n ,\n\"t\" :\t5 , \"v\":{}} ",
			`{ "u":1,"service_timestamp":5000000000 , "v":{}} `},
		{"_time_field=t", "{\n}", `{ "service_timestamp":7}`},
		{"_time_field=t", `{"u":{"t":1}}`, `{"u":{"t":1},"service_timestamp":7}`},
		{"_time_field=t", `{"t":1,"t":2}`, `{"service_timestamp":1000000000}`},
		{"_time_field=t", `{"t":1,"service_timestamp":2}`, `{"service_timestamp":2,"service_timestamp":1000000000}`},
		{"_time_field=t", `{"service_timestamp":2}`, `{"service_timestamp":2,"service_timestamp":7}`},
		{"_time_field=t", `{"\u0074":"1970-01-01T00:00:02Z"}`, `{"service_timestamp":2000000000}`},
		{"_time_field=t", `{"t": 1e40}`, `{"t":"1e40","service_timestamp":7}`},
		{"_time_field=t", `{"t":true,"u":true}`, `{"t":"true","u":true,"service_timestamp":7}`},
		{"_time_field=t", `{"t":[1, "a"]}`, `{"t":"[1, \"a\"]","service_timestamp":7}`},
		{"_time_field=t", `{"t":{"x":1},"u":null}`, `{"t":{"x":1},"u":null,"service_timestamp":7}`},
		{"_time_field=t", `{"t":null}`, `{"t":null,"service_timestamp":7}`},
		{"_time_field=t,o.u", `{"t":1,"o":{"u":2}}`, `{"o":{"u":"2"},"service_timestamp":1000000000}`},
		{"_msg_field=m", `{"m":5}`, `{"message":"5"}`},
		{"_msg_field=m", `{"m":false}`, `{"message":"false"}`},
		{"_msg_field=m", `{"m":[1]}`, `{"message":"[1]"}`},
		{"ignore_fields=a,b.c,d*", "{\"a\":1,\"b\":{\"c\":1,\"e\":2},\"d1\":1,\n\"f\":[1,\n2]}",
			`{"b":{"e":2},"f":[1, 2]}`},
		{"extra_fields=a=x=y, b=", `{"a":1,"c":{"a":1}}`, `{"c":{"a":1},"a":"x=y","b":""}`},
		{"_stream_fields=x", `{"\u0061\"":"\u00e9"}`, `{"a\"":"\u00e9"}`},
		{"debug=0", `{"":1}`, `{"":1}`},
	} {
		f, err := parse(t, c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Append([]byte("before"), []byte(c.in), 7)
		if err != nil || string(got) != "before"+c.want {
			t.Errorf("%s of %s\n got %s, %v\nwant %s", c.query, c.in, got, err, c.want)
		}
	}
	if f, err := parse(t, "table=x"); f != nil || err != nil {
		t.Error(f, err)
	}
	for _, query := range []string{"extra_fields=a", "extra_fields==b", "debug=x",
		"ignore_fields=" + strings.Repeat("x,", 300), "extra_fields=" + strings.Repeat("x=1,", 300)} {
		if _, err := parse(t, query); err == nil {
			t.Errorf("%.40s is taken", query)
		}
	}
}

// TestLines: entries that are kept and left out, read in small pieces.
func TestLines(t *testing.T) {
	s := New(0, func(int64) error { return nil })
	a, err := s.Table([]byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("x{\"n\":1}y{\"n\":2}[3]")
	for _, at := range [][2]int{{1, 8}, {9, 16}, {16, 19}, {0, 0}} {
		if err := a.Keep(body, at[0], at[1]); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		text, err := io.ReadAll(iotest.OneByteReader(a.Lines()))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := read(); got != "{\"n\":1}\n{\"n\":2}\n[3]\n" {
		t.Errorf("%q", got)
	}
	a.leaveOut()
	if got := read(); got != "{\"n\":1}\n{\"n\":2}\n" || len(a.Failed) != 2 {
		t.Errorf("%q %v", got, a.Failed)
	}
	for range 100 {
		a.Tag("x")
	}
	if len(a.Tags) != 1 {
		t.Error(a.Tags)
	}
}

// TestHold: what entries take is told before it is much.
func TestHold(t *testing.T) {
	full := errors.New("full")
	s := New(0, func(bytes int64) error {
		if bytes > 4<<20 {
			return full
		}
		return nil
	})
	a, err := s.Table(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 1 << 20 {
		if err = a.Make(func(dst []byte) ([]byte, error) { return append(dst, "{}"...), nil }); err != nil {
			break
		}
	}
	if err != full || a.Len() > 400_000 {
		t.Errorf("%v after %d entries", err, a.Len())
	}
}

// FuzzFields: what is made of an entry is one line of JSON, and an error where the entry is none.
func FuzzFields(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":"2023-01-01"},"m":"x"}`, "a.b,a.c", "m", "a")
	f.Add("{\"\\u0061\":1,\n\"a\":[1,\n{}],\"\":\"\"}", "a", "", "x*")
	f.Fuzz(func(t *testing.T, text, moment, message, ignored string) {
		var args fasthttp.Args
		args.Set("_time_field", moment)
		args.Set("_msg_field", message)
		args.Set("ignore_fields", ignored)
		args.Set("extra_fields", "k=v")
		fields, err := ParseFields(&args)
		if err != nil {
			return
		}
		out, err := fields.Append(nil, []byte(text), 7)
		var object map[string]any
		if valid := json.Unmarshal([]byte(text), &object) == nil && object != nil; err == nil && !valid ||
			err == nil && !json.Valid(out) || strings.Contains(string(out), "\n") {
			t.Fatalf("%q gives %q, %v", text, out, err)
		}
	})
}
