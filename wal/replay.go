package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"

	"varve/engine/vfs"
)

// Damage is a stretch of the log that was synced once and cannot be read now.
type Damage struct {
	Segment uint64
	File    string // name in the log's directory
	Offset  int64
	Bytes   int64
	Reason  string
}

func (d Damage) String() string {
	if d.Offset == 0 && d.Bytes == 0 {
		return d.File + ": " + d.Reason // the file as a whole
	}
	return fmt.Sprintf("%s: %d bytes at %d: %s", d.File, d.Bytes, d.Offset, d.Reason)
}

// ReplayResult says what Replay found.
type ReplayResult struct {
	Records int
	Bytes   int64
	Damaged []Damage
	// Segments are the segments found, Edit the highest number that Options.Edit gave for one of them.
	Segments Range
	Edit     uint64
	// Kept are segments that earlier starts kept for what they could not replay, NAME.damaged, and those they missed,
	// NAME.missing.
	Kept []string
}

// Replay calls apply for every intact record at or after from, in order. rec is only valid during the call. An error of
// apply ends it. It must be called once, before the first Append, also when nothing is to be applied: it finds the
// number that the next frame gets.
func (l *Log) Replay(from LSN, apply func(at LSN, rec []byte) error) (ReplayResult, error) {
	r := replay{l: l, from: from, apply: apply}
	r.result.Edit, r.result.Kept = l.edit, l.kept
	if k := len(l.segments); k > 0 {
		r.result.Segments = Range{l.segments[0].number, l.segments[k-1].number}
	}
	if needs := l.o.Needs; needs.First > 0 && needs.First <= needs.Last &&
		(len(l.segments) == 0 || l.segments[0].number > needs.First) {
		r.missing(needs.First)
	}
	for i, s := range l.segments {
		if i == len(l.segments)-1 {
			if err := l.settle(s.number); err != nil {
				return r.result, err
			}
		}
		if err := r.segment(s.number); err != nil {
			return r.result, err
		}
		r.before = s.number
	}
	if last := l.o.Needs.Last; last > max(r.before, r.lacked) && l.o.Needs.First <= last {
		r.missing(last)
	}
	// Frames that were garbled before they were synced are missing before intact frames. No frame may claim that they
	// were on disk.
	torn := r.judge()
	// Writes that failed used up numbers, which only the headers behind them tell. No frame gets one of these again:
	// what follows such a header in a later segment would seem to be older than it.
	l.w.number, l.w.synced = max(r.last, r.begun), min(r.last, torn)
	l.metrics.Segments.Set(float64(len(l.segments)))
	return r.result, nil
}

// settle makes what the crash left of the last segment durable before anybody acts on it: after a kill it may be in the
// page cache only. A file system that is read-only now still allows reading.
func (l *Log) settle(number uint64) error {
	f, err := l.fs.OpenAppend(path.Join(l.dir, segmentName(number)))
	if vfs.IsReadOnly(err) {
		return nil
	}
	if err != nil {
		l.o.Logger.Warn("log: last segment cannot be synced before replay", "error", err)
		return nil
	}
	err = f.Sync()
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("sync log segment %d before replay: %w", number, err)
	}
	return nil
}

type replay struct {
	l      *Log
	from   LSN
	apply  func(LSN, []byte) error
	last   uint64 // highest number of a frame, or before the oldest segment
	begun  uint64 // highest number before the first one of a header
	seen   bool   // a frame was read
	synced uint64 // highest number known to have been on disk
	gaps   []gap
	voids  [][2]uint64 // numbers that were never acknowledged, both inclusive
	before uint64      // segment before the one at hand
	lacked uint64      // the last segment that is missing
	result ReplayResult
}

// gap is a place where numbers are missing or bytes could not be read.
type gap struct {
	Damage
	first, beyond uint64 // missing numbers are [first, beyond)
}

