package syslog_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"varve/server/servertest"
)

// certificate makes one of 127.0.0.1.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestSyslog: messages of each transport and framing are rows, which are there when the server has stopped reading.
func TestSyslog(t *testing.T) {
	h := servertest.Real(t, nil)
	pair := certificate(t)
	pool := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(leaf)
	plain, inner := h.Listen(), h.Listen()
	secret := tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{pair}})
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.Serving(func() error { return h.Server.ServeSyslog(plain) }, func() error { return h.Server.ServeSyslog(secret) },
		func() error { return h.Server.ServeSyslogUDP(packets) })

	lines := h.Connect(plain.Addr().String())
	octets, err := tls.Dial("tcp", inner.Addr().String(), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer octets.Close()
	datagrams, err := net.Dial("udp", packets.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	for _, one := range []struct {
		to   io.Writer
		text string
	}{
		{lines, "<34>1 2026-01-02T03:04:05.000000006Z web su 7 ID47 [a@1 k=\"v\"] one\n<13>no time\n"},
		{octets, "49 <165>1 2026-01-02T03:04:06Z db pg - - - two\nlines"},
		{datagrams, "<13>2026-01-02T03:04:07Z mail postfix[3]: three \xff\r\n"},
	} {
		if _, err := io.WriteString(one.to, one.text); err != nil {
			t.Fatal(err)
		}
	}
	const query = "SELECT facility, severity, hostname, app_name, proc_id, msg_id, structured_data, message FROM syslog WHERE service_timestamp < '2026-01-03' ORDER BY service_timestamp"
	want := `[["auth","crit","web","su","7","ID47",{"a@1":{"k":"v"}},"one"],["local4","notice","db","pg",null,null,null,"two\nlines"],["user","notice","mail","postfix","3",null,null,"three ` + "\uFFFD" + `"]]`
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(40 * time.Second); ; {
		a := h.Do("POST", "/v1/sql", "sql="+query, "Content-Type", "application/x-www-form-urlencoded")
		if strings.Contains(a.Body, want) {
			break
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("got %s\nwant %s", a.Body, want)
		}
	}
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+syslog", ""), 200, `[[4]]`)
}
