package client

import "testing"

// TestWords writes numbers, numbers of things and sizes.
func TestWords(t *testing.T) {
	for _, c := range [][2]string{
		{Number(0), "0"}, {Number(-999), "-999"}, {Number(-1000), "-1,000"}, {Number(1234567), "1,234,567"},
		{Plural(1, "row"), "1 row"}, {Plural(0, "row"), "0 rows"}, {Plural(2000, "entry"), "2,000 entries"},
		{Plural(1, "entry"), "1 entry"},
		{Bytes(0), "0 B"}, {Bytes(1023), "1023 B"}, {Bytes(1024), "1.0 KiB"}, {Bytes(1536 << 10), "1.5 MiB"},
		{Bytes(3 << 50), "3.0 PiB"}, {Bytes(1 << 62), "4096.0 PiB"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
}