func (r *replay) segment(number uint64) error {
	name := segmentName(number)
	m, err := r.l.fs.Map(path.Join(r.l.dir, name))
	if err != nil {
		if vfs.NotExist(err) {
			return nil
		}
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	size := int64(len(m.Bytes()))
	err = vfs.Reading(m, func(src []byte) error { return r.frames(number, name, src) })
	var u *vfs.Unreadable
	if errors.As(err, &u) {
		r.bad(number, name, u.Offset, u.Error())
		r.endOf(number, size)
		err = nil
	}
	return errors.Join(err, m.Unmap())
}

func (r *replay) frames(number uint64, name string, src []byte) error {
	h, err := readHead(src)
	if errors.Is(err, errVersion) {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	off := 0
	if err != nil {
		// The header of the last segment that Begun reported was synced: if it cannot be read, it is damaged. Any other
		// unreadable header may never have reached the disk, and then no frame of its segment was acknowledged. Whether
		// frames are lost is seen by the numbers of later frames, and frames after the header are looked for all the
		// same. The oldest segment is an exception: if it is no more than a cut header, nothing can be missing, because
		// the numbers before it were truncated.
		told := number == r.l.o.Needs.Last && number >= r.l.o.Needs.First
		if told {
			r.damaged(Damage{number, name, 0, int64(min(len(src), segmentHead)), "segment header: " + err.Error()})
		}
		if r.last > 0 || len(src) > segmentHead && !told {
			r.bad(number, name, 0, "segment header: "+err.Error())
		}
		off = resync(src, 0, r.last)
	} else if off = h.size(); h.segment != number {
		r.damaged(Damage{number, name, 0, int64(len(src)),
			fmt.Sprintf("this is segment %d in the place of another", h.segment)})
		return nil
	} else {
		if h.previous > max(r.before, r.lacked) && (r.before > 0 || r.l.o.Needs.First > 0) &&
			h.previous >= r.l.o.Needs.First {
			r.missing(h.previous)
		}
		r.synced = max(r.synced, h.synced)
		if h.first > h.synced+1 {
			r.voids = append(r.voids, [2]uint64{h.synced + 1, h.first - 1})
		}
		if h.first > r.last+1 && r.last > 0 && r.lacked == 0 {
			r.bad(number, name, 0, "frames before this segment are missing")
		}
		r.close(h.first, number, 0)
		if h.first > 0 {
			r.begun = max(r.begun, h.first-1)
			// The oldest segment: what came before it was truncated, not lost. If it has no frame and the next one
			// begins at a lower number, earlier versions gave numbers again that writes to a full disk had used up.
			if r.last == 0 || !r.seen && h.first-1 < r.last {
				r.last = h.first - 1
			}
		}
	}
	for off < len(src) {
		f, length, _, ok := ReadFrame(src[off:])
		if ok && f.Number > r.last {
			r.close(f.Number, number, int64(off))
			r.last, r.seen = f.Number, true
			r.synced = max(r.synced, f.Synced)
			if f.Type == typeRecord && lsnAt(number, int64(off)) >= r.from {
				r.result.Records++
				r.result.Bytes += int64(length)
				if err := r.apply(lsnAt(number, int64(off)), f.Body); err != nil {
					return err
				}
			}
			off += length
			continue
		}
		r.bad(number, name, int64(off), "no intact frame")
		off = resync(src, off, r.last)
	}
	r.endOf(number, int64(len(src)))
	return nil
}

// resync finds the next intact frame with a number above last behind the bad one at off: where its header says it is,
// or by looking at every byte.
func resync(src []byte, off int, last uint64) int {
	if f, length, headOK, ok := ReadFrame(src[off:]); headOK && !ok && off+length < len(src) && f.Number > last {
		if g, _, _, ok := ReadFrame(src[off+length:]); ok && g.Number > f.Number {
			return off + length
		}
	}
	for off++; off+FrameHead <= len(src); off++ {
		// The number is plausible for a frame that follows: a cheap test before the checksum.
		if n := binary.LittleEndian.Uint64(src[off+12:]); n <= last || n > last+1<<24 {
			continue
		}
		if _, _, _, ok := ReadFrame(src[off:]); ok {
			return off
		}
	}
	return len(src)
}

// bad opens a gap; the next frame read closes it.
func (r *replay) bad(segment uint64, name string, off int64, reason string) {
	if k := len(r.gaps); k > 0 && r.gaps[k-1].beyond == 0 && r.gaps[k-1].Segment == segment {
		return
	}
	r.gaps = append(r.gaps, gap{Damage{segment, name, off, 0, reason}, r.last + 1, 0})
}

// close ends open gaps before the frame with the given number at the given offset.
func (r *replay) close(number, segment uint64, off int64) {
	for i := len(r.gaps) - 1; i >= 0 && r.gaps[i].beyond == 0; i-- {
		g := &r.gaps[i]
		g.beyond = number
		if g.Segment == segment && g.Bytes == 0 {
			g.Bytes = off - g.Offset
		}
	}
}

func (r *replay) endOf(segment uint64, size int64) {
	if k := len(r.gaps); k > 0 && r.gaps[k-1].beyond == 0 && r.gaps[k-1].Segment == segment {
		r.gaps[k-1].Bytes = size - r.gaps[k-1].Offset
	}
}

// judge separates damage from torn tails: a gap is damage if it lacks a number that was on disk once. torn is the last
// number before frames that were never on disk and are missing before intact ones; math.MaxUint64 if there are none.
func (r *replay) judge() (torn uint64) {
	torn = math.MaxUint64
	for _, g := range r.gaps {
		beyond := g.beyond
		if beyond == 0 {
			beyond = r.synced + 1
		}
		beyond = min(beyond, r.synced+1)
		n := g.first
		for again := true; again; {
			again = false
			for _, v := range r.voids {
				if n >= v[0] && n <= v[1] {
					n, again = v[1]+1, true
				}
			}
		}
		switch {
		case n < beyond:
			r.damaged(g.Damage)
		case n < g.beyond:
			torn = min(torn, n-1)
		}
	}
	return torn
}

// damaged reports damage of a segment.
func (r *replay) damaged(d Damage) {
	r.l.damaged[d.Segment] = true
	r.result.Damaged = append(r.result.Damaged, d)
	r.l.o.Logger.Error("log: damage", "file", d.File, "offset", d.Offset, "bytes", d.Bytes, "reason", d.Reason)
}

// missing reports a segment that must be there and is not.
func (r *replay) missing(segment uint64) {
	r.lacked = segment
	r.damaged(Damage{segment, segmentName(segment), 0, 0,
		"the segment is missing: it was removed, or the directory of the log is another one"})
}
