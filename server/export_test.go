package server

import "varve/server/web"

// What the tests of package server_test, which drive a server from outside, ask about its inside.

const (
	// HeaderBytes is room for the header of a request.
	HeaderBytes = readBuffer
	// MaxRPCCalls and MaxRPCStreams are the calls of a server and of one of its connections at a time.
	MaxRPCCalls, MaxRPCStreams = rpcCalls, rpcStreams
	// RefusalOfPsql is what clients of other databases read, RefusalOfTLS is what those that speak TLS read.
	RefusalOfPsql, RefusalOfTLS = sqlByHTTP, httpsHere
)

// ServedRoute is a route with its protocol.
type ServedRoute = route

// Owner is the name of the route's protocol.
func (r route) Owner() string { return r.protocol.Name }

// AllRoutes are all routes.
func (s *Server) AllRoutes() []ServedRoute { return s.routes() }

// FigureAnswers bounds the answers with figures.
func (s *Server) FigureAnswers() *web.Answers { return s.figures }

// CopyAnswers bounds what a standby copies.
func (s *Server) CopyAnswers() *web.Answers { return s.copies }

// CallMethods are the methods of gRPC.
func (s *Server) CallMethods() (names []string) {
	for name := range s.calls {
		names = append(names, name)
	}
	return names
}

// MessagesInHand is how many messages of gRPC have begun and are not answered.
func (s *Server) MessagesInHand() (n int64) {
	s.rpcConns.mu.Lock()
	defer s.rpcConns.mu.Unlock()
	for k := range s.rpcConns.conns {
		n += k.messages.Load()
	}
	return n
}

// Draining reports whether the server stops.
func (s *Server) Draining() bool { return s.state.draining.Load() }
