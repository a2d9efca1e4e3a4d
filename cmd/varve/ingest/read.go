package ingest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"varve/cmd/varve/client"
)

// readAll reads the inputs one after the other and then, if so asked, what is appended to them.
func (r *running) readAll() {
	var followed []*input
	for _, in := range r.inputs {
		if r.stopped() {
			return
		}
		if r.readOne(in) {
			followed = append(followed, in)
		}
	}
	for len(followed) > 0 && !r.stopped() {
		timer := time.NewTimer(flushAfter)
		select {
		case <-timer.C:
		case <-r.stop:
		}
		timer.Stop()
		left := followed[:0]
		for _, in := range followed {
			if in = r.followOne(in); in != nil {
				left = append(left, in)
			}
		}
		followed = left
	}
	for _, in := range followed {
		in.close()
	}
}

// readOne reads an input to its end. follow: there may come more.
func (r *running) readOne(in *input) (follow bool) {
	if r.o.Follow && in.path != "" && !hasLine(in.path) {
		return true // what it is will be seen when there is something
	}
	err := in.open(r)
	if err == nil {
		err = r.read(in)
	}
	if err == nil && r.o.Follow && in.size > 0 && in.packed == "" {
		return true
	}
	in.close()
	switch {
	case err == io.EOF:
		in.ledger.end()
	case errors.Is(err, errStopped), err == nil:
	case in.walked && in.cut == nil:
		r.report.note("%s: %v; left out", in.name, client.FileReason(err))
	default:
		r.report.fail(in, err)
	}
	return false
}

// hasLine reports whether a file holds enough to see what it is.
func hasLine(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // that is told when it is opened
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(f, head) //nolint:errcheck // a short file is no error
	return n == headSize || bytes.IndexByte(head[:n], '\n') >= 0
}

// read cuts an input into batches until there is nothing for now, which is no error, or it ends.
func (r *running) read(in *input) error {
	for {
		var buf []byte
		select {
		case buf = <-r.buffers:
		case <-r.stop:
			return errStopped
		}
		if buf == nil {
			buf = make([]byte, 0, r.o.Batch)
		}
		b := &batch{in: in, buffer: buf}
		err := in.cut.fill(b, buf)
		if len(b.body) == 0 {
			r.buffers <- buf
			switch {
			case err != nil:
				return err
			case r.stopped():
				return errStopped
			case r.o.Follow && in.size > 0:
				return nil
			}
			continue
		}
		in.ledger.cut(b.to)
		select {
		case r.work <- b:
		case <-r.stop:
			r.buffers <- buf
			return errStopped
		}
		if err != nil {
			return err
		}
	}
}

// followOne reads what was appended to an input, and gives the one to follow further: after a rotation that is another,
// and none when it cannot be read.
func (r *running) followOne(in *input) *input {
	if in.cut == nil {
		if !hasLine(in.path) {
			return in
		}
		if err := in.open(r); err != nil {
			if in.close(); os.IsNotExist(err) || errors.Is(err, errStopped) {
				return in
			}
			r.report.fail(in, err)
			return nil
		}
	}
	// Looked at before the rest is read: what is appended between both is read with the next round.
	rotated, truncated := in.replaced()
	if !truncated { // else what follows the place is of the new content
		if err := r.read(in); err != nil {
			if errors.Is(err, errStopped) {
				return in
			}
			in.close()
			r.report.fail(in, err)
			return nil
		}
	}
	if !rotated && !truncated {
		return in
	}
	next := &input{name: in.name, path: in.path, table: in.table, timeIndex: in.timeIndex, stream: newStream()}
	if truncated {
		r.report.note("%s was truncated, it is read from its beginning", in.name)
	} else {
		r.report.note("%s was rotated, the new file is read", in.name)
	}
	r.finish(in, truncated)
	r.state.follow(next)
	return next
}

// finish sends what an input still holds that was not known to be whole, such as a last line without its end, now that
// nothing is appended to it any more.
func (r *running) finish(in *input, truncated bool) {
	in.src.follow = false
	if truncated { // what can be read by now is of the new content
		in.src.head, in.src.r = nil, eof{}
		r.state.leave(in)
	}
	switch err := r.read(in); {
	case err == io.EOF:
		in.ledger.end()
	case !errors.Is(err, errStopped):
		r.report.fail(in, err)
	}
	in.close()
}

// replaced reports whether the path leads to another file by now, or the file has become shorter than what was read of
// it.
func (in *input) replaced() (rotated, truncated bool) {
	now, err := os.Stat(in.path)
	if err != nil {
		return false, false // perhaps about to be created
	}
	open, err := in.file.Stat()
	if err != nil {
		return false, false
	}
	at, err := in.file.Seek(0, io.SeekCurrent)
	return !os.SameFile(now, open), err == nil && open.Size() < at
}
