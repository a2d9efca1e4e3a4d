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
	if len(args) == 0 {
		args = []string{"--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.enable-admin-api",
			"--web.enable-remote-write-receiver"}
	}
	return other(ctx, binary, dir, addr, "/-/ready",
		append([]string{"--config.file=" + file, "--web.listen-address=" + addr}, args...))
}

// Victoria starts a server of VictoriaMetrics on a directory and waits until it serves. It keeps no answers, and finds
// samples as soon as they are there. It listens on 127.0.0.1 alone and dies with this process.
func Victoria(ctx context.Context, binary, dir string) (*Server, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	return other(ctx, binary, dir, addr, "/health", []string{"-storageDataPath=" + filepath.Join(dir, "data"),
		"-httpListenAddr=" + addr, "-retentionPeriod=10y", "-search.disableCache", "-search.latencyOffset=0s"})
}

// other starts a program that serves at addr, and waits until the path answers 200.
func other(ctx context.Context, binary, dir, addr, ready string, args []string) (*Server, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + addr, Dir: dir, ready: ready, output: new(output), done: make(chan struct{})}
	s.cmd = exec.Command(binary, args...)
	s.cmd.Dir = dir
	if err := s.launch(); err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	return s, nil
}
