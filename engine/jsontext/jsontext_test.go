package jsontext

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, "abc": `"abc"`, "a\"b\\c": `"a\"b\\c"`,
		"\b\f\n\r\t\x00\x1f\x7f": `"\b\f\n\r\t\u0000\u001f` + "\x7f" + `"`, "é€😀<>&": `"é€😀<>&"`,
		"\xff\xfea\xe2\x82": `"` + "\uFFFD\uFFFDa\uFFFD\uFFFD" + `"`, "\uFFFD": `"` + "\uFFFD" + `"`,
	} {
		if got := string(AppendString([]byte("+"), in)); got != "+"+want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
		if got := string(AppendString(nil, []byte(in))); got != want {
			t.Errorf("bytes of %q: %s, want %s", in, got, want)
		}
	}
}

// TestAppendStringReadsBack compares with the standard library.
func TestAppendStringReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		text := make([]byte, r.IntN(20))
		for i := range text {
			text[i] = byte(r.IntN(256))
			if r.IntN(2) == 0 {
				text[i] = "a\"\\\n\xc3\xa9"[r.IntN(6)]
			}
		}
		var got string
		out := AppendString(nil, text)
		if err := json.Unmarshal(out, &got); err != nil || !utf8.Valid(out) {
			t.Fatalf("%q: %s, %v", text, out, err)
		}
		if want := string([]rune(string(text))); got != want {
			t.Fatalf("%q reads back as %q, want %q", text, got, want)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", math.Copysign(0, -1): "-0.0", 1: "1.0", -2.5: "-2.5", 1e-5: "0.00001", 1e-6: "1e-6",
		-1.5e-7: "-1.5e-7", 1e15: "1000000000000000.0", 1e16: "1e16", 1e300: "1e300", 1e-300: "1e-300",
		math.Inf(1): "null", math.Inf(-1): "null", math.MaxFloat64: "1.7976931348623157e308",
	} {
		if got := string(AppendFloat([]byte("+"), x)); got != "+"+want && x != 0 {
			t.Errorf("%g: %s, want +%s", x, got, want)
		}
	}
	if got := string(AppendFloat(nil, math.NaN())); got != "null" {
		t.Errorf("NaN: %s", got)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		x := math.Float64frombits(r.Uint64())
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		text := string(AppendFloat(nil, x))
		if got, err := strconv.ParseFloat(text, 64); err != nil || got != x || !strings.ContainsAny(text, ".e") ||
			!json.Valid([]byte(text)) {
			t.Fatalf("%g is written %s, read back as %g, %v", x, text, got, err)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\\n\r\t\x00\x7f")
	f.Add("\xff\xc3\u00e9\u2028\U0001F600\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%q is written %s: %v", s, b, err)
		}
		if want := toValid(s); back != want {
			t.Fatalf("%q reads back as %q", s, back)
		}
		if got := AppendString(nil, []byte(s)); string(got) != string(b) {
			t.Fatalf("as bytes %s, as string %s", got, b)
		}
	})
}

// toValid replaces each byte that is not UTF-8 by U+FFFD.
func toValid(s string) string { return string([]rune(s)) }
