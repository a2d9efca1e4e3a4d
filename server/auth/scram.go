package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"

	"varve/engine/status"
	"varve/server/web"
)

// plainIterations is the cost of the derivation for a password that the user list has in clear: a client of such a user
// gains nothing from a slower one.
const plainIterations = 4096

// maxScram bounds a message of a client, in bytes.
const maxScram = 1024

// scramKind is what a client sees of a verifier before it has proved anything: the cost, and the length of the salt; 0:
// the salt is made by saltOf.
type scramKind struct{ iterations, salt int }

// madeSalt is the length of salts that no list has, in bytes.
const madeSalt = 16

// Exchange is one authentication by SCRAM-SHA-256, see RFC 5802 and RFC 7677. The password does not cross the wire. A
// hashed verifier of the user list is what SCRAM calls the salted password; of a password in clear it is derived each
// time, and for a name without a user too where such a name looks like one of these. One goroutine at a time.
type Exchange struct {
	users  *Users
	name   string
	user   *user // nil: there is no user of the name
	verify verifier
	salt   []byte
	cost   int

	bare, first []byte // the first message of the client without its header, and the answer to it
	header      []byte // of the first message
	nonce       []byte
	binding     []byte // of the connection, see Bind; nil: there is none
	bound       bool   // the client chose the mechanism with channel binding
}

// bindingHeader begins the first message of a client that binds the exchange to its connection.
const bindingHeader = "p=tls-server-end-point"

// Bind says what the server offers beside SCRAM-SHA-256: to bind the exchange to a connection over TLS, of which data
// is the hash of the server's certificate, see RFC 5929. bound: the client chose it. Before First.
func (e *Exchange) Bind(data []byte, bound bool) { e.binding, e.bound = data, bound }

// SCRAM begins the authentication of a user by name. It does not tell whether there is one: an unknown name has a cost
// and a salt that a user of the list could have, the same after the list is read again, unless no user has that cost
// any more.
func (u *Users) SCRAM(name string) *Exchange {
	list := u.list.Load()
	e := &Exchange{users: u, name: name, user: list.users[name]}
	made := u.saltOf(name, scramKind{}) // for all names: it takes the same time
	seems := u.seems(name, list.kinds)
	if e.user != nil {
		e.verify = e.user.verify
		if e.cost, e.salt = e.verify.scram(); e.salt == nil {
			e.salt = made
		}
		return e
	}
	if e.cost, e.salt, e.verify = seems.iterations, made, list.nobody.verify; seems.salt > 0 {
		e.salt = u.saltOf(name, seems)
		e.verify = &derived{seems.iterations, e.salt, list.key[:]}
	}
	return e
}

// seems is the kind that a name without a user seems to have: the one whose keyed hash with the name is largest, so
// that it stays as long as a user has it.
func (u *Users) seems(name string, kinds map[scramKind]bool) (best scramKind) {
	var most []byte
	for kind := range kinds {
		sum := keyed(u.salts[:], fmt.Sprintf("kind %d %d %s", kind.iterations, kind.salt, name))
		if most == nil || bytes.Compare(sum, most) > 0 {
			most, best = sum, kind
		}
	}
	return best
}

// saltOf is the salt of a name in a kind: the same each time.
func (u *Users) saltOf(name string, kind scramKind) []byte {
	n := kind.salt
	if n == 0 {
		n = madeSalt
	}
	var salt []byte
	for i := 0; len(salt) < n; i++ {
		salt = append(salt, keyed(u.salts[:], fmt.Sprintf("salt %d %d %d %s", kind.iterations, kind.salt, i, name))...)
	}
	return salt[:n]
}

// Current returns a function that gives the user of the exchange, which has been authenticated, by the list of the time
// of the call: with its present mode, and an error if it is gone or has another password. Any goroutine may call it.
func (e *Exchange) Current() func() (web.User, error) {
	users, was := e.users, e.user
	return func() (web.User, error) {
		now := users.list.Load().users[was.name]
		if now == nil || now != was && !now.verify.same(was.verify) {
			return web.User{}, status.New(status.UserNotFound,
				"User %s was removed or has another password: authenticate again", was.name)
		}
		return web.User{Name: now.name, Mode: now.mode}, nil
	}
}

