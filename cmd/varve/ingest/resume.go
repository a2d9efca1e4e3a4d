package ingest

import (
	"fmt"
	"os"
)

// admit says whether and where a file goes on whose beginning is that of the record.
func (r *record) admit(in *input, now *fingerprint, to target, o *Options) (skip string, err error) {
	same := now.Size == r.Size && now.Modified.Equal(r.Modified)
	if r.Done && (same || now.Size == r.Size && (r.Packed || holds(in.path, r.Tail))) {
		return "already stored, use --restart to store it again", nil
	}
	if !o.Resume {
		switch {
		case r.Done && now.Size > r.Size:
			return "", fmt.Errorf(
				"%s has grown since it was stored: --resume stores what was added, --restart all of it", in.name)
		case r.Done:
			return "", fmt.Errorf("%s has changed since it was stored: --restart stores it from its beginning", in.name)
		}
		return "",
			fmt.Errorf(
				"%s is stored up to line %d by an earlier run: --resume goes on from there, --restart stores it from "+
					"its beginning", in.name, r.At.Line)
	}
	if now.Size < r.Size && r.Packed || !r.Packed && (now.Size < r.At.Byte || !holds(in.path, r.Tail)) {
		return "",
			fmt.Errorf(
				"%s: the file has changed before line %d, up to which it is stored, so it cannot be resumed: "+
					"--restart stores it from its beginning", in.name, r.At.Line+1)
	}
	at, err := r.lineEnd(in)
	if err != nil {
		return "", err
	}
	in.resume = []span{{To: at}}
	in.note = fmt.Sprintf("%s: goes on behind line %d", in.name, at.Line)
	if r.Open && !to.known() {
		in.note += "; the run before was cut off: what it stored after its last note, of a second at most, is stored twice"
	}
	switch {
	case same || r.Packed:
		in.resume = append(in.resume, r.Ahead...)
	case len(r.Ahead) > 0 && !to.known():
		lines := int64(0)
		for _, s := range r.Ahead {
			lines += s.To.Line - s.From.Line
		}
		in.note += fmt.Sprintf("; %d lines behind it are stored, but the file has changed: they are stored twice",
			lines)
	}
	return "", nil
}

// lineEnd is the position, moved behind the end of its line where that was written only later.
func (r *record) lineEnd(in *input) (mark, error) {
	at := r.At
	if at.Byte == 0 || r.Packed || !r.Done {
		return at, nil
	}
	f, err := os.Open(in.path)
	if err != nil {
		return at, err
	}
	defer f.Close()
	var around [2]byte
	n, err := f.ReadAt(around[:], at.Byte-1)
	switch {
	case n < 2 || around[0] == '\n':
		return at, nil
	case around[1] == '\n':
		return mark{at.Byte + 1, at.Line + 1}, nil
	case n == 2:
		return at,
			fmt.Errorf(
				"%s: line %d was stored before it was written whole: --restart stores the file from its beginning",
				in.name, at.Line+1)
	}
	return at, err
}
