package timefmt

import (
	"errors"
	"testing"
	"time"
)

func TestStrictLayout(t *testing.T) {
	tokyo, err := Zone("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, layout, text string
		loc                *time.Location
		want               string
		err                error
	}{
		{"date and time", "%Y-%m-%d %H:%M:%S", "2021-03-04 05:06:07", nil, "2021-03-04T05:06:07Z", nil},
		{"in a zone", "%Y-%m-%d %H:%M:%S", "2021-03-04 05:06:07", tokyo, "2021-03-03T20:06:07Z", nil},
		{"without seconds", "%Y-%m-%d %H:%M", "2021-03-04 05:06", nil, "2021-03-04T05:06:00Z", nil},
		{"date alone", "%Y-%m-%d", "2021-03-04", nil, "", ErrIncomplete},
		{"time alone", "%H:%M:%S", "05:06:07", nil, "", ErrIncomplete},
		{"hour alone", "%Y-%m-%d %H", "2021-03-04 05", nil, "", ErrIncomplete},
		{"twelve hours without a half", "%Y-%m-%d %I:%M", "2021-03-04 05:06", nil, "", ErrIncomplete},
		{"unix seconds", "%s", "1614834367", nil, "2021-03-04T05:06:07Z", nil},
		{"three digits", "%F %T%.3f", "2021-03-04 05:06:07.123", nil, "2021-03-04T05:06:07.123Z", nil},
		{"four digits for three", "%F %T%.3f", "2021-03-04 05:06:07.1234", nil, "", ErrSyntax},
		{"any digits", "%F %T%.f", "2021-03-04 05:06:07.1", nil, "2021-03-04T05:06:07.1Z", nil},
		{"no digits", "%F %T%.f", "2021-03-04 05:06:07", nil, "2021-03-04T05:06:07Z", nil},
		{"year 68", "%y-%m-%d %R", "68-01-01 00:00", nil, "2068-01-01T00:00:00Z", nil},
		{"year 69", "%y-%m-%d %R", "69-01-01 00:00", nil, "1969-01-01T00:00:00Z", nil},
		{"zone name", "%F %T %Z", "2021-03-04 05:06:07 Asia/Tokyo", nil, "2021-03-03T20:06:07Z", nil},
		{"zone name UTC", "%F %T %Z", "2021-03-04 05:06:07 UTC", tokyo, "2021-03-04T05:06:07Z", nil},
		{"unknown zone", "%F %T %Z", "2021-03-04 05:06:07 Nowhere", nil, "", ErrSyntax},
		{"RFC 3339 with Z", "%+", "2021-03-04T05:06:07.5Z", nil, "2021-03-04T05:06:07.5Z", nil},
		{"RFC 3339", "%+", "2021-03-04T05:06:07+02:00", nil, "2021-03-04T03:06:07Z", nil},
		{"no such day", "%F %T", "2021-02-30 00:00:00", nil, "", ErrSyntax},
		{"text behind", "%F %T", "2021-02-03 00:00:00x", nil, "", ErrSyntax},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := CompileStrict(c.layout)
			if err != nil {
				t.Fatal(err)
			}
			ns, _, err := l.Parse(c.text, c.loc)
			got := ""
			if err == nil {
				got = time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %s, %v, want %s, %v", got, err, c.want, c.err)
			}
		})
	}
}
