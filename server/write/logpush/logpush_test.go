package logpush

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/tagged"
)

// noTables is a database without tables.
type noTables struct{}

func (noTables) Table(schema.Name) (*engine.Table, error) {
	return nil, errors.New("there is no such table")
}

func newRows(set *engine.WriteSet, most int64) *tagged.Rows {
	return tagged.New(&tagged.Request{DB: "public", Tables: noTables{},
		Hint: engine.Hint{AutoCreate: true, TimeIndex: "ts"}, Time: vector.Timestamp(9), Most: most}, set)
}

// listed is a sink that writes down what it gets.
type listed struct {
	out    strings.Builder
	labels string
}

func (l *listed) stream(labels []label) error {
	l.labels = ""
	for _, x := range labels {
		l.labels += fmt.Sprintf("%s=%q ", x.name, x.value)
	}
	return nil
}

func (l *listed) line(ns int64, line []byte, metadata []label, _ int64) error {
	fmt.Fprintf(&l.out, "%s%d %q %s\n", l.labels, ns, line, appendObject(nil, metadata))
	return nil
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name, in string
		skipped  int
		want     string
	}{
		{"no streams", `{"streams":[]}`, 0, ""},
		{"a line", `{"streams":[{"stream":{"b":"2","a":"1"},"values":[["5","x"]]}]}`, 0, `a="1" b="2" 5 "x" {}` + "\n"},
		{"metadata", `{"streams":[{"stream":{},"values":[["5","x",{"k":"v","n":1,"k":"w"}]]}]}`, 0,
			`5 "x" {"n":"1","k":"w"}` + "\n"},
		{"lines before labels", `{"streams":[{"values":[["5","x"],["-6","y"]],"stream":{"a":"1"}}],"more":{"x":[1]}}`,
			0, `a="1" 5 "x" {}` + "\n" + `a="1" -6 "y" {}` + "\n"},
		{"escapes", `{"streams":[{"stream":{"\u0061":"q\"\n"},"values":[["5","x\ty\u00e9"],["6","\"z"]]}]}`, 0,
			`a="q\"\n" 5 "x\ty` + "\u00e9" + `" {}` + "\n" + `a="q\"\n" 6 "\"z" {}` + "\n"},
		{"numbers", `{"streams":[{"stream":{"a":1,"b":true,"c":null,"d":{"e":1}},"values":[[5,"x"]]}]}`, 0,
			`a="1" b="true" d="{\"e\":1}" 5 "x" {}` + "\n"},
		{"labels twice", `{"streams":[{"stream":{"a":"1","a":"2"},"values":[[5,"x"]]}]}`, 0, `a="2" 5 "x" {}` + "\n"},
		{"malformed streams",
			`{"streams":[1,{"stream":[],"values":[]},{"values":[]},{"stream":{},"values":{}},{"stream":{"a":"1"},"values":[["5","x"]]}]}`, 5, `a="1" 5 "x" {}` + "\n"},
		{"malformed lines",
			`{"streams":[{"stream":{},"values":[1,[],["5"],["5",1],["x","y"],["5","x"],["1e3","x"],["","x"],["9223372036854775808","x"],[5.5,"x"]]}]}`, 9, `5 "x" {}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l listed
			skipped, err := new(jsonReader).read([]byte(c.in), &l)
			if err != nil || skipped != c.skipped || l.out.String() != c.want {
				t.Errorf("read(%s): %v, %d skipped\n got %s\nwant %s", c.in, err, skipped, &l.out, c.want)
			}
		})
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "Failed to parse payload as json: at byte 1: the text ends early"},
		{"no object", "[1]", "payload is not an object"},
		{"text", "hello", "Failed to parse payload as json"},
		{"no streams", `{"a":1}`, "missing streams"},
		{"streams is none", `{"streams":{}}`, "streams is not an array"},
		{"cut", `{"streams":[{"stream":{"a":"1"},"values":[["5","x"`, "the text ends early"},
		{"more", `{"streams":[]} x`, "at byte 16"},
		{"not UTF-8", "{\"streams\":[{\"stream\":{},\"values\":[[\"5\",\"\xff\"]]}]}", "UTF-8"},
		{"nested", `{"streams":` + strings.Repeat("[", 200), "nesting is deeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := new(jsonReader).read([]byte(c.in), &listed{})
			if _, text := web.Message(err); !strings.Contains(text, c.want) {
				t.Errorf("read(%.80s): %s, want %s", c.in, text, c.want)
			}
		})
	}
}

// pushMessage is a message of one stream.
func pushMessage(labels string, ns int64, lines ...string) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendBytes(m, 1, labels)
		for i, line := range lines {
			m = protowire.AppendMessage(m, 2, func(e []byte) []byte {
				at := ns + int64(i)
				e = protowire.AppendMessage(e, 1, func(t []byte) []byte {
					return protowire.AppendVarint(protowire.AppendVarint(t, 1, uint64(at/1e9)), 2, uint64(at%1e9))
				})
				e = protowire.AppendBytes(e, 2, line)
				return protowire.AppendMessage(e, 3, func(p []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(p, 1, "k"), 2, "v")
				})
			})
		}
		return m
	})
}

func TestProto(t *testing.T) {
	for _, c := range []struct {
		labels  string
		skipped int
		want    string
	}{
		{`{b="2", a="1"}`, 0, `a="1" b="2" `},
		{"{}", 0, ""},
		{` {a = "x\"y\\z\n" ,b=` + "`raw\\`" + `,} `, 0, `a="x\"y\\z\n" b="raw\\" `},
		{`{a="b}`, 1, ""},
		{`{a=b}`, 1, ""},
		{`{="b"}`, 1, ""},
		{`{a="b" c="d"}`, 1, ""},
		{`a="b"`, 1, ""},
		{"", 1, ""},
	} {
		var l listed
		skipped, err := new(protoReader).read(pushMessage(c.labels, 1_500_000_000, "x", "\xff"), &l)
		if want := c.want + "1500000000 \"x\" {\"k\":\"v\"}\n" + c.want +
			"1500000001 \"\uFFFD\" {\"k\":\"v\"}\n"; err != nil || skipped != c.skipped || l.out.String() != want {
			t.Errorf("%s: %v, %d skipped\n got %s\nwant %s", c.labels, err, skipped, &l.out, want)
		}
	}
	good := pushMessage(`{a="1"}`, 5, "x")
	far := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendBytes(m, 1, "{}")
		return protowire.AppendMessage(m, 2, func(e []byte) []byte {
			return protowire.AppendMessage(e, 1, func(t []byte) []byte { return protowire.AppendVarint(t, 1, 1<<62) })
		})
	})
	for _, in := range [][]byte{good[:len(good)-1], {0xff}, []byte("hello"), far} {
		if _, err := new(protoReader).read(in, &listed{}); err == nil ||
			!strings.Contains(err.Error(), "Failed to decode Loki request") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestColumns: labels become tags, those that are named like fixed columns under another name.
func TestColumns(t *testing.T) {
	rows := newRows(new(engine.WriteSet), 1<<30)
	var c columns
	if err := c.begin(rows, "logs", "ts"); err != nil {
		t.Fatal(err)
	}
	body := `{"streams":[{"stream":{"line":"l","ts":"t","app":"a"},"values":[["5","x",{"k":"v"}]]},{"stream":{"app":"b","zone":"z"},"values":[["6","y"]]}]}`
	if _, err := new(jsonReader).read([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	if rows.Count() != 2 {
		t.Errorf("%d rows", rows.Count())
	}
	for _, name := range []string{"label_line", "label_ts", "app", "zone"} {
		if _, err := c.table.Tag([]byte(name)); err != nil {
			t.Errorf("tag %s: %v", name, err)
		}
	}
	if _, err := c.table.Column([]byte("app"), vector.StringType, schema.Field); err == nil ||
		!strings.Contains(err.Error(), "semantic_type incompatible") {
		t.Error(err)
	}
}

// TestBounds: what short lines of many labels make is counted before it is there.
func TestBounds(t *testing.T) {
	var wide, long strings.Builder
	for i := range schema.MaxColumns + 10 {
		fmt.Fprintf(&wide, `,"l%d":"x"`, i)
	}
	for range 100_000 {
		long.WriteString(`,["5","x"]`)
	}
	value := strings.Repeat("v", 10_000)
	for _, c := range []struct{ name, labels, lines, want string }{
		{"columns", `"a":"1"` + wide.String(), `["5","x"]`, "at most 4096 columns"},
		{"long labels", `"a":"` + value + `"`, `["5","x"]` + long.String(), "the limit is 67108864"},
	} {
		rows := newRows(new(engine.WriteSet), 64<<20)
		var sink columns
		if err := sink.begin(rows, "logs", "ts"); err != nil {
			t.Fatal(err)
		}
		_, err := new(jsonReader).read([]byte(`{"streams":[{"stream":{`+c.labels+`},"values":[`+c.lines+`]}]}`), &sink)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// pushBody is a document of some streams with lines such as web servers write.
func pushBody(streams, lines int) []byte {
	var b strings.Builder
	b.WriteString(`{"streams":[`)
	for s := range streams {
		if s > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"stream":{"app":"web","env":"prod","host":"h%d"},"values":[`, s)
		for i := range lines {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b,
				`["%d","10.0.0.%d - - GET /api/v1/items/%d HTTP/1.1 200 %d \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d",{"trace":"%016x"}]`, 1700000000000000000+int64(i), i%256, i*7, i*13, i%1000, i)
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func TestAllocations(t *testing.T) {
	body, message := pushBody(4, 1000), pushMessage(`{app="web", host="h1"}`, 5, make([]string, 1000)...)
	set := new(engine.WriteSet)
	var j jsonReader
	var p protoReader
	var c columns
	run := func() {
		set.Reset()
		if err := c.begin(newRows(set, 1<<30), "logs", "ts"); err != nil {
			t.Fatal(err)
		}
		if _, err := j.read(body, &c); err != nil {
			t.Fatal(err)
		}
		if _, err := p.read(message, &c); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 60 { // the rows and their columns, for 5,000 lines
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	var lines []string
	for i := range 4000 {
		lines = append(lines,
			fmt.Sprintf("10.0.0.%d - - GET /api/v1/items/%d HTTP/1.1 200 %d \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d",
				i%256, i*7, i*13, i%1000))
	}
	document, message := pushBody(4, 1000),
		pushMessage(`{app="web", env="prod", host="h1"}`, 1700000000000000000, lines...)
	var j jsonReader
	var p protoReader
	for _, form := range []struct {
		name string
		body []byte
		read func([]byte, sink) (int, error)
	}{{"json", document, j.read}, {"protobuf", message, p.read}} {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.body)))
			b.ReportAllocs()
			set := new(engine.WriteSet)
			var c columns
			for b.Loop() {
				if err := c.begin(newRows(set, 1<<30), "logs", "ts"); err != nil {
					b.Fatal(err)
				}
				if _, err := form.read(form.body, &c); err != nil {
					b.Fatal(err)
				}
				set.Reset()
			}
		})
	}
}

// FuzzRead: any bytes give lines or an error, in either form; what is stored is UTF-8.
func FuzzRead(f *testing.F) {
	f.Add(
		[]byte(
			`{"streams":[{"stream":{"a":"1"},"values":[["5","x",{"k":"v"}],[6,"y\n"]]},{"values":[["7","z"]],"stream":{"line":"\u00e9"}}]}`))
	f.Add([]byte(`{"streams":[{"stream":{},"values":[[1,2,3],"x"]},5]}`))
	f.Add(pushMessage(`{a="1", b="x\"y"}`, 1_700_000_000_000_000_000, "x", "\xff\n"))
	f.Add(pushMessage("{a=`1`,b", -5, "x"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range []func([]byte, sink) (int, error){new(jsonReader).read, new(protoReader).read} {
			rows := newRows(new(engine.WriteSet), 1<<20)
			var c columns
			if err := c.begin(rows, "logs", "ts"); err != nil {
				t.Fatal(err)
			}
			if _, err := read(body, &c); err != nil {
				if _, text := web.Message(err); text == "" || strings.HasPrefix(text, "Internal") {
					t.Fatalf("no client's error: %v", err)
				}
				continue
			}
			e := entries{hold: func(int64) error { return nil }}
			if _, err := read(body, &e); err != nil || !utf8.Valid(e.out) ||
				strings.Count(string(e.out), "\n") != rows.Count() {
				t.Fatalf("%v: %d rows and the entries %s", err, rows.Count(), e.out)
			}
		}
	})
}
