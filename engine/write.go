package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/spare"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/wal"
)

// tableWrite is the rows of one builder on their way into the log and a memtable.
type tableWrite struct {
	*writeEntry
	fields []vector.Field
	batch  *vector.Batch

	at     place
	schema *schema.Table // that rec was aligned with
	rec    *record       // nil: the rows expire at once
	mem    *mem          // takes the rows; nil: the schema is another one now
	log    *[]byte       // the record as bytes; nil: the table has no log
}

func (e *core) write(ctx context.Context, s *WriteSet) ([]Written, error) {
	if err := e.admit(ctx); err != nil {
		return nil, err
	}
	var all []*tableWrite
	for _, w := range s.entries {
		if w.builder.Rows() > 0 {
			t := &tableWrite{writeEntry: w}
			t.fields, t.batch = w.builder.Finish()
			all = append(all, t)
		}
	}
	for rest := all; len(rest) > 0; {
		if err := e.prepare(rest); err != nil {
			return nil, err
		}
		var err error
		if rest, err = e.commit(ctx, rest); err != nil {
			return nil, err
		}
	}
	return tally(all), nil
}

// tally counts the rows by groups of equal options, in order of first use. Rows that expire at once are not counted.
func tally(all []*tableWrite) []Written {
	var out []Written
	var keys []string
	for _, w := range all {
		key := fmt.Sprint(w.hint.AutoCreate, w.hint.Options.All)
		at := slices.Index(keys, key)
		if at < 0 {
			at, keys, out = len(keys), append(keys, key), append(out, Written{})
		}
		if w.rec != nil {
			out[at].Rows += w.batch.N
		}
	}
	return out
}

// admit refuses writes that cannot be kept: full disk, full memory.
func (e *core) admit(ctx context.Context) error {
	if err := e.checkSpace(); err != nil {
		e.metrics.Refused.WithLabelValues("disk").Inc()
		return err
	}
	if e.memBytes.Load() < e.o.MemtableLimit {
		return nil
	}
	return e.awaitRoom(ctx)
}

func (e *core) awaitRoom(ctx context.Context) error {
	timer := time.NewTimer(e.o.WriteWait)
	defer timer.Stop()
	for {
		wait := e.room.wait()
		if e.memBytes.Load() < e.o.MemtableLimit {
			return nil
		}
		e.requestLargest()
		select {
		case <-wait:
		case <-ctx.Done():
			return status.Wrap(ctx.Err(), status.DeadlineExceeded, "the request ended while the write waited for memory")
		case <-e.run.Done():
			return ErrClosed
		case <-timer.C:
			e.metrics.Refused.WithLabelValues("memory").Inc()
			return status.New(status.RegionBusy, "memtables hold %d bytes, the limit is %d: flushing does not keep up, try again", e.memBytes.Load(), e.o.MemtableLimit)
		}
	}
}

// requestLargest asks for a flush of the region with the most rows in memory.
func (e *core) requestLargest() {
	var largest *region
	var most int64
	for _, r := range e.catalog.Load().regions {
		if n := r.snap.Load().live.table.Bytes(); n > most {
			largest, most = r, n
		}
	}
	if largest != nil {
		e.requestFlush(largest)
	}
}

// checkSpace refuses writes before the disk is full, so that flushes and the manifest still have room.
func (e *core) checkSpace() error {
	now := e.o.Now()
	e.spaceMu.Lock()
	defer e.spaceMu.Unlock()
	if age := now.Sub(e.spaceAt); age >= 0 && age < spaceCheck && !e.spaceAt.IsZero() {
		return e.spaceErr
	}
	e.spaceAt = now
	free, err := e.o.FS.FreeBytes(e.o.Dir)
	switch {
	case err != nil:
		e.spaceErr = status.Wrap(err, status.StorageUnavailable, "free space of the data directory is not known: %v", err)
	case free < uint64(e.o.MinFree):
		e.spaceErr = status.New(status.StorageUnavailable, "the disk is nearly full: %d bytes are free and storage.min_free is %d; writes resume when there is room", free, e.o.MinFree)
	default:
		e.spaceErr = nil
	}
	return e.spaceErr
}

// prepare makes the records: tables and columns that are absent are made, all at once, and what the rows have is held
// against the schemas.
func (e *core) prepare(ws []*tableWrite) error {
	for {
		absent, evolving, err := e.alignAll(ws)
		switch {
		case err != nil:
		case len(absent) > 0:
			err = e.createAbsent(absent)
		case len(evolving) > 0:
			err = e.addColumns(evolving)
		default:
			return nil
		}
		if err != nil && status.Of(err) != status.TableAlreadyExists {
			return err
		}
	}
}

