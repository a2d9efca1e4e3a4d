package process

import "syscall"

// attributes makes the kernel kill the server when the process that started it is gone: a test that is killed leaves
// nothing behind.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
