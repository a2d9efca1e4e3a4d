package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"varve/engine"
	"varve/server"
	"varve/server/write/forward"
	"varve/server/write/syslog"
)

// listener is an address besides that of HTTP.
type listener struct {
	io.Closer
	name  string
	addr  net.Addr
	serve func(s *server.Server) error
}

// listenMore opens the addresses besides that of HTTP.
func (n *node) listenMore() error {
	c := n.config
	streams := [...]struct {
		name, key, addr string
		tls             [2]string // files of the certificate and its key; empty: no TLS
		serve           func(s *server.Server, ln net.Listener) error
	}{
		{"api", "http.api_server_addr", c.apiAddr(), [2]string{c.HTTP.TLSCert, c.HTTP.TLSKey},
			(*server.Server).ServeAPI},
		{"grpc", "grpc.addr", c.GRPC.Addr, [2]string{c.HTTP.TLSCert, c.HTTP.TLSKey}, (*server.Server).ServeGRPC},
		{"forward", "forward.addr", c.Forward.Addr, [2]string{}, (*server.Server).ServeForward},
		{"forward", "forward.tls_addr", c.Forward.TLSAddr, [2]string{c.Forward.TLSCert, c.Forward.TLSKey},
			(*server.Server).ServeForward},
		{"syslog", "syslog.tcp_addr", c.Syslog.TCPAddr, [2]string{}, (*server.Server).ServeSyslog},
		{"syslog", "syslog.tls_addr", c.Syslog.TLSAddr, [2]string{c.Syslog.TLSCert, c.Syslog.TLSKey},
			(*server.Server).ServeSyslog},
	}
	for _, one := range streams {
		if one.addr == "" {
			continue
		}
		ln, err := net.Listen("tcp", one.addr)
		if err != nil {
			return listenError(one.addr, one.key, err)
		}
		section, _, _ := strings.Cut(one.key, ".")
		var protocols []string
		if one.name == "grpc" { // it has the certificate of HTTP, and its clients ask for HTTP/2
			section, protocols = "http", []string{"h2"}
		}
		if ln, err = n.encrypt(ln, section, one.tls, protocols...); err != nil {
			return errors.Join(err, ln.Close())
		}
		n.others = append(n.others,
			listener{ln, one.name, ln.Addr(), func(s *server.Server) error { return one.serve(s, ln) }})
	}
	if addr := c.Syslog.UDPAddr; addr != "" {
		pc, err := net.ListenPacket("udp", addr)
		if err != nil {
			return listenError(addr, "syslog.udp_addr", err)
		}
		n.others = append(n.others,
			listener{pc, "syslog", pc.LocalAddr(), func(s *server.Server) error { return s.ServeSyslogUDP(pc) }})
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

// checkListeners looks at the addresses of listeners.
func (c *Config) checkListeners() error {
	for _, one := range [...][2]string{{"http.api_server_addr", c.apiAddr()}, {"forward.addr", c.Forward.Addr},
		{"forward.tls_addr", c.Forward.TLSAddr}, {"syslog.tcp_addr", c.Syslog.TCPAddr},
		{"syslog.udp_addr", c.Syslog.UDPAddr}, {"syslog.tls_addr", c.Syslog.TLSAddr}} {
		if one[1] == "" {
			continue
		}
		if err := checkAddr(one[0], one[1]); err != nil {
			return err
		}
	}
	if h := &c.HTTP; (h.TLSCert == "") != (h.TLSKey == "") {
		return &configError{"http.tls_cert and http.tls_key need each other"}
	}
	for _, one := range [...][4]string{{"syslog", c.Syslog.TLSAddr, c.Syslog.TLSCert, c.Syslog.TLSKey},
		{"forward", c.Forward.TLSAddr, c.Forward.TLSCert, c.Forward.TLSKey}} {
		if one[1] != "" && (one[2] == "" || one[3] == "") {
			return &configError{fmt.Sprintf("%s.tls_addr needs %[1]s.tls_cert and %[1]s.tls_key", one[0])}
		}
	}
	return nil
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
