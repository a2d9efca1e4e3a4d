package server

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/server/protowire"
	"varve/server/web"
)

// Calls of gRPC become requests of HTTP, for the same handlers. A call is a POST of HTTP/2 with the headers of HTTP.
// Its body is a message behind five bytes:
//
//	+-------------------+-----------------------+---------+
//	| compressed 1B     | length 4B, big endian | message |
//	+-------------------+-----------------------+---------+
//
// The trailers of its answer say how the call ended. The body is read like every body: its bytes are counted before
// they take memory, and it waits while there is no room.

const (
	// rpcStreams is the number of requests that a connection may have under way. Of each it sends at most rpcWindow
	// bytes before they are read, of all together at most rpcConnWindow.
	rpcStreams    = 64
	rpcWindow     = 256 << 10
	rpcConnWindow = 1 << 20
	// rpcCalls is the number of calls under way at a time, of all connections.
	rpcCalls = 1024
	// rpcHead is what comes before a message.
	rpcHead = 5
)

// newRPC makes the server of gRPC.
func (s *Server) newRPC() *http.Server {
	r := &http.Server{
		Handler: http.HandlerFunc(s.serveRPC), Protocols: new(http.Protocols), IdleTimeout: idleTimeout,
		ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: readBuffer,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: rpcStreams, MaxReceiveBufferPerStream: rpcWindow,
			MaxReceiveBufferPerConnection: rpcConnWindow,
			SendPingTimeout:               idleTimeout, PingTimeout: headerTimeout, WriteByteTimeout: writeProgress,
		},
		ErrorLog: log.New(rpcLog{s}, "", 0), ConnContext: rpcContext,
	}
	r.Protocols.SetUnencryptedHTTP2(true)
	return r
}

// rpcLog takes what the server of gRPC logs: connection troubles, of interest only when one looks for them.
type rpcLog struct{ s *Server }

func (l rpcLog) Write(p []byte) (int, error) {
	l.s.log.Debug("grpc: " + strings.TrimSpace(string(p)))
	return len(p), nil
}

// ServeGRPC answers the connections of ln, which speak gRPC, until Shutdown.
func (s *Server) ServeGRPC(ln net.Listener) error {
	err := s.rpc.Serve(&rpcListener{ln, s.rpcConns})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// shutdownRPC ends what ServeGRPC does: connections are told to send no more, requests in hand are finished, and cut
// with ctx.
func (s *Server) shutdownRPC(ctx context.Context) error {
	err := s.rpc.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.rpc.Close())
	}
	return err
}

// rpcStatus is how a call ended.
type rpcStatus struct {
	code    uint32
	text    string
	details []byte // a google.rpc.Status; nil: there are none
}

// Codes of gRPC that only the transport gives.
const (
	rpcUnimplemented = 12
	rpcInternal      = 13
	rpcUnavailable   = 14
)

// serveRPC answers a call.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/grpc" && kind != "application/grpc+proto" || r.Method != http.MethodPost {
		http.Error(w, "this port speaks gRPC", http.StatusUnsupportedMediaType)
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Accept-Encoding", "identity,gzip,deflate,zstd,br")
	rt := s.calls[r.URL.Path]
	if rt == nil {
		endRPC(w, rpcStatus{code: rpcUnimplemented, text: fmt.Sprintf("unknown method %.200q", r.URL.Path)})
		return
	}
	begun := time.Now()
	message, end := s.callRPC(w, r, rt)
	s.metrics.Requests.WithLabelValues("grpc "+rt.Path, "POST", strconv.Itoa(int(end.code))).Inc()
	s.metrics.Latency.WithLabelValues("grpc " + rt.Path).Observe(time.Since(begun).Seconds())
	if end.code == 0 {
		head := make([]byte, rpcHead, rpcHead+len(message))
		binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
		w.Write(append(head, message...)) // a client that left does not see the end either
	}
	endRPC(w, end)
}

// endRPC says how a call ended.
func endRPC(w http.ResponseWriter, end rpcStatus) {
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(end.code)))
	if end.text != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", rpcMessage(end.text))
	}
	if end.details != nil {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(end.details))
	}
}

// rpcMessage is a text as the trailer grpc-message has it: bytes that are not printable ASCII, and the percent sign, as
// %XX. No other byte is escaped: clients would show it escaped, such as %2C for a comma.
func rpcMessage(text string) string {
	var b []byte
	for _, x := range []byte(text) {
		if x < ' ' || x > '~' || x == '%' {
			b = fmt.Appendf(b, "%%%02X", x)
		} else {
			b = append(b, x)
		}
	}
	return string(b)
}

