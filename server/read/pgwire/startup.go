package pgwire

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/nearest"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/infoschema"
)

// What the first message of a connection asks for.
const (
	askCancel  = 80877102
	askTLS     = 80877103
	askGSS     = 80877104
	firstOfTLS = 0x16 // the first byte of a handshake of TLS
	scramName  = "SCRAM-SHA-256"
	boundName  = scramName + "-PLUS" // with channel binding
	// maxParameters bounds the parameters that a client sets when it connects.
	maxParameters = 64
)

// start begins a session. ok is false if the connection had another purpose.
func (k *conn) start() (ok bool, err error) {
	stop := func() { k.raw.SetDeadline(past) }
	over := time.AfterFunc(k.s.o.Patience, stop)
	parameters, err := k.greet()
	if intime := over.Stop(); err != nil || parameters == nil || !intime {
		return false, k.late(err, errors.New("the user was not known in time"))
	}
	over = time.AfterFunc(proofTime, stop)
	defer over.Stop()
	if err := k.settings.begin(k, parameters); err != nil {
		return false, err
	}
	if err := k.authenticate(parameters["user"]); err != nil {
		return false, k.late(err, errors.New("the user was not known in time"))
	}
	if !over.Stop() {
		return false, errors.New("the user was not known in time")
	}
	k.raw.SetDeadline(time.Time{}) // each read and write has its own
	if err := k.open(parameters); err != nil {
		return false, failureOf(err, "", 0)
	}
	return true, k.flush()
}

// greet reads messages until the client says who it is: its parameters are returned; nil: the connection is over.
func (k *conn) greet() (map[string]string, error) {
	asked := false
	for {
		if first, err := k.r.Peek(1); err == nil && first[0] == firstOfTLS && k.c == k.raw && !asked {
			if k.s.o.TLS == nil {
				return nil, errors.New("the client speaks TLS, which the server does not")
			}
			if err := k.secure(); err != nil {
				return nil, err
			}
			continue
		}
		body, code, err := k.first()
		if err != nil {
			return nil, err
		}
		switch {
		case code == askCancel:
			k.s.cancelled(body)
			return nil, nil
		case code == askGSS || code == askTLS && (k.s.o.TLS == nil || k.c != k.raw):
			if _, err := k.c.Write([]byte{'N'}); err != nil {
				return nil, err
			}
		case code == askTLS:
			if k.r.Buffered() > 0 { // bytes that came before TLS must not count as if they had come in it
				return nil, fail("08P01", "bytes came between the request for TLS and its answer")
			}
			if _, err := k.c.Write([]byte{'S'}); err != nil {
				return nil, err
			}
			if err := k.secure(); err != nil {
				return nil, err
			}
			asked = true
		case code>>16 == 3:
			if k.s.o.RequireTLS && k.c == k.raw && !local(k.address) {
				return nil, fail("28000", "the server takes connections of other machines over TLS only")
			}
			return k.parameters(body, code&0xffff)
		default:
			return nil, fail("0A000", fmt.Sprintf("protocol %d.%d is not supported: the server speaks 3.0", code>>16,
				code&0xffff))
		}
	}
}

// first reads a message without a kind: its code and what follows it.
func (k *conn) first() (body []byte, code uint32, err error) {
	var head [8]byte
	if _, err := io.ReadFull(k.r, head[:]); err != nil {
		return nil, 0, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 8 || n > maxStartup {
		return nil, 0, errors.New("what came is no message of the protocol")
	}
	body = make([]byte, n-8)
	_, err = io.ReadFull(k.r, body)
	return body, binary.BigEndian.Uint32(head[4:]), err
}

// parameters reads the names and values of the first message. Protocols later than 3.0 and their options are refused
// in the way that lets the client go on without them.
func (k *conn) parameters(body []byte, minor uint32) (map[string]string, error) {
	set := map[string]string{}
	var unknown []string
	for len(body) > 0 && body[0] != 0 {
		name, rest, ok := bytes.Cut(body, []byte{0})
		value, after, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(set) == maxParameters {
			return nil, fail("08P01", "the parameters of the connection cannot be read, or are too many")
		}
		if body = after; bytes.HasPrefix(name, []byte("_pq_.")) {
			unknown = append(unknown, string(name))
			continue
		}
		set[string(name)] = string(value)
	}
	if minor > 0 || len(unknown) > 0 {
		k.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 0, UnrecognizedOptions: unknown})
	}
	if set["user"] == "" {
		return nil, fail("28000", "the client names no user")
	}
	if !utf8.ValidString(set["user"]) {
		return nil, fail("28000", "the name of the user is no text in UTF-8")
	}
	if r := set["replication"]; r != "" && r != "false" && r != "off" && r != "0" && r != "no" {
		return nil, fail("0A000", "replication is not supported")
	}
	return set, nil
}

