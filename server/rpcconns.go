package server

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/server/web"
)

// rpcConns are the connections that speak gRPC, on all addresses that the server listens at. When all places are taken,
// a connection without a message in hand gives way to a new one, so that silent clients cannot keep others out. Safe
// for concurrent use.
type rpcConns struct {
	places *web.Places
	turned prometheus.Counter // connections that found no place, or gave way

	mu    sync.Mutex
	conns map[*rpcClient]struct{}
}

// rpcClient is one of them.
type rpcClient struct {
	net.Conn
	of      *rpcConns
	address netip.Addr
	closed  atomic.Bool
	// messages are in hand: calls that are authorised and whose message has begun.
	messages atomic.Int64
	// idle are the places of calls whose message has not begun; of.mu protects it.
	idle map[*rpcPlace]struct{}
	// heard is when the last message was answered, before the first when the connection came; ns since the epoch.
	heard atomic.Int64
}

func newRPCConns(places *web.Places, turned prometheus.Counter) *rpcConns {
	return &rpcConns{places: places, turned: turned, conns: map[*rpcClient]struct{}{}}
}

// rpcListener accepts connections for which there is a place.
type rpcListener struct {
	net.Listener
	conns *rpcConns
}

func (l *rpcListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if k := l.conns.admit(c); k != nil {
			return k, nil
		}
		c.Close() // it may come again
	}
}

// admit takes a connection among those that are served, if need be in place of another; nil: there is no place.
func (r *rpcConns) admit(c net.Conn) *rpcClient {
	k := &rpcClient{Conn: c, of: r, address: web.NetworkOf(c.RemoteAddr()), idle: map[*rpcPlace]struct{}{}}
	k.heard.Store(time.Now().UnixNano())
	if r.places.Take(k.address) != nil {
		r.turned.Inc()
		silent := r.silent(k.address)
		if silent == nil {
			return nil
		}
		silent.Close()
		if r.places.Take(k.address) != nil { // another newcomer was faster
			return nil
		}
	}
	r.mu.Lock()
	r.conns[k] = struct{}{}
	r.mu.Unlock()
	return k
}

// silent is the connection that gives way to a new one of the address newcomer; nil: none does. It has no message in
// hand, its address has the most connections, at least as many as the newcomer's, and of these it was heard longest
// ago.
func (r *rpcConns) silent(newcomer netip.Addr) (longest *rpcClient) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := map[netip.Addr]int{}
	for k := range r.conns {
		held[k.address]++
	}
	for k := range r.conns {
		if k.messages.Load() > 0 || held[k.address] < held[newcomer] {
			continue
		}
		if longest == nil || held[k.address] > held[longest.address] ||
			held[k.address] == held[longest.address] && k.heard.Load() < longest.heard.Load() {
			longest = k
		}
	}
	return longest
}

// Close gives the place of the connection back, and those of its calls whose message has not begun.
func (k *rpcClient) Close() error {
	if k.closed.CompareAndSwap(false, true) {
		k.of.mu.Lock()
		delete(k.of.conns, k)
		for p := range k.idle {
			p.give()
		}
		k.of.mu.Unlock()
		k.of.places.Give(k.address)
	}
	return k.Conn.Close()
}

// rpcPlace is the place of a call among those under way.
type rpcPlace struct {
	places *web.Places
	of     netip.Addr
	client *rpcClient // nil: the context of the call names none
	began  time.Time
	given  atomic.Bool
}

func (p *rpcPlace) give() {
	if p.given.CompareAndSwap(false, true) {
		p.places.Give(p.of)
	}
}

// place takes a place for a call. If none is free, it closes a connection all of whose calls are idle: only their
// headers have come. A call whose handler begins after its connection was closed gets no place.
func (r *rpcConns) place(ctx context.Context, calls *web.Places, of netip.Addr) (*rpcPlace, error) {
	p := &rpcPlace{places: calls, of: of, began: time.Now()}
	p.client, _ = ctx.Value(rpcClientKey{}).(*rpcClient)
	for {
		idle, err := r.take(p)
		if idle == nil {
			return p, err
		}
		r.turned.Inc()
		idle.Close()
	}
}

// take takes the place of a call, or says which connection is to give way to it.
func (r *rpcConns) take(p *rpcPlace) (idle *rpcClient, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.client != nil && p.client.closed.Load() {
		return nil, net.ErrClosed
	}
	if err := p.places.Take(p.of); err != nil {
		return r.idlest(p.client, p.of), err
	}
	if p.client != nil {
		p.client.idle[p] = struct{}{}
	}
	return nil, nil
}

// idlest is the connection that gives way to a call of the address newcomer; nil: none does. It is not the call's own
// and has no message in hand, its address has the most idle calls, at least as many as the newcomer's, and of these it
// has the call that is idle for the longest time. r.mu is held.
func (r *rpcConns) idlest(own *rpcClient, newcomer netip.Addr) (longest *rpcClient) {
	held := map[netip.Addr]int{}
	for k := range r.conns {
		held[k.address] += len(k.idle)
	}
	var began time.Time
	for k := range r.conns {
		if k == own || len(k.idle) == 0 || k.messages.Load() > 0 || held[k.address] < held[newcomer] {
			continue
		}
		first := k.firstIdle()
		if longest == nil || held[k.address] > held[longest.address] ||
			held[k.address] == held[longest.address] && first.Before(began) {
			longest, began = k, first
		}
	}
	return longest
}

// firstIdle is when the first of the calls began whose message has not.
func (k *rpcClient) firstIdle() (first time.Time) {
	for p := range k.idle {
		if first.IsZero() || p.began.Before(first) {
			first = p.began
		}
	}
	return first
}

type rpcClientKey struct{}

// rpcContext makes the context of the calls of a connection.
func rpcContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, rpcClientKey{}, c)
}

// heard notes that the message of a call has begun; done that the call is over.
func (p *rpcPlace) heard() (done func()) {
	k := p.client
	if k == nil {
		return func() {}
	}
	k.of.mu.Lock() // as idlest looks: a call is idle, or its message is in hand
	k.messages.Add(1)
	delete(k.idle, p)
	k.of.mu.Unlock()
	return func() {
		k.heard.Store(time.Now().UnixNano())
		k.messages.Add(-1)
	}
}

// leave notes that the call is not idle any more.
func (p *rpcPlace) leave() {
	if p.client != nil {
		p.client.of.mu.Lock()
		delete(p.client.idle, p)
		p.client.of.mu.Unlock()
	}
}

// end gives the place back.
func (p *rpcPlace) end() {
	p.leave()
	p.give()
}
