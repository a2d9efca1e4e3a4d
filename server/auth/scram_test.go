package auth

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/server/web"
)

// scramLogin plays the client of an exchange; change alters its second message. It checks the signature of the server.
func scramLogin(t *testing.T, u *Users, name, password string, change func(string) string) (web.User, error) {
	t.Helper()
	return scramExchange(t, u.SCRAM(name), "n,,", nil, password, change)
}

// scramExchange is scramLogin of an exchange whose client begins with a header and is bound to some bytes.
func scramExchange(t *testing.T, e *Exchange, header string, binding []byte, password string,
	change func(string) string) (web.User, error) {
	t.Helper()
	bare := "n=,r=abc"
	reply, err := e.First([]byte(header + bare))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(reply), ",")
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "r=abc") || len(parts[0]) < len("r=abc")+18 {
		t.Fatalf("the first reply is %q", reply)
	}
	salt, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[1], "s="))
	if err != nil {
		t.Fatal(err)
	}
	iterations, err := strconv.Atoi(strings.TrimPrefix(parts[2], "i="))
	if err != nil {
		t.Fatal(err)
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	final := "c=" + base64.StdEncoding.EncodeToString(append([]byte(header), binding...)) + "," + parts[0]
	text := bare + "," + string(reply) + "," + final
	client := keyed(salted, "Client Key")
	stored := sha256.Sum256(client)
	proof := make([]byte, len(client))
	subtle.XORBytes(proof, client, keyed(stored[:], text))
	final += ",p=" + base64.StdEncoding.EncodeToString(proof)
	if change != nil {
		final = change(final)
	}
	sign, user, err := e.Final([]byte(final))
	want := base64.StdEncoding.EncodeToString(keyed(keyed(salted, "Server Key"), text))
	if err == nil && string(sign) != "v="+want {
		t.Errorf("the signature of the server is %q, want %q", sign, want)
	}
	return user, err
}

func TestSCRAM(t *testing.T) {
	salt := []byte("0123456789abcdef")
	hash, err := pbkdf2.Key(sha256.New, "secret", salt, 5000, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	u, err := Open(fmt.Sprintf("static_user_provider:cmd:ann:ro=pass,bea=pbkdf2_sha256:5000:%x:%x", salt, hash), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, good := range []struct {
		name, password string
		mode           web.Mode
	}{{"ann", "pass", web.ReadOnly}, {"bea", "secret", web.ReadWrite}} {
		user, err := scramLogin(t, u, good.name, good.password, nil)
		if err != nil || user.Name != good.name || user.Mode != good.mode {
			t.Errorf("%s: got %v, %v", good.name, user, err)
		}
	}
	for _, bad := range [][2]string{{"ann", "secret"}, {"bea", "pass"}, {"bea", ""}, {"absent", "pass"}, {"", "pass"}} {
		user, err := scramLogin(t, u, bad[0], bad[1], nil)
		if status.Of(err) != status.UserPasswordMismatch || user != (web.User{}) {
			t.Errorf("%q: got %v, %v", bad, user, err)
		}
	}
	if n := u.Refused(); n != 5 {
		t.Errorf("%d were refused, want 5", n)
	}
}

// TestSCRAMHidesUsers: who asks for a user that is not there gets a salt like that of a user, the same each time.
func TestSCRAMHidesUsers(t *testing.T) {
	u, err := Open("static_user_provider:cmd:ann=pass", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) []byte {
		reply, err := u.SCRAM(name).First([]byte("n,,n=,r=x"))
		if err != nil {
			t.Fatal(err)
		}
		return reply[bytes.Index(reply, []byte(",s=")):]
	}
	if a, b := ask("absent"), ask("absent"); !bytes.Equal(a, b) {
		t.Errorf("one name has the salts %s and %s", a, b)
	}
	if a, b := ask("absent"), ask("missing"); bytes.Equal(a, b) || len(a) != len(b) {
		t.Errorf("two names have the salts %s and %s", a, b)
	}
	if a, b := ask("ann"), ask("absent"); len(a) != len(b) || !bytes.Equal(a[len(a)-7:], b[len(b)-7:]) {
		t.Errorf("a user has %s, nobody has %s", a, b)
	}
}

func TestSCRAMRefusesMessages(t *testing.T) {
	u, err := Open("static_user_provider:cmd:ann=pass", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "n,,", "x,,n=,r=a", "p=tls-unique,,n=,r=a",
		bindingHeader + ",,n=,r=a", "n,a=b,n=,r=a", "n,,n=,r=",
		"n,,r=a,n=", "n,,n=,r=" + strings.Repeat("a", maxScram)} {
		if _, err := u.SCRAM("ann").First([]byte(text)); status.Of(err) != status.InvalidAuthHeader {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
	for name, change := range map[string]func(string) string{
		"no proof":      func(s string) string { return s[:strings.Index(s, ",p=")] },
		"a short proof": func(s string) string { return s[:strings.Index(s, ",p=")] + ",p=AAAA" },
		"no base64":     func(s string) string { return s[:strings.Index(s, ",p=")] + ",p=!" },
		"another nonce": func(s string) string { return strings.Replace(s, "r=abc", "r=abd", 1) },
		"another head":  func(s string) string { return strings.Replace(s, "c=biws", "c=eSws", 1) },
		"too long":      func(s string) string { return strings.Repeat("x", maxScram) + s },
	} {
		if _, err := scramLogin(t, u, "ann", "pass", change); status.Of(err) != status.InvalidAuthHeader {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestSCRAMBinds: an exchange over TLS belongs to the certificate that the client was shown.
func TestSCRAMBinds(t *testing.T) {
	u, err := Open("static_user_provider:cmd:ann=pass", nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, other := []byte("certificate"), []byte("of somebody between")
	for _, c := range []struct {
		name    string
		offered []byte
		bound   bool
		header  string
		seen    []byte
		early   bool // the first message is refused
		want    status.Code
	}{
		{"bound", shown, true, bindingHeader + ",,", shown, false, status.Success},
		{"another certificate", shown, true, bindingHeader + ",,", other, false, status.InvalidAuthHeader},
		{"no bytes", shown, true, bindingHeader + ",,", nil, false, status.InvalidAuthHeader},
		{"not bound, which the client may choose", shown, false, "n,,", nil, false, status.Success},
		{"the offer was taken out", shown, false, "y,,", nil, true, status.InvalidAuthHeader},
		{"no offer", nil, false, "y,,", nil, false, status.Success},
		{"the mechanism has it, the header not", shown, true, "n,,", nil, true, status.InvalidAuthHeader},
		{"the header has it, the mechanism not", shown, false, bindingHeader + ",,", shown, true,
			status.InvalidAuthHeader},
		{"another kind", shown, true, "p=tls-unique,,", shown, true, status.InvalidAuthHeader},
	} {
		e := u.SCRAM("ann")
		e.Bind(c.offered, c.bound)
		if c.early {
			_, err = e.First([]byte(c.header + "n=,r=abc"))
		} else {
			_, err = scramExchange(t, e, c.header, c.seen, "pass", nil)
		}
		if status.Of(err) != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}
