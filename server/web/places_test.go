package web

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestPlaces: an address has no more than its share, which leaves room for others, and what is given back can be taken
// again.
func TestPlaces(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	p := NewPlaces(4, PerAddress(0, 4))
	take := func(of netip.Addr, want string) {
		t.Helper()
		if err := p.Take(of); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Fatalf("%v takes a place: %v, want %q", of, err, want)
		}
	}
	for range 3 {
		take(a, "")
	}
	take(a, "its address has 3 connections")
	take(b, "")
	take(b, "there are 4 connections")
	p.Give(a)
	take(b, "")
	p.Give(b)
	p.Give(b)
	for range 2 {
		p.Give(a)
	}
	if p.taken != 0 || len(p.from) != 0 {
		t.Errorf("%d places of %d addresses are taken by nobody", p.taken, len(p.from))
	}
	if PerAddress(0, 1) != 1 || PerAddress(7, 4) != 7 {
		t.Error("a single place is of nobody, or what is configured does not count")
	}
}

// TestNetworks: limits of an address count all addresses of an IPv6 network as one, whatever the notation.
func TestNetworks(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "::1": "::",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::": "2001:db8:1:2::",
		"2001:db8:1:3::1": "2001:db8:1:3::", "fe80::1%eth0": "fe80::",
	} {
		if got := NetworkOf(net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 80))); got !=
			netip.MustParseAddr(want) {
			t.Errorf("%s counts as %s, want %s", from, got, want)
		}
	}
	if got := NetworkOf(&net.UnixAddr{}); got.IsValid() {
		t.Errorf("a client without an address counts as %s", got)
	}
}
