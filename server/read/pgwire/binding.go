package pgwire

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// binds are the bytes that bind an authentication to the connection: the hash of the certificate that the server has
// shown (tls-server-end-point, RFC 5929). A client that was shown another one computes other bytes. nil: the connection
// has no TLS, or a certificate for which no hash is defined.
func (k *conn) binds() []byte {
	t, ok := k.c.(*tls.Conn)
	if !ok || k.shown == nil || !t.ConnectionState().HandshakeComplete {
		return nil
	}
	return endPoint(k.shown.Certificate[0])
}

// endPoint is the hash of a certificate in the encoding DER by the hash of its signature, with SHA-256 in place of MD5
// and SHA-1; nil: its signature has no single hash, such as that of Ed25519.
func endPoint(der []byte) []byte {
	c, err := x509.ParseCertificate(der)
	if err != nil { // TLS has shown it: a client that cannot read it has gone
		return nil
	}
	var by crypto.Hash
	switch c.SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.SHA256WithRSA, x509.ECDSAWithSHA256,
		x509.SHA256WithRSAPSS:
		by = crypto.SHA256
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		by = crypto.SHA384
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		by = crypto.SHA512
	default:
		return nil
	}
	h := by.New()
	h.Write(der)
	return h.Sum(nil)
}

// showing is a configuration of TLS that notes which certificate the connection shows. Sessions are not resumed: those
// show none.
func (k *conn) showing(of *tls.Config) *tls.Config {
	own := of.Clone()
	own.SessionTicketsDisabled = true
	own.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := certificateOf(of, hello)
		if err == nil {
			k.shown = c
		}
		return c, err
	}
	return own
}

// certificateOf is the certificate that a configuration shows to a client.
func certificateOf(of *tls.Config, hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if of.GetCertificate != nil {
		if c, err := of.GetCertificate(hello); c != nil || err != nil {
			return c, err
		}
	}
	for i := range of.Certificates {
		if c := &of.Certificates[i]; hello.SupportsCertificate(c) == nil || i == len(of.Certificates)-1 {
			return c, nil
		}
	}
	return nil, errors.New("the server has no certificate")
}
