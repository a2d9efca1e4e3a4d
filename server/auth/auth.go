// Package auth authenticates users: it reads them from their source and checks the credentials of requests.
package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync/atomic"

	"varve/engine/status"
	"varve/server/web"
)

// user is one line of a user list.
type user struct {
	name   string
	mode   web.Mode
	verify verifier
	// proof is that of the user's password, see userList.proof; nil until the password was first found to be right.
	proof atomic.Pointer[[sha256.Size]byte]
}

// Users are the users of a provider. Safe for concurrent use; a watched file replaces them as a whole.
type Users struct {
	list atomic.Pointer[userList]
	path string // of the file they come from, else empty
	// watched says that Refresh looks whether the file changed; text is the hash of its bytes.
	watched bool
	text    [sha256.Size]byte
	log     *slog.Logger
	seen    fileState
	salts   [sha256.Size]byte // the key of salts, see saltOf: the same for all lists, no other process knows it

	checks  checks
	refused atomic.Int64
}

// Authenticate finds the user of a request. Errors are the contract's, codes 7000 to 7004 and 1004; all of them are
// 401. A wrong password and an unknown user differ neither in code and text nor in the work that is done.
func (u *Users) Authenticate(ctx context.Context, c web.Credentials) (web.User, error) {
	value := c.Service
	if value == nil {
		value = c.Authorization
	}
	switch {
	case value != nil:
	case c.Key != nil:
		return u.loginText(ctx, string(c.Key), c.Client)
	case c.User != nil:
		return u.Login(ctx, string(c.User), string(c.Password), c.Client)
	default:
		return web.User{}, status.New(status.AuthHeaderNotFound, "Not found http or grpc authorization header")
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(string(value)), " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		return web.User{}, status.New(status.InvalidAuthHeader, "Invalid http authorization header")
	}
	text := rest
	switch scheme = strings.ToLower(scheme); {
	case scheme == "basic", scheme == c.Scheme && c.Encoded:
		plain, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return web.User{}, status.New(status.InvalidAuthHeader, "Invalid base64 value: %v", err)
		}
		text = string(plain)
	case scheme == c.Scheme:
	case scheme == "bearer":
		return web.User{}, status.New(status.UserPasswordMismatch, "Unsupported authentication method: bearer token")
	default:
		return web.User{}, status.New(status.InvalidAuthHeader, "Unsupported http auth scheme, name: %s", scheme)
	}
	return u.loginText(ctx, text, c.Client)
}

// loginText is Login with user:password.
func (u *Users) loginText(ctx context.Context, text, client string) (web.User, error) {
	name, password, ok := strings.Cut(text, ":")
	if !ok {
		return web.User{}, status.New(status.InvalidAuthHeader, "Invalid http authorization header")
	}
	return u.Login(ctx, name, password, client)
}

// Login checks a name and a password for the client at an address. It may wait for other logins, until ctx ends.
func (u *Users) Login(ctx context.Context, name, password, client string) (web.User, error) {
	if name == "" {
		return web.User{}, status.New(status.InvalidArguments, "Illegal param: blank username")
	}
	if password == "" {
		return web.User{}, status.New(status.InvalidArguments, "Illegal param: blank password")
	}
	list := u.list.Load()
	known, ok := list.users[name]
	if !ok {
		known = list.nobody
	}
	match, err := list.proven(known, password), error(nil)
	switch {
	case match:
	case list.slowest == 0:
		match = list.verify(known, password)
	default:
		match, err = u.checks.once(ctx, attempt{list, name, [sha256.Size]byte(list.proof(password))}, client,
			func() bool {
				return list.proven(known, password) || list.verify(known, password)
			})
	}
	if err != nil {
		return web.User{}, err
	}
	if !match || !ok {
		u.refused.Add(1)
		return web.User{}, status.New(status.UserPasswordMismatch, "Username and password does not match, username: %s",
			name)
	}
	return web.User{Name: known.name, Mode: known.mode}, nil
}

// Len is the number of users.
func (u *Users) Len() int { return len(u.list.Load().users) }

// Refused is the number of logins that were refused for a wrong name or password.
func (u *Users) Refused() int64 { return u.refused.Load() }

// userList are the users at one time. Immutable but for the proofs that its users have.
type userList struct {
	users map[string]*user
	// nobody stands in for an unknown user.
	nobody *user
	// slowest is the cost of the slowest verifier. Every check without a proof costs as much, for every user and for
	// unknown names: the time of a check does not show whether there is a user of the name.
	slowest int
	// key makes proofs; no other process knows it.
	key [sha256.Size]byte
	// kinds are the costs and the lengths of salts in SCRAM that users have, each once.
	kinds map[scramKind]bool
}

func newUserList(users map[string]*user) *userList {
	l := &userList{users: users, nobody: &user{verify: newPlain("")}, kinds: map[scramKind]bool{}}
	rand.Read(l.key[:]) // never fails
	for _, u := range users {
		l.slowest = max(l.slowest, u.verify.cost())
		iterations, salt := u.verify.scram()
		l.kinds[scramKind{iterations, len(salt)}] = true
	}
	return l
}

// proof is the keyed hash of a password. It is compared with the proof of the password that was right before: checking
// a derived hash takes a good part of a second by design, too long for every request.
func (l *userList) proof(password string) []byte {
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(password))
	return mac.Sum(nil)
}

// proven reports whether the password is the one that was right for the user before.
func (l *userList) proven(u *user, password string) bool {
	known := u.proof.Load()
	if known == nil {
		known = new([sha256.Size]byte)
	}
	return subtle.ConstantTimeCompare(known[:], l.proof(password)) == 1
}

// verify checks a password, at the cost of the slowest verifier.
func (l *userList) verify(u *user, password string) bool {
	match := u.verify.matches(password)
	if rest := l.slowest - u.verify.cost(); rest > 0 {
		(&derived{iterations: rest, salt: l.key[:], hash: l.key[:]}).matches(password)
	}
	if match {
		u.proof.Store((*[sha256.Size]byte)(l.proof(password)))
	}
	return match
}

// verifier checks a password.
type verifier interface {
	matches(password string) bool
	// cost is the time of a check in iterations of the derivation; 0: next to nothing.
	cost() int
	// scram is the cost and the salt of the password in SCRAM; salt nil: saltOf gives it, and the key is derived for
	// each exchange.
	scram() (iterations int, salt []byte)
	// salted is the password as SCRAM needs it, with such a salt.
	salted(salt []byte) ([]byte, error)
	// same reports whether another verifier is of the same password, as far as the lists tell.
	same(other verifier) bool
}

// plain is a password that was given in clear. Its hash makes lengths equal, so that comparing takes the same time for
// all.
type plain struct {
	hash [sha256.Size]byte
	text string
}

func newPlain(text string) *plain { return &plain{hash: sha256.Sum256([]byte(text)), text: text} }

func (p *plain) matches(password string) bool {
	h := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(p.hash[:], h[:]) == 1
}

func (*plain) cost() int { return 0 }

func (*plain) scram() (int, []byte) { return plainIterations, nil }

func (p *plain) salted(salt []byte) ([]byte, error) {
	return derive(p.text, salt, plainIterations, sha256.Size)
}

func (p *plain) same(other verifier) bool {
	o, ok := other.(*plain)
	return ok && o.hash == p.hash
}
