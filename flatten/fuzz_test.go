package flatten

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"

	"varve/engine/vector"
)

// warmLines teach a decoder some shapes before the input comes.
const warmLines = "{\"a\":1,\"b\":\"x\",\"c\":{\"d\":1.5,\"e\":[1]},\"a.b\":true}\n{\"a\":2,\"c\":{\"e\":[\"y\"]},\"b\":\"\\n\"}\n{\"s\":{\"a\":null}}\n"

var seeds = []string{
	`{"a":1,"b":"x","c":{"d":1.5,"e":[1]},"a.b":true}`,
	`{"a":2,"c":{"e":["y",{"z":1,"a":2,"z":3}]},"b":"\n\ud83d\ude00\ud800"}`, `{"a":1,"a":"x"}`,
	`{"a":{"b":1},"a.b":{"c":2},"a":null}`, `{"s":{"a":1e400}}`, `{"":{"":-0.0}}`,
	`{"a":12345678901234567890,"b":null}`, ` {"\u0061" :1 , "b": "y" } `, `[1,{"a":2}]`,
	"{\"a\":\"\x00\"}", "{\"b\":\"\xff\"}", `{"b":"é\/"}x`, `{"service_timestamp":1,"service_ttl":"1d","a":3}`, `{"a":`,
	`{"c":{"d":2,"e":"x"}}`, `{"b":"\"}`, "\uFEFF{}", `{"a":-}`,
	`[[[[[]]]]]`, `{"a":1}{"a":2}`, `[{"a":1},{"a":2}]`, `[{"a":1},"x",2,null]`, `{"a":1} 5`,
	"{\"a\":1}\n\n{\"a\":2}\r\n",
}

// FuzzLines holds the predictive reader against the tree that sonic builds, line by line.
func FuzzLines(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		o := Options{MaxDepth: 1 + int(mode>>2)%4, IgnoreErrors: true, SkipErrors: true, Now: clock}
		o.Time, _ = ParseTimeIndex([]string{"", "a;epoch;s", "c.d;epoch;s", "b;datestr;%Y-%m-%d%z"}[mode&3])
		body := append([]byte(warmLines), data...)
		var got, cut, want groups
		res, err := NewDecoder().Decode(bytes.NewReader(body), NDJSON, o, got.rows)
		if err != nil {
			return // a limit of the request: the oracle below has none
		}
		small := NewDecoder()
		small.window = 32
		if _, err := small.Decode(bytes.NewReader(body), NDJSON, o, cut.rows); err != nil {
			t.Fatal(err)
		}
		oracle := NewDecoder()
		oracle.begin(strings.NewReader(""), NDJSON, o, want.rows)
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if len(bytes.TrimSuffix(line, []byte("\r"))) == 0 {
				continue
			}
			v, ok := sonicTree(line)
			if !ok {
				continue
			}
			if v.kind != objectValue {
				oracle.entryDone(errNotObject)
				continue
			}
			oracle.entryDone(oracle.row(v.fields(o.MaxDepth)))
		}
		if g, w := outcome(&got, res, nil), outcome(&want, oracle.res, nil); g != w {
			t.Fatalf("%q\n got %s\nwant %s", data, g, w)
		}
		if g, w := cut.String(), got.String(); g != w {
			t.Fatalf("%q in small windows\n got %s\nwant %s", data, g, w)
		}
	})
}

// sonicTree is the tree of a line by sonic and the standard library alone.
func sonicTree(line []byte) (v value, ok bool) {
	if !utf8.Valid(line) || !json.Valid(line) || !sonic.Valid(line) {
		return value{}, false
	}
	t := deepTree{}
	if err := ast.Preorder(string(mendSurrogates(line)), &t, nil); err != nil || t.deepest > maxNesting {
		return value{}, false
	}
	return t.open[0], true
}

// deepTree is a treeBuilder that measures nesting.
type deepTree struct {
	treeBuilder
	deepest int
}

func (t *deepTree) OnObjectBegin(n int) error {
	t.deepest = max(t.deepest, len(t.open)+1)
	return t.treeBuilder.OnObjectBegin(n)
}

func (t *deepTree) OnArrayBegin(n int) error {
	t.deepest = max(t.deepest, len(t.open)+1)
	return t.treeBuilder.OnArrayBegin(n)
}

// FuzzStream holds the stream reader against the standard library's, and against itself in small windows.
func FuzzStream(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := Options{SkipErrors: true, Now: clock}
		var got, cut groups
		res, err := NewDecoder().Decode(bytes.NewReader(data), JSONStream, o, got.rows)
		small := NewDecoder()
		small.window = 32
		resCut, errCut := small.Decode(bytes.NewReader(data), JSONStream, o, cut.rows)
		if g, w := outcome(&cut, resCut, errCut), outcome(&got, res, err); g != w {
			t.Fatalf("%q in small windows\n got %s\nwant %s", data, g, w)
		}
		entries, ok := streamEntries(bytes.TrimPrefix(data, []byte("\uFEFF")))
		switch {
		case err == nil && !ok:
			t.Fatalf("%q is taken", data)
		case err == nil && res.Rows+res.Skipped != entries:
			t.Fatalf("%q: %+v, want %d entries", data, res, entries)
		case err != nil && ok && !strings.Contains(err.Error(), badNesting.String()) &&
			!strings.Contains(err.Error(), badRange.String()):
			t.Fatalf("%q: %v", data, err)
		}
	})
}

