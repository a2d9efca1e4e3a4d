package expr

import "testing"

// TestItemCount: a list is counted as it is taken apart.
func TestItemCount(t *testing.T) {
	for _, list := range []string{"", "null", "{}", "[]", "[ ]", "[1]", "[1,2]", "[ 1 , 2 ]", "[[]]", "[[1,2],[3]]", "[{}]", `[{"a":[1,2],"b":","},{}]`, `["a,b","c"]`,
		`["\\",","]`, `["\\\"",1]`, `["]","[","{"]`, "[null,null]", `[""]`, `["é","𝄞"]`, "[\n1,\t2\r]", "[-1.5e3,true,false]", "[[[]],[]]"} {
		if got, want := itemCount([]byte(list)), len(items([]byte(list))); got != want {
			t.Errorf("%s: %d, want %d", list, got, want)
		}
	}
}
