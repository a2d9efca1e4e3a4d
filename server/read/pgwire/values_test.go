package pgwire

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNumericsInBinary(t *testing.T) {
	for _, text := range []string{"0", "0.00", "1", "-1", "9999", "10000", "-10000.0001", "0.5", "0.00000001",
		"123456789", "18446744073709551615", "99999999999999999999999999999999999999", "-0.1234567890",
		"1000000000000.000"} {
		got, ok := readNumeric(appendNumeric(nil, []byte(text)))
		if !ok || got != text {
			t.Errorf("%s became %q, %v", text, got, ok)
		}
	}
	for _, bad := range []string{"", "\x00\x01\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\xc0\x00\x00\x00",
		"\x00\x00\x00\x00\x00\x00\xff\xff", "\x00\x00\x7f\xff\x00\x00\x00\x00"} {
		if got, ok := readNumeric([]byte(bad)); ok {
			t.Errorf("%q became %s", bad, got)
		}
	}
}

func TestListsAsText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{}", ""}, {"{1,2}", "1|2"}, {" { a , b } ", "a|b"}, {`{"a,b","c\"d",NULL,"null",""}`, `a,b|c"d|<NULL>|null|`},
		{`{a\,b}`, "a,b"},
	} {
		list, err := readList(oidText, c.text)
		var got []string
		for _, v := range list {
			if got = append(got, v.text); v.null {
				got[len(got)-1] = "<NULL>"
			}
		}
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%s: got %q, %v, want %s", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "{", "}", "1", `{"a}`, `{"a"b}`, "{{1}}", "{1,}", `{\}`} {
		if list, err := readList(oidText, bad); err == nil {
			t.Errorf("%s became %v", bad, list)
		}
	}
}

func TestTimesAsText(t *testing.T) {
	zone := time.FixedZone("", -(3*3600 + 30*60))
	for _, c := range []struct {
		n, unit int64
		zone    *time.Location
		want    string
	}{
		{0, 1, time.UTC, "1970-01-01 00:00:00+00"},
		{-1, 1e9, time.UTC, "1969-12-31 23:59:59.999999+00"},
		{1_500, 1000, zone, "1969-12-31 20:30:01.5-03:30"},
		{-62135596801, 1, time.UTC, "0001-12-31 23:59:59+00 BC"},
		{253402300800, 1, time.UTC, "10000-01-01 00:00:00+00"},
	} {
		if got := string(appendTime(nil, c.n, c.unit, c.zone)); got != c.want {
			t.Errorf("%d/%d: got %s, want %s", c.n, c.unit, got, c.want)
		}
	}
	for want, span := range map[string][3]int64{
		"00:00:00": {}, "1 year 1 mon": {13, 0, 0}, "-1 days": {0, -1, 0}, "2 mons 3 days 00:00:00.000001": {2, 3, 1},
		"-100:00:00.5": {0, 0, -360_000_500_000}, "-2562047788:00:54.775808": {0, 0, math.MinInt64},
	} {
		if got := string(appendSpan(nil, int32(span[0]), int32(span[1]), span[2])); got != want {
			t.Errorf("%v: got %s, want %s", span, got, want)
		}
	}
	for us, want := range map[int64]string{0: "2000-01-01 00:00:00", 1: "2000-01-01 00:00:00.000001",
		-1: "1999-12-31 23:59:59.999999", 252455616e9: "+10000-01-01 00:00:00"} {
		if got, err := readTimestamp(us); err != nil || got != want {
			t.Errorf("%d: got %s, %v, want %s", us, got, err, want)
		}
	}
	for _, us := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1} {
		if got, err := readTimestamp(us); err == nil {
			t.Errorf("%d became %s", us, got)
		}
	}
}

func TestValuesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		oid    uint32
		b      string
		binary bool
		code   string
	}{
		{oidInt4, "\x00", true, "22P03"}, {oidInt8, "", true, "22P03"}, {oidTimestampTZ, "\x00", true, "22P03"},
		{oidUUID, "\x00", true, "22P03"}, {oidJSONB, "\x02{}", true, "22P03"}, {oidText, "\xff", false, "22021"},
		{600, "\x00", true, "22P03"}, {1016, "\x00\x00\x00\x02", true, "22P03"}, {oidBytea, `\xzz`, false, "22P02"},
		{oidBytea, `\08`, false, "22P02"}, {1016, strings.Repeat("\xff", 20), true, "22P03"},
		{1009, "{", false, "22P03"},
	} {
		v, err := readValue(1, c.oid, []byte(c.b), c.binary)
		if f := (*failure)(nil); err == nil {
			t.Errorf("%d of %q became %v", c.oid, c.b, v)
		} else if f, _ = err.(*failure); f == nil || f.code != c.code || !strings.Contains(f.text, "$1") {
			t.Errorf("%d of %q: %v", c.oid, c.b, err)
		}
	}
	for text, want := range map[string]string{`\x00Ff`: "00Ff", `a\\b`: "615c62", `\377`: "ff", "": ""} {
		v, err := readValue(1, oidBytea, []byte(text), false)
		if err != nil || v.text != want {
			t.Errorf("%q: got %q, %v, want %q", text, v.text, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	set, err := readOptions(`-c statement_timeout=5s --search-path=a,b -capplication_name=my\ tool`)
	var got []string
	for name, value := range set {
		got = append(got, fmt.Sprintf("%s=%s", name, value))
	}
	slices.Sort(got)
	if want := []string{"application_name=my tool", "search_path=a,b", "statement_timeout=5s"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"x", "-c", "-c x", "--x"} {
		if set, err := readOptions(bad); err == nil {
			t.Errorf("%s became %v", bad, set)
		}
	}
}
