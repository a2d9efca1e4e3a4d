package expr

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// someLists are lists of every shape, and texts that are none.
var someLists = []string{"", "null", "{}", "[]", "[ ]", "[1]", "[1,2]", "[ 1 , 2 ]", "[[]]", "[[1,2],[3]]", "[{}]",
	`[{"a":[1,2],"b":","},{}]`, `["a,b","c"]`,
	`["\\",","]`, `["\\\"",1]`, `["]","[","{"]`, "[null,null]", `[""]`, `["é","𝄞"]`, "[\n1,\t2\r]",
	"[-1.5e3,true,false]", "[[[]],[]]", `["\u005d\u0022"]`,
	" \t\r\n[1] ", "[", "[1", "[1,", `["`, `["\`, `["a`, `["a\"`, "[[", "[[1", "[1 2]", "[1,]", "[,1]", "]", "1,2]",
	"x[1]", "[{]}", "[1]]", "[\x00]", "[\u00a01]"}

// checkElements holds that elements takes a list apart as the JSON reader of the standard library does, and that of a
// text that is no list it gives parts in their order.
func checkElements(t *testing.T, list []byte) {
	t.Helper()
	var want []json.RawMessage
	valid := json.Unmarshal(list, &want) == nil
	var got []json.RawMessage
	rest := list
	for k, m := range listItems(list) {
		if k != len(got) {
			t.Fatalf("%q: element %d is the %d'th", list, k, len(got))
		}
		at := bytes.Index(rest, m)
		if len(m) == 0 || at < 0 {
			t.Fatalf("%q: %q is no further part of it", list, m)
		}
		rest = rest[at+len(m):]
		got = append(got, m)
	}
	if n := ItemCount(list); n != len(got) {
		t.Fatalf("%q: counted as %d, it has %d", list, n, len(got))
	}
	if !valid {
		return
	}
	if len(got) != len(want) {
		t.Fatalf("%q: %d elements, want %d", list, len(got), len(want))
	}
	for k, m := range want {
		if !bytes.Equal(got[k], m) {
			t.Fatalf("%q: element %d is %q, want %q", list, k, got[k], m)
		}
		if item, ok := itemAt(list, int64(k-len(want))); !ok || !bytes.Equal(item, m) {
			t.Fatalf("%q: element %d from the end is %q, want %q", list, len(want)-k, item, m)
		}
		if text := ""; json.Unmarshal(m, &text) == nil && string(m) != "null" && string(itemText(m)) != text {
			t.Fatalf("%q: the text of element %d is %q, want %q", list, k, itemText(m), text)
		}
	}
}

// TestElements: lists are taken apart as JSON, those cut at any place too.
func TestElements(t *testing.T) {
	for _, list := range someLists {
		for end := range len(list) + 1 {
			checkElements(t, []byte(list[:end]))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		list := []byte(randomList(r, 0))
		checkElements(t, list)
		checkElements(t, list[:r.IntN(len(list)+1)])
		list[r.IntN(len(list))] = `[]{},:"\ 1n`[r.IntN(11)]
		checkElements(t, list)
	}
}

// randomList writes a list with blanks wherever JSON has them.
func randomList(r *rand.Rand, depth int) string {
	blank := func() string { return strings.Repeat(" \n\t\r"[r.IntN(4):], r.IntN(4)/3) }
	scalars := []string{"null", "true", "-12", "1.5e-7", `""`, `"a"`, `"é,\u00e9"`, `"\"]\\"`, `"\\"`, `"[{,"`,
		`"𝄞\ud834\udd1e"`}
	var b strings.Builder
	b.WriteString(blank() + "[")
	for k := range r.IntN(5) {
		if k > 0 {
			b.WriteString(",")
		}
		item := scalars[r.IntN(len(scalars))]
		if depth < 4 && r.IntN(3) == 0 {
			if item = randomList(r, depth+1); r.IntN(2) == 0 {
				item = blank() + `{"k,\"]":` + item + blank() + "}"
			}
		}
		b.WriteString(blank() + item + blank())
	}
	b.WriteString("]" + blank())
	return b.String()
}

func FuzzElements(f *testing.F) {
	for _, list := range someLists {
		f.Add([]byte(list))
	}
	f.Fuzz(checkElements)
}

// TestItemSet: a set holds what was added and nothing else.
func TestItemSet(t *testing.T) {
	s, want := newItemSet(1000), map[string]bool{}
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		m := []byte(randomList(r, 3))
		if s.has(m) != want[string(m)] || s.add(m) == want[string(m)] || !s.has(m) {
			t.Fatalf("%q is in the set: %v", m, want[string(m)])
		}
		want[string(m)] = true
	}
	if len(s.items) != len(want) || cap(s.items) != 1000 || len(s.slots)*4 > 16*1000 {
		t.Errorf("%d elements, want %d; %d slots", len(s.items), len(want), len(s.slots))
	}
}
