package opentables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sqlexec/exec"
	"varve/sqlexec/opentables/iceberg"
)

// maxFile is the size of a data file past which the next one begins, in bytes.
const maxFile = 512 << 20

// written is what was written of a day.
type written struct {
	files []iceberg.File
	paths []dataFile
	sum   sum
}

// rows passes the rows of a day, as they are at one moment, to each.
func (k *table) rows(ctx context.Context, t *engine.Table, d int32, length int64, extra int64,
	each func(b *vector.Batch, ids []schema.ColumnID) error) error {
	ids := make([]schema.ColumnID, len(t.Schema.Columns))
	for i := range ids {
		ids[i] = t.Schema.Columns[i].ID
	}
	return k.scan(ctx, t, engine.WindowRange(int64(d), length), ids, extra, each)
}

// scan passes columns of the rows of some times, as they are at one moment, to each. extra is memory that each keeps.
func (k *table) scan(ctx context.Context, t *engine.Table, times scan.Range, ids []schema.ColumnID, extra int64,
	each func(b *vector.Batch, ids []schema.ColumnID) error) error {
	budget := k.x.o.Memory.Budget(ctx)
	defer budget.Close()
	if err := begin(budget, extra); err != nil {
		return err
	}
	s, err := k.x.o.Engine.Scan(ctx, engine.Request{Table: t, Columns: ids, Time: times, Filter: nil,
		Reserve: budget.Reserve})
	if err != nil {
		return err
	}
	return s.Each(func(b *vector.Batch) (bool, error) { return true, each(b, ids) })
}

// begin takes the memory of an export.
func begin(b *exec.Budget, bytes int64) error {
	if err := b.Begin(); err != nil {
		return err
	}
	return b.Reserve(bytes)
}

// sumOf is the sum over the rows of a day.
func (k *table) sumOf(ctx context.Context, t *engine.Table, d int32, length int64) (sum, error) {
	var s sum
	err := k.rows(ctx, t, d, length, 0, func(b *vector.Batch, ids []schema.ColumnID) error {
		s.add(b, ids)
		return nil
	})
	return s, err
}

