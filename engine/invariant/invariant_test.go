package invariant

import "testing"

func TestLimit(t *testing.T) {
	seen := map[int]bool{}
	for range 1000 {
		n := Limit(1000, 10)
		if n < 10 || n > 1000 {
			t.Fatalf("a limit of %d, want 10 to 1000", n)
		}
		seen[n] = true
	}
	if On && len(seen) < 100 || !On && (len(seen) != 1 || !seen[1000]) {
		t.Errorf("%d limits", len(seen))
	}
}

func TestCheck(t *testing.T) {
	Check(true, "nothing")
	defer func() {
		if v := recover(); v != "invariant: 3 is not 4" {
			t.Errorf("got %v", v)
		}
	}()
	Check(false, "%d is not %d", 3, 4)
}
