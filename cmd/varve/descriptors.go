package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ownDescriptors is what the process opens besides connections: segments of the log, parts while they are written,
// files of queries, answers beyond the bounds of connections.
const ownDescriptors = 256

// descriptors is how many files and connections a configuration may have open.
func (c *Config) descriptors() uint64 {
	n := ownDescriptors + c.HTTP.MaxConnections
	counted := map[string]bool{} // the addresses of a protocol share its bound
	for _, a := range c.addresses() {
		if a.serve != nil && !counted[a.name] {
			counted[a.name] = true
			n += a.most
		}
	}
	return uint64(n)
}

// checkDescriptors refuses a limit of the system that the configuration does not fit into: a server that finds out
// under load cannot write its log any more. limit is the number of descriptors that the process may have.
func (c *Config) checkDescriptors(limit uint64) error {
	if need := c.descriptors(); limit < need {
		return fmt.Errorf(
			"cannot start: the process may open %d files and connections, it needs %d: raise the limit (ulimit -n, "+
				"LimitNOFILE of the unit) or lower http.max_connections = %d", limit, need, c.HTTP.MaxConnections)
	}
	return nil
}

// descriptorLimit is the limit of this process, which Go has raised as far as it may.
func descriptorLimit() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 1 << 62
	}
	return uint64(l.Cur)
}
