package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"
)

// certificate is what a listener proves to be the server with. Safe for concurrent use.
type certificate struct {
	section   string // of the configuration
	cert, key string // files, PEM
	pair      atomic.Pointer[tls.Certificate]
}

// load reads the files; changed reports whether the certificate is another than before. After an error the old one
// stays.
func (c *certificate) load() (changed bool, err error) {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return false,
			&configError{fmt.Sprintf("%s.tls_cert = %q, %[1]s.tls_key = %[3]q: %v", c.section, c.cert, c.key, err)}
	}
	old := c.pair.Swap(&pair)
	return old == nil || !bytes.Equal(old.Certificate[0], pair.Certificate[0]), nil
}

// expires is when the certificate ends to be valid.
func (c *certificate) expires() time.Time { return c.pair.Load().Leaf.NotAfter }

// encrypt speaks TLS on a listener whose section has a certificate; addresses of one section share theirs. protocols
// are those of the application that it speaks, where clients ask.
func (n *node) encrypt(ln net.Listener, section string, protocols ...string) net.Listener {
	if t := n.tls(section, protocols...); t != nil {
		return tls.NewListener(ln, t)
	}
	return ln
}

// tls is how a section speaks TLS; nil: it has no certificate.
func (n *node) tls(section string, protocols ...string) *tls.Config {
	i := slices.IndexFunc(n.certs, func(c *certificate) bool { return c.section == section })
	if i < 0 {
		return nil
	}
	c := n.certs[i]
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     protocols,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
	}
}

// reloadCertificates reads all certificates again.
func (n *node) reloadCertificates() {
	for _, c := range n.certs {
		changed, err := c.load()
		switch {
		case err != nil:
			n.log.Error("a certificate cannot be read again: the old one stays", "error", err)
		case changed:
			n.log.Info("certificate read again", "file", c.cert, "expires", c.expires().UTC().Format(time.RFC3339))
		}
	}
}

// certificates reads the certificates of all addresses that are configured. Those of a section without an address are
// not read: nobody gets to see them.
func (c *Config) certificates() (list []*certificate, err error) {
	h := &c.HTTP
	for _, a := range append([]address{{section: "http", cert: h.TLSCert, certKey: h.TLSKey}}, c.addresses()...) {
		known := slices.ContainsFunc(list, func(c *certificate) bool { return c.section == a.section })
		if a.cert == "" || known {
			continue
		}
		one := &certificate{section: a.section, cert: a.cert, key: a.certKey}
		if _, err := one.load(); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}