// First answers the first message of the client.
func (e *Exchange) First(message []byte) (reply []byte, err error) {
	if len(message) > maxScram {
		return nil, badMessage("longer than %d bytes", maxScram)
	}
	parts := bytes.SplitN(message, []byte{','}, 3)
	if len(parts) < 3 || len(parts[0]) == 0 || len(parts[1]) > 0 {
		return nil, badMessage("its header is neither n,, nor y,, nor " + bindingHeader + ",,")
	}
	if err := e.checkBinding(string(parts[0])); err != nil {
		return nil, err
	}
	e.bare = bytes.Clone(parts[2])
	e.header = bytes.Clone(message[:len(message)-len(parts[2])])
	fields := bytes.SplitN(e.bare, []byte{','}, 3)
	if len(fields) < 2 || !bytes.HasPrefix(fields[0], []byte("n=")) || !bytes.HasPrefix(fields[1], []byte("r=")) ||
		len(fields[1]) < 3 {
		return nil, badMessage("it has no name and nonce")
	}
	own := make([]byte, 18)
	rand.Read(own) // never fails
	e.nonce = base64.StdEncoding.AppendEncode(bytes.Clone(fields[1][2:]), own)
	e.first = append([]byte("r="), e.nonce...)
	e.first = base64.StdEncoding.AppendEncode(append(e.first, ",s="...), e.salt)
	e.first = strconv.AppendInt(append(e.first, ",i="...), int64(e.cost), 10)
	return e.first, nil
}

// checkBinding compares what a client says of channel binding with what it chose. One that believes that the server has
// none, where it was offered, was told so by somebody in between.
func (e *Exchange) checkBinding(flag string) error {
	switch {
	case e.bound && flag == bindingHeader, !e.bound && flag == "n", !e.bound && flag == "y" && e.binding == nil:
		return nil
	case e.bound:
		return badMessage("its header is not " + bindingHeader + ",, which its mechanism needs")
	case flag == "y":
		return badMessage("it takes the server to have no channel binding, which it was offered")
	}
	return badMessage("it asks for channel binding, which its mechanism does not have")
}

// Final checks the second message of the client, after First. An unknown user and a wrong password are the same error.
func (e *Exchange) Final(message []byte) (reply []byte, known web.User, err error) {
	if len(message) > maxScram {
		return nil, known, badMessage("longer than %d bytes", maxScram)
	}
	at := bytes.LastIndex(message, []byte(",p="))
	if at < 0 {
		return nil, known, badMessage("it has no proof")
	}
	proof, err := base64.StdEncoding.DecodeString(string(message[at+3:]))
	if err != nil || len(proof) != sha256.Size {
		return nil, known, badMessage("its proof is not %d bytes in base64", sha256.Size)
	}
	header := e.header
	if e.bound {
		header = append(bytes.Clone(header), e.binding...)
	}
	want := base64.StdEncoding.AppendEncode([]byte("c="), header)
	want = append(append(want, ",r="...), e.nonce...)
	if subtle.ConstantTimeCompare(want, message[:at]) != 1 {
		return nil, known, badMessage("it does not belong to the first one")
	}
	text := append(append(append(append(bytes.Clone(e.bare), ','), e.first...), ','), message[:at]...)
	salted, err := e.verify.salted(e.salt)
	if err != nil {
		return nil, known, fmt.Errorf("key of a password: %w", err)
	}
	stored := sha256.Sum256(keyed(salted, "Client Key"))
	client := keyed(stored[:], string(text))
	subtle.XORBytes(client, client, proof)
	shown := sha256.Sum256(client)
	if subtle.ConstantTimeCompare(shown[:], stored[:]) != 1 || e.user == nil {
		e.users.refused.Add(1)
		return nil, known, status.New(status.UserPasswordMismatch,
			"Username and password does not match, username: %s", e.name)
	}
	sign := keyed(keyed(salted, "Server Key"), string(text))
	return base64.StdEncoding.AppendEncode([]byte("v="), sign), web.User{Name: e.user.name, Mode: e.user.mode}, nil
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func badMessage(format string, args ...any) error {
	return status.New(status.InvalidAuthHeader, "Malformed message of SCRAM: %s", fmt.Sprintf(format, args...))
}
