package encoding

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/vector"
)

func TestParseObjects(t *testing.T) {
	for _, c := range []struct {
		row, want string
		values    []string
	}{
		{`{}`, `{}`, nil},
		{`{"a":1,"b":"x y"}`, `{"a":<member1>,"b":"<member2>"}`, []string{"1", "x y"}},
		{`{"a":null,"c":-1.5e3,"b":true}`, `{"a":<member1>,"c":<member3>,"b":<member2>}`,
			[]string{"null", "-1.5e3", "true"}},
		{`{"a":{"b":"","a":{}},"c":{"b":2}}`, `{"a":{"b":"<member2>","a":{}},"c":{"b":<member2>}}`, []string{"", "2"}},
		{`{"a":[1,{"b":"]"},[]],"b":[]}`, `{"a":<member1>,"b":<member2>}`, []string{`[1,{"b":"]"},[]]`, "[]"}},
		{`{"a":"quote \" and \\","b":"\\\""}`, `{"a":"<member1>","b":"<member2>"}`,
			[]string{`quote \" and \\`, `\\\"`}},
		{`{"a": 1, "b": "x"}`, `{"a": <member1>, "b": "<member2>"}`, []string{"1", "x"}},
		{"{\"a\":\"\xff\"}", `{"a":"<member1>"}`, []string{"\xff"}},
	} {
		m := &members{keys: NewDictionary(maxMembers, MaxHeap)}
		for _, key := range []string{"a", "b", "c"} {
			m.keys.Code([]byte(key))
		}
		v := lines("x. " + c.row)
		o := newObjects()
		if !o.parse(v.Heap, 3, len(v.Heap), m) {
			t.Errorf("%s is not parsed", c.row)
			continue
		}
		if got := string(appendShown(nil, o.shape)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.row, got, c.want)
		}
		var values []string
		for _, x := range o.found {
			w := viewOf(x)
			values = append(values, string(v.Heap[w.Off:w.Off+w.Len]))
		}
		if fmt.Sprintf("%q", values) != fmt.Sprintf("%q", c.values) {
			t.Errorf("%s\n got values %q\nwant %q", c.row, values, c.values)
		}
	}
}

// TestNoObjects: texts that cannot be taken apart are kept as they are.
func TestNoObjects(t *testing.T) {
	for _, row := range []string{`{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":[1`, `{"a":1`, `["a","b"]`, "{\"a\xff\":1}",
		"{\"a\":1}\xff", `{"a":"b" "c"}`} {
		v := lines(row)
		o := newObjects()
		if o.parse(v.Heap, 0, len(row), &members{keys: NewDictionary(maxMembers, MaxHeap)}) || len(o.found) > 0 {
			t.Errorf("%s is parsed as %s", row, appendShown(nil, o.shape))
		}
	}
}

// sampleObjects are objects with some keys that are not always there, text with templates, and a few rows that are
// none.
func sampleObjects(r *rand.Rand, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		o := map[string]any{"method": []string{"GET", "PUT"}[r.IntN(2)], "size": r.IntN(1e6),
			"took": float64(r.IntN(1e6)) / 1000,
			"from": fmt.Sprintf("10.0.%d.%d", r.IntN(256), r.IntN(256)),
			"path": fmt.Sprintf("/shop/items/%d/reviews?page=%d", r.IntN(1e5), r.IntN(9))}
		if r.IntN(3) == 0 {
			o["http"] = map[string]any{"status": 200 + r.IntN(4), "tags": []any{"a", r.IntN(9), nil}}
		}
		if r.IntN(40) == 0 {
			o[fmt.Sprintf("odd-%d", r.IntN(90))] = "\"quoted\" \\ and äöü"
		}
		switch b, _ := json.Marshal(o); {
		case r.IntN(200) == 0 && i%(max(1, n/probeObjects)) > 0:
			rows[i] = []string{"", "no object", "{\"a\":\"\xff", `{"cut":`,
				"{" + strings.Repeat(`"k":1,`, 70) + `"l":2}`}[r.IntN(5)]
		default:
			rows[i] = string(b)
		}
	}
	return rows
}

func TestObjectsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	var d Decoder
	o, m := newObjects(), &members{keys: NewDictionary(maxMembers, MaxHeap)}
	for _, n := range []int{1, 2, 63, 500, 8192, 300} {
		rows := sampleObjects(r, n)
		v := lines(rows...)
		out, ok := o.append([]byte{byte(Template)}, v.Views, v.Heap, m)
		if !ok {
			t.Fatalf("%d rows are no objects", n)
		}
		checkComesBack(t, &d, out, rows)
	}
}

// FuzzObjects: rows of any bytes in the shape of objects come back.
func FuzzObjects(f *testing.F) {
	f.Add(`{"a":1,"b":"x"}`, `{"a":[1,"]"],"c":{"b":null}}`, `{"a":"\\\""}`)
	f.Add(`{"a":"1","a":2}`, "{\"a\":\"\xff\"}", `{"`)
	f.Add(`{}`, `{"a":{"b":{"c":1.5}}}`, `{"a" : 1 }`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var rows []string
		for i := range 40 {
			rows = append(rows, []string{a, b, c, a + b, `{"a":` + c + `}`,
				`{"a":"` + b + `","n":` + fmt.Sprint(i) + `}`}[i%6])
		}
		v := lines(rows...)
		m := &members{keys: NewDictionary(maxMembers, MaxHeap)}
		out, ok := newObjects().append([]byte{byte(Template)}, v.Views, v.Heap, m)
		if !ok {
			return
		}
		var d Decoder
		var got vector.Vector
		if err := d.Decode(&got, append([]byte{out[0], 0}, out[1:]...), vector.StringType, len(rows), nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range rows {
			if string(got.Bytes(i)) != want {
				t.Fatalf("row %d: got %q, want %q", i, got.Bytes(i), want)
			}
		}
	})
}
