package web

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Places bounds the connections that are served at a time, all together and those of one address (see NetworkOf), so
// that no address can keep the others out. Safe for concurrent use.
type Places struct {
	most, perAddress int

	mu    sync.Mutex
	taken int
	from  map[netip.Addr]int // by address
}

// NewPlaces makes places for so many connections.
func NewPlaces(most, perAddress int) *Places {
	return &Places{most: most, perAddress: perAddress, from: map[netip.Addr]int{}}
}

// PerAddress is the bound of connections of one address where there may be most: as configured, or three quarters of
// most, which leaves room for others.
func PerAddress(configured, most int) int {
	if configured > 0 {
		return configured
	}
	return max(1, most*3/4)
}

// Take takes a place for a connection of an address; the error says which bound is reached.
func (p *Places) Take(a netip.Addr) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken >= p.most:
		return fmt.Errorf("there are %d connections, which is the limit", p.taken)
	case p.from[a] >= p.perAddress:
		return fmt.Errorf("its address has %d connections, which is the limit for one address", p.from[a])
	}
	p.taken++
	p.from[a]++
	return nil
}

// Give gives back a place of an address.
func (p *Places) Give(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.from[a]--; p.from[a] == 0 {
		delete(p.from, a)
	}
}

// networkBits are the bits of an IPv6 address that name a network. A client with one address of a network can use all
// of its 2^64 addresses.
const networkBits = 64

// NetworkOf is the address by which limits count the clients of connections: the client's address, for IPv6 that of its
// network; the zero Addr if a has none.
func NetworkOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	if network, err := ip.WithZone("").Prefix(networkBits); ip.Is6() && err == nil {
		return network.Addr()
	}
	return ip
}
