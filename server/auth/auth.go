// Package auth knows the users of the server: where they come from and how a request proves to be one of them.
package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"varve/engine/status"
	"varve/server/web"
)

// user is one line of a user list.
type user struct {
	name   string
	mode   web.Mode
	verify verifier
}

// Users are the users of a provider. Safe for concurrent use; a watched file replaces them as a whole.
type Users struct {
	list atomic.Pointer[userList]
	path string // of a watched file, else empty
	log  *slog.Logger
	seen fileState
}

// Credentials are what a request shows, as raw header values; nil means that the header is absent.
type Credentials struct {
	Service       []byte // x-service-auth
	Authorization []byte
}

// Authenticate finds the user of a request. Errors are the contract's, codes 7000 to 7004 and 1004; all of them are 401.
// A wrong password and an unknown user differ neither in code and text nor in the work that is done.
func (u *Users) Authenticate(c Credentials) (web.User, error) {
	value := c.Service
	if value == nil {
		value = c.Authorization
	}
	if value == nil {
		return web.User{}, status.New(status.AuthHeaderNotFound, "Not found http or grpc authorization header")
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(string(value)), " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		return web.User{}, status.New(status.InvalidAuthHeader, "Invalid http authorization header")
	}
	switch strings.ToLower(scheme) {
	case "basic":
	case "bearer":
		return web.User{}, status.New(status.UserPasswordMismatch, "Unsupported authentication method: bearer token")
	default:
		return web.User{}, status.New(status.InvalidAuthHeader, "Unsupported http auth scheme, name: %s", strings.ToLower(scheme))
	}
	text, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return web.User{}, status.New(status.InvalidAuthHeader, "Invalid base64 value: %v", err)
	}
	name, password, ok := strings.Cut(string(text), ":")
	if !ok {
		return web.User{}, status.New(status.InvalidAuthHeader, "Invalid http authorization header")
	}
	return u.Login(name, password)
}

// Login checks a name and a password.
func (u *Users) Login(name, password string) (web.User, error) {
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
	if match := list.matches(known, password); !match || !ok {
		return web.User{}, status.New(status.UserPasswordMismatch, "Username and password does not match, username: %s", name)
	}
	return web.User{Name: known.name, Mode: known.mode}, nil
}

// Len is the number of users.
func (u *Users) Len() int { return len(u.list.Load().users) }

// userList is the users at one time. Immutable but for what it remembers.
type userList struct {
	users map[string]*user
	// nobody stands in for an unknown user: as slow to refuse as the slowest real one.
	nobody *user

	// Passwords that matched a slow verifier, as keyed hashes: a derived hash takes a good part of a second by design,
	// which is too long for every request of a client that has shown the right one before.
	key    [sha256.Size]byte
	mu     sync.Mutex
	proven map[[sha256.Size]byte]bool
}

// maxProven bounds what a list remembers.
const maxProven = 1024

func newUserList(users map[string]*user) *userList {
	l := &userList{users: users, nobody: &user{verify: plain(sha256.Sum256(nil))}, proven: map[[sha256.Size]byte]bool{}}
	rand.Read(l.key[:]) // never fails
	for _, u := range users {
		if u.verify.cost() > l.nobody.verify.cost() {
			l.nobody = &user{verify: u.verify}
		}
	}
	return l
}

// matches checks a password, a slow verifier's only the first time that it is right.
func (l *userList) matches(u *user, password string) bool {
	if u.verify.cost() == 0 {
		return u.verify.matches(password)
	}
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(u.name + "\x00" + password))
	proof := [sha256.Size]byte(mac.Sum(nil))
	l.mu.Lock()
	known := l.proven[proof]
	l.mu.Unlock()
	if known {
		return true
	}
	if !u.verify.matches(password) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.proven) >= maxProven {
		clear(l.proven)
	}
	l.proven[proof] = true
	return true
}

// verifier checks a password.
type verifier interface {
	matches(password string) bool
	// cost orders verifiers by the time of a check.
	cost() int
}

// plain is the hash of a password that was given in clear; hashing makes lengths equal, so that comparing them takes
// the same time for all.
type plain [sha256.Size]byte

func (p plain) matches(password string) bool {
	h := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(p[:], h[:]) == 1
}

func (plain) cost() int { return 0 }
