package main

import (
	"math"

	"golang.org/x/sys/unix"
)

// machineMemory is the memory of the machine.
func machineMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknownMemory
	}
	return int64(bytes)
}

// groupMemory is math.MaxInt64: there are no control groups.
func groupMemory() int64 { return math.MaxInt64 }