// authenticate finds the user.
func (k *conn) authenticate(name string) error {
	k.user = web.User{Name: name}
	if k.s.o.SCRAM == nil {
		k.send(&pgproto3.AuthenticationOk{})
		return nil
	}
	names := []string{scramName}
	binding := k.binds()
	if binding != nil {
		names = []string{boundName, scramName}
	}
	k.send(&pgproto3.AuthenticationSASL{AuthMechanisms: names})
	var first pgproto3.SASLInitialResponse
	if err := k.password(&first); err != nil {
		return err
	}
	if !slices.Contains(names, first.AuthMechanism) {
		return fail("28000", fmt.Sprintf("the client asks for the unknown mechanism %q", first.AuthMechanism))
	}
	e := k.s.o.SCRAM(name)
	e.Bind(binding, first.AuthMechanism == boundName)
	reply, err := e.First(first.Data)
	if err != nil {
		return failureOf(err, "", 0)
	}
	k.send(&pgproto3.AuthenticationSASLContinue{Data: reply})
	var second pgproto3.SASLResponse
	if err := k.password(&second); err != nil {
		return err
	}
	reply, user, err := e.Final(second.Data)
	if err != nil {
		return failureOf(err, "", 0)
	}
	k.user, k.current = user, e.Current()
	k.send(&pgproto3.AuthenticationSASLFinal{Data: reply})
	k.send(&pgproto3.AuthenticationOk{})
	return nil
}

// password sends what there is and reads an answer to it.
func (k *conn) password(into pgproto3.FrontendMessage) error {
	if err := k.flush(); err != nil {
		return err
	}
	kind, err := k.r.ReadByte()
	if err != nil {
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(k.r, head[:]); err != nil {
		return unexpected(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if kind != 'p' || n < 4 || n > maxStartup {
		return fail("08P01", "a message came that does not authenticate a user")
	}
	body := make([]byte, n-4)
	if _, err := io.ReadFull(k.r, body); err != nil {
		return unexpected(err)
	}
	if err := into.Decode(body); err != nil {
		return fail("08P01", "a message of the authentication cannot be read")
	}
	return nil
}

// open begins the session of a known user.
func (k *conn) open(parameters map[string]string) error {
	k.session, k.allowance = k.s.o.Statements.Session(k.user), k.s.o.Executor.Allowance()
	k.session.Settings = func() []infoschema.Setting { return k.settings.list(k) }
	k.session.Client, k.session.Network = k.raw.RemoteAddr().String(), k.address
	k.session.ConnID, k.session.Backend = uint64(k.number), k.number
	k.session.Private = k.backendFunctions()
	db, err := k.database(parameters["database"])
	if err != nil {
		return err
	}
	k.session.DB, k.session.DBGiven = db, true
	if err := k.settings.open(k); err != nil {
		return err
	}
	k.mu.Lock()
	rand.Read(k.secret[:]) // never fails
	k.name, k.opened = k.user.Name, true
	k.mu.Unlock()
	k.settings.report(k)
	k.send(&pgproto3.BackendKeyData{ProcessID: k.number, SecretKey: k.secret[:]})
	k.ready()
	return nil
}

// database is the database of a connection that names one: a database of ours, or the one that all are schemas of.
// Clients that name none send the name of the user.
func (k *conn) database(name string) (string, error) {
	switch {
	case name == "" || name == sqlexec.Catalog || name == "postgres":
		return sqlexec.DefaultDB, nil
	case k.s.o.Executor.HasDatabase(name):
		return name, nil
	case name == k.user.Name:
		return sqlexec.DefaultDB, nil
	}
	return "", fail("3D000", fmt.Sprintf("database %q does not exist", name))
}

// asUser looks the user up again: one who was removed, or has another password, ends the connection, and another mode
// counts at once.
func (k *conn) asUser() error {
	if k.isTerminated() {
		return errTerminated
	}
	if k.current == nil {
		return nil
	}
	user, err := k.current()
	if err != nil {
		_, why := web.Message(err)
		return &failure{code: "57P01", text: "terminating connection: " + why, fatal: true}
	}
	if user == k.user {
		return nil
	}
	k.user = user
	s := k.s.o.Statements.Session(user)
	k.session.User, k.session.Rights, k.session.Blind = s.User, s.Rights, s.Blind
	for _, p := range k.portals {
		k.narrow(p)
	}
	return nil
}

// narrow makes an open portal one of the present user: what the user may not run any more sends no further row.
func (k *conn) narrow(p *portal) {
	if p.st == nil {
		return
	}
	if err := k.s.o.Statements.Allows(k.user, p.st); err != nil {
		p.end()
		p.st, p.result = nil, nil
		p.command = &command{refused: err, run: func(*conn) (string, error) { return "", err }}
		return
	}
	if k.user.Mode == web.WriteOnly {
		p.ctx = nearest.Hide(p.ctx)
	}
}

// cancelled answers a request to end the statement of another connection.
func (s *Server) cancelled(body []byte) {
	if len(body) != 8 {
		return
	}
	s.mu.Lock()
	k := s.conns[binary.BigEndian.Uint32(body)]
	s.mu.Unlock()
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cancel != nil && bytes.Equal(k.secret[:], body[4:]) {
		k.cancel(errCancelled)
	}
}
