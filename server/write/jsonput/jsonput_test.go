package jsonput

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/web"
	"varve/server/write/rows/tagged"
)

// noTables is a database without tables.
type noTables struct{}

func (noTables) Table(schema.Name) (*engine.Table, error) {
	return nil, errors.New("there is no such table")
}

func newDecoder(keep bool, most int64) *decoder {
	d := &decoder{keep: keep, valueName: []byte("v")}
	d.begin(new(engine.WriteSet), most)
	return d
}

func (d *decoder) begin(set *engine.WriteSet, most int64) {
	d.rows = tagged.New(&tagged.Request{DB: "public", Tables: noTables{},
		Hint: engine.Hint{AutoCreate: true, TimeIndex: "ts"}, Time: vector.Timestamp(3), Most: most}, set)
}

func put(members string) string {
	return `{"metric":"m","timestamp":1,"value":1,"tags":{"host":"a"}` + members + `}`
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rows     int
		want     string // of the error
	}{
		{"one", put(""), 1, ""},
		{"none", "[]", 0, ""},
		{"some", "[" + put("") + ",\n" + put(`,"more":{}`) + "]", 2, ""},
		{"numbers as text",
			`{"tags":{"a":1,"b":true,"c":null},"value":"-1.5e3","timestamp":"1667898896123","metric":"a b"}`, 1, ""},
		{"nothing", "", 0, "Invalid OpenTSDB Json request: at byte 1: the text ends early"},
		{"text", "hello world", 0, "Invalid OpenTSDB Json request: at byte 1: unexpected character 'h'"},
		{"cut", "[" + put(""), 0, "ends early"},
		{"two behind each other", put("") + put(""), 0, "unexpected character"},
		{"no metric", `{"timestamp":1,"value":1,"tags":{}}`, 0, "point 1: missing field `metric`"},
		{"no time", "[" + put("") + `,{"metric":"m","value":1,"tags":{}}]`, 0, "point 2: missing field `timestamp`"},
		{"null as value", `{"metric":"m","timestamp":1,"value":null,"tags":{}}`, 0, "missing field `value`"},
		{"no tags", `{"metric":"m","timestamp":1,"value":1}`, 0, "missing field `tags`"},
		{"tags of another kind", put(`,"tags":[]`), 0, "found an array, expected an object"},
		{"metric of another kind", put(`,"metric":1`), 0, "found a number, expected a string"},
		{"time with a fraction", put(`,"timestamp":1.5`), 0, "not a whole number"},
		{"time out of range", put(`,"timestamp":99999999999999999999`), 0, "not a whole number"},
		{"no number", put(`,"value":"x"`), 0, `value "x" is not a number`},
		{"not a number", put(`,"value":"NaN"`), 0, `value "NaN" is not a number`},
		{"hexadecimal", put(`,"value":"0x10"`), 0, `value "0x10" is not a number`},
		{"nested tag", put(`,"tags":{"a":{"b":1}}`), 0, `tag "a" is an object`},
		{"empty metric", put(`,"metric":""`), 0, "empty"},
		{"tag and value", put(`,"tags":{"v":"x"}`), 0, "semantic_type incompatible"},
		{"tag and time", put(`,"tags":{"ts":"x"}`), 0, "semantic_type incompatible"},
		{"not UTF-8", put(",\"x\":\"\xff\""), 0, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDecoder(false, 1<<30)
			err := d.read([]byte(c.in))
			if c.want == "" && (err != nil || d.rows.Count() != c.rows) {
				t.Fatalf("%d rows, %v", d.rows.Count(), err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestKeep: points that cannot be stored are noted, the others stay.
func TestKeep(t *testing.T) {
	d := newDecoder(true, 1<<30)
	bad := put(`,"value":"x"`)
	if err := d.read([]byte("[" + bad + "," + put("") + "," + put(`,"tags":{"v":"x"}`) + "," + put("") + "]")); err !=
		nil {
		t.Fatal(err)
	}
	if d.success != 2 || d.failed != 2 || d.rows.Count() != 2 || string(d.failures[0].point) != bad ||
		!strings.Contains(d.failures[1].reason, "semantic_type") {
		t.Errorf("%d and %d points, %d rows, %q", d.success, d.failed, d.rows.Count(), d.failures)
	}
}

// TestBounds: what small points make is counted before it is there.
func TestBounds(t *testing.T) {
	var tags, metrics strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&tags, `,{"metric":"m","timestamp":1,"value":1,"tags":{"t%d":"x"}}`, i)
		fmt.Fprintf(&metrics, `,{"metric":"m%d","timestamp":1,"value":1,"tags":{}}`, i)
	}
	for name, body := range map[string]string{"tags": tags.String(), "metrics": metrics.String()} {
		if err := newDecoder(false, 4<<20).read([]byte("[" + body[1:] + "]")); err == nil ||
			!strings.Contains(err.Error(), "the limit is 4194304") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := newDecoder(false, 1<<40).read([]byte("[" + tags.String()[1:] + "]")); err == nil ||
		!strings.Contains(err.Error(), "at most 4096 columns") {
		t.Error(err)
	}
}

func benchBody() []byte {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b,
			`,{"metric":"cpu.usage","timestamp":%d,"value":%d.25,"tags":{"host":"host_%d","region":"eu-central-1","rack":"%d","os":"linux"}}`, 1700000000+i, i%100, i%1000, i%100)
	}
	return []byte("[" + b.String()[1:] + "]")
}

func TestAllocations(t *testing.T) {
	body, set := benchBody(), new(engine.WriteSet)
	d := newDecoder(false, 1<<30)
	run := func() {
		set.Reset()
		d.begin(set, 1<<30)
		if err := d.read(body); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 40 { // the table and its columns, for 5,000 points
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkRead(b *testing.B) {
	body, set := benchBody(), new(engine.WriteSet)
	d := newDecoder(false, 1<<30)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		set.Reset()
		d.begin(set, 1<<30)
		if err := d.read(body); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead: any bytes give points or an error of the client's; a point that is told of is JSON.
func FuzzRead(f *testing.F) {
	for _, s := range []string{put(""), "[" + put(`,"value":"1e3"`) + "," + put(`,"value":"x"`) + "]",
		put(`,"tags":{"\u0061":1,"v":2}`), put(`,"timestamp":-9223372036854775808`), `[[]]`,
		`{"tags":{},"metric":"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := newDecoder(true, 1<<20)
		if err := d.read(body); err != nil {
			if _, text := web.Message(err); strings.HasPrefix(text, "Internal") {
				t.Fatalf("no client's error: %v", err)
			}
			return
		}
		if d.success != d.rows.Count() || len(d.failures) != d.failed {
			t.Fatalf("%d points, %d rows, %d failures", d.success, d.rows.Count(), d.failed)
		}
		for _, x := range d.failures {
			if !json.Valid(x.point) {
				t.Fatalf("%q is no point", x.point)
			}
		}
	})
}