// write writes the rows of a day to files in the bucket, which nothing names yet.
func (k *table) write(ctx context.Context, t *engine.Table, d int32, length int64) (w *written, err error) {
	w = &written{}
	var temp *tempFile
	defer func() { err = errors.Join(err, temp.remove()) }()
	leaves, more := k.state.leaves(t.Schema)
	finish := func() error {
		if temp == nil {
			return nil
		}
		err := k.upload(ctx, temp, d, w)
		err = errors.Join(err, temp.remove())
		temp = nil
		return err
	}
	err = k.rows(ctx, t, d, length, writerMemory, func(b *vector.Batch, ids []schema.ColumnID) error {
		if b.N == 0 {
			return nil
		}
		if temp == nil {
			if temp, err = newTempFile(k.x.o.TempDir); err != nil {
				return err
			}
			temp.rows = newParquetFile(temp, leaves, more, b)
		}
		w.sum.add(b, ids)
		if err := temp.rows.write(b); err != nil {
			return err
		}
		if temp.size < maxFile {
			return nil
		}
		return finish()
	})
	if err == nil {
		err = finish()
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// leaves are the columns of files, by their positions in a batch with all columns of the table.
func (s *state) leaves(t *schema.Table) (list []leaf, rest *moreLeaf) {
	if s.More != nil {
		rest = &moreLeaf{name: s.freeName(moreName), more: s.More}
	}
	for _, c := range s.Columns {
		at := t.ByID(c.ID)
		switch {
		case c.Dropped || at < 0:
		case c.Field != 0:
			list = append(list, leaf{c.Name, c.Field, c.Type, t.Columns[at].Type, at})
		default:
			rest.names, rest.at = append(rest.names, c.Name), append(rest.at, at)
		}
	}
	return list, rest
}

// upload ends a file and puts it into the bucket.
func (k *table) upload(ctx context.Context, temp *tempFile, d int32, w *written) error {
	columns, splits, err := temp.rows.close()
	if err != nil {
		return err
	}
	path := fmt.Sprintf("data/day=%s/%s.parquet", dayText(d), name())
	if err := k.x.o.Bucket.Put(ctx, k.dir+"/"+path, temp.file, temp.size); err != nil {
		return k.failed(ctx, err)
	}
	k.x.totals.wrote(temp.size, temp.rows.rows)
	w.files = append(w.files, iceberg.File{Path: k.url(path), Rows: temp.rows.rows, Size: temp.size, Day: d,
		Columns: columns, Splits: splits})
	w.paths = append(w.paths, dataFile{path, temp.size, temp.rows.rows})
	return nil
}

// dayText is a day as a date.
func dayText(d int32) string { return time.Unix(int64(d)*secondsOfDay, 0).UTC().Format(time.DateOnly) }

// publish commits what was written of a day in place of what the table has of it.
func (k *table) publish(ctx context.Context, d int32, sequence uint64, w *written, now time.Time) error {
	m, s, err := k.clone()
	if err != nil {
		return err
	}
	id, err := newSnapshot()
	if err != nil {
		return err
	}
	nowMS := max(now.UnixMilli(), m.UpdatedMS+1)
	snap := iceberg.Snapshot{ID: id, Sequence: m.LastSequence + 1, TimeMS: nowMS}
	fresh := day{Day: d, Sequence: sequence, Rows: w.sum.Rows, Sum: w.sum.Value, Epoch: s.Epoch, AtMS: nowMS,
		Files: w.paths}
	old := s.find(d)
	fresh.Manifest, err = k.manifest(ctx, m, old, w.files, &snap, d)
	if err != nil {
		return err
	}
	s.replace(fresh, nowMS)
	var list []iceberg.Manifest
	for i := range s.Days {
		if s.Days[i].Manifest.Added > 0 || s.Days[i].Day == d {
			list = append(list, s.Days[i].Manifest)
		}
	}
	path := fmt.Sprintf("metadata/snap-%d-%s.avro", id, name())
	var parent *int64
	if m.Snapshot >= 0 {
		parent = &m.Snapshot
	}
	if err := k.put(ctx, path, iceberg.WriteManifestList(id, parent, snap.Sequence, list)); err != nil {
		return err
	}
	snap.ManifestList = k.url(path)
	snap.Summary = summary(s, old, &fresh)
	m.Add(snap)
	if err := k.commit(ctx, m, s); err != nil {
		return err
	}
	k.x.totals.committed()
	return nil
}

// manifest writes the manifest of a day: its new files, and those that they replace as removed.
func (k *table) manifest(ctx context.Context, m *iceberg.Metadata, old *day, files []iceberg.File,
	snap *iceberg.Snapshot, d int32) (iceberg.Manifest, error) {
	of := iceberg.Manifest{Path: fmt.Sprintf("metadata/%s-m0.avro", name()), Sequence: snap.Sequence, Snapshot: snap.ID,
		Day: d, Added: len(files)}
	for i := range files {
		of.AddedRows += files[i].Rows
	}
	if old != nil {
		for _, f := range old.Files {
			files = append(files, iceberg.File{Path: k.url(f.Path), Rows: f.Rows, Size: f.Size, Day: d, Removed: true,
				Sequence: old.Manifest.Sequence})
			of.Removed, of.RemovedRows, of.Least = of.Removed+1, of.RemovedRows+f.Rows, old.Manifest.Sequence
		}
	}
	content, err := iceberg.WriteManifest(m.Current(), &m.Specs[0], snap.ID, files)
	if err != nil {
		return of, err
	}
	if err := k.put(ctx, of.Path, content); err != nil {
		return of, err
	}
	of.Path, of.Length = k.url(of.Path), int64(len(content))
	return of, nil
}

// replace puts a day in the place of what the state has of it, whose files retire.
func (s *state) replace(fresh day, nowMS int64) {
	i := s.place(fresh.Day)
	if i < len(s.Days) && s.Days[i].Day == fresh.Day {
		for _, f := range s.Days[i].Files {
			s.Retired = append(s.Retired, retired{f.Path, nowMS})
		}
		s.Retired = append(s.Retired, retired{manifestPath(&s.Days[i]), nowMS})
		s.Days[i] = fresh
		return
	}
	s.Days = append(s.Days, day{})
	copy(s.Days[i+1:], s.Days[i:])
	s.Days[i] = fresh
}

// summary is that of the snapshot that replaces a day, nil: none, by another.
func summary(s *state, old, fresh *day) map[string]string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	text := map[string]string{"operation": "append", propWindow: dayText(fresh.Day),
		propSequence: strconv.FormatUint(fresh.Sequence, 10), propRows: number(fresh.Rows),
		propSum: strconv.FormatUint(fresh.Sum, 16)}
	var size, rows, allSize, allRows, allFiles int64
	for _, f := range fresh.Files {
		size, rows = size+f.Size, rows+f.Rows
	}
	for i := range s.Days {
		for _, f := range s.Days[i].Files {
			allSize, allRows, allFiles = allSize+f.Size, allRows+f.Rows, allFiles+1
		}
	}
	if old != nil {
		text["operation"] = "overwrite"
		var gone int64
		for _, f := range old.Files {
			gone += f.Rows
		}
		text["deleted-data-files"], text["deleted-records"] = number(int64(len(old.Files))), number(gone)
	}
	text["added-data-files"], text["added-records"], text["added-files-size"] =
		number(int64(len(fresh.Files))), number(rows), number(size)
	text["total-data-files"], text["total-records"], text["total-files-size"] =
		number(allFiles), number(allRows), number(allSize)
	text["total-delete-files"], text["total-position-deletes"], text["total-equality-deletes"] = "0", "0", "0"
	text["changed-partition-count"] = "1"
	return text
}

// exported notes when all that there was had been written.
func (k *table) exported(ctx context.Context, until, now time.Time) error {
	m, s, err := k.clone()
	if err != nil {
		return err
	}
	m.Properties[propExported] = now.UTC().Format(time.RFC3339)
	m.Properties[propUntil] = until.Format(time.RFC3339)
	return k.commit(ctx, m, s)
}

// tempFile is a file on its way to the bucket.
type tempFile struct {
	file *os.File
	rows *parquetFile
	size int64
}

var _ io.Writer = (*tempFile)(nil)

func newTempFile(dir string) (*tempFile, error) {
	f, err := os.CreateTemp(dir, "day-*"+tempSuffix)
	if err != nil {
		return nil, noSpace(err)
	}
	return &tempFile{file: f}, nil
}

// Write appends to the file.
func (f *tempFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.size += int64(n)
	return n, noSpace(err)
}

// noSpace says in an error of the local disk what it was for.
func noSpace(err error) error {
	if err == nil {
		return nil
	}
	return status.Wrap(err, status.StorageUnavailable, "The file of an open table cannot be made: %s", vfs.Reason(err))
}

// remove closes the file and removes it; nil: there is none.
func (f *tempFile) remove() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}
