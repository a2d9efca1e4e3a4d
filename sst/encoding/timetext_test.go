package encoding

import "testing"

func TestTimeTexts(t *testing.T) {
	for _, c := range []struct {
		in string
		ok bool
	}{
		{"2026-11-01T02:24:00.001Z", true},
		{"2026-11-01 02:24:00", true},
		{"2026-11-01T02:24:00,123456+05:30", true},
		{"0000-02-29T00:00:00Z", true},
		{"1969-12-31T23:59:59.999999999Z", true},
		{"9999-12-31T23:59:59.999Z", true},
		{"9999-12-31T23:59:59.999999999Z", false}, // beyond 64 bits
		{"2025-02-29T00:00:00Z", false},
		{"2026-13-01T00:00:00Z", false},
		{"2026-00-01T00:00:00Z", false},
		{"2026-11-01T24:00:00Z", false},
		{"2026-11-01T02:24:60Z", false},
		{"2026-11-01T02:24:00.Z", false},
		{"2026-11-01T02:24:00.1234567890Z", true}, // the tenth digit belongs to the zone
		{"2026-11-01T02:24:00 in Paris", false},
		{"2026-11-01", false},
	} {
		shape, ok := shapeOfTime([]byte(c.in))
		var x int64
		if ok {
			x, ok = shape.parse([]byte(c.in))
		}
		if ok != c.ok {
			t.Errorf("%q: taken for a time: %t", c.in, ok)
			continue
		}
		if w := (timeWriter{timeShape: shape}); ok {
			if got, ok := w.append(nil, x); !ok || string(got) != c.in {
				t.Errorf("%q comes back as %q", c.in, got)
			}
		}
	}
}

// FuzzTimeText: what is taken for a time prints back.
func FuzzTimeText(f *testing.F) {
	f.Add("2026-11-01T02:24:00.001Z", "2026-11-01T02:24:00.001Z")
	f.Add("1969-12-31 23:59:59", "0001-01-01 00:00:00")
	f.Fuzz(func(t *testing.T, first, second string) {
		shape, ok := shapeOfTime([]byte(first))
		if !ok {
			return
		}
		w := timeWriter{timeShape: shape}
		for _, s := range []string{first, second, first} {
			if x, ok := shape.parse([]byte(s)); ok {
				if got, ok := w.append(nil, x); !ok || string(got) != s {
					t.Fatalf("%q comes back as %q", s, got)
				}
			}
		}
	})
}
