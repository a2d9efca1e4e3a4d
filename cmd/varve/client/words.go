package client

import (
	"fmt"
	"strings"
)

// Number writes a number with commas between thousands.
func Number(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Plural writes a number of things.
func Plural(n int64, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "y"):
		thing = strings.TrimSuffix(thing, "y") + "ies"
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return Number(n) + " " + thing
}

// Bytes writes a size with one digit behind the point.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x, units := float64(n)/1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	for len(units) > 1 && x >= 1024 {
		x, units = x/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %s", x, units[0])
}
