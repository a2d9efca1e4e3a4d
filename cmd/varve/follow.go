package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"varve/engine"
	"varve/engine/vfs"
	"varve/server/admin/standby"
)

// checkStandby looks at the keys of a standby together.
func (c *Config) checkStandby() error {
	s := &c.Standby
	for _, one := range [...]setting{{key: "standby.follow", value: s.Follow},
		{key: "standby.address", value: s.Address}} {
		if one.value == "" {
			continue
		}
		u, err := url.Parse(one.value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
			u.Path != "" && u.Path != "/" || u.RawQuery != "" {
			return &configError{fmt.Sprintf("%s = %q: expected the address of a server, such as https://primary:4000",
				one.key, one.value)}
		}
	}
	switch {
	case s.Password != "" && s.PasswordFile != "":
		return &configError{"standby.password and standby.password_file: only one of them may be set"}
	case s.User != "" && s.Password == "" && s.PasswordFile == "":
		return &configError{"standby.user needs standby.password_file or standby.password"}
	}
	return nil
}

// standbyClient asks another server. The user of standby.user is told to it only if asked.
func (c *Config) standbyClient(base string, signIn bool) (*standby.Client, error) {
	s := &c.Standby
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	if s.CAFile != "" {
		text, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, &configError{fmt.Sprintf("standby.ca_file: %v", err)}
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, &configError{fmt.Sprintf("standby.ca_file: %s holds no certificate in PEM form", s.CAFile)}
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	to := &standby.Client{Base: base, HTTP: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if !signIn || s.User == "" {
		return to, nil
	}
	to.User, to.Password = s.User, s.Password
	if s.PasswordFile != "" {
		text, err := readSecret(s.PasswordFile)
		if err != nil {
			return nil, &configError{fmt.Sprintf("standby.password_file: %v", err)}
		}
		to.Password = text
	}
	return to, nil
}

// follow is what the store is told of its primary; nil: the server follows none.
func (n *node) follow() (*engine.FollowOptions, error) {
	s := &n.config.Standby
	if s.Follow == "" {
		return nil, nil
	}
	u, err := url.Parse(s.Follow)
	if err != nil {
		return nil, &configError{fmt.Sprintf("standby.follow: %v", err)}
	}
	primary := u.Scheme + "://" + u.Host
	source, err := n.config.standbyClient(primary, true)
	if err != nil {
		return nil, err
	}
	address := s.Address
	if address == "" {
		address = n.url()
	}
	return &engine.FollowOptions{Source: source, Primary: primary, Address: address}, nil
}

const (
	// askStandby is how long a start waits for its former standby to say whether it took over.
	askStandby = 2 * time.Second
	// askAgain is how often a standby that is silent is asked whether it took over.
	askAgain = 2 * time.Second
	// standbyQuiet is after what time without a question a standby is asked itself.
	standbyQuiet = 3 * time.Second
)

// askWhetherReplaced asks the standby of this server whether it took over, and takes no writes from then on if it did.
func (n *node) askWhetherReplaced(ctx context.Context) error {
	s := n.store.Standing()
	if s.Standby == "" || s.Follows != "" || s.Replaced > s.Epoch {
		return nil
	}
	to, err := n.config.standbyClient(s.Standby, false)
	if err != nil {
		return err
	}
	defer to.HTTP.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, askStandby)
	defer cancel()
	e, err := to.Epoch(ctx)
	if err != nil || e.Store != n.store.Store() || e.Standby || e.Epoch <= s.Epoch {
		return err
	}
	return n.store.Replace(e.Epoch, s.Standby)
}

// askAtStart is askWhetherReplaced before anything is served: a former primary that comes back takes no write.
func (n *node) askAtStart() {
	if err := n.askWhetherReplaced(context.Background()); err != nil {
		n.log.Warn("the standby cannot be asked whether it took over; this server goes on as the primary", "standby",
			n.store.Standing().Standby, "error", err)
	}
}

// watchStandby asks a standby that is silent whether it took over, until ctx is over.
func (n *node) watchStandby(ctx context.Context) {
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n.store.Primary().Silent() < standbyQuiet {
			continue
		}
		if err := n.askWhetherReplaced(ctx); err != nil {
			n.log.Debug("the standby cannot be asked whether it took over", "error", err)
		}
	}
}

// errTookOver ends a server whose process starts again as the primary.
var errTookOver = errors.New("the standby takes over")

// promote asks the goroutine of serve to take over.
func (n *node) promote() error {
	select {
	case n.promoted <- struct{}{}:
	default: // it was asked already
	}
	return nil
}

// promotable is promote for a server that follows; nil otherwise.
func (n *node) promotable() func() error {
	if n.store.Standby() == nil {
		return nil
	}
	return n.promote
}

// takeOver ends the server and makes its directory that of a primary. errTookOver: the process starts again on it.
func (n *node) takeOver(served <-chan error) error {
	began := time.Now()
	s := n.store.Standby()
	if err := s.Ready(); err != nil {
		n.log.Error("the standby cannot take over", "error", err)
		return nil
	}
	f := s.Figures()
	n.notify.tell("STATUS=taking over")
	n.log.Info("taking over", "primary", f.Primary, "rows until", f.Copied.UTC().Format(time.RFC3339Nano))
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := n.server.Shutdown(ctx); err != nil {
		n.log.Warn("some connections were cut", "reason", err)
	}
	if err := <-served; err != nil {
		n.log.Warn("the listener ended with an error", "error", err)
	}
	if err := n.closeStore(ctx, false); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	dir, err := filepath.Abs(n.config.Storage.DataHome)
	if err != nil {
		return err
	}
	epoch, err := engine.Promote(vfs.OS(), dir, n.config.WAL.Dir)
	if err != nil {
		return fmt.Errorf("the standby cannot take over: %w", err)
	}
	n.log.Info("took over: this server is the primary now", "epoch", epoch, "took",
		time.Since(began).Round(time.Millisecond).String())
	return errTookOver
}
