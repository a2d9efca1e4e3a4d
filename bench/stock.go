package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"varve/bench/process"
)

// stockBinary is where the Debian package puts the stock server of metrics.
const stockBinary = "/usr/bin/prometheus"

// startStock starts a stock server on a directory of its own; nil: the program is not there.
func startStock(ctx context.Context, program, dir string) (*contestant, error) {
	binary, err := exec.LookPath(program)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: no stock server at", program)
		return nil, nil
	}
	dir, err = os.MkdirTemp(dir, "stock-bench-")
	if err != nil {
		return nil, err
	}
	s, err := process.Stock(ctx, binary, dir, "")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &contestant{measured: &measured{url: s.URL, dir: dir, pid: s.PID(), started: s}, write: "/api/v1/write",
		settle: blockBytes, report: &MetricsReport{Server: "stock"}}, nil
}

// blockBytes lets the stock server write all it has into blocks and gives their size.
func blockBytes(ctx context.Context, t *measured) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+"/api/v1/admin/tsdb/snapshot", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, err
	}
	var answer struct{ Data struct{ Name string } }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Data.Name == "" {
		return 0, fmt.Errorf("snapshot of the stock server: %.200s", body)
	}
	use, err := process.DiskUse(filepath.Join(t.dir, "data", "snapshots", answer.Data.Name))
	return use.DataBytes, err
}
