package admin

import "testing"

func TestResidentMemoryIsToldByKind(t *testing.T) {
	got,
		ok := parseResident(
		"Name:\tvarve\nVmRSS:\t     700 kB\nRssAnon:\t     300 kB\nRssFile:\t     350 kB\nRssShmem:\t      50 kB\nThreads:\t9\n")
	if want := (resident{anonymous: 300 << 10, mapped: 400 << 10}); !ok || got != want {
		t.Errorf("got %+v %v, want %+v", got, ok, want)
	}
	if _, ok := parseResident("Name:\tvarve\nVmRSS:\t 700 kB\n"); ok {
		t.Error("a system that does not tell the kinds apart is taken for one that does")
	}
}