// alignAll makes the records of the writes whose tables have all columns; it gives the writes that lack a table or
// columns.
func (e *core) alignAll(ws []*tableWrite) (absent, evolving []*tableWrite, err error) {
	c, now := e.catalog.Load(), e.o.Now()
	for _, w := range ws {
		p, ok := c.byName[w.name]
		if !ok {
			if _, ok := c.databases[w.name.DB]; !ok {
				return nil, nil, status.New(status.InvalidArguments, "Failed to find schema, schema info: service.%s", w.name.DB)
			}
			if !w.hint.AutoCreate {
				return nil, nil, w.hint.refuse("Table `%s` does not exist", w.name.Table)
			}
			absent = append(absent, w)
			continue
		}
		w.at, w.schema = p, p.schema()
		if w.schema.Shared() {
			return nil, nil, errPhysical(w.name, "written to")
		}
		w.rec, err = align(w.schema, w.fields, w.batch, &w.hint, now)
		if err == errEvolve {
			evolving = append(evolving, w)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if w.schema.Options.TTL == schema.TTLInstant {
			w.rec = nil
		}
	}
	return absent, evolving, nil
}

// refuse is the error for what a write would have to create while AutoCreate is off.
func (h *Hint) refuse(format string, args ...any) error {
	if h.Disabled {
		return status.New(status.InvalidArguments, "Invalid InsertRequest, reason: %s, auto-create table is disabled by frontend config", fmt.Sprintf(format, args...))
	}
	return status.New(status.InvalidArguments, "Invalid InsertRequest, reason: %s, and `auto_create_table` hint is disabled", fmt.Sprintf(format, args...))
}

// TypeClash is the cause of a write's error: a column of another type than the table's.
type TypeClash struct {
	Column string
	Want   vector.Type
	Values *vector.Vector // of all Rows of the table in the write
	Rows   int
}

func (e *TypeClash) Error() string {
	return fmt.Sprintf("%d rows have the type %s for the column %s of type %s", e.Rows, e.Values.Type, e.Column, e.Want)
}

var errEvolve = fmt.Errorf("the table lacks a column")

// align checks a batch against the schema and gives the record to write: column ids, absent columns with a default
// filled in. errEvolve says that the schema lacks a column.
func align(t *schema.Table, fields []vector.Field, b *vector.Batch, h *Hint, now time.Time) (*record, error) {
	rec := &record{table: t.ID, batch: &vector.Batch{N: b.N}}
	set := make([]bool, len(t.Columns))
	lacking := false
	for i, f := range fields {
		p := t.Column(f.Name)
		if p < 0 {
			lacking = true
			continue
		}
		c, v := &t.Columns[p], b.Cols[i]
		if c.Type != f.Type {
			if !h.Typed || !convert.Possible(f.Type, c.Type) {
				clash := &TypeClash{Column: c.Name, Want: c.Type, Values: v, Rows: b.N}
				return nil, status.Wrap(clash, status.InvalidArguments, "column %s expect type %s, given: %s", c.Name, c.Type, f.Type)
			}
			v = convert.All(&vector.Vector{}, v, c.Type, b.N)
		}
		role := h.role(f.Name)
		if h.TimeIndex != "" && role != c.Semantic && (role == schema.Timestamp || c.Semantic == schema.Timestamp || role == schema.Tag) {
			return nil, status.New(status.InvalidArguments, "column %s expect semantic type %s, given: %s", c.Name, c.Semantic, role)
		}
		if !c.Nullable && hasNull(v, b.N) {
			return nil, status.New(status.InvalidArguments, "column %s is NOT NULL, a row has no value for it", c.Name)
		}
		set[p] = true
		rec.add(c, v)
	}
	if lacking {
		return nil, errEvolve
	}
	for p := range t.Columns {
		c := &t.Columns[p]
		switch {
		case set[p]:
		case c.DefaultExpr != "":
			rec.add(c, vector.ConstInt(c.Type, inUnit(now, c.Type)))
		case c.Default != nil:
			rec.add(c, c.Default)
		case c.Initial != nil:
			rec.add(c, vector.ConstNull(c.Type)) // a row that lacks the column reads the initial value
		case !c.Nullable:
			return nil, status.New(status.InvalidArguments, "column %s is NOT NULL and has no default value", c.Name)
		}
	}
	if err := rec.checkBounds(); err != nil {
		return nil, err
	}
	return rec, nil
}

// inUnit is a moment in the unit of a timestamp type.
func inUnit(t time.Time, typ vector.Type) int64 {
	switch typ.Precision {
	case 0:
		return t.Unix()
	case 3:
		return t.UnixMilli()
	case 6:
		return t.UnixMicro()
	}
	return t.UnixNano()
}

func hasNull(v *vector.Vector, n int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Form == vector.Const {
		return v.Valid[0]&1 == 0
	}
	return !v.Valid.All(n)
}

var recordBuffers spare.List[[]byte]

// largeRecord is the size from which on the buffer of a record is made for it alone, at once: growing it would copy it
// several times.
const largeRecord = 16 << 20

// commit logs and appends the records and gives the writes whose tables were altered or dropped since they were
// prepared: to be prepared again.
func (e *core) commit(ctx context.Context, ws []*tableWrite) (again []*tableWrite, err error) {
	if again, err = e.append(ctx, ws); err == nil && len(again) > 0 {
		err = e.awaitAltered(ctx, again) // nothing is held that a change may wait for
	}
	return again, err
}

// append logs and appends the records of the writes that can be enlisted, and gives the others. Who gives up before the log
// has the records has written nothing.
func (e *core) append(ctx context.Context, ws []*tableWrite) (again []*tableWrite, err error) {
	var logged [][]byte
	defer func() {
		for _, w := range ws {
			w.finish()
		}
	}()
	for _, w := range ws {
		if w.rec == nil {
			continue
		}
		if !e.enlist(w) {
			again = append(again, w)
			continue
		}
		if !w.schema.Options.SkipWAL {
			w.log = recordBuffers.Get()
			*w.log = appendRecord(w.rec.roomIn(*w.log), w.rec)
			logged = append(logged, *w.log)
			e.metrics.BytesWritten.Add(float64(len(*w.log)))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, status.Wrap(err, status.DeadlineExceeded, "the request ended before its rows were in the log")
	}
	if len(logged) > 0 {
		if err := e.log.AppendAll(logged); err != nil {
			e.metrics.Refused.WithLabelValues("log").Inc()
			return nil, err
		}
	}
	for _, w := range ws {
		if w.mem == nil {
			continue
		}
		w.mem.append(w.rec, w.schema)
		e.account(w.mem)
		e.metrics.RowsWritten.Add(float64(w.batch.N))
		if w.mem.table.Bytes() > e.o.FlushBytes {
			e.requestFlush(w.at.region)
		}
	}
	return again, nil
}

// enlist gives a write its sequence number and the memtable that will not be flushed before it has the rows; false: the
// schema is another one now, or about to be.
func (e *core) enlist(w *tableWrite) bool {
	r := w.at.region
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.at.dropped() || r.closed != nil || w.at.schema() != w.schema {
		return false
	}
	m := r.snap.Load().live
	m.writers.Add(1)
	w.mem, w.rec.seq = m, e.seq.Add(1)
	at := wal.LSN(0)
	if w.schema.Options.SkipWAL {
		m.only = true
	} else {
		at = e.log.End()
	}
	m.began(at, w.rec.seq, e.o.Now())
	return true
}

// finish lets go of the memtable and of the buffer.
func (w *tableWrite) finish() {
	if w.mem != nil {
		w.mem.writers.Done()
		w.mem = nil
	}
	if w.log != nil {
		if cap(*w.log) <= largeRecord {
			recordBuffers.Put(w.log, int64(cap(*w.log)))
		}
		w.log = nil
	}
}

func (e *core) delete(ctx context.Context, n schema.Name, keys *vector.Batch) (int, error) {
	if err := e.admit(ctx); err != nil {
		return 0, err
	}
	for {
		tab, err := e.findTable(n)
		if err != nil {
			return 0, err
		}
		t := tab.Schema
		if t.Shared() {
			return 0, errPhysical(n, "written to")
		}
		if t.Options.AppendMode {
			return 0, status.New(status.InvalidArguments, "DELETE is not possible on table %s: it has append_mode = 'true'", n)
		}
		if keys.N == 0 {
			return 0, nil
		}
		rec := &record{table: t.ID, kind: schema.KindDelete, batch: &vector.Batch{N: keys.N}}
		if len(keys.Cols) != len(t.Tags)+1 {
			return 0, fmt.Errorf("delete from %s: %d key columns, want %d", n, len(keys.Cols), len(t.Tags)+1)
		}
		for i, p := range t.Tags {
			rec.add(&t.Columns[p], keys.Cols[i])
		}
		rec.add(&t.Columns[t.Time], keys.Cols[len(t.Tags)])
		if err := rec.checkBounds(); err != nil {
			return 0, err
		}
		again, err := e.commit(ctx, []*tableWrite{{at: tab.place, schema: t, rec: rec, batch: keys}})
		if err != nil {
			return 0, err
		}
		if len(again) == 0 {
			return keys.N, nil
		}
	}
}
