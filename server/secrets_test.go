package server

import (
	"log/slog"
	"strings"
	"testing"
)

// TestPasswordsAreNotLogged: a password in a path, a query or a header stands in no line of the log, at any level.
func TestPasswordsAreNotLogged(t *testing.T) {
	log := &lockedBuffer{}
	h := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:a=hush_secret")
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
	})
	for _, secret := range []string{"hush_secret", "wrong_secret"} {
		for _, path := range []string{"/v1/input/a:" + secret, "/v1/datadog/v1/input/a:" + secret, "/v1/input?api_key=a:" + secret, "/api/v2/logs?dd-api-key=a:" + secret,
			"/v1/lineproto/write?u=a&p=" + secret, "/write?u=a&p=" + secret} {
			h.do("POST", path, "no body of the protocol {", "Content-Type", "application/json")
		}
		for _, header := range []string{"Authorization", "x-service-auth"} {
			h.do("POST", "/v1/ingest?table=t", "{", "Content-Type", "application/json", header, "Basic a:"+secret)
			h.do("POST", "/v1/ingest?table=t", "{", "Content-Type", "application/json", header, basic("a", secret))
		}
		h.do("POST", "/services/collector", "{", "Authorization", "Splunk a:"+secret)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	text := log.b.String()
	if !strings.Contains(text, "request failed") {
		t.Error("nothing was logged")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "_secret") || strings.Contains(line, strings.TrimPrefix(basic("a", "hush_secret"), "Basic ")) {
			t.Errorf("logged: %s", line)
		}
	}
}
