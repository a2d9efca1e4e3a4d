package vfs

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Unreadable reports that bytes of a mapped file could not be read: the file was cut while it was mapped, or the disk
// does not deliver them. The kernel then sends a signal, which ends the process, unless the reading goroutine has asked
// for a panic instead: debug.SetPanicOnFault.
type Unreadable struct {
	Offset int64 // in the mapping
	cause  error
}

func (u *Unreadable) Error() string {
	return fmt.Sprintf("the file cannot be read at offset %d: it was cut, or the disk is faulty", u.Offset)
}

func (u *Unreadable) Unwrap() error { return u.cause }

// UnreadableIn reports whether v, which was recovered, is a failed read of b. All other panics are none of the file's.
func UnreadableIn(b []byte, v any) (*Unreadable, bool) {
	fault, ok := v.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok || len(b) == 0 {
		return nil, false
	}
	off := fault.Addr() - uintptr(unsafe.Pointer(&b[0]))
	if off >= uintptr(len(b)) {
		return nil, false
	}
	return &Unreadable{int64(off), fault}, true
}

// Reading calls f, which reads a mapped file in this goroutine; bytes that cannot be read are its error.
func Reading(m Mapping, f func([]byte) error) (err error) {
	b, before := m.Bytes(), debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if v := recover(); v != nil {
			u, ok := UnreadableIn(b, v)
			if !ok {
				panic(v)
			}
			err = u
		}
	}()
	return f(b)
}
