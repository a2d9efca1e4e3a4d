package jsontext

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestPlain compares with a naive loop, at every length and place around whole words.
func TestPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		for range 50 {
			text := []byte(strings.Repeat("aé\x7f\xff", 10)[:n])
			if n > 0 && r.IntN(3) > 0 {
				text[r.IntN(n)] = "\"\\\x00\x1f\x1e!#[]"[r.IntN(9)]
			}
			for from := range n + 1 {
				want := from
				for want < n && text[want] != '"' && text[want] != '\\' && text[want] >= ' ' {
					want++
				}
				if got := Plain(text, from); got != want {
					t.Fatalf("%q from %d: %d, want %d", text, from, got, want)
				}
				if got := Plain(string(text), from); got != want {
					t.Fatalf("%q as a string from %d: %d, want %d", text, from, got, want)
				}
			}
		}
	}
}

func TestEscape(t *testing.T) {
	for _, c := range []struct {
		in   string
		want rune
		end  int
		ok   bool
	}{
		{`n`, '\n', 1, true}, {`/x`, '/', 1, true}, {`u00e9x`, 'é', 5, true}, {`u00E9`, 'é', 5, true},
		{`ud83d\ude00`, '\U0001F600', 11, true},
		{`ud83d`, 0xD83D, 5, true}, {`ud83dx`, 0xD83D, 5, true}, {`ud83d\n`, 0xD83D, 5, true},
		{`ud83d\u0041`, 0xD83D, 5, true}, {`ude00\ud83d`, 0xDE00, 5, true},
		{`ud83d\u12g4`, 0xD83D, 5, true},
		{``, 0, 0, false}, {`x`, 0, 0, false}, {`u12`, 0, 3, false}, {`u12g4`, 0, 3, false}, {`u:000`, 0, 1, false},
		{`u@000`, 0, 1, false}, {"u`000", 0, 1, false},
	} {
		if r, end, ok := Escape(c.in, 0); r != c.want || end != c.end || ok != c.ok {
			t.Errorf("%s: %x, %d, %v, want %x, %d, %v", c.in, r, end, ok, c.want, c.end, c.ok)
		}
	}
}

// FuzzTokens: strings and numbers are what the standard library takes for them, in texts of any bytes, and end at the
// same place however they are read.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{`"a\u0041\ud83d\ude00\ud800x"`, `"plain"`, `""`, "\"\xff\xfea\"", "\"\\n\xf0\x9f\"",
		`"\x"`, `"a`, `-0`, `-0.0E+1`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `01`, `1.`,
		`1e`,
		`1e400`, `0.1`, `123456789012345678901.5e-22`, `9007199254740993`, `9007199254740993.0`, `-`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.HasPrefix(in, `"`) {
			end, ok := StringEnd(in, 1)
			text, last, read := Unescape(nil, in, 1)
			if read != ok || last != end {
				t.Fatalf("%q ends at %d, %v; read to %d, %v", in, end, ok, last, read)
			}
			if whole := ok && end == len(in); whole != json.Valid([]byte(in)) && !strings.ContainsAny(in, " \t\r\n") {
				t.Fatalf("%q is a string: %v", in, whole)
			}
			var want string
			if json.Unmarshal([]byte(in), &want) == nil && strings.ToValidUTF8(string(text), "") == string(text) &&
				string(text) != want {
				t.Fatalf("%q reads %q, want %q", in, text, want)
			}
			whole := json.Unmarshal([]byte(in), &want) == nil && strings.HasSuffix(in, `"`)
			if text, ok := Unquote([]byte(in)); ok != whole || ok && string(text) != want {
				t.Fatalf("%q unquotes as %q, %v, want %q, %v", in, text, ok, want, whole)
			}
			return
		}
		end, ok := NumberEnd([]byte(in), 0)
		last, kind, n, x := ParseNumber(in, 0)
		if ok != (kind != NoNumber) || last != end {
			t.Fatalf("%q ends at %d, %v; read to %d, kind %d", in, end, ok, last, kind)
		}
		want, err := strconv.ParseFloat(in[:end], 64)
		switch whole, intErr := strconv.ParseInt(in[:end], 10, 64); {
		case kind == NoNumber:
		case kind == TooBig && err == nil, kind != TooBig && err != nil:
			t.Fatalf("%q: kind %d, but %v", in[:end], kind, err)
		case kind == Int && (intErr != nil || n != whole), kind == Float && (intErr == nil || x != want):
			t.Fatalf("%q: %d or %v, want %d or %v", in[:end], n, x, whole, want)
		}
	})
}