// streamEntries counts the entries of a valid stream.
func streamEntries(data []byte) (n int, ok bool) {
	if !utf8.Valid(data) {
		return 0, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == io.EOF {
			return n, true
		}
		if err != nil {
			return n, false
		}
		switch raw[0] {
		case '{':
			n++
		case '[':
			var elems []json.RawMessage
			if json.Unmarshal(raw, &elems) != nil {
				return n, false
			}
			n += len(elems)
		default:
			return n, false
		}
	}
}

// FuzzText holds the text of values against the tree's.
func FuzzText(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, ok := sonicTree(data)
		d := NewDecoder()
		d.newlines = true
		d.buf = append(bytes.Clone(data), make([]byte, padBytes)...)
		text, end, fault := d.appendJSON(nil, d.blank(0), 1)
		if fault == fine && d.blank(end) != len(data) {
			fault = badSyntax
		}
		if valid := utf8.Valid(data); valid && (fault == fine) != ok {
			t.Fatalf("%q: %s, want ok %t", data, fault, ok)
		} else if valid && ok {
			if want := string(v.appendText(nil)); string(text) != want {
				t.Fatalf("%q\n got %s\nwant %s", data, text, want)
			}
		}
		end, skipped := d.skip(d.blank(0), 1)
		if skipped == fine && d.blank(end) != len(data) {
			skipped = badSyntax
		}
		if (skipped == fine) != (fault == fine) {
			t.Fatalf("%q: skipping %s, writing %s", data, skipped, fault)
		}
	})
}

// TestSonicIsFast fails where sonic runs its slow fallback: on Go versions that it does not know.
func TestSonicIsFast(t *testing.T) {
	if sonic.APIKind != sonic.UseSonicJSON {
		t.Error("sonic falls back to the standard library: the toolchain is newer than it knows")
	}
}

// TestWarmDecodeAllocates holds that the number of rows does not matter to the number of allocations.
func TestWarmDecodeAllocates(t *testing.T) {
	epoch := Options{Now: clock}
	epoch.Time, _ = ParseTimeIndex("t;epoch;ms")
	date := Options{Now: clock}
	date.Time, _ = ParseTimeIndex("t;datestr;%Y-%m-%dT%H:%M:%S%.3f%#z")
	for _, c := range []struct {
		name string
		f    Framing
		o    Options
		line string
	}{
		{"plain", NDJSON, Options{Now: clock}, `{"a":1,"b":"text","c":1.5,"d":true,"e":null}`},
		{"escapes", NDJSON, Options{Now: clock}, `{"a":"\"\\\u00e9\ud83d\ude00\n","\u0062":"\t"}`},
		{"nested", NDJSON, Options{Now: clock}, `{"a":{"b":{"c":[1,"x\n",{"z":1,"y":2,"z":3}]}},"d":{}}`},
		{"stream", JSONStream, Options{Now: clock}, `{"a":1,"b":"text\n","c":[1,2]}`},
		{"text", Lines, Options{Now: clock}, `some text`},
		{"epoch", NDJSON, epoch, `{"t":1752749137000,"a":1}`},
		{"epoch text", NDJSON, epoch, `{"t":"1752749137000","a":1}`},
		{"date", NDJSON, date, `{"t":"2025-06-27T15:02:23.082Z","a":1}`},
		{"options", NDJSON, Options{Now: clock}, `{"a":1,"service_ttl":"1d"}`},
		{"own time ignored", NDJSON, Options{Now: clock}, `{"a":1,"service_timestamp":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, b, group, r := NewDecoder(), vector.NewBuilder(), vector.NewBuilder(), bytes.NewReader(nil)
			rows := func(v OptionVars) (*vector.Builder, error) {
				if v.set != 0 {
					return group, nil
				}
				return b, nil
			}
			allocs := func(n int) float64 {
				body := []byte(strings.Repeat(c.line+"\n", n))
				run := func() {
					b.Reset()
					group.Reset()
					r.Reset(body)
					if _, err := d.Decode(r, c.f, c.o, rows); err != nil {
						t.Fatal(err)
					}
					b.Finish()
					group.Finish()
				}
				run()
				return testing.AllocsPerRun(5, run)
			}
			many := allocs(20000)
			if few := allocs(10); many > few || few > 2 {
				t.Errorf("%v allocations for 20000 rows, %v for 10", many, few)
			}
		})
	}
}