// callRPC runs the handler of a route for a call. A panic becomes an internal error.
func (s *Server) callRPC(w http.ResponseWriter, r *http.Request, rt *route) (message []byte, end rpcStatus) {
	defer func() {
		if p := recover(); p != nil {
			s.metrics.Panics.Inc()
			s.log.Error("panic in a call", "path", rt.Path, "panic", p, "stack", string(debug.Stack()))
			end = rpcStatus{code: rpcInternal, text: "Internal error"}
		}
	}()
	remote := remoteAddr(r)
	place, err := s.rpcConns.place(r.Context(), s.rpcPlaces, web.NetworkOf(remote))
	if err != nil {
		return nil, rpcStatus{code: rpcUnavailable,
			text: "too many calls are under way, of all clients or of this address: try again later"}
	}
	defer place.end()
	rc := &fasthttp.RequestCtx{}
	rc.Init2(&rpcConn{control: http.NewResponseController(w), remote: remote}, quiet{s.log}, true)
	translateRPC(rc, r, rt.Path)
	c := web.NewCtx(rc, s.ctx, rpcLimit(s.timeLimit(rc), r.Header.Get("Grpc-Timeout")))
	defer c.Done()
	defer context.AfterFunc(r.Context(), c.Cancel)()
	s.equip(c)
	s.metrics.InFlight.Inc()
	defer s.metrics.InFlight.Dec()
	if err := s.authorise(rt.Access, rt.protocol, c); err != nil { // before anything of the body is read
		w.Header().Set("Connection", "close")
		s.fail(c, rt.protocol, err)
		_, text := web.Message(err)
		return nil, rpcStatus{code: codeOfRPC(rc.Response.StatusCode()), text: text}
	}
	if end = s.messageRPC(rc, w, r); end.code != 0 {
		return nil, end
	}
	defer place.heard()()
	c.Context = engine.WithWriter(c.Context, c.User.Name)
	if err := rt.Handler(c); err != nil {
		return nil, rpcStatus{code: rpcInternal, text: err.Error()}
	}
	s.metrics.BodyBytes.Add(float64(c.BodyBytes()))
	body := append([]byte(nil), rc.Response.Body()...)
	at := rc.Response.StatusCode()
	switch {
	case at == http.StatusOK:
		return body, rpcStatus{}
	case protowire.HasDetails(body): // which say when to send again
		return nil, rpcStatus{protowire.StatusCode(at), protowire.StatusText(body), body}
	}
	return nil, rpcStatus{code: codeOfRPC(at), text: protowire.StatusText(body)}
}

// codeOfRPC is the code for an HTTP status. 429 is "unavailable", after which clients send again; after "resource
// exhausted", the code for messages that are too large, they do not.
func codeOfRPC(httpStatus int) uint32 {
	switch httpStatus {
	case http.StatusTooManyRequests:
		return rpcUnavailable
	case http.StatusUnsupportedMediaType:
		return rpcUnimplemented
	}
	return protowire.StatusCode(httpStatus)
}

// translateRPC makes a request of HTTP of a call, without its body.
func translateRPC(rc *fasthttp.RequestCtx, r *http.Request, path string) {
	h := &rc.Request.Header
	h.SetMethod("POST")
	rc.Request.SetRequestURI(path)
	h.SetHost(r.Host)
	for name, values := range r.Header {
		if strings.HasPrefix(name, "Grpc-") || name == "Content-Type" || name == "Content-Length" ||
			name == "Content-Encoding" || name == "Te" {
			continue
		}
		for _, v := range values {
			h.Add(name, v)
		}
	}
	h.SetContentType("application/x-protobuf")
}

// maxMessage is the most bytes that the head of a call may announce. What a message may have unpacked is the bound of
// bodies, which is counted as it is read.
const maxMessage = 1 << 30

// messageRPC reads the head of a call's message and makes the message the body of the request. A client that sends no
// head in time loses its connection: otherwise a client could keep places by opening calls and sending nothing.
func (s *Server) messageRPC(rc *fasthttp.RequestCtx, w http.ResponseWriter, r *http.Request) rpcStatus {
	var head [rpcHead]byte
	err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.o.GRPCPatience))
	if err == nil {
		_, err = io.ReadFull(r.Body, head[:])
	}
	if err != nil {
		w.Header().Set("Connection", "close")
		return rpcStatus{code: rpcInternal, text: "the call has no message"}
	}
	if head[0] == 1 {
		rc.Request.Header.Set("Content-Encoding", r.Header.Get("Grpc-Encoding"))
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxMessage {
		return rpcStatus{code: protowire.StatusCode(http.StatusRequestEntityTooLarge), text: web.TooLarge.Text}
	}
	rc.Request.SetBodyStream(io.LimitReader(r.Body, int64(size)), int(size))
	return rpcStatus{}
}

// rpcLimit is the time limit of a call: the server's, or the client's if that is shorter. given is the client's: a
// number and one of the units H M S m u n.
func rpcLimit(limit time.Duration, given string) time.Duration {
	if len(given) < 2 || len(given) > 9 {
		return limit
	}
	unit := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond,
		'u': time.Microsecond, 'n': 1}[given[len(given)-1]]
	n, err := strconv.ParseUint(given[:len(given)-1], 10, 31)
	asked := time.Duration(n) * unit
	if err != nil || asked <= 0 || asked/unit != time.Duration(n) || limit > 0 && limit < asked {
		return limit
	}
	return asked
}

// rpcConn stands for the connection of a call: reads of its body have a deadline, nothing else is done to it.
type rpcConn struct {
	net.Conn
	control *http.ResponseController
	remote  net.Addr
}

func (c *rpcConn) RemoteAddr() net.Addr              { return c.remote }
func (c *rpcConn) LocalAddr() net.Addr               { return &net.TCPAddr{} }
func (c *rpcConn) SetReadDeadline(t time.Time) error { return c.control.SetReadDeadline(t) }

func remoteAddr(r *http.Request) net.Addr {
	if a, err := net.ResolveTCPAddr("tcp", r.RemoteAddr); err == nil {
		return a
	}
	return &net.TCPAddr{}
}
