package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// fingerprint is by what a file is known again.
type fingerprint struct {
	Path     string    `json:"path"`
	Device   uint64    `json:"device"`
	Inode    uint64    `json:"inode"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Packed   bool      `json:"packed"`
	Head     piece     `json:"head"` // its beginning
	Tail     piece     `json:"tail"` // what lies before the position; of a packed file none
}

// piece is a stretch of a file.
type piece struct {
	From  int64  `json:"from"`
	Bytes int64  `json:"bytes"`
	Hash  string `json:"sha256"`
}

// takeFingerprint looks at a file; its head has at most so many bytes.
func takeFingerprint(path string, head int64) (p fingerprint, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	if err := p.look(path, f); err != nil {
		return p, err
	}
	p.Head, err = takePiece(f, 0, min(head, p.Size))
	return p, err
}

// look takes the outside of a file.
func (p *fingerprint) look(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p.Path, p.Size, p.Modified = path, info.Size(), info.ModTime()
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		p.Device, p.Inode = uint64(sys.Dev), sys.Ino //nolint:unconvert // of another type on other systems
	}
	return nil
}

func takePiece(f io.ReaderAt, from, bytes int64) (piece, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, from, bytes))
	return piece{from, n, hex.EncodeToString(h.Sum(nil)[:16])}, err
}

// sameFile reports whether two are of one file of the file system, which need not have kept its content.
func (p *fingerprint) sameFile(o *fingerprint) bool {
	return p.Inode == o.Inode && p.Device == o.Device
}

// holds reports whether a file still has the content of a piece.
func holds(path string, want piece) bool {
	if want.Bytes == 0 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := takePiece(f, want.From, want.Bytes)
	return err == nil && got == want
}

// refresh takes the outside of the file again, and what lies before the position, if the path still leads there.
func (r *record) refresh(in *input) {
	r.Tail = piece{}
	f, err := os.Open(r.Path)
	if err != nil {
		return
	}
	defer f.Close()
	now := r.fingerprint
	if now.look(r.Path, f) != nil || !now.sameFile(&r.fingerprint) {
		return // it was rotated: its beginning has to do
	}
	now.Packed = in.packed != ""
	if now.Head.Bytes < headSize && now.Size > now.Head.Bytes {
		if now.Head, err = takePiece(f, 0, min(headSize, now.Size)); err != nil {
			return
		}
	}
	if !now.Packed {
		from := max(0, r.At.Byte-headSize)
		if now.Tail, err = takePiece(f, from, r.At.Byte-from); err != nil {
			return
		}
	}
	r.fingerprint = now
}

// begin finds where an input begins to be sent. skip says why it is not sent at all; more are inputs to be sent before
// it.
func (s *state) begin(in *input, to target, o *Options) (more []*input, skip string, err error) {
	if in.path == "" {
		return nil, "", nil
	}
	if info, err := os.Stat(in.path); err != nil || !info.Mode().IsRegular() {
		return nil, "", err
	}
	now, err := takeFingerprint(in.path, headSize)
	if err != nil {
		return nil, "", err
	}
	fresh := &record{fingerprint: now, Open: true, target: to}
	old := s.find(&now)
	if old != nil && old.left(to) && !o.Restart && !in.fresh {
		in.note = fmt.Sprintf("%s was stored before, but %s: it is sent from its beginning", in.name, old.reason(to))
		old = nil
	}
	switch {
	case old == nil || o.Restart || in.fresh, !o.Resume && !holds(in.path, old.Head),
		!old.Open && old.At.Byte == 0 && len(old.Ahead) == 0 && !old.Done:
		if old != nil && !o.Restart && !in.fresh && holds(in.path, old.Head) {
			fresh.Stream, fresh.Batch = old.Stream, old.Batch // an answer may have been lost
		}
		s.add(in, fresh)
		return nil, "", nil
	case !holds(in.path, old.Head):
		if more, err = s.rotated(in, old, &now); err == nil {
			s.add(in, fresh)
		}
		return more, "", err
	}
	skip, err = old.admit(in, &now, to, o)
	if err == nil && skip == "" {
		went := *old
		went.Path, went.Open = in.path, true
		if went.Store == "" || went.Table == 0 {
			went.target = to
		}
		s.add(in, &went)
	}
	return nil, skip, err
}

// find gives the record of a file: of the same file of the file system, or else of the same path.
func (s *state) find(p *fingerprint) *record {
	for _, r := range s.old {
		if r.sameFile(p) && holds(p.Path, r.Head) {
			return r
		}
	}
	for _, r := range slices.Backward(s.old) { // the newest of a path is the last
		if r.Path == p.Path {
			return r
		}
	}
	return nil
}

// rotated finds the file that an input was before another took its path, to send the rest of it.
func (s *state) rotated(in *input, old *record, now *fingerprint) ([]*input, error) {
	names, err := filepath.Glob(globQuote(filepath.Dir(in.path)) + "/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p, err := takeFingerprint(name, headSize)
		if err != nil || old.sameFile(now) || !p.sameFile(&old.fingerprint) || !holds(name, old.Head) {
			continue
		}
		went := *old
		went.Path, went.Open = name, true
		was := &input{name: filepath.Join(filepath.Dir(in.name), filepath.Base(name)), path: name, table: in.table,
			timeIndex: in.timeIndex}
		skip, err := old.admit(was, &p, old.target, &Options{Resume: true})
		if err != nil || skip != "" {
			return nil, err
		}
		s.add(was, &went)
		was.note = in.name + " was rotated to " + was.note
		return []*input{was}, nil
	}
	return nil, errors.New(in.name +
		": the file has changed before the place up to which it is stored, so it cannot be resumed: --restart stores " +
		"it from its beginning")
}

// globQuote lets a pattern find a name as it is.
func globQuote(name string) string {
	var out []byte
	for _, b := range []byte(name) {
		if b == '*' || b == '?' || b == '[' || b == '\\' {
			out = append(out, '\\')
		}
		out = append(out, b)
	}
	return string(out)
}
