package server_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"varve/server"
	"varve/server/servertest"
)

// headersOnly opens a connection of HTTP/2 and begins so many calls on it, of which it sends no more than the headers.
func headersOnly(h *servertest.House, addr string, calls int, more ...string) (net.Conn, *http2.Framer) {
	h.Helper()
	c, f, err := begin(h, addr, calls, more...)
	if err != nil {
		h.Fatal(err)
	}
	return c, f
}

// begin is headersOnly where the connection may give way to others before all its calls have begun: it fails then.
func begin(h *servertest.House, addr string, calls int, more ...string) (net.Conn, *http2.Framer, error) {
	h.Helper()
	c := h.Connect(addr)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return nil, nil, err
	}
	f := http2.NewFramer(c, c)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := f.WriteSettings(); err != nil {
		return nil, nil, err
	}
	for i := range calls {
		var block bytes.Buffer
		e := hpack.NewEncoder(&block)
		fields := append([]string{":method", "POST", ":scheme", "http", ":path", servertest.RPCLogs, ":authority", addr,
			"content-type", "application/grpc", "te", "trailers"}, more...)
		for i := 0; i < len(fields); i += 2 {
			if err := e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
				h.Fatal(err)
			}
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(),
			EndHeaders: true}); err != nil {
			return nil, nil, err
		}
	}
	return c, f, nil
}

// ends reads frames until a call has ended, and gives its status; then until the connection is told to go, and is
// closed.
func ends(h *servertest.House, f *http2.Framer) (status string) {
	h.Helper()
	told := false
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			if !told {
				h.Errorf("the connection was not told to go: %v", err)
			}
			return status
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range frame.Fields {
				if field.Name == "grpc-status" {
					status = field.Value
				}
			}
		case *http2.GoAwayFrame:
			told = true
		}
	}
}

// TestCallsWithoutMessage: a call whose message does not come is over after a while, one without credentials at once,
// and the connection with it.
func TestCallsWithoutMessage(t *testing.T) {
	for _, c := range []struct {
		name, status string
		patience     time.Duration
		change       func(*server.Options)
	}{
		{"no message", "13", 50 * time.Millisecond, nil},
		{"no credentials", "16", time.Hour, func(o *server.Options) {
			o.Users = servertest.Users(t, "static_user_provider:cmd:a=b")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, func(o *server.Options) {
				if o.GRPCPatience = c.patience; c.change != nil {
					c.change(o)
				}
			})
			_, f := headersOnly(h, h.Calls(), 3)
			if got := ends(h, f); got != c.status {
				t.Errorf("ended with %q, want %s", got, c.status)
			}
		})
	}
}

// TestSilentConnectionsGiveWay: connections that begin calls and say nothing more keep no place from others, nor do
// those without a call.
func TestSilentConnectionsGiveWay(t *testing.T) {
	for _, calls := range []int{0, 1, 64} {
		h := servertest.Real(t, func(o *server.Options) {
			o.GRPCPatience, o.MaxGRPCConnections, o.MaxGRPCPerAddress = time.Hour, 4, 3
		})
		addr := h.Calls()
		for range 8 {
			headersOnly(h, addr, calls)
		}
		for range 3 {
			if _, err := servertest.Call(servertest.Dial(t, addr), servertest.RPCLogs,
				servertest.OTLPLogRequest(t, 1, false), nil); err != nil {
				t.Errorf("%d calls a connection: %v", calls, err)
			}
		}
	}
}

// TestIdleCallsGiveWay: calls of which nothing but the headers has come, more than the share of an address, keep no
// call of the same address out. Their connections are closed, those that were heard longest ago first.
func TestIdleCallsGiveWay(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.GRPCPatience, o.MaxGRPCConnections, o.MaxGRPCPerAddress = time.Hour, 64, 64
	})
	addr := h.Calls()
	known := servertest.Dial(t, addr)
	for range 2 {
		for range server.MaxRPCCalls / server.MaxRPCStreams { // more than the share of one address
			if _, _, err := begin(h, addr, server.MaxRPCStreams); err != nil {
				t.Logf("it gave way already: %v", err)
			}
		}
		for _, c := range []*grpc.ClientConn{known, servertest.Dial(t, addr)} {
			if _, err := servertest.Call(c, servertest.RPCLogs, servertest.OTLPLogRequest(t, 1, false),
				nil); err != nil {
				t.Errorf("a call beside idle ones: %v", err)
			}
		}
	}
	h.Holds("SELECT count(*) FROM opentelemetry_logs", "[[4]]")
}

// TestCallsAreBounded: an address has no more calls with a message in hand than its share; one more is refused with a
// status that says why.
func TestCallsAreBounded(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.GRPCPatience, o.MaxGRPCConnections, o.MaxGRPCPerAddress = time.Hour, 64, 64
	})
	addr := h.Calls()
	h.Eventually(func() bool {
		_, f, err := begin(h, addr, server.MaxRPCStreams)
		for i := 0; err == nil && i < server.MaxRPCStreams; i++ { // until it gives way, if it does
			err = f.WriteData(uint32(2*i+1), false, []byte{0, 0, 0, 1, 0, 1})
		}
		_, err = servertest.Call(servertest.Dial(t, addr), servertest.RPCLogs, servertest.OTLPLogRequest(t, 1, false),
			nil)
		return status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), "too many calls are under way")
	})
}
