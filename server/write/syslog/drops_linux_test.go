package syslog

import (
	"net"
	"testing"
	"time"
)

// TestDropsOfTheSystem: every datagram that is sent is either read or counted as dropped, and a socket that is closed
// keeps its count.
func TestDropsOfTheSystem(t *testing.T) {
	s := New(Options{})
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		before := 0.0
		if len(s.drops.sockets) > 0 {
			before = figure(t, s, "varve_syslog_udp_dropped_total")
		}
		pc, err := net.ListenPacket("udp", addr)
		if err != nil && addr != "127.0.0.1:0" {
			t.Logf("no IPv6: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c := pc.(*net.UDPConn)
		if err := c.SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		s.drops.watch(c)
		out, err := net.Dial("udp", c.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		const sent = 200
		for range sent {
			if _, err := out.Write(make([]byte, 500)); err != nil {
				t.Fatal(err)
			}
		}
		read, lost := 0.0, 0.0
		// a busy system delivers later than it takes
		for buf, end := make([]byte, 600), time.Now().Add(20*time.Second); read+lost < sent && time.Now().Before(end); {
			if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.ReadFrom(buf); err == nil {
				read++
			}
			lost = figure(t, s, "varve_syslog_udp_dropped_total") - before
		}
		if lost == 0 || read+lost != sent {
			t.Errorf("%s: %v of %d were read, %v are counted as dropped", addr, read, sent, lost)
		}
		c.Close()
		if after := figure(t, s, "varve_syslog_udp_dropped_total") - before; after != lost {
			t.Errorf("%s: %v when the socket is closed", addr, after)
		}
	}
}
