package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"varve/server/auth"
)

// TestAskedForPasswords: a password is asked twice for a new line of a user file, and once for who signs in; it is
// never shown.
func TestAskedForPasswords(t *testing.T) {
	p := onTerminal(t, nil, "user", "hash", "ann:ro")
	p.wait("Password: ")
	p.press("geheim\n")
	p.wait("Again: ")
	p.press("geheim\n")
	if code := p.leave(); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.new())
	}
	line := regexp.MustCompile(`ann:ro=pbkdf2_sha256:\S+`).FindString(p.wait("ann:ro="))
	u, err := auth.Open("static_user_provider:file:"+writeFile(t, line+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Login(t.Context(), "ann", "geheim", ""); err != nil {
		t.Error(err)
	}
	p = onTerminal(t, nil, "user", "hash", "ann")
	p.wait("Password: ")
	p.press("one\n")
	p.wait("Again: ")
	p.press("other\n")
	if code := p.leave(); code != exitFailed || !strings.Contains(p.wait("varve: "), "differ") {
		t.Errorf("different ones: exit code %d", code)
	}

	s := serve(t, nil, "--user-provider", "static_user_provider:cmd:ops=geheim")
	p = onTerminal(t, []string{"VARVE_URL=" + s.url}, "config", "show", "--user", "ops")
	p.wait("Password of ops at " + s.url + ": ")
	p.press("geheim\n")
	if shown := p.wait("[http]"); strings.Contains(shown, "geheim") {
		t.Error("the password is shown")
	}
	if code := p.leave(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p = onTerminal(t, []string{"VARVE_URL=" + s.url}, "config", "show", "--user", "ops")
	p.wait("Password of ops")
	p.press("\x03")
	if code := p.leave(); code != 130 {
		t.Errorf("Ctrl-C: exit code %d", code)
	}
}

// TestAskedBeforeDeleting: deleting asks on a terminal, and does nothing without a yes.
func TestAskedBeforeDeleting(t *testing.T) {
	s := serve(t, nil)
	upload(t, s.url, "small", smallDocument)
	_, version, _ := command("pipeline", "versions", "small", "--url", s.url)
	version = strings.TrimSpace(version)
	for _, c := range []struct {
		answer, says string
		code         int
	}{{"\n", "nothing was deleted", exitFailed}, {"n\n", "nothing was deleted", exitFailed},
		{"\x03", "interrupted", 130}, {"y\n", "version " + version + " deleted", 0}} {
		p := onTerminal(t, []string{"VARVE_URL=" + s.url}, "pipeline", "delete", "small", "--version", version)
		p.wait("Delete version " + version + " of the pipeline small at " + s.url + "? [y/N] ")
		p.press(c.answer)
		p.wait(c.says)
		if code := p.leave(); code != c.code {
			t.Errorf("%q: exit code %d", c.answer, code)
		}
	}
}

// TestKeysPressedAhead: keys pressed while a statement runs mean at the next prompt what they mean there, and are not
// shown before; what the shell runs gets the terminal as it was, and so does who comes after the shell.
func TestKeysPressedAhead(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("sql"), "hold") {
			held <- struct{}{}
			<-release
		}
		io.WriteString(w,
			`{"output":[{"records":{"schema":{"column_schemas":[{"name":"x","data_type":"String"}]},"rows":[["the answer"]]}}]}`) //nolint:errcheck // the client tells
	}))
	defer front.Close()
	p := onTerminal(t, nil, "sql", "--url", front.URL)
	modes := func() uint32 {
		m, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return m.Lflag & (unix.ICANON | unix.ECHO | unix.ISIG)
	}
	before := modes()
	p.wait("public> ")
	p.press("SELECT 'fir' || 'st';\r")
	p.wait("the answer", "public> ")
	for range 3 {
		p.press("SELECT hold;\r")
		<-held
		p.press("\x12fir")
		release <- struct{}{}
		p.wait("SELECT 'fir' || 'st';")
		p.press("\r")
		p.wait("the answer")
	}
	p.press("\\! stty -a; echo end of mo''des\r")
	if shown := p.wait("end of modes"); !regexp.MustCompile(`\sicanon\s`).MatchString(shown) ||
		!regexp.MustCompile(`\secho\s`).MatchString(shown) {
		t.Errorf("a command gets the modes %s", shown)
	}
	p.press("SELECT hold;\r")
	<-held
	p.press("\x04")
	release <- struct{}{}
	if code := p.leave(); code != 0 {
		t.Errorf("Ctrl-D: exit code %d", code)
	}
	if after := modes(); after != before {
		t.Errorf("modes %#x, before it %#x", after, before)
	}
}
