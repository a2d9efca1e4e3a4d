package tail

import (
	"fmt"
	"strings"

	"varve/cmd/varve/client"
)

// escapedJSON writes the characters that JSON leaves as they are and that steer a terminal in the other way it has for them.
func escapedJSON(text []byte) []byte {
	s := string(text)
	if strings.IndexFunc(s, client.Steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range s {
		if client.Steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}
