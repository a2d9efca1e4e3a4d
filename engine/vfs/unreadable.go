package vfs

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Unreadable reports that bytes of a mapped file could not be read: the file was cut while it was mapped, or the disk
// does not deliver them. The kernel then sends a signal, which ends the process, unless the reading goroutine has asked
// for a panic instead, as Guard does.
type Unreadable struct {
	Offset int64 // in the mapping
	cause  error
}

func (u *Unreadable) Error() string {
	return fmt.Sprintf("the file cannot be read at offset %d: it was cut, or the disk is faulty", u.Offset)
}

func (u *Unreadable) Unwrap() error { return u.cause }

// MemoryFault is a failed access to memory, at an address.
type MemoryFault interface {
	runtime.Error
	Addr() uintptr
}

// Guard calls f, which may use bytes of mapped files in this goroutine. A failed access ends f and is returned as
// fault; UnreadableIn tells of which file it is. Any other panic goes on. Guard is the only place of the program that
// catches such faults. Calls may be nested.
func Guard(f func() error) (fault MemoryFault, err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if v := recover(); v != nil {
			var ok bool
			if fault, ok = v.(MemoryFault); !ok {
				panic(v)
			}
		}
	}()
	return nil, f()
}

// Guarded reports whether a call of Guard is under way in this goroutine.
func Guarded() bool {
	before := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(before)
	return before
}

// UnreadableIn returns the failed read of b that a fault was; nil: it was none of b.
func UnreadableIn(b []byte, fault MemoryFault) *Unreadable {
	if len(b) == 0 {
		return nil
	}
	off := fault.Addr() - uintptr(unsafe.Pointer(&b[0]))
	if off >= uintptr(len(b)) {
		return nil
	}
	return &Unreadable{int64(off), fault}
}

// Reading calls f, which reads a mapped file in this goroutine; bytes that cannot be read are its error.
func Reading(m Mapping, f func([]byte) error) error {
	b := m.Bytes()
	fault, err := Guard(func() error { return f(b) })
	if fault == nil {
		return err
	}
	u := UnreadableIn(b, fault)
	if u == nil {
		panic(fault)
	}
	return u
}
