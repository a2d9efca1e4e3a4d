package engine

import (
	"errors"
	"fmt"
	"time"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/wal"
)

// keptSegment says why a segment was kept.
const keptSegment = "not all of this segment could be replayed at an earlier start; remove it when nobody wants its " +
	"rows (varve dump shows them)"

// missedSegment says why a segment that is not there is reported.
const missedSegment = "this segment was missing at an earlier start, and its rows with it; remove this file when " +
	"that is known"

// keptReason says why a file of the log is reported that an earlier start left.
func keptReason(name string) string {
	if wal.Missing(name) {
		return missedSegment
	}
	return keptSegment
}

// replay applies the log's records that are in no part, flushing when memory runs out.
func (st *starting) replay() error {
	last := st.o.Now()
	result, err := st.log.Replay(0, func(at wal.LSN, rec []byte) error {
		if err := st.run.Err(); err != nil {
			return err // closed before it was ready
		}
		if now := st.o.Now(); now.Sub(last) > 2*time.Second {
			last = now
			st.o.Logger.Info("replaying the log", "at", at.String(), "rows", st.found.ReplayedRows)
		}
		return st.replayRecord(at, rec)
	})
	if err != nil {
		return fmt.Errorf("replay of the log: %w", err)
	}
	st.positions.endReplay()
	st.found.ReplayedBytes = result.Bytes
	st.logWhole = len(result.Damaged) == 0
	for _, d := range result.Damaged {
		st.damages.note(SetAside{File: "wal/" + d.File, Reason: d.String()})
		st.log.Keep(d.Segment)
	}
	for _, name := range result.Kept {
		st.damages.note(SetAside{File: "wal/" + name, Reason: keptReason(name)})
	}
	return nil
}

func (st *starting) replayRecord(at wal.LSN, rec []byte) error {
	if isTaken(rec) {
		return st.replayTaken(at, rec)
	}
	r, body, err := readRecordHead(rec)
	if err != nil {
		st.keepRecord(at, err)
		return nil
	}
	if r.kind == recordBatches {
		if err := st.batches.found(body); err != nil {
			st.keepRecord(at, err)
		}
		return nil
	}
	st.committer.seen(r.seq)
	st.leastTable = max(st.leastTable, r.table+1)
	p, ok := st.catalog.Load().find(r.table)
	if !ok && st.unknown != nil {
		st.unknown(r.table, at, r.seq)
	}
	if !ok || r.seq <= st.manifest.State().Tables[p.region.id].Flushed {
		return nil
	}
	if st.batches.knows(r) { // it was logged twice: the answer of the log was an error
		return nil
	}
	region, t := p.region, p.schema()
	// Strings of a decoded batch point into the mapped log; the memtable copies them.
	if err := r.decode(body, t); err != nil {
		st.keepRecord(at, err)
		return nil
	}
	for _, ref := range r.refs {
		st.leastTable = max(st.leastTable, schema.KeyTable(ref.Key())+1)
	}
	if err := r.leaveOut(); err != nil {
		st.keepRecord(at, fmt.Errorf("table %s: %w", t.Name, err))
	}
	m := region.snap.Load().live
	region.mu.Lock()
	m.began(at, r.seq, st.o.Now())
	region.mu.Unlock()
	m.append(r, t, false)
	st.batches.stored(r)
	st.memory.count(m)
	st.found.ReplayedRows += int64(r.batch.N)
	st.metrics.ReplayedRows.Add(float64(r.batch.N))
	if st.noted != nil {
		st.noted(region, at, r.seq)
		return nil
	}
	if st.memory.flushable(m) > st.o.FlushBytes {
		return st.makeRoom(region)
	}
	if st.memory.full() {
		if region = st.flusher.largest(); region != nil {
			return st.makeRoom(region)
		}
	}
	return nil
}

// keepRecord sets a record aside that cannot be applied, or not wholly: its segment stays for who wants the rows.
func (st *starting) keepRecord(at wal.LSN, why error) {
	st.damages.note(SetAside{File: "wal " + at.String(), Reason: why.Error()})
	st.log.Keep(at.Segment())
}

// makeRoom writes what has been replayed of a region into a part. Where the disk cannot be written to, because it is
// full say, the rows stay in memory: that is where they were when the server ended.
func (st *starting) makeRoom(r *region) error {
	full := st.memory.load() > 2*st.o.MemtableLimit
	if st.unwritable && !full {
		return nil
	}
	if st.reads {
		return fmt.Errorf(
			"rows that are in the log alone do not fit into memory: they take %d bytes, and a store that is "+
				"read-only has no parts to write them into. "+
				"Raise memory_limit or storage.memtable_limit, now %d, or let the file system be written to",
			st.memory.load(), st.o.MemtableLimit)
	}
	err := st.flushReplayed(r)
	if err == nil || full {
		return err
	}
	st.unwritable = true
	st.o.Logger.Error("rows of the log cannot be written into parts; they are kept in memory until they can", "error",
		err)
	return nil
}

// flushReplayed writes what has been replayed of a region into a part that the manifest learns of at the end of replay.
// The log is not in the order of sequence numbers, so until then nobody can say up to which one everything is in parts;
// a crash before the end leaves files that no manifest lists, and the log. A memtable without rows gives up its
// registry.
func (st *starting) flushReplayed(r *region) error {
	m := r.snap.Load().live
	p, err := st.writeReplayed(r, m)
	if err != nil && !errors.Is(err, errNoRows) {
		return err
	}
	next := st.memory.after(m)
	if p == nil {
		next = st.memory.newMem(nil)
	}
	next.first, next.lastSeq, next.born = m.first, m.lastSeq, m.born // until the part is listed the log is needed
	r.replace(func(s *regionSnap) {
		s.live = next
		if p != nil {
			s.parts = append(s.parts, p)
		}
	})
	st.memory.forget(m)
	return nil
}

// writeReplayed writes the rows of a memtable into a part and adds it to those that wait for the manifest. errNoRows:
// there are no rows, or all are of dropped tables.
func (st *starting) writeReplayed(r *region, m *mem) (*part, error) {
	run := m.table.Freeze()
	if run.Rows() == 0 {
		return nil, errNoRows
	}
	t := r.snap.Load().schema
	lo, hi := run.Sequences()
	mode := flushMode(t)
	mode.keepAll = mode.keepAll || mode.lastNonNull // sequence numbers of the following parts may lie in between
	p, err := st.files.write(&partJob{table: t, runs: []scan.Run{run}, time: scan.All, minSeq: lo, maxSeq: hi,
		mode: mode, workers: flushWorkers, lives: st.lives(r), flushed: st.flushedOf(r)})
	if err != nil {
		return nil, err
	}
	p.unlisted.Store(true)
	r.pending = append(r.pending, p)
	return p, nil
}

// finishReplay flushes the regions for which replay has created parts. One edit then records all of them and the last
// sequence number in the manifest. The flush loop tries failed flushes again.
func (st *starting) finishReplay() {
	for _, r := range st.catalog.Load().inOrder() {
		if len(r.pending) == 0 {
			continue
		}
		r.replace(func(s *regionSnap) { s.frozen, s.live = append(s.frozen, s.live), st.memory.after(s.live) })
		if err := st.flusher.flush(st.run, r); err != nil {
			st.o.Logger.Error("flush failed, it is tried again", "table", r.snap.Load().schema.Name.String(), "error",
				err)
		}
	}
}
