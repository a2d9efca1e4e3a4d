package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory that can lose power: it knows which bytes and directory entries were synced. Safe for
// concurrent use.
type Mem struct {
	mu    sync.Mutex
	live  map[string]*memNode // what processes see
	disk  map[string]*memNode // directory entries that were synced
	dirs  map[string]bool
	locks map[string]int // number of shared locks on a name; -1: an exclusive lock
	free  uint64
	rooms map[string]int64 // bytes of the files below a directory that is a file system of its own
	still map[string]bool  // directories below which nothing changes
	dead  bool
}

// memNode is a file's content, shared by all its names.
type memNode struct {
	data   []byte
	synced int // data[:synced] survives a crash
	mod    time.Time
}

// NewMem is an empty file system in memory with 1 TiB of room.
func NewMem() *Mem {
	return &Mem{live: map[string]*memNode{}, disk: map[string]*memNode{}, dirs: map[string]bool{"/": true, ".": true},
		locks: map[string]int{}, still: map[string]bool{}, free: 1 << 40}
}

// SetFree sets what FreeBytes answers.
func (m *Mem) SetFree(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = n
}

// SetRoom makes a directory a file system of its own, whose files have so many bytes at most.
func (m *Mem) SetRoom(dir string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rooms == nil {
		m.rooms = map[string]int64{}
	}
	m.rooms[path.Clean(dir)] = bytes
}

// SetReadOnly makes a directory a file system that is read-only, or ends that.
func (m *Mem) SetReadOnly(dir string, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.still[path.Clean(dir)] = is
}

// changes refuses what changes a name on a file system that is read-only.
func (m *Mem) changes(op, name string) error {
	for dir, is := range m.still {
		if is && (name == dir || strings.HasPrefix(name, dir+"/")) {
			return pathError(op, name, syscall.EROFS)
		}
	}
	return nil
}

// left is the room of the file system that a name lies in; bounded: somebody has set it.
func (m *Mem) left(name string) (bytes int64, bounded bool) {
	dir := m.device(name)
	bytes, bounded = m.rooms[dir]
	if !bounded {
		return 0, false
	}
	seen := map[*memNode]bool{}
	for file, n := range m.live {
		if !seen[n] && m.device(file) == dir {
			seen[n] = true
			bytes -= int64(len(n.data))
		}
	}
	return max(0, bytes), true
}

// device is the nearest directory above a name, or itself, that is a file system of its own; empty: none is.
func (m *Mem) device(name string) (dir string) {
	for d := range m.rooms {
		if len(d) > len(dir) && (name == d || strings.HasPrefix(name, d+"/")) {
			dir = d
		}
	}
	return dir
}

// Crash returns the file system as it is found after power loss now, and makes m refuse all further calls. Of bytes
// that were not synced a random prefix survives; of directory changes that were not synced each may have happened or
// not. Hole-free: an un-synced tail that survives may hold damage in its last bytes.
func (m *Mem) Crash(r *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	c := NewMem()
	c.free, c.rooms, c.still = m.free, maps.Clone(m.rooms), maps.Clone(m.still)
	for d := range m.dirs {
		c.dirs[d] = true
	}
	copies := map[*memNode]*memNode{}
	keep := func(name string, n *memNode) {
		if copies[n] == nil {
			size := n.synced
			if extra := len(n.data) - n.synced; extra > 0 {
				size += r.IntN(extra + 1)
			}
			data := append([]byte(nil), n.data[:size]...)
			if size > n.synced && r.IntN(4) == 0 {
				data[len(data)-1] ^= byte(1 + r.IntN(255))
			}
			copies[n] = &memNode{data: data, synced: size, mod: n.mod}
		}
		c.live[name], c.disk[name] = copies[n], copies[n]
	}
	for _, name := range names(m.live, m.disk) {
		n := m.live[name]
		if n != m.disk[name] && r.IntN(2) == 0 {
			n = m.disk[name] // the change of this name did not reach the disk
		}
		if n != nil {
			keep(name, n)
		}
	}
	return c
}

