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

// rpcConns are the connections that speak gRPC, on all addresses that the server listens at. Where there are too many one without a
// message in hand gives way, so that nobody can keep the port by being silent. Safe for concurrent use.
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
	// heard is when the last message was answered, or the connection came, ns since the epoch.
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
	k := &rpcClient{Conn: c, of: r, address: web.NetworkOf(c.RemoteAddr())}
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

// silent is the connection that gives way to one of an address: of those without a message in hand that of the address with the most
// connections, at least as many as the newcomer's, which was heard longest ago.
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
		if longest == nil || held[k.address] > held[longest.address] || held[k.address] == held[longest.address] && k.heard.Load() < longest.heard.Load() {
			longest = k
		}
	}
	return longest
}

func (k *rpcClient) Close() error {
	if k.closed.CompareAndSwap(false, true) {
		k.of.mu.Lock()
		delete(k.of.conns, k)
		k.of.mu.Unlock()
		k.of.places.Give(k.address)
	}
	return k.Conn.Close()
}

type rpcClientKey struct{}

// rpcContext makes the context of the calls of a connection.
func rpcContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, rpcClientKey{}, c)
}

// rpcHeard notes that the message of a call has begun; done that the call is over.
func rpcHeard(ctx context.Context) (done func()) {
	k, ok := ctx.Value(rpcClientKey{}).(*rpcClient)
	if !ok {
		return func() {}
	}
	k.messages.Add(1)
	return func() {
		k.heard.Store(time.Now().UnixNano())
		k.messages.Add(-1)
	}
}
