package client

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Flags are the flags of every command that talks to a server. What a flag does not say comes from the environment,
// then from the profile, then from the default.
type Flags struct {
	URL          string        `name:"url" placeholder:"ADDRESS" group:"Connection:" help:"The running server; default: VARVE_URL, the profile's, or http://127.0.0.1:4000."`
	User         string        `short:"u" placeholder:"NAME" group:"Connection:" help:"Who signs in; default: VARVE_USER or the profile's. The password is that of --password-file, VARVE_PASSWORD or the profile, or it is asked."`
	PasswordFile string        `placeholder:"FILE" group:"Connection:" help:"A file with the password; default: VARVE_PASSWORD_FILE."`
	Profile      string        `placeholder:"NAME" group:"Connection:" help:"A server of varve/client.toml in the directory of configuration; default: VARVE_PROFILE, or the one the file names."`
	CAFile       string        `name:"ca-file" placeholder:"FILE" group:"Connection:" help:"Certificates to trust besides those of the system (PEM)."`
	Insecure     bool          `group:"Connection:" help:"Do not check the certificate of the server."`
	Timeout      time.Duration `placeholder:"DURATION" group:"Connection:" help:"How long a request may take, such as 30s; default: as long as it takes."`
	Header       []string      `sep:"none" placeholder:"'K: V'" group:"Connection:" help:"A header of every request; may be repeated."`
	Quiet        bool          `short:"q" group:"Connection:" help:"Say nothing but errors."`
	Verbose      bool          `short:"v" group:"Connection:" help:"Say each request with its status and time."`

	unasked bool // see ConnectUnasked
}

// Database is the flag of commands that work in one database; see Client.DB for what holds without it.
type Database struct {
	DB string `name:"db" short:"d" placeholder:"NAME" help:"The database; default: VARVE_DB, the profile's, or public."`
}

// Timezone is the flag of commands that read or print times; see Client.Timezone for what holds without it.
type Timezone struct {
	Timezone string `placeholder:"ZONE" help:"Zone of times, such as Europe/Berlin; default: VARVE_TIMEZONE, the profile's, or that of this machine."`
}

// defaultURL is where a server listens that nobody configured.
const defaultURL = "http://127.0.0.1:4000"

