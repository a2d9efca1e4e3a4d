package exec

import "testing"

// TestFiguresOfTheFirstBatch: an operator that works on its first batch has worked since it began.
func TestFiguresOfTheFirstBatch(t *testing.T) {
	var f Figures
	began := f.begin()
	if wall := f.Wall(); !f.Began() || wall < 0 {
		t.Errorf("it works for %v", wall)
	}
	f.end(began, 0)
	if wall := f.Wall(); wall < 0 || wall != f.Wall() {
		t.Errorf("it has worked for %v, then %v", wall, f.Wall())
	}
}
