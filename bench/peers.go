package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"varve/bench/process"
)

// peersDir is where make peers puts the servers of others.
const peersDir = "bin/peers"

// startPeers starts the servers of others, each on a directory of its own. What was started is returned with an error.
func startPeers(ctx context.Context, dir string) (servers []*contestant, err error) {
	stock, err := startStock(ctx, filepath.Join(peersDir, "prometheus"), dir)
	if err != nil {
		return nil, err
	}
	if stock == nil {
		return nil, errors.New("-peers needs the servers that make peers builds")
	}
	servers = append(servers, stock)
	dir, err = os.MkdirTemp(dir, "victoria-bench-")
	if err != nil {
		return servers, err
	}
	s, err := process.Victoria(ctx, filepath.Join(peersDir, "victoria-metrics"), dir)
	if err != nil {
		return servers, errors.Join(err, os.RemoveAll(dir))
	}
	return append(servers, &contestant{measured: &measured{url: s.URL, dir: dir, pid: s.PID(), started: s},
		write: "/api/v1/write", settle: mergeVictoria, report: &MetricsReport{Server: "victoria"}}), nil
}

// mergeVictoria has the server merge all it has and gives the size of its data. What it holds in memory goes to the
// disk with a snapshot, which is removed.
func mergeVictoria(ctx context.Context, t *measured) (int64, error) {
	var body []byte
	for _, path := range []string{"/internal/force_flush", "/internal/force_merge", "/snapshot/create"} {
		var err error
		if body, err = fetch(ctx, t.url+path); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	var made struct{ Snapshot string }
	if err := json.Unmarshal(body, &made); err != nil || made.Snapshot == "" {
		return 0, fmt.Errorf("snapshot of the peer: %.200s", body)
	}
	remove := t.url + "/snapshot/delete?snapshot=" + url.QueryEscape(made.Snapshot)
	if _, err := fetch(ctx, remove); err != nil {
		return 0, err
	}
	use, err := process.DiskUse(t.dir)
	return use.DataBytes, err
}
