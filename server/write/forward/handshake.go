package forward

import (
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// A server with a key greets each connection, and both sides show that they know the key before anything is stored. The
// users of the server have no part in it.
//
//	server  ["HELO", {"nonce": bytes, "auth": "", "keepalive": true}]
//	sender  ["PING", its host, salt, digest(salt, its host, nonce, key), user, password]
//	server  ["PONG", whether it may send, why not, host, digest(salt, host, nonce, key)]
//
// A digest is the hexadecimal SHA-512 of its parts one after the other.

// maxGreeting bounds the message with which a sender answers.
const maxGreeting = 8 << 10

var (
	errNoPing = errors.New("the sender does not authenticate: give it the key of forward.shared_key")
	errOther  = errors.New("the key of the sender is not forward.shared_key")
)

// greet makes the handshake.
func (f *frames) greet() error {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	hello := appendText([]byte{0x92}, "HELO")
	hello = append(append(appendText(append(hello, 0x83), "nonce"), 0xc4, byte(len(nonce))), nonce...)
	hello = append(appendText(appendText(appendText(hello, "auth"), ""), "keepalive"), 0xc3)
	if err := write(f.to, hello); err != nil {
		return err
	}
	most := f.most
	f.most = maxGreeting
	err := f.read()
	f.most = most
	if err != nil {
		return err
	}
	p, ok := parsePing(f.b)
	if !ok {
		return errNoPing
	}
	host, err := os.Hostname()
	if err != nil {
		host = "varve"
	}
	answer := appendText([]byte{0x95}, "PONG")
	if subtle.ConstantTimeCompare(p.digest, digest(p.salt, p.host, nonce, f.key)) != 1 {
		answer = appendText(appendText(append(answer, 0xc2), "shared_key mismatch"), "")
		return errors.Join(errOther, write(f.to, appendText(answer, "")))
	}
	answer = appendText(appendText(append(answer, 0xc3), ""), host)
	return write(f.to, appendText(answer, string(digest(p.salt, []byte(host), nonce, f.key))))
}

// ping is the sender's answer to the greeting.
type ping struct{ host, salt, digest []byte }

// parsePing reads a ping; false: the message is none.
func parsePing(b []byte) (p ping, ok bool) {
	r := reader{b: b}
	if head := r.next(); head.kind != array || head.n != 6 {
		return p, false
	}
	if name := r.next(); string(name.bytes) != "PING" {
		return p, false
	}
	for _, to := range [...]*[]byte{&p.host, &p.salt, &p.digest} {
		v := r.next()
		if v.kind != text && v.kind != binaries {
			return p, false
		}
		*to = v.bytes
	}
	return p, r.err == nil
}

// digest is the digest of some parts.
func digest(parts ...[]byte) []byte {
	h := sha512.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

// appendText appends a text of MessagePack, of at most 255 bytes.
func appendText(dst []byte, s string) []byte {
	if len(s) < 32 {
		return append(append(dst, 0xa0|byte(len(s))), s...)
	}
	s = s[:min(len(s), 255)]
	return append(append(dst, 0xd9, byte(len(s))), s...)
}

// write writes an answer; a sender has some time to read it.
func write(to net.Conn, answer []byte) error {
	if err := to.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	if _, err := to.Write(answer); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}
