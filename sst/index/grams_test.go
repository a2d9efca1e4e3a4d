package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// naiveGrams are the chosen grams of a word by their definition.
func naiveGrams(word string) map[uint64]bool {
	chosen := map[uint64]bool{}
	word = strings.ToLower(word)
	for from := 0; from+GramText <= len(word); from++ {
		best := ""
		for i := range gramWindow {
			gram := word[from+i : from+i+gramSize]
			if best == "" || gramOrder(gramAt([]byte(gram), 0)) < gramOrder(gramAt([]byte(best), 0)) {
				best = gram
			}
		}
		chosen[hashGram(gramAt([]byte(best), 0))] = true
	}
	return chosen
}

// TestGrams: the grams of a word are those of the definition, and those of any part of it are among them.
func TestGrams(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const letters = "abcXYZ0123456789ab"
	for range 2000 {
		word := make([]byte, r.IntN(70))
		for i := range word {
			word[i] = letters[r.IntN(1+r.IntN(len(letters)))]
		}
		got, want := map[uint64]bool{}, naiveGrams(string(word))
		for _, h := range AppendGrams(nil, word) {
			got[h] = true
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d grams, want %d", word, len(got), len(want))
		}
		for h := range want {
			if !got[h] {
				t.Fatalf("%s: a gram is missing", word)
			}
		}
		from := r.IntN(len(word) + 1)
		part := word[from : from+r.IntN(len(word)-from+1)]
		for _, h := range AppendGrams(nil, bytes.ToUpper(part)) {
			if !got[h] {
				t.Fatalf("%s: a gram of %s is missing", word, part)
			}
		}
		if (len(AppendGrams(nil, part)) > 0) != (len(part) >= GramText) {
			t.Fatalf("%d grams of %d characters", len(AppendGrams(nil, part)), len(part))
		}
	}
}

// TestGramFilter: a filter holds words and parts of words of its texts, and refutes most others; ids take no more than
// some bytes.
func TestGramFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 8192
	id := func() string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) }
	rows, ids := make([]string, n), make([]string, n)
	for i := range rows {
		ids[i] = id()
		rows[i] = "request " + ids[i] + " done"
		if i%100 == 0 {
			rows[i] += " für " + strings.ToUpper(ids[i][:20])
		}
	}
	var tokens Tokens
	tokens.Reset(GramTokens)
	tokens.AddColumn(texts(rows...), n)
	f := tokens.AppendFilter(nil, DefaultRate)
	if KindOf(f) != GramTokens || !tokens.Within(f) {
		t.Fatalf("kind %d, or a token is not in its filter", KindOf(f))
	}
	if size := float64(len(f)) / n; size > 4 {
		t.Errorf("%.1f bytes an id, want at most 4", size)
	}
	for i := range rows {
		from := r.IntN(20)
		if !MayHoldGrams(f, AppendGrams(nil, []byte(ids[i][from:from+GramText]))) {
			t.Fatalf("a part of %s is refuted", ids[i])
		}
	}
	if !MayHold(f, Hash(WordTokens, []byte("request"))) || InGrams([]byte("request")) || !InGrams([]byte(ids[0])) ||
		InGrams([]byte(strings.Repeat("é", 20))) {
		t.Error("words are not where they are looked for")
	}
	for _, c := range []struct {
		length int
		most   float64
	}{{GramText, 0.18}, {20, 0.02}, {32, 0.001}} {
		wrong := 0
		for range 10_000 {
			if MayHoldGrams(f, AppendGrams(nil, []byte(id()[:c.length]))) {
				wrong++
			}
		}
		if rate := float64(wrong) / 10_000; rate > c.most {
			t.Errorf("%d characters: %g are not refuted, want at most %g", c.length, rate, c.most)
		}
	}
}

// FuzzGrams: no text of ASCII letters and digits within a row is refuted by the row's filter.
func FuzzGrams(f *testing.F) {
	f.Add("GET /api/0123456789abcdefghij 200", "второй 0123456789ABCDEFGHIJ ряд", uint8(9))
	f.Fuzz(func(t *testing.T, a, b string, from uint8) {
		var tokens Tokens
		tokens.Reset(GramTokens)
		tokens.AddColumn(texts(a, b), 2)
		filter := tokens.AppendFilter(nil, DefaultRate)
		for _, s := range []string{a, b} {
			run := 0
			for i := range len(s) {
				if run++; !wholly([]byte(s[i : i+1])) {
					run = 0
				}
				if at := i + 1 - min(run, GramText+int(from%32)); run > 0 &&
					!MayHoldGrams(filter, AppendGrams(nil, []byte(s[at:i+1]))) {
					t.Fatalf("%q is refuted in %q", s[at:i+1], s)
				}
			}
		}
	})
}
