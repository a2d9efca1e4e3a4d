package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Stock starts a stock server of metrics (the Debian package prometheus) on a directory, with the configuration in
// YAML, and waits until it serves. It listens on 127.0.0.1 alone and dies with this process. Without arguments it keeps
// data below the directory and takes remote write.
func Stock(ctx context.Context, binary, dir, config string, args ...string) (*Server, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + addr, Dir: dir, ready: "/-/ready", output: new(output), done: make(chan struct{})}
	if len(args) == 0 {
		args = []string{"--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.enable-admin-api",
			"--web.enable-remote-write-receiver"}
	}
	s.cmd = exec.Command(binary, append([]string{"--config.file=" + file, "--web.listen-address=" + addr}, args...)...)
	s.cmd.Dir = dir
	if err := s.launch(); err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	return s, nil
}