func names(maps ...map[string]*memNode) []string {
	seen := map[string]bool{}
	var all []string
	for _, m := range maps {
		for n := range m {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	sort.Strings(all)
	return all
}

var errDead = fmt.Errorf("the file system lost power")

func (m *Mem) enter() error {
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return errDead
	}
	return nil
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// Create makes or truncates a file. Truncation of a synced file takes effect on disk at the next Sync only in real
// life; here the old content is a different node, so it comes back when the entry was not synced.
func (m *Mem) Create(name string) (File, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	name = path.Clean(name)
	if !m.dirs[path.Dir(name)] {
		return nil, pathError("create", name, fs.ErrNotExist)
	}
	if err := m.changes("create", name); err != nil {
		return nil, err
	}
	n := &memNode{mod: time.Unix(0, 0)}
	m.live[name] = n
	return &memFile{m, n, name}, nil
}

// CreateNew makes a file whose name is free.
func (m *Mem) CreateNew(name string) (File, error) {
	if _, err := m.Stat(name); err == nil {
		return nil, pathError("create", path.Clean(name), fs.ErrExist)
	} else if !NotExist(err) {
		return nil, err
	}
	return m.Create(name)
}

// OpenAppend opens a file for writing at its end.
func (m *Mem) OpenAppend(name string) (File, error) {
	f, err := m.Open(name)
	if NotExist(err) {
		return m.Create(name)
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f, m.changes("open", path.Clean(name))
}

// Open opens a file for reading.
func (m *Mem) Open(name string) (File, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	name = path.Clean(name)
	n := m.live[name]
	if n == nil {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return &memFile{m, n, name}, nil
}

// Map returns a copy of the file's content.
func (m *Mem) Map(name string) (Mapping, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	n := m.live[path.Clean(name)]
	if n == nil {
		return nil, pathError("map", name, fs.ErrNotExist)
	}
	return memMapping(append([]byte(nil), n.data...)), nil
}

type memMapping []byte

func (m memMapping) Bytes() []byte         { return m }
func (m memMapping) WillNeed(int64, int64) {}
func (m memMapping) Release()              {}
func (m memMapping) Unmap() error          { return nil }

// Rename moves a name; durable at SyncDir.
func (m *Mem) Rename(from, to string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	from, to = path.Clean(from), path.Clean(to)
	n := m.live[from]
	if n == nil {
		return pathError("rename", from, fs.ErrNotExist)
	}
	if err := errors.Join(m.changes("rename", from), m.changes("rename", to)); err != nil {
		return err
	}
	m.live[to] = n
	delete(m.live, from)
	return nil
}

// Link makes another name of a file.
func (m *Mem) Link(from, to string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	from, to = path.Clean(from), path.Clean(to)
	if m.live[from] == nil {
		return pathError("link", from, fs.ErrNotExist)
	}
	if m.live[to] != nil {
		return pathError("link", to, fs.ErrExist)
	}
	if err := m.changes("link", to); err != nil {
		return err
	}
	m.live[to] = m.live[from]
	return nil
}

// Remove takes a name away; durable at SyncDir.
func (m *Mem) Remove(name string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	name = path.Clean(name)
	if m.live[name] == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if err := m.changes("remove", name); err != nil {
		return err
	}
	delete(m.live, name)
	return nil
}

// MkdirAll makes directories; they survive crashes.
func (m *Mem) MkdirAll(dir string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for d := path.Clean(dir); !m.dirs[d]; d = path.Dir(d) {
		if err := m.changes("mkdir", d); err != nil {
			return err
		}
		m.dirs[d] = true
	}
	return nil
}

// List returns the names in a directory, sub-directories included.
func (m *Mem) List(dir string) ([]string, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	dir = path.Clean(dir)
	if !m.dirs[dir] {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	var found []string
	for n := range m.live {
		if path.Dir(n) == dir {
			found = append(found, path.Base(n))
		}
	}
	for d := range m.dirs {
		if d != dir && path.Dir(d) == dir {
			found = append(found, path.Base(d))
		}
	}
	sort.Strings(found)
	return found, nil
}

// Stat returns size and kind of a name.
func (m *Mem) Stat(name string) (os.FileInfo, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	name = path.Clean(name)
	if m.dirs[name] {
		return memInfo{path.Base(name), 0, true, time.Unix(0, 0)}, nil
	}
	n := m.live[name]
	if n == nil {
		return nil, pathError("stat", name, fs.ErrNotExist)
	}
	return memInfo{path.Base(name), int64(len(n.data)), false, n.mod}, nil
}

// SyncDir makes the entries of a directory durable.
func (m *Mem) SyncDir(dir string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	dir = path.Clean(dir)
	in := func(n string) bool { return path.Dir(n) == dir }
	for n := range m.disk {
		if in(n) && m.live[n] == nil {
			delete(m.disk, n)
		}
	}
	for n, node := range m.live {
		if in(n) {
			m.disk[n] = node
		}
	}
	return nil
}

// Lock takes a lock that only this file system knows.
func (m *Mem) Lock(name string) (io.Closer, error) { return m.lock(name, true) }

// LockShared takes a shared lock that only this file system knows, of a file that is there or not.
func (m *Mem) LockShared(name string) (io.Closer, error) { return m.lock(name, false) }

func (m *Mem) lock(name string, alone bool) (io.Closer, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	name = path.Clean(name)
	if m.locks[name] < 0 || alone && m.locks[name] > 0 {
		return nil, fmt.Errorf("%s: %w by this process", name, ErrLocked)
	}
	if !alone {
		m.locks[name]++
		return memLock{m, name}, nil
	}
	if err := m.changes("open", name); err != nil {
		return nil, err
	}
	m.locks[name] = -1
	return memLock{m, name}, nil
}

type memLock struct {
	m    *Mem
	name string
}

func (l memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.locks[l.name]--; l.m.locks[l.name] <= 0 {
		delete(l.m.locks, l.name)
	}
	return nil
}

// FreeBytes returns the value of SetFree, or the room of SetRoom minus the files.
func (m *Mem) FreeBytes(dir string) (uint64, error) {
	if err := m.enter(); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	if left, bounded := m.left(path.Clean(dir)); bounded {
		return uint64(left), nil
	}
	return m.free, nil
}

// Writable is nil as long as there is power, and SetReadOnly does not say something else.
func (m *Mem) Writable(dir string) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.mu.Unlock()
	return m.changes("write", path.Clean(dir))
}

type memFile struct {
	m    *Mem
	n    *memNode
	name string
}

func (f *memFile) Write(p []byte) (int, error) {
	if err := f.m.enter(); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if err := f.m.changes("write", f.name); err != nil {
		return 0, err
	}
	if left, bounded := f.m.left(f.name); bounded && int64(len(p)) > left {
		f.n.data = append(f.n.data, p[:left]...)
		return int(left), pathError("write", f.name, ErrNoSpace)
	}
	f.n.data = append(f.n.data, p...)
	return len(p), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.m.enter(); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if off < 0 || off > int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Sync() error {
	if err := f.m.enter(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if f.n.synced < len(f.n.data) {
		if err := f.m.changes("sync", f.name); err != nil {
			return err
		}
	}
	f.n.synced = len(f.n.data)
	return nil
}

// Truncate cuts the file.
func (f *memFile) Truncate(size int64) error {
	if err := f.m.enter(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if err := f.m.changes("truncate", f.name); err != nil {
		return err
	}
	if size < 0 || size > int64(len(f.n.data)) {
		return pathError("truncate", f.name, fs.ErrInvalid)
	}
	f.n.data = f.n.data[:size]
	f.n.synced = min(f.n.synced, int(size))
	return nil
}

// Forget does nothing: memory is all there is.
func (f *memFile) Forget(int64, int64) {}

func (f *memFile) Size() (int64, error) {
	if err := f.m.enter(); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	return int64(len(f.n.data)), nil
}

func (f *memFile) Close() error { return nil }

type memInfo struct {
	name string
	size int64
	dir  bool
	mod  time.Time
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | DirMode
	}
	return FileMode
}

// Damage flips a bit of a file's content, for tests of checksums. off counts from the end when negative.
func (m *Mem) Damage(name string, off int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.live[path.Clean(name)]
	if n == nil || len(n.data) == 0 {
		return fmt.Errorf("nothing to damage in %s", name)
	}
	if off < 0 {
		off += len(n.data)
	}
	n.data[off] ^= 0x40
	return nil
}

// Truncate cuts a file, for tests of torn files.
func (m *Mem) Truncate(name string, size int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.live[path.Clean(name)]
	if n == nil || size > len(n.data) {
		return fmt.Errorf("cannot cut %s to %d bytes", name, size)
	}
	n.data = n.data[:size]
	n.synced = min(n.synced, size)
	return nil
}

// Files lists all files with their sizes, one a line, for messages of failing tests.
func (m *Mem) Files() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s strings.Builder
	for _, n := range names(m.live) {
		fmt.Fprintf(&s, "%s %d (synced %d)\n", n, len(m.live[n].data), m.live[n].synced)
	}
	return s.String()
}
