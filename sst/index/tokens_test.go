package index

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// texts makes a column of strings.
func texts(s ...string) *vector.Vector {
	return column(vector.StringType, len(s), func(c *vector.ColumnBuilder, i int) { c.SetString(s[i]) })
}

// TestTokens compares the tokens of random texts with the words that filter defines.
func TestTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	pieces := []string{"a", "Z9", "word", "longerword", "exactly8", "x", " ", " ", ".", "_", "10", "255", "1.2.3.4",
		"é", "日本", "K", "\xff", strings.Repeat("q", 70)}
	var tokens Tokens
	for n := range 400 {
		rows := make([]string, 1+n%7)
		for i := range rows {
			for range r.IntN(30) {
				rows[i] += pieces[r.IntN(len(pieces)-n%2*5)]
			}
		}
		tokens.Reset(WordTokens)
		tokens.AddColumn(texts(rows...), len(rows))
		want := map[uint64]string{}
		for _, s := range rows {
			words := filter.AppendWords(nil, []byte(s), filter.ClosedEdge, filter.ClosedEdge)
			words = filter.AppendWords(words, filter.AppendFold(nil, []byte(s)), filter.ClosedEdge, filter.ClosedEdge)
			words = filter.AppendWords(words, bytes.ToLower([]byte(s)), filter.ClosedEdge, filter.ClosedEdge)
			for _, w := range words {
				want[Hash(WordTokens, w)] = string(w)
			}
		}
		for _, h := range tokens.list {
			if _, ok := want[h]; !ok {
				t.Fatalf("%q: a token too many", rows)
			}
			delete(want, h)
		}
		if len(want) > 0 {
			t.Fatalf("%q lacks %v", rows, want)
		}
	}
}

func TestFilter(t *testing.T) {
	for _, rate := range []float64{0.3, 0.02, 0.001} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			var tokens Tokens
			tokens.Reset(ValueTokens)
			const n = 8192
			tokens.AddColumn(column(vector.Int64Type, n, func(c *vector.ColumnBuilder, i int) { c.SetInt(int64(i)) }),
				n)
			f := tokens.AppendFilter(nil, rate)
			if tokens.Len() != n || KindOf(f) != ValueTokens {
				t.Fatalf("%d tokens, kind %d", tokens.Len(), KindOf(f))
			}
			if !tokens.Within(f) {
				t.Fatal("a token is not in its filter")
			}
			wrong := 0
			for i := range 100_000 {
				if MayHold(f, hashNumber(uint64(n+i))) {
					wrong++
				}
			}
			if got := float64(wrong) / 100_000; got > 1.3*rate {
				t.Errorf("rate of false positives %g, want %g", got, rate)
			}
		})
	}
}

// TestHash pins the hashes: they are part of the file format.
func TestHash(t *testing.T) {
	got := fmt.Sprintf("%016x %016x %016x", Hash(WordTokens, []byte("error")),
		Hash(ValueTokens, []byte("0123456789abcdef-")), hashNumber(42))
	if want := "132e6d6a8d94f7a6 3b1a251b6f644be7 67b6a5d62ff682c4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if Hash(ValueTokens, []byte{42, 0, 0, 0, 0, 0, 0, 0}) != hashNumber(42) {
		t.Error("numbers are not hashed as their bytes")
	}
}

// FuzzFilter asks any bytes for any token.
func FuzzFilter(f *testing.F) {
	var tokens Tokens
	tokens.Reset(WordTokens)
	tokens.AddColumn(texts("one two three"), 1)
	f.Add(tokens.AppendFilter(nil, 0.02), uint64(1))
	f.Add([]byte{1, 200, 0, 0, 0, 0, 0, 0, 0, 0}, uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, h uint64) {
		Describe(b)
		if KindOf(b) != 0 {
			MayHold(b, h)
		}
	})
}

// FuzzWords: whatever the text, the fast way and the definition give the same tokens.
func FuzzWords(f *testing.F) {
	f.Add("GET /api/v1/users/10.0.0.1 200", "второй ряд")
	f.Fuzz(func(t *testing.T, a, b string) {
		var tokens Tokens
		tokens.Reset(WordTokens)
		tokens.AddColumn(texts(a, b), 2)
		for _, s := range []string{a, b} {
			for _, w := range filter.AppendWords(nil, []byte(s), filter.ClosedEdge, filter.ClosedEdge) {
				if !slices.Contains(tokens.list, Hash(WordTokens, w)) {
					t.Fatalf("%q lacks %q", s, w)
				}
			}
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 8192
	for _, c := range []struct {
		name string
		row  func() string
	}{
		{"trace", func() string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) }},
		{"message", func() string {
			return fmt.Sprintf("Received block blk_%d of size %d from storage backend 10.%d.%d.7", r.Uint64()>>1,
				r.IntN(1<<26), r.IntN(256), r.IntN(256))
		}},
		{"path", func() string { return fmt.Sprintf("/api/v1/products/%d", r.IntN(200000)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := column(vector.StringType, n, func(c2 *vector.ColumnBuilder, i int) { c2.SetString(c.row()) })
			var tokens Tokens
			var f []byte
			b.SetBytes(int64(len(v.Heap)))
			b.ReportAllocs()
			for b.Loop() {
				tokens.Reset(WordTokens)
				tokens.AddColumn(v, n)
				f = tokens.AppendFilter(f[:0], DefaultRate)
			}
			b.ReportMetric(float64(len(f))/n, "B/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// FuzzWordTexts: the tokens of what an encoder has found in a block while splitting it into templates are no fewer than
// those of its rows.
func FuzzWordTexts(f *testing.F) {
	f.Add("user 17 from 10.0.0.1 took 5ms", "300.1.2.3 u7é a.1.2.3.4", "2024-01-02T03:04:05.678Z id=a1b2c3")
	f.Add("0123456789abcdef-1", "a1.2b.3.4 1.2.3.4.5", "deadbeef-0000-0000-0000-000000000000 x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var rows []string
		for i := range 48 {
			rows = append(rows, fmt.Sprint([]string{a, b, c, c + a, a + "." + b}[i%5], " number ", i))
		}
		checkWordTexts(t, rows)
		for i, row := range rows {
			quoted, _ := json.Marshal(row)
			rows[i] = fmt.Sprintf(`{"text":%s,"few":%q,"list":[%s,7],"number":%d}`, quoted, "10.0.0."+fmt.Sprint(i%3),
				quoted, i)
		}
		checkWordTexts(t, rows)
	})
}

// checkWordTexts holds that no word of the rows is missing in what the encoder has found.
func checkWordTexts(t *testing.T, rows []string) {
	t.Helper()
	v := texts(rows...)
	if len(v.Heap) > 1<<18 || !ASCII(v.Heap) {
		return
	}
	e := encoding.NewEncoder()
	shared := encoding.NewShared(1) // too small
	e.Append(nil, v, len(rows), shared)
	found, heap, ok := e.WordTexts()
	if !ok {
		return
	}
	var got, want Tokens
	got.Reset(WordTokens)
	got.AddStrings(found, heap)
	want.Reset(WordTokens)
	want.AddColumn(v, len(rows))
	for _, h := range want.list {
		if slices.Contains(got.list, h) {
			continue
		}
		for _, s := range rows {
			for _, w := range filter.AppendWords(nil, []byte(s), filter.ClosedEdge, filter.ClosedEdge) {
				if Hash(WordTokens, w) == h {
					t.Fatalf("%q of %q is missing", w, s)
				}
			}
		}
	}
}
