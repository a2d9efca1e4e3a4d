package main

import (
	"fmt"
	"io"
	"net"
	"slices"

	"varve/engine"
	"varve/server"
	"varve/server/read/pgwire"
	"varve/server/write/forward"
	"varve/server/write/syslog"
	"varve/sqlexec"
)

// listener is an address besides that of HTTP.
type listener struct {
	io.Closer
	name  string
	addr  net.Addr
	serve func(s *server.Server) error
}

// address is one that a configuration may listen on besides that of HTTP.
type address struct {
	name, key, addr string
	section         string // whose certificate it has; empty: no TLS
	cert, certKey   string
	most            int // connections of all addresses of the name together
	// serve answers connections; nil: datagrams come.
	serve func(s *server.Server, ln net.Listener) error
}

// addresses are all that are configured.
func (c *Config) addresses() []address {
	h, g, f, l, q := &c.HTTP, &c.GRPC, &c.Forward, &c.Syslog, &c.PG
	forward, syslog := (*server.Server).ServeForward, (*server.Server).ServeSyslog
	all := []address{
		{"api", "http.api_server_addr", c.apiAddr(), "http", h.TLSCert, h.TLSKey, 0, (*server.Server).ServeAPI},
		{"grpc", "grpc.addr", g.Addr, "http", h.TLSCert, h.TLSKey, g.MaxConnections, (*server.Server).ServeGRPC},
		{"forward", "forward.addr", f.Addr, "", "", "", f.MaxConnections, forward},
		{"forward", "forward.tls_addr", f.TLSAddr, "forward", f.TLSCert, f.TLSKey, f.MaxConnections, forward},
		{"syslog", "syslog.tcp_addr", l.TCPAddr, "", "", "", l.MaxConnections, syslog},
		{"syslog", "syslog.tls_addr", l.TLSAddr, "syslog", l.TLSCert, l.TLSKey, l.MaxConnections, syslog},
		{"syslog", "syslog.udp_addr", l.UDPAddr, "", "", "", 0, nil},
		{"pg", "pg.addr", q.Addr, "pg", q.TLSCert, q.TLSKey, q.MaxConnections, (*server.Server).ServePG},
	}
	return slices.DeleteFunc(all, func(a address) bool { return a.addr == "" })
}

// listenMore opens the addresses besides that of HTTP.
func (n *node) listenMore() error {
	for _, a := range n.config.addresses() {
		if a.serve == nil {
			pc, err := net.ListenPacket("udp", a.addr)
			if err != nil {
				return listenError(a.addr, a.key, err)
			}
			n.others = append(n.others,
				listener{pc, a.name, pc.LocalAddr(), func(s *server.Server) error { return s.ServeSyslogUDP(pc) }})
			continue
		}
		ln, err := net.Listen("tcp", a.addr)
		if err != nil {
			return listenError(a.addr, a.key, err)
		}
		var protocols []string
		if a.name == "grpc" { // its clients ask for HTTP/2
			protocols = []string{"h2"}
		}
		if a.name != "pg" { // its clients ask for TLS in the protocol
			ln = n.encrypt(ln, a.section, protocols...)
		}
		n.others = append(n.others,
			listener{ln, a.name, ln.Addr(), func(s *server.Server) error { return a.serve(s, ln) }})
	}
	return nil
}

// apiAddr is the address of the API alone; empty: there is none.
func (c *Config) apiAddr() string {
	if !c.HTTP.EnableAPIServer {
		return ""
	}
	return c.HTTP.APIServerAddr
}

// listeners are what serves the addresses besides that of HTTP.
func (n *node) listeners() (list []func() error) {
	for _, l := range n.others {
		list = append(list, func() error { return l.serve(n.server) })
	}
	return list
}

// isRemote reports whether other machines reach an address.
func isRemote(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return !a.IP.IsLoopback()
	case *net.UDPAddr:
		return !a.IP.IsLoopback()
	}
	return false
}

// checkListeners looks at the addresses, and at the certificates that they need.
func (c *Config) checkListeners() error {
	all := c.addresses()
	for _, a := range all {
		if err := checkAddr(a.key, a.addr); err != nil {
			return err
		}
	}
	if h := &c.HTTP; (h.TLSCert == "") != (h.TLSKey == "") {
		return &configError{"http.tls_cert and http.tls_key need each other"}
	}
	if q := &c.PG; (q.TLSCert == "") != (q.TLSKey == "") {
		return &configError{"pg.tls_cert and pg.tls_key need each other"}
	}
	for _, a := range all {
		if a.key == a.section+".tls_addr" && (a.cert == "" || a.certKey == "") {
			return &configError{fmt.Sprintf("%s needs %s.tls_cert and %[2]s.tls_key", a.key, a.section)}
		}
	}
	return nil
}

// pg are the options of the listener of the wire protocol of PostgreSQL.
func (c *Config) pg(n *node, sql *sqlexec.Executor) pgwire.Options {
	q := &c.PG
	return pgwire.Options{Executor: sql, TLS: n.tls("pg", "postgresql"), RequireTLS: q.RequireTLS && n.users != nil,
		MaxMessage: int(q.MaxMessage), MaxConnections: q.MaxConnections, MaxPerAddress: q.MaxPerAddress,
		IdleTimeout: q.IdleTimeout}
}

// forward are the options of the listener of the forward protocol.
func (c *Config) forward(store *engine.Engine) forward.Options {
	l := &c.Forward
	return forward.Options{Store: store, MaxMessage: int(l.MaxMessage), MaxConnections: l.MaxConnections,
		MaxPerAddress: l.MaxPerAddress, IdleTimeout: l.IdleTimeout, SharedKey: l.SharedKey}
}

// syslog are the options of the listeners of syslog.
func (c *Config) syslog(store *engine.Engine) syslog.Options {
	l := &c.Syslog
	return syslog.Options{Store: store, Table: l.Table, MaxMessage: int(l.MaxMessage), MaxConnections: l.MaxConnections,
		MaxPerAddress: l.MaxPerAddress, IdleTimeout: l.IdleTimeout}
}
