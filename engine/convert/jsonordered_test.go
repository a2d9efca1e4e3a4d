package convert

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOrdered: documents whose keys and blanks alone are to change are not decoded, and all that is ordered is what the
// decoder gives.
func TestOrdered(t *testing.T) {
	for _, c := range [][2]string{
		{`{"b":1,"a":2}`, `{"a":2,"b":1}`}, {` { "a" : 1 , "b" : [ 1 , 2 ] } `, `{"a":1,"b":[1,2]}`},
		{`{"z":{"y":1,"x":{"b":[],"a":{}}},"c":null,"a":"t"}`, `{"a":"t","c":null,"z":{"x":{"a":{},"b":[]},"y":1}}`},
		{`[{"b":1,"a":2},{"d":3,"c":4}]`, `[{"a":2,"b":1},{"c":4,"d":3}]`},
		{`{"é":1,"e":2,"":3}`, `{"":3,"e":2,"é":1}`},
		{"\t-1.50e+3\n", `-1.50e+3`}, {`[ ]`, `[]`}, {`{ }`, `{}`}, {`{"ab":1,"a":2}`, `{"a":2,"ab":1}`},
	} {
		got, ok := ordered([]byte(c[0]))
		if !ok || string(got) != c[1] {
			t.Errorf("%s: got %s, %v, want %s", c[0], got, ok, c[1])
		}
		if want, ok := decodedJSON([]byte(c[0])); !ok || !bytes.Equal(got, want) {
			t.Errorf("%s: the decoder gives %s, %v", c[0], want, ok)
		}
	}
	many := strings.Builder{}
	for i := range maxOrderedMembers + 1 {
		fmt.Fprintf(&many, `,"k%d":0`, 1000-i)
	}
	for _, doc := range []string{``, ` `, `{"a":1,"a":2}`, `{"b":1,"a":2,"b":3}`, `{"b":1,"a":"\n"}`,
		`{"b":1,"\u0061":2}`, `{"b":1 "a":2}`, `{"b":1,}`, `{"b":1,"a":2`, `{"b":1,"a"}`, `{"b":1,"a":2} x`, `[1,2`,
		`[1 2]`, `[1,]`, `{"b":1,a:2}`, `{"b":01,"a":2}`, "{\"b\":1,\"a\":\"\xff\"}",
		"{\"b\":1,\"a\":\"\u2028\"}", `{"b":1,"a":2]`, `[1}`, `{"b"`, `{"b":`,
		strings.Repeat("[", 300) + strings.Repeat("]", 300), "{" + many.String()[1:] + "}"} {
		if got, ok := ordered([]byte(doc)); ok {
			t.Errorf("%.80s is ordered: %.80s", doc, got)
		}
	}
}

// randomDocument appends a document whose objects have keys in any order, some of them twice.
func randomDocument(dst []byte, r *rand.Rand, depth int) []byte {
	blank := func() {
		if r.IntN(6) == 0 {
			dst = append(dst, " \n"[r.IntN(2)])
		}
	}
	blank()
	switch k := r.IntN(8); {
	case k < 3 && depth < 5:
		dst = append(dst, '{')
		for i := range r.IntN(6) {
			if i > 0 {
				dst = append(dst, ',')
			}
			blank()
			dst = fmt.Appendf(dst, `"%c%c"`, 'a'+rune(r.IntN(6)), 'a'+rune(r.IntN(6)))
			blank()
			dst = randomDocument(append(dst, ':'), r, depth+1)
		}
		dst = append(dst, '}')
	case k < 4 && depth < 5:
		dst = append(dst, '[')
		for i := range r.IntN(4) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = randomDocument(dst, r, depth+1)
		}
		dst = append(dst, ']')
	case k < 6:
		dst = fmt.Appendf(dst, "%d", r.IntN(1000)-500)
	default:
		dst = append(dst, [...]string{`"text"`, `"é"`, `true`, `null`, `1.5e3`, `"a\"b"`}[r.IntN(6)]...)
	}
	blank()
	return dst
}

// TestCompactRandomDocuments: the documents of ordered are those of the decoder, broken ones included.
func TestCompactRandomDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	quick := 0
	for range 20_000 {
		doc := randomDocument(nil, r, 0)
		if r.IntN(4) == 0 {
			doc[r.IntN(len(doc))] = "{}[],:\" 1a"[r.IntN(10)]
		}
		want, valid := decodedJSON(doc)
		got, ok := ordered(doc)
		if ok {
			quick++
			if !valid || !bytes.Equal(got, want) {
				t.Fatalf("%s: got %s, the decoder %s, %v", doc, got, want, valid)
			}
		}
		if got, ok := CompactJSON(doc); ok != valid || !bytes.Equal(got, want) {
			t.Fatalf("%s: CompactJSON gives %s, %v, the decoder %s, %v", doc, got, ok, want, valid)
		}
	}
	if quick < 8_000 {
		t.Errorf("%d of 20000 documents were ordered without the decoder", quick)
	}
}

// FuzzOrdered holds ordered documents to what the decoder makes of them.
func FuzzOrdered(f *testing.F) {
	for _, doc := range []string{`{"b":1,"a":{"d":[1, 2],"c":null}}`, `{"a":1,"a":2}`, ` [ 1 ] `,
		`{"":"","\u0000":0}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, ok := ordered(doc)
		if !ok {
			return
		}
		if want, valid := decodedJSON(doc); !valid || !bytes.Equal(got, want) {
			t.Errorf("%q becomes %q, by the decoder %q, %v", doc, got, want, valid)
		}
	})
}

func BenchmarkCompact(b *testing.B) {
	doc := []byte(`{"plan":"pro","cart":{"items":3,"total":31.642},"test":"5","request":"6bdf538b7e033bdb","beta":false}`)
	for name, f := range map[string]func([]byte) ([]byte, bool){"ordered": ordered, "decoded": decodedJSON} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if _, ok := f(doc); !ok {
					b.Fatal("no document")
				}
			}
		})
	}
}
