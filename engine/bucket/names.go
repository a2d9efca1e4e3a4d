package bucket

import (
	"fmt"
	"strings"
)

// maxName is the length of the longest name of an object, in bytes, without the bucket's prefix. Stores allow 1,024
// bytes with it.
const maxName = 512

// checkName refuses names that a store or a file system would change, escape, or take for another place.
func checkName(name string) error {
	if why := badName(name); why != "" {
		return fmt.Errorf("object %q: %s", shorten(name), why)
	}
	return nil
}

// badName says why no object can have a name; empty: it can.
func badName(name string) string {
	if len(name) > maxName {
		return fmt.Sprintf("the name has %d bytes, at most %d", len(name), maxName)
	}
	for i := range len(name) {
		if !plain(name[i]) {
			return "a name has letters, digits and - _ . = / only"
		}
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "":
			return "between slashes there must be a name"
		case segment[0] == '.':
			return "a name does not begin with a dot, also behind a slash"
		}
	}
	return ""
}

// checkPrefix refuses prefixes that no name has.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if why := badName(strings.TrimSuffix(prefix, "/")); why != "" {
		return fmt.Errorf("prefix %q: %s", shorten(prefix), why)
	}
	return nil
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.=/", c) >= 0
}

// shorten is a text for a message.
func shorten(s string) string {
	if len(s) > 100 {
		return s[:100] + ".."
	}
	return s
}
