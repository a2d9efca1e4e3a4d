package web

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// Protocol is what the server knows of a protocol: its addresses, how its clients show who they are, and how they read
// errors. The package of the protocol makes it.
type Protocol struct {
	Name   string
	Routes []Route
	// Off takes the routes away: they are 404.
	Off bool
	// Calls are the methods of gRPC: their paths, and the paths of the routes that serve them. The routes answer errors
	// with a google.rpc.Status, see protowire.AppendStatus.
	Calls map[string]string
	// Owns reports whether a path that is no route belongs to the protocol: credentials are read there and errors are
	// written as on the routes. nil: no such path does.
	Owns func(path string) bool
	// Claims returns the handler for a request of the protocol's clients at an address that is not the protocol's, such
	// as the root: some clients are given no more than a host. It returns nil for all other requests. May be nil.
	Claims func(c *Ctx) Handler
	// Credentials adds the ways in which clients of the protocol show who they are. nil: they send only the headers
	// that every client may send.
	Credentials func(c *Ctx, shown *Credentials) error
	// Features name, in GET /v1/session, what a page may use while the protocol is served.
	Features []string
	// HidePath returns a path without the secrets that it holds, for the log. nil: paths hold none.
	HidePath func(path string) string
	// Fail answers with an error in the form of the protocol; plain answers in the form of the server. nil: plain does.
	Fail func(c *Ctx, err error, plain func(c *Ctx, err error))
	// Collectors are the figures.
	Collectors []prometheus.Collector
	// Shared lets pages of other origins ask on all paths, as Route.Shared does on one.
	Shared bool
	// Inside marks routes that look inside the process: they have no time limit, and pages never read their answers.
	Inside bool
	// OfAPI reports whether a path is served also at an address that serves /v1/ alone. nil: no path is.
	OfAPI func(path string) bool
	// Bare reports whether answers to a path carry no headers for pages of other origins, because only the server's own
	// pages ask. nil: all answers carry them.
	Bare func(path string) bool
}

// Route is one path of the HTTP interface.
type Route struct {
	Methods []string // HEAD is served wherever GET is
	Path    string   // with {parameters}
	Access  Access
	Handler Handler
	// Exact marks a path that the router cannot hold, because another route has it with a slash and everything below.
	// Every method but those in Not is served there.
	Exact bool
	Not   []string
	// Shared lets pages of other origins ask: the answer says no more than that the server lives.
	Shared bool
	// Reserved marks a route that is answered also on the reserved connections, when all others are taken.
	Reserved bool
	// Figures marks answers with figures of the server, which have room of their own.
	Figures bool
	// Copies marks what a standby copies, which has room of its own: writes may wait for it.
	Copies bool
}

// On is a route without further properties.
func On(methods []string, path string, access Access, handler Handler) Route {
	return Route{Methods: methods, Path: path, Access: access, Handler: handler}
}

// Methods of routes.
var (
	Get     = []string{"GET"}
	Post    = []string{"POST"}
	GetPost = []string{"GET", "POST"}
	PutPost = []string{"PUT", "POST"}
	Delete  = []string{"DELETE"}
	Options = []string{"OPTIONS"}
	// Asking are the methods of senders that ask and set up before they send.
	Asking = []string{"GET", "PUT", "POST"}
)

// Below returns the routes once below each base.
func Below(routes []Route, bases ...string) []Route {
	list := make([]Route, 0, len(bases)*len(routes))
	for _, base := range bases {
		for _, r := range routes {
			r.Path = base + r.Path
			list = append(list, r)
		}
	}
	return slices.Clip(list)
}

// Access is who may use a route on a server with users. The zero value is the strictest.
type Access uint8

// The kinds of access.
const (
	AccessAdmin   Access = iota // users who may read and write
	AccessRead                  // users who may read
	AccessWrite                 // users who may write
	AccessUser                  // every user; the handler decides by statement
	AccessMetrics               // everybody, unless http.metrics_need_auth
	AccessOpen                  // everybody
)

func (a Access) String() string {
	return [...]string{"admin", "read", "write", "user", "metrics", "open"}[a]
}

// Allows reports whether a user of a mode may use a route.
func (a Access) Allows(m Mode) bool {
	switch m {
	case ReadWrite:
		return true
	case ReadOnly:
		return a == AccessUser || a == AccessRead || a == AccessMetrics
	case WriteOnly:
		return a == AccessUser || a == AccessWrite || a == AccessMetrics
	}
	return a == AccessUser
}

// Credentials are the ways in which a request shows who sends it, as raw header values; nil: the header is absent.
type Credentials struct {
	Service       []byte // x-service-auth
	Authorization []byte
	// User and Password count if there is no Authorization: both are given or none.
	User, Password []byte
	// Scheme is a scheme of Authorization that the protocol of the request takes besides basic, in small letters:
	// user:password follow it, in base64 if Encoded.
	Scheme  string
	Encoded bool
	// Key is user:password in a header of the protocol; it counts if there is no Authorization.
	Key []byte
	// Client is the address of the client, without its port.
	Client string
}

// Executor runs SQL; sqlexec.Executor does.
type Executor interface {
	// HasDatabase reports whether a database exists.
	HasDatabase(name string) bool
	// ParseWithin parses statements of a session. Their memory is counted until release is called, also after an error.
	ParseWithin(ctx context.Context, s *sqlexec.Session, text string) (list []parse.Statement, release func(),
		err error)
	// Attend runs part of what a request asks for, which the list of running statements shows as text, and which KILL
	// ends.
	Attend(ctx context.Context, s *sqlexec.Session, text string, part func(ctx context.Context) error) error
	// Execute runs a statement; the rows of one are read to the end or closed before the next of the session.
	Execute(ctx context.Context, s *sqlexec.Session, st parse.Statement) (*sqlexec.Result, error)
}
