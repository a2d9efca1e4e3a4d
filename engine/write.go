package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/wal"
)

func (e *core) write(ctx context.Context, s *WriteSet) ([]Written, error) {
	if err := e.admit(ctx); err != nil {
		return nil, err
	}
	var out []Written
	var keys []string
	for _, w := range s.entries {
		if w.builder.Rows() == 0 {
			continue
		}
		n, err := e.writeTable(ctx, w)
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(w.hint.AutoCreate, w.hint.Options.All)
		at := -1
		for i, k := range keys {
			if k == key {
				at = i
			}
		}
		if at < 0 {
			at, keys, out = len(keys), append(keys, key), append(out, Written{})
		}
		out[at].Rows += n
	}
	return out, nil
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
	for _, r := range e.catalog.Load().byID {
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

// writeTable writes the rows of one builder and gives their number.
func (e *core) writeTable(ctx context.Context, w *writeEntry) (int, error) {
	fields, b := w.builder.Finish()
	for {
		r, err := e.resolve(ctx, w, fields)
		if err != nil {
			return 0, err
		}
		t := r.snap.Load().schema
		rec, err := align(t, fields, b, &w.hint, e.o.Now())
		if err == errEvolve {
			if err := e.evolve(ctx, w.name, fields, &w.hint); err != nil {
				return 0, err
			}
			continue
		}
		if err != nil {
			return 0, err
		}
		if t.Options.TTL == schema.TTLInstant {
			return 0, nil
		}
		done, err := e.commit(r, t, rec)
		if err != nil {
			return 0, err
		}
		if done {
			return b.N, nil
		}
	}
}

// refuse is the error for what a write would have to create while AutoCreate is off.
func (h *Hint) refuse(format string, args ...any) error {
	if h.Disabled {
		return status.New(status.InvalidArguments, "Invalid InsertRequest, reason: %s, auto-create table is disabled by frontend config", fmt.Sprintf(format, args...))
	}
	return status.New(status.InvalidArguments, "Invalid InsertRequest, reason: %s, and `auto_create_table` hint is disabled", fmt.Sprintf(format, args...))
}

// resolve finds the table of a write, or makes it.
func (e *core) resolve(ctx context.Context, w *writeEntry, fields []vector.Field) (*region, error) {
	for {
		c := e.catalog.Load()
		if r := c.byName[w.name]; r != nil {
			return r, nil
		}
		if _, ok := c.databases[w.name.DB]; !ok {
			return nil, status.New(status.InvalidArguments, "Failed to find schema, schema info: service.%s", w.name.DB)
		}
		if !w.hint.AutoCreate {
			return nil, w.hint.refuse("Table `%s` does not exist", w.name.Table)
		}
		t, err := tableOf(w, fields)
		if err == nil {
			t.Options, err = t.Options.WithDefaults(c.databases[w.name.DB].Options)
		}
		if err != nil {
			return nil, err
		}
		if _, err := e.createTable(ctx, t); err != nil && status.Of(err) != status.TableAlreadyExists {
			return nil, err
		}
	}
}

// tableOf is the schema that a write creates: its columns in order, nullable but for the time index.
func tableOf(w *writeEntry, fields []vector.Field) (*schema.Table, error) {
	t := &schema.Table{Name: w.name, Time: -1, Options: w.hint.Options, Engine: "mito"}
	if _, own := t.Options.Find("comment"); !own && w.hint.Comment != "" {
		t.Options.Comment = w.hint.Comment
		t.Options.All = append(slices.Clone(t.Options.All), schema.Option{Key: "comment", Value: w.hint.Comment})
		slices.SortFunc(t.Options.All, func(a, b schema.Option) int { return strings.Compare(a.Key, b.Key) })
	}
	for i, f := range fields {
		c := schema.Column{Name: f.Name, Type: f.Type, Nullable: true, Semantic: w.hint.role(f.Name), Indexes: w.hint.Indexes[f.Name]}
		if c.Semantic == schema.Timestamp {
			c.Nullable = false
			t.Time = i
		}
		t.Columns = append(t.Columns, c)
	}
	for _, tag := range w.hint.Tags {
		if p := t.Column(tag); p >= 0 {
			t.Tags = append(t.Tags, p)
		}
	}
	if physical, ok := t.Options.Find("on_physical_table"); ok && !metricShape(t) {
		return nil, status.New(status.InvalidArguments, "table %s cannot lie in physical table %s: that needs String tags, one Float64 field and a time index", w.name.Table, physical)
	}
	if t.Time < 0 {
		return nil, status.New(status.InvalidArguments, "the rows for table %s have no time index column %s", w.name.Table, w.hint.TimeIndex)
	}
	return t, nil
}

// metricShape tells whether a table has string tags, one float field and a time index.
func metricShape(t *schema.Table) bool {
	fields := 0
	for _, c := range t.Columns {
		switch {
		case c.Semantic == schema.Tag && !c.Type.IsText():
			return false
		case c.Semantic == schema.Field:
			fields++
			if c.Type != vector.FloatType {
				return false
			}
		}
	}
	return fields == 1 && t.Time >= 0
}

func (h *Hint) role(name string) schema.Semantic {
	if name == h.TimeIndex {
		return schema.Timestamp
	}
	for _, t := range h.Tags {
		if t == name {
			return schema.Tag
		}
	}
	return schema.Field
}

// evolve adds the columns that a write brings and the table lacks.
func (e *core) evolve(ctx context.Context, name schema.Name, fields []vector.Field, h *Hint) error {
	return e.alter(ctx, name, func(t *schema.Table) (*schema.Table, error) {
		var add []schema.Column
		for _, f := range fields {
			if t.Column(f.Name) < 0 {
				add = append(add, schema.Column{Name: f.Name, Type: f.Type, Nullable: true, Semantic: h.role(f.Name), Indexes: h.Indexes[f.Name]})
			}
		}
		if len(add) == 0 {
			return t, nil
		}
		if !h.AutoCreate {
			return nil, h.refuse("column %s does not exist in table `%s`", add[0].Name, name.Table)
		}
		if n := len(t.Columns) + len(add); n > maxColumns {
			return nil, status.New(status.InvalidArguments, "table %s would have %d columns, the limit is %d", name.Table, n, maxColumns)
		}
		return t.Evolve(add)
	})
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
		c := &t.Columns[p]
		if c.Type != f.Type {
			return nil, status.New(status.InvalidArguments, "column %s expect type %s, given: %s", c.Name, c.Type, f.Type)
		}
		role := h.role(f.Name)
		if h.TimeIndex != "" && role != c.Semantic && (role == schema.Timestamp || c.Semantic == schema.Timestamp || role == schema.Tag) {
			return nil, status.New(status.InvalidArguments, "column %s expect semantic type %s, given: %s", c.Name, c.Semantic, role)
		}
		if !c.Nullable && hasNull(b.Cols[i], b.N) {
			return nil, status.New(status.InvalidArguments, "column %s is NOT NULL, a row has no value for it", c.Name)
		}
		set[p] = true
		rec.add(c, b.Cols[i])
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
	return rec, nil
}

func (r *record) add(c *schema.Column, v *vector.Vector) {
	r.ids = append(r.ids, c.ID)
	r.fields = append(r.fields, vector.Field{Name: c.Name, Type: c.Type})
	r.batch.Cols = append(r.batch.Cols, v)
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

var recordBuffers = sync.Pool{New: func() any { return new([]byte) }}

// commit logs and appends a record that was aligned with schema t. done is false when the schema is another one now:
// align again.
func (e *core) commit(r *region, t *schema.Table, rec *record) (done bool, err error) {
	r.mu.Lock()
	s := r.snap.Load()
	if r.dropped || s.schema != t {
		r.mu.Unlock()
		return false, nil
	}
	m := s.live
	m.writers.Add(1)
	rec.seq = e.seq.Add(1)
	at := wal.LSN(0)
	if !t.Options.SkipWAL {
		at = e.log.End()
	}
	m.began(at, rec.seq, e.o.Now())
	r.mu.Unlock()
	defer m.writers.Done()

	if !t.Options.SkipWAL {
		buf := recordBuffers.Get().(*[]byte)
		*buf = appendRecord((*buf)[:0], rec)
		_, err := e.log.Append(*buf)
		e.metrics.BytesWritten.Add(float64(len(*buf)))
		if cap(*buf) <= 16<<20 {
			recordBuffers.Put(buf)
		}
		if err != nil {
			e.metrics.Refused.WithLabelValues("log").Inc()
			return false, err
		}
	}
	m.append(rec, t)
	e.account(m)
	e.metrics.RowsWritten.Add(float64(rec.batch.N))
	if m.table.Bytes() > e.o.FlushBytes {
		e.requestFlush(r)
	}
	return true, nil
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
		done, err := e.commit(tab.region, t, rec)
		if err != nil {
			return 0, err
		}
		if done {
			return keys.N, nil
		}
	}
}
