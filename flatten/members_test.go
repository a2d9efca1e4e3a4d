package flatten

import (
	"encoding/json"
	"strings"
	"testing"
)

func readMembers(m *Members, text string) (cells []Cell, values string, err error) {
	cells = make([]Cell, 3)
	dst, err := m.Read(Pad([]byte(text)), cells, []byte("kept "))
	return cells, string(dst), err
}

// TestRawMembers: the text of a raw name is JSON, that of others is what strings hold.
func TestRawMembers(t *testing.T) {
	m := NewMembers([]string{"a", "b", "c"}, []bool{true, false, true})
	for _, c := range []struct{ text, a, b string }{
		{`{"a":"x","b":"x"}`, `"x"`, "x"},
		{`{"a":"\u00e9\"\n","b":"\""}`, `"\u00e9\"\n"`, `"`},
		{`{"a":[ "x" ],"b":[ "x" ]}`, `[ "x" ]`, `[ "x" ]`},
		{`{"a":1.50,"b":true}`, "1.50", "true"},
	} {
		cells, values, err := readMembers(m, c.text)
		if err != nil || values[cells[0].Off:cells[0].End] != c.a || values[cells[1].Off:cells[1].End] != c.b ||
			cells[2].State != Absent {
			t.Errorf("%s: got %+v of %q, %v", c.text, cells, values, err)
		}
	}
	for _, bad := range []string{`{"a":"x}`, `{"a":"\x"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\n\"}"} {
		if _, values, err := readMembers(m, bad); err == nil {
			t.Errorf("%s: got %q", bad, values)
		}
	}
	if cells, _, err := readMembers(m, `{"a":null}`); err != nil || cells[0].State != Null {
		t.Errorf("got %+v %v", cells, err)
	}
}

func TestMembers(t *testing.T) {
	m := NewMembers([]string{"a", "b", "c"}, nil)
	show := func(text string) string {
		cells, values, err := readMembers(m, text)
		if err != nil {
			return "error: " + err.Error()
		}
		var out []string
		for _, c := range cells {
			out = append(out, [...]string{"absent", "null", values[c.Off:c.End]}[c.State])
		}
		return strings.Join(out, " | ")
	}
	for range 2 { // cold and warm
		for _, c := range []struct{ text, want string }{
			{`{}`, "absent | absent | absent"},
			{`{"a":1,"b":"x y","c":null}`, "1 | x y | null"},
			{` { "c" : [1, {"z": "\""}] , "d" : true, "a" : -1.5e300 } `, `-1.5e300 | absent | [1, {"z": "\""}]`},
			{`{"a":"\u00e9\n\ud800","b":"","c":"é"}`, "é\n\uFFFD |  | é"},
			{`{"a":1,"a":"last"}`, "last | absent | absent"},
			{`{"a":1,"a":null}`, "null | absent | absent"},
			{`{"\u0061":1,"x":{"a":2}}`, "1 | absent | absent"},
			{`{"a":1e999,"b":123456789012345678901234567890}`, "1e999 | 123456789012345678901234567890 | absent"},
			{"{\"d\":\"\xff\",\"a\":1}", "1 | absent | absent"},
			{"{\"a\":\"\xff\"}", "error: a string is not UTF-8"},
			{`{"x\"":1,"a":2}`, "2 | absent | absent"},
			{`{"a":1,"b\"":1,"c":3}`, "1 | absent | 3"},
			{`{"a":1,"b":2,"c":3}`, "1 | 2 | 3"},
			{`[1]`, "error: every line must hold one JSON object"},
			{`1`, "error: every line must hold one JSON object"},
			{`{"a":1`, "error: invalid JSON at byte 7: unexpected character"},
			{`{"a":1}x`, "error: invalid JSON at byte 8: unexpected character"},
			{`{"a":1,}`, "error: invalid JSON at byte 8: unexpected character"},
			{`{"a" 1}`, "error: invalid JSON at byte 6: unexpected character"},
			{`{"a":01}`, "error: invalid JSON at byte 7: unexpected character"},
			{`{"a":nul}`, "error: invalid JSON at byte 9: unexpected character"},
			{`{,}`, "error: invalid JSON at byte 2: unexpected character"},
			{`{"a":"x`, "error: invalid JSON at byte 8: unexpected character"},
			{`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
				"error: invalid JSON at byte 133: nesting is deeper than 128"},
		} {
			if got := show(c.text); got != c.want {
				t.Errorf("%s: got %s, want %s", c.text, got, c.want)
			}
		}
	}
}

// TestMembersAllocate holds that a warm reader allocates nothing.
func TestMembersAllocate(t *testing.T) {
	m, cells := NewMembers([]string{"a", "b", "c"}, nil), make([]Cell, 3)
	text, dst := Pad([]byte(`{"a":1,"other":[1,2],"b":"\u00e9","c":"text"}`)), make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := m.Read(text, cells, dst); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per object", n)
	}
}

// FuzzMembers holds the reader to encoding/json, but for what is nested too deep.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":"x","c":null}`, `{"b":{"a":[1,{}]},"a":"\ud83d\ude00"}`, `{"a":1,"a":2} `,
		`{"a":1e5,"c":-0}`, `{"a"`} {
		f.Add(text)
	}
	m := NewMembers([]string{"a", "b", "c"}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		cells, values, err := readMembers(m, text)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal([]byte(text), &want)
		if err != nil {
			if wantErr == nil && want != nil && !strings.Contains(err.Error(), "nesting") &&
				!strings.Contains(err.Error(), "UTF-8") && !strings.Contains(err.Error(), "range") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if wantErr != nil {
			t.Fatalf("%q is taken: %v", text, wantErr)
		}
		for k, name := range []string{"a", "b", "c"} {
			raw, there := want[name]
			c := cells[k]
			got := values[c.Off:c.End]
			switch {
			case !there:
				if c.State != Absent {
					t.Fatalf("%q: %s is not there, got %q", text, name, got)
				}
			case string(raw) == "null":
				if c.State != Null {
					t.Fatalf("%q: %s is null, got %q", text, name, got)
				}
			default:
				wanted := string(raw)
				if raw[0] == '"' && json.Unmarshal(raw, &wanted) != nil {
					t.Fatal("a string that is none")
				}
				if c.State != Given || got != wanted {
					t.Fatalf("%q: %s is %q, want %q", text, name, got, wanted)
				}
			}
		}
	})
}
