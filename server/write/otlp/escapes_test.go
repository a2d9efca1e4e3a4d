package otlp

import (
	"bytes"
	"errors"
	"testing"
)

// TestEscapesAreCounted: what escapes add to texts, long ones and many short ones, is told before it takes memory, and
// no room for it is the error.
func TestEscapesAreCounted(t *testing.T) {
	errFull := errors.New("full")
	for _, size := range []int{4 << 20, 64 << 10} {
		var told int64
		w := writer{grown: func(bytes int64) error {
			if told += bytes; told > 8<<20 {
				return errFull
			}
			return nil
		}}
		text := wireValue{kind: textValue, bytes: bytes.Repeat([]byte{1}, size)}
		dst, err := []byte(nil), error(nil)
		for range 4 << 20 / size {
			if dst, err = w.value(dst, &text, 1); err != nil {
				break
			}
		}
		if err != errFull {
			t.Errorf("texts of %d bytes: error %v after %d bytes were told, want that there is no room", size, err,
				told)
		}
		if most := 8<<20 + 2*maxEscape*tellEscapes; len(dst) > most {
			t.Errorf("texts of %d bytes: %d bytes were made, %d were told", size, len(dst), told)
		}
	}
}

// TestQuotedBytes is never less than what is written.
func TestQuotedBytes(t *testing.T) {
	var w writer
	for c := range 128 {
		dst, err := w.text(nil, []byte{byte(c), 'x'})
		if want := quotedBytes([]byte{byte(c), 'x'}); err != nil || len(dst) > want {
			t.Errorf("byte %d: %q is %d bytes, said to be %d at most (%v)", c, dst, len(dst), want, err)
		}
	}
}
