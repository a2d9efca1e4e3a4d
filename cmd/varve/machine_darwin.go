package main

import "golang.org/x/sys/unix"

// machineMemory is the memory of the machine.
func machineMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknownMemory
	}
	return int64(bytes)
}
