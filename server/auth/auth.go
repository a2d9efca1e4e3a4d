// Package auth knows the users of the server: where they come from and how a request proves to be one of them.
package auth

import (
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
}

// Users are the users of a provider. Safe for concurrent use; a watched file replaces them as a whole.
type Users struct {
	list atomic.Pointer[map[string]*user]
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
	users := *u.list.Load()
	known, ok := users[name]
	if !ok {
		known = nobody(users)
	}
	if match := known.verify.matches(password); !match || !ok {
		return web.User{}, status.New(status.UserPasswordMismatch, "Username and password does not match, username: %s", name)
	}
	return web.User{Name: known.name, Mode: known.mode}, nil
}

// nobody is the user that stands in for an unknown one: as slow to refuse as the slowest real one.
func nobody(users map[string]*user) *user {
	n := &user{verify: plain(sha256.Sum256(nil))}
	for _, u := range users {
		if u.verify.cost() > n.verify.cost() {
			n = u
		}
	}
	return n
}

// Len is the number of users.
func (u *Users) Len() int { return len(*u.list.Load()) }

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
