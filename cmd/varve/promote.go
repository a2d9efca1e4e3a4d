package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/vfs"
)

type promoteCommand struct {
	DataDir string        `type:"path" placeholder:"DIR" help:"The data directory of a standby that does not run. The next start on it is that of a primary."`
	WALDir  string        `name:"wal-dir" type:"path" placeholder:"DIR" help:"The directory of its log, if wal.dir is set."`
	Wait    time.Duration `default:"30s" placeholder:"DURATION" help:"How long to wait until the new primary takes writes."`
	client.Flags
}

// Help is what varve promote --help says besides.
func (promoteCommand) Help() string {
	return "The former primary takes no writes when it comes back and reaches this server. " +
		"Send clients here.\n\n" +
		examples("varve promote --url http://standby:4000", "varve promote --data-dir /var/lib/varve")
}

// Run makes a standby the primary.
func (p *promoteCommand) Run(ctx context.Context, s streams) error {
	if p.DataDir != "" {
		return p.offline(s)
	}
	c, err := p.Connect(s.environ, s.err)
	if err != nil {
		return err
	}
	began := time.Now()
	resp, err := c.Do(ctx, client.Request{Method: http.MethodPost, Path: "/v1/standby/promote"})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if err := p.await(ctx, c); err != nil {
		return err
	}
	if p.Quiet {
		return nil
	}
	_, err = fmt.Fprintf(s.out, "%s is the primary now, after %s\n", c.Base,
		time.Since(began).Round(100*time.Millisecond))
	return err
}

// await waits until the server takes writes.
func (p *promoteCommand) await(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, p.Wait)
	defer cancel()
	for {
		err := ask(ctx, c, "/ready")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return fmt.Errorf("the standby was asked to take over, and takes no writes after %s: %w", p.Wait, err)
		case <-time.After(healthPause):
		}
	}
}

// offline promotes the directory of a standby that does not run.
func (p *promoteCommand) offline(s streams) error {
	dir, err := filepath.Abs(p.DataDir)
	if err != nil {
		return err
	}
	epoch, err := engine.Promote(vfs.OS(), dir, p.WALDir)
	if err != nil || p.Quiet {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s is the data directory of a primary now, epoch %d: start varve serve on it\n", dir, epoch)
	return err
}