// Getenv is the value of a variable; empty: it is not set, or to nothing.
func Getenv(environ []string, name string) string {
	for _, e := range environ {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// Connect makes a client of the flags; nothing is sent yet. environ is the environment; notes, such as lines of
// requests, are written to notes. Errors are UsageErrors but for files that cannot be read.
func (f *Flags) Connect(environ []string, notes io.Writer) (*Client, error) {
	p, err := f.profile(environ)
	if err != nil {
		return nil, err
	}
	address, from := f.URL, "--url"
	if address == "" {
		address, from = Getenv(environ, "VARVE_URL"), "VARVE_URL"
	}
	if address == "" {
		address, from = cmp.Or(p.URL, defaultURL), "profile "+p.Name+": url"
	}
	c := &Client{header: http.Header{}, timeout: f.Timeout, notes: &notebook{w: notes}, verbose: f.Verbose}
	if c.Base, err = checkAddress(from, address); err != nil {
		return nil, err
	}
	if f.Timeout < 0 {
		return nil, &UsageError{fmt.Errorf("--timeout %s: expected a duration above zero", f.Timeout)}
	}
	c.DB = cmp.Or(Getenv(environ, "VARVE_DB"), p.DB, "public")
	c.Timezone = cmp.Or(Getenv(environ, "VARVE_TIMEZONE"), p.Timezone)
	known := sameServer(address, p.URL)
	if f.Profile != "" && f.URL == "" && p.URL != "" && !known && !f.Quiet {
		fmt.Fprintf(notes, "varve: VARVE_URL comes before the address of the profile %s: %s is asked\n", p.Name, c.Base)
	}
	// What proves to be a user of one server is told to no other. Who names a profile is as careful there as with its
	// own server.
	if !known {
		p = Profile{Production: p.Production && cmp.Or(f.Profile, Getenv(environ, "VARVE_PROFILE")) != ""}
	}
	c.Profile = p
	if err := c.setHeader(f.Header); err != nil {
		return nil, err
	}
	if c.user = cmp.Or(f.User, Getenv(environ, "VARVE_USER"), p.User); c.user != "" {
		if c.password, err = f.password(environ, &p, c); err != nil {
			return nil, err
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true
	if transport.TLSClientConfig, err = f.trust(&p, notes); err != nil {
		return nil, err
	}
	// A request that is sent on loses its body, and shows its headers to another server.
	c.http = &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// ConnectUnasked is Connect for what goes on behind the user's back: nothing is said, asked or run to find a password.
func (f *Flags) ConnectUnasked(environ []string) (*Client, error) {
	quiet := *f
	quiet.unasked, quiet.Quiet, quiet.Verbose = true, true, false
	return quiet.Connect(environ, io.Discard)
}

// checkAddress gives the address of a server without a slash at its end; from is where it stands.
func checkAddress(from, text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "", &UsageError{fmt.Errorf("%s %s: expected an address that begins with http:// or https://", from,
			text)}
	case u.User != nil:
		return "",
			&UsageError{fmt.Errorf(
				"%s: an address with a name or a password shows it to everybody on this machine: use --user and "+
					"--password-file", from)}
	case u.RawQuery != "" || u.Fragment != "":
		return "", &UsageError{fmt.Errorf("%s %s: the address of a server has no ? and no #", from, text)}
	}
	return strings.TrimRight(text, "/"), nil
}

// sameServer reports whether two addresses are those of one server, however they are written.
func sameServer(a, b string) bool {
	var parts [2][3]string
	for i, text := range []string{a, b} {
		u, err := url.Parse(text)
		if err != nil {
			return false
		}
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		parts[i] = [3]string{u.Scheme, strings.ToLower(u.Hostname()) + ":" + port,
			strings.TrimRight(u.EscapedPath(), "/")}
	}
	return parts[0] == parts[1]
}

func (c *Client) setHeader(lines []string) error {
	for _, h := range lines {
		key, value, found := strings.Cut(h, ":")
		key = strings.TrimSpace(key)
		if !found || key == "" || strings.ContainsAny(h, "\r\n") {
			return &UsageError{fmt.Errorf("--header %q: expected KEY: VALUE", h)}
		}
		c.header.Add(key, strings.TrimSpace(value))
	}
	return nil
}

// trust says which certificates are taken.
func (f *Flags) trust(p *Profile, notes io.Writer) (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: f.Insecure} //nolint:gosec // asked for, and said below
	if f.Insecure {
		fmt.Fprintln(notes, "varve: --insecure: the certificate of the server is not checked")
	}
	file := cmp.Or(f.CAFile, p.CAFile)
	if file == "" {
		return t, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if t.RootCAs, err = x509.SystemCertPool(); err != nil {
		t.RootCAs = x509.NewCertPool()
	}
	if !t.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", file)
	}
	return t, nil
}

// password finds the password without it ever being an argument, which all users of the machine could read.
func (f *Flags) password(environ []string, p *Profile, c *Client) (string, error) {
	if file := cmp.Or(f.PasswordFile, Getenv(environ, "VARVE_PASSWORD_FILE")); file != "" {
		return readPassword(file)
	}
	if word := Getenv(environ, "VARVE_PASSWORD"); word != "" {
		return word, nil
	}
	if p.User == c.user && !(f.unasked && p.passwordCommand != "") {
		if word, err := p.password(environ, c.notes); word != "" || err != nil {
			return word, err
		}
	}
	if f.unasked {
		return "", ErrNoTerminal
	}
	word, err := AskPassword(fmt.Sprintf("Password of %s at %s: ", c.user, c.Base))
	if errors.Is(err, ErrNoTerminal) {
		return "", &UsageError{errors.New(
			"--user needs a password in --password-file, VARVE_PASSWORD or a profile: there is no terminal to ask on")}
	}
	return word, err
}

// readPassword reads a file with a password, whose line may have an end.
func readPassword(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	word := strings.TrimRight(string(text), "\r\n")
	if word == "" {
		return "", fmt.Errorf("password file %s is empty", file)
	}
	return word, nil
}
