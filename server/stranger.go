package server

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A client of another protocol waits for ever for an answer that it understands, or shows a riddle. Its first bytes say
// who it is, and it is told in its own words where it has come. Then its connection is closed.

// postgresHead is the length of the request for encryption that a PostgreSQL client may send before its first packet:
// the length 8, and a number that begins with 0x04d2. The first packet has the version 3.0 there, which begins with 0.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html.
const postgresHead = 8

// Texts for strangers.
const (
	httpsHere = "this port takes HTTPS only: use https:// instead of http://\n"
	sqlByHTTP = "this is the HTTP port of a Varve server, which does not speak the protocol of PostgreSQL: " +
		"connect to its pg.addr if it has one, run 'varve sql', or send SQL to /v1/sql by HTTP"
)

// stranger answers a client that begins with first, or with what err says, in another protocol; false: it may be one of
// HTTP. The connection is of no use then.
func stranger(c net.Conn, first []byte, err error) bool {
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil {
		c, first = plain.Conn, plain.RecordHeader[:]
		if isLetter(first[0]) && isLetter(first[1]) {
			head := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: " +
				"close\r\nContent-Length: %d\r\n\r\n%s"
			leave(c, fmt.Appendf(nil, head, len(httpsHere), httpsHere))
			return true
		}
	} else if err != nil {
		return false
	}
	if len(first) < 5 || first[0] != 0 || first[1] != 0 { // no request of HTTP begins so, and no packet of TLS
		return false
	}
	answerPostgres(c, first)
	return true
}

func isLetter(b byte) bool { return 'A' <= b && b <= 'Z' }

// answerPostgres refuses a PostgreSQL client: its requests for encryption with a letter, its first packet with an error
// that it shows. first needs five bytes only: behind TLS no more are known.
func answerPostgres(c net.Conn, first []byte) {
	from := io.MultiReader(bytes.NewReader(first[min(postgresHead, len(first)):]), c)
	for wishes := 0; first[4] != 0; wishes++ {
		if wishes == 2 || say(c, []byte{'N'}) != nil {
			return
		}
		first = make([]byte, postgresHead)
		if _, err := io.ReadFull(from, first); err != nil {
			return
		}
	}
	body := []byte("SFATAL\x00VFATAL\x00C08P01\x00M" + sqlByHTTP + "\x00\x00")
	leave(c, append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(4+len(body))), body...))
}

// say writes a little to a client that may not read.
func say(c net.Conn, b []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(lingerTime)); err != nil {
		return err
	}
	_, err := c.Write(b)
	return err
}

// leave says the last word, and reads a little further, so that the client gets to see it instead of a reset.
func leave(c net.Conn, b []byte) {
	half, ok := c.(interface{ CloseWrite() error })
	if say(c, b) == nil && ok && half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		io.CopyN(io.Discard, c, readBuffer) // how it ends does not matter: the connection is closed next
	}
}
