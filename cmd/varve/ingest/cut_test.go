package ingest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// cutAll cuts a text with batches of a size and gives each entry with its line and its reason to be refused.
func cutAll(t *testing.T, name string, src *source, size int, resume mark) (out []string, end error) {
	t.Helper()
	o := &Options{Batch: size}
	c, err := formats[name].newCutter(&input{}, o, src, resume, nil)
	if err != nil {
		return nil, err
	}
	at := resume
	for {
		var b batch
		err := c.fill(&b, make([]byte, 0, size))
		if len(b.body) > 0 || b.refused != "" {
			if b.from.Byte > at.Byte || b.to.Byte <= b.from.Byte {
				t.Errorf("a batch from %v to %v behind %v", b.from, b.to, at)
			}
			at = b.to
			out = append(out, describe(t, &b)...)
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// describe halves a batch down to its entries.
func describe(t *testing.T, b *batch) (out []string) {
	t.Helper()
	if b.refused != "" {
		return []string{fmt.Sprintf("%d:refused %s", b.line(), b.refused)}
	}
	if b.long != nil {
		text, err := io.ReadAll(io.NewSectionReader(b.long, 0, b.bytes))
		if err != nil {
			t.Error(err)
		}
		return []string{fmt.Sprintf("%d:%s", b.line(), text)}
	}
	for todo := []part{b.part}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if left, right, ok := p.halve(); ok {
			if left.from != p.from || left.to != right.from || right.to != p.to {
				t.Errorf("halves of %v..%v are %v..%v and %v..%v", p.from, p.to, left.from, left.to, right.from,
					right.to)
			}
			todo = append(todo, right, left)
		} else if !p.isBlank() {
			out = append(out, fmt.Sprintf("%d:%s", p.line(), p.text()))
		}
	}
	return out
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, format, in, want string }{
		{"lines", "ndjson", "a\nb\n\nc", "1:a|2:b|4:c"},
		{"lines with returns", "text", "a\r\nb\r\n\r\nc\r\n", "1:a|2:b|4:c"},
		{"byte order mark", "text", "\xef\xbb\xbfa\nb\n", "1:a|2:b"},
		{"nothing", "text", "", ""},
		{"empty lines", "text", "\n\n", ""},
		{"line protocol", "lineproto", "# two\ncpu v=1 1\n\n \t# more\r\n  cpu v=2 2\r\n# the end",
			"2:cpu v=1 1|5:cpu v=2 2"},
		{"line protocol of comments", "lineproto", "# a\n\n# b\n", ""},
		{"line ends in texts of line protocol", "lineproto",
			"m,a=\"x a=\"1\n2\",b=\"\\\"\n#\\\\\",c=1 1\nm,a=x b=\"\\\n\"\nm b=\"\"",
			"1:m,a=\"x a=\"1\n2\",b=\"\\\"\n#\\\\\",c=1 1|4:m,a=x b=\"\\\n\"|6:m b=\"\""},
		{"what is no line protocol ends with its line", "lineproto",
			"m a=\"1 1\nm a=\"2\" 2\nx\"y\nm a=b\"c\nm\\\nm b=\"3",
			"1:m a=\"1 1|2:m a=\"2\" 2|3:x\"y|4:m a=b\"c|5:m\\|6:m b=\"3"},
		{"objects", "json", `{"a":1} {"b":"}{\""}` + "\n\n" + `{"c":[1,{"d":2}]}`,
			`1:{"a":1}|1:{"b":"}{\""}|3:{"c":[1,{"d":2}]}`},
		{"an array", "json", "[\n {\"a\":1},\n {\"b\":\n  2}\n]\n", `2:{"a":1}|3:{"b":   2}`},
		{"arrays and objects", "json", `[{"a":1}][]{"b":2}`, `1:{"a":1}|1:{"b":2}`},
		{"other values are entries", "json", "1 [true,\"x\"]\nfalse", `1:1|1:true|1:"x"|2:false`},
		{"a string over two lines", "json", "{\"a\":\"b\nc\"}\n{}",
			`1:refused a line ends inside of a string: JSON wants \n there|3:{}`},
		{"points", "jsonput", `[{"metric":"m"},{"metric":"n"}]`, `1:{"metric":"m"}|1:{"metric":"n"}`},
		{"streams", "logpush", `{"x":{"streams":[1]},"streams":[{"stream":{"a":"b"},"values":[["1","x"]]},` + "\n" +
			`{"stream":{}}],"y":["]"]}{"streams":[]}`, `1:{"stream":{"a":"b"},"values":[["1","x"]]}|2:{"stream":{}}`},
		{"csv", "csv", "a,b\n1,x\n2,\"y, \"\"z\"\"\nw\"\n,\n3,\"\"\n",
			`2:{"a":1,"b":"x"}|3:{"a":2,"b":"y, \"z\"\nw"}|5:{}|6:{"a":3,"b":""}`},
		{"csv without an end", "csv", "a,b\r\n1.5,true\r\n2,false", `2:{"a":1.5,"b":true}|3:{"a":2.0,"b":false}`},
		{"csv with a number in quotes", "csv", "a\n1\n\"2\"\n", `2:{"a":"1"}|3:{"a":"2"}`},
		{"csv with other records", "csv", "a,b\n1\n2,3\n4,5,6\n",
			`2:refused the record has 1 cells, and the head line 2|3:{"a":2,"b":3}|4:refused the record has 3 cells, and the head line 2`},
		{"csv with a quote in a cell", "csv", "a,b\n5\" disk,x\n6,y\n",
			`2:{"a":"5\" disk","b":"x"}|3:{"a":"6","b":"y"}`},
		{"csv of large numbers", "csv", "a\n18446744073709551615\n007\n",
			`2:{"a":"18446744073709551615"}|3:{"a":"007"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
				iotest.DataErrReader(strings.NewReader(c.in))} {
				src, err := unpack(&countingReader{r: r, done: func(int) {}})
				if err != nil {
					t.Fatal(err)
				}
				out, err := cutAll(t, c.format, src, leastBatch, mark{})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(out, "|"); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

// TestHeadOfCSV: a head line or a first record that the beginning of a text holds only a part of is read whole.
func TestHeadOfCSV(t *testing.T) {
	var names, want []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("c%d", i))
		want = append(want, fmt.Sprintf(`"c%d":"7"`, i))
	}
	row := strings.Repeat("7,", len(names)-1) + "7"
	head := strings.Join(names, ",")
	for _, c := range []struct {
		name string
		src  *source
		want string
	}{
		{"a pause in the head line", &source{head: []byte("a"), r: strings.NewReader(",b\n1,2\n")},
			`2:{"a":"1","b":"2"}`},
		{"a pause behind a comma of it", &source{head: []byte("a,"), r: strings.NewReader("b\n1,2\n")},
			`2:{"a":"1","b":"2"}`},
		{"a pause inside of its quotes", &source{head: []byte(`"a`), r: strings.NewReader("b\"\n1\n")}, `2:{"ab":"1"}`},
		{"a pause in the first record", &source{head: []byte("a\n1"), r: strings.NewReader("x\n2\n")},
			`2:{"a":"1x"}|3:{"a":"2"}`},
		{"a whole text without an end", &source{head: []byte("a\n1"), r: eof{}, whole: true}, `2:{"a":1}`},
		{"a head line longer than what is looked at", nil, "2:{" + strings.Join(want, ",") + "}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.src == nil {
				var err error
				if c.src, err = unpack(strings.NewReader(head + "\n" + row + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			out, err := cutAll(t, "csv", c.src, 1<<20, mark{})
			if got := strings.Join(out, "|"); err != nil || got != c.want {
				t.Errorf("%v\n got %.200s\nwant %.200s", err, got, c.want)
			}
		})
	}
	for in, want := range map[string]string{head + "\n1\n": "line 1: the head line of the CSV has 128890 bytes",
		strings.Repeat("n,", headSize) + "\n1\n": "no name for column"} {
		size := leastBatch
		if in[0] == 'n' {
			size = 1 << 20
		}
		src, err := unpack(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = cutAll(t, "csv", src, size, mark{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestCutFails(t *testing.T) {
	for _, c := range []struct{ format, in, want string }{
		{"json", "{}\n[{}", "line 2: the JSON ends in the middle"},
		{"json", "{}\n {\"a\":", "line 2: the JSON ends in the middle"},
		{"json", "{}\n]", `line 2: ']' closes nothing that was opened`},
		{"logpush", "[1]", "a log push is an object with streams"},
		{"csv", "a,b\n1,2\n3,\"x", "line 3: the CSV ends inside of quotes"},
		{"csv", "", "no head line"},
		{"csv", "a,,b\n", "no name for column 2"},
	} {
		_, err := cutAll(t, c.format, &source{head: []byte(c.in), r: eof{}}, leastBatch, mark{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.format, c.in, err, c.want)
		}
	}
}

// TestCutRandomly: whatever the sizes of batches and of reads, entries and their lines are those of the text, also
// behind any place where one ends.
func TestCutRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		var b strings.Builder
		var want []string
		for line := 1; line < 60; line++ {
			if rng.IntN(9) == 0 {
				b.WriteString("\n")
				continue
			}
			entry := fmt.Sprintf(`{"n":%d,"s":%q}`, line, strings.Repeat("z", rng.IntN(300)))
			want = append(want, fmt.Sprintf("%d:%s", line, entry))
			b.WriteString(entry + "\n")
		}
		all := b.String()
		for _, format := range []string{"ndjson", "json"} {
			size := 400 + rng.IntN(2000)
			out, err := cutAll(t, format, &source{head: []byte(all), r: eof{}}, size, mark{})
			if got := strings.Join(out, "|"); err != nil || got != strings.Join(want, "|") {
				t.Fatalf("round %d, %s in batches of %d: %v\n got %.300s\nwant %.300s", round, format, size, err, got,
					strings.Join(want, "|"))
			}
			k := rng.IntN(len(want))
			begin := strings.Index(all, want[k][strings.IndexByte(want[k], ':')+1:])
			from := mark{int64(begin), int64(strings.Count(all[:begin], "\n"))}
			out, err = cutAll(t, format, &source{head: []byte(all), r: eof{}}, size, from)
			if got := strings.Join(out, "|"); err != nil || got != strings.Join(want[k:], "|") {
				t.Fatalf("round %d, %s from %v: %v\n got %.300s\nwant %.300s", round, format, from, err, got,
					strings.Join(want[k:], "|"))
			}
		}
	}
}

// TestLongLine: a line larger than a batch goes through a file, and one larger than any body is a reject.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("l", 10_000)
	out, err := cutAll(t, "text", &source{head: []byte("a\n" + long + "\nb\n" + long), r: eof{}}, leastBatch, mark{})
	if got, want := strings.Join(out, "|"), "1:a|2:"+long+"|3:b|4:"+long; err != nil || got != want {
		t.Errorf("%v\n got %.200s", err, got)
	}
	r := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(zeros{}, mostEntry+1), strings.NewReader("\nb\n"))
	out, err = cutAll(t, "text", &source{r: r}, leastBatch, mark{})
	if got, want := strings.Join(out, "|"),
		fmt.Sprintf("1:a|2:refused the line has %d bytes, at most %d can be sent: --batch raises that|3:b", mostEntry+1,
			mostEntry); err != nil || got != want {
		t.Errorf("%v\n got %.200s", err, got)
	}
	for _, format := range []string{"json", "csv"} {
		all := `{"a":"` + long + `"}` + "\n{}\n"
		if format == "csv" {
			all = "a\n" + long + "\n1\n"
		}
		out, err := cutAll(t, format, &source{head: []byte(all), r: eof{}}, leastBatch, mark{})
		if err != nil || len(out) != 2 || !strings.Contains(out[0], "refused") || strings.Contains(out[1], "refused") {
			t.Errorf("%s: %v %.300q", format, err, out)
		}
	}
}

// TestPassOverEnds: what is stored already is passed over only until nothing further is wanted.
func TestPassOverEnds(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	for name, f := range formats {
		src := &source{head: []byte("a\n"), r: zeros{}, packed: "gzip", stop: stop}
		c, err := f.newCutter(&input{}, &Options{Batch: leastBatch}, src, mark{1 << 60, 1}, nil)
		if err == nil {
			err = c.fill(&batch{}, make([]byte, 0, leastBatch))
		}
		if err != nil && !errors.Is(err, errStopped) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestLongLineEnds: a followed file that ends inside of a long line does not keep the user who wants an end.
func TestLongLineEnds(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	src := &source{r: io.LimitReader(zeros{}, 3*leastBatch), follow: true, stop: stop}
	c, err := newLineCutter(&input{}, &Options{Batch: leastBatch}, src, mark{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b batch
	if err := c.fill(&b, make([]byte, 0, leastBatch)); !errors.Is(err, errStopped) || len(b.body) > 0 {
		t.Errorf("got %v and %d bytes", err, len(b.body))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n[{},{}]"), uint8(1))
	f.Add([]byte("a,b\n\"x\"\"\",2\n"), uint8(3))
	f.Add([]byte(`{"streams":[{"stream":{}}]}`), uint8(6))
	f.Add([]byte("# c\nm,t=a v=\"x\ny\",w=1i 7\n\nm v=\"\\\"\n"), uint8(4))
	names := []string{"ndjson", "json", "text", "csv", "lineproto", "jsonput", "logpush"}
	f.Fuzz(func(t *testing.T, text []byte, kind uint8) {
		cutAll(t, names[int(kind)%len(names)], &source{head: text, r: eof{}}, leastBatch, mark{}) //nolint:errcheck // any is well
	})
}
