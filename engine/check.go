package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// CheckOptions say what Check looks at.
type CheckOptions struct {
	FS     vfs.FS
	Dir    string
	WALDir string // empty: wal in Dir
	// Deep decodes every block and every record instead of trusting checksums.
	Deep bool
	// Cold also reads the objects of cold parts in the bucket and holds them against their checksums; nil: their stubs
	// alone are looked at.
	Cold bucket.Bucket
	// Context ends the wait for the bucket; nil: nobody does.
	Context context.Context
}

// Fault is one damaged place.
type Fault struct {
	File string `json:"file"`
	What string `json:"what"` // with the place in the file, if it is known
	// Lost reports whether rows cannot be served.
	Lost bool `json:"lost"`
}

// CheckReport is what Check found.
type CheckReport struct {
	Running bool     `json:"running"` // a server holds the directory
	Tables  int      `json:"tables"`
	Parts   int      `json:"parts"`
	Rows    int64    `json:"rows"`
	Bytes   int64    `json:"bytes"`
	Cold    int      `json:"cold_parts"` // of Parts, in a bucket
	Objects int      `json:"objects"`    // that were read of the bucket
	Records int      `json:"log_records"`
	LogSize int64    `json:"log_bytes"`
	Notes   []string `json:"notes"` // remains of a crash, which are not damage
	Faults  []Fault  `json:"faults"`
}

type checker struct {
	CheckOptions
	CheckReport
	logEdit  uint64 // see wal.ReplayResult
	logWhole bool
	refused  error // the first file that this user may not read; not damage
}

// Check verifies everything in a data directory: the manifest, the parts it lists, the log. Nothing is changed and no
// lock is kept; parts that a running server replaces meanwhile are passed over. The error says that there is nothing to
// check, or a file that may not be read.
func Check(o CheckOptions) (*CheckReport, error) {
	if o.WALDir == "" {
		o.WALDir = path.Join(o.Dir, "wal")
	}
	c := &checker{CheckOptions: o, CheckReport: CheckReport{Notes: []string{}, Faults: []Fault{}}}
	if err := unfinished(o.FS, o.Dir); err != nil {
		return nil, err
	}
	c.Running = c.held()
	state, whole, err := manifest.Read(o.FS, o.Dir)
	switch {
	case vfs.NotExist(err):
		if err := requireManifest(o.FS, o.Dir, o.WALDir, false); err != nil {
			c.fault(manifest.FileName, err, true)
			return c.report()
		}
		return nil, fmt.Errorf("%s is not a data directory: it has no file %s", o.Dir, manifest.FileName)
	case err != nil:
		c.fault(manifest.FileName, err, true)
		return c.report()
	case !whole:
		c.note("%s ends in an edit that was never acknowledged: the next start cuts it off", manifest.FileName)
	}
	c.parts(state)
	c.log(state)
	c.leftOver(state)
	return c.report()
}

// report is what Check ends with.
func (c *checker) report() (*CheckReport, error) {
	if c.refused != nil {
		return nil, fmt.Errorf("%w: run this as the user whose data it is", c.refused)
	}
	return &c.CheckReport, nil
}

func (c *checker) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

func (c *checker) fault(file string, err error, lost bool) {
	if errors.Is(err, fs.ErrPermission) && c.refused == nil {
		c.refused = err
	}
	c.Faults = append(c.Faults, Fault{file, err.Error(), lost && !errors.Is(err, vfs.ErrNewer)})
}

// held reports whether a server holds the directory's lock.
func (c *checker) held() bool {
	name := path.Join(c.Dir, "LOCK")
	if _, err := c.FS.Stat(name); err != nil {
		return false
	}
	l, err := c.FS.LockShared(name)
	if err != nil {
		return errors.Is(err, vfs.ErrLocked)
	}
	return l.Close() != nil
}

func (c *checker) parts(state *manifest.State) {
	for _, t := range state.Tables {
		c.Tables++
		for _, p := range t.Parts {
			c.Parts, c.Rows, c.Bytes = c.Parts+1, c.Rows+p.Rows, c.Bytes+p.Bytes
			c.part(t, p)
		}
	}
}

func (c *checker) part(t *manifest.TableState, p manifest.PartMeta) {
	meta, errs := c.verify(p)
	if len(errs) > 0 && vfs.NotExist(errs[0]) && c.replaced(t, p) {
		return
	}
	short := parts.Where(p.File)
	for _, err := range errs {
		c.fault(short, fmt.Errorf("table %s: %w", t.Schema.Name, err), !errors.Is(err, sst.ErrPassedOver))
	}
	if len(errs) > 0 {
		return
	}
	for _, d := range p.Damage {
		c.note("%s is intact; the next start serves it wholly, which it does not now: %s", short, d.Reason)
	}
	for _, f := range []struct {
		what       string
		got, want  int64
		harmsReads bool
	}{
		{"rows", meta.Rows, p.Rows, true}, {"bytes", meta.Bytes, p.Bytes, false},
		{"checksum", int64(meta.Checksum), int64(p.Checksum), true},
		{"least time", meta.MinTime, p.MinTime, true}, {"greatest time", meta.MaxTime, p.MaxTime, true},
	} {
		if f.got != f.want {
			c.fault(short, fmt.Errorf("table %s: %s %d, the manifest says %d", t.Schema.Name, f.what, f.got, f.want),
				f.harmsReads)
		}
	}
}

// verify verifies a part. Of a cold one it reads the stub and, if that is asked for, the object.
func (c *checker) verify(p manifest.PartMeta) (sst.Meta, []error) {
	local := parts.At(c.FS, c.Dir)
	if p.Location == "" {
		return local.Verify(context.Background(), p.File, c.Deep)
	}
	c.CheckReport.Cold++
	meta, errs := local.Verify(context.Background(), p.File, c.Deep)
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, parts.ErrNoBucket) })
	if c.CheckOptions.Cold == nil {
		return meta, errs
	}
	c.Objects++
	ctx := cmp.Or(c.Context, context.Background())
	sum, err := parts.Checksum(ctx, p.Bytes, func(b []byte, off int64) error {
		return c.CheckOptions.Cold.Read(ctx, p.Object(), b, off)
	})
	if err == nil && sum != p.ObjectSum {
		err = fmt.Errorf("%w: checksum %08x, the manifest has %08x", sst.ErrCorrupt, sum, p.ObjectSum)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("object %s of %s: %w", p.Object(), c.CheckOptions.Cold, err))
	}
	return meta, errs
}

// replaced reports whether a running server has dropped a part since the manifest was read.
func (c *checker) replaced(t *manifest.TableState, p manifest.PartMeta) bool {
	if !c.Running {
		return false
	}
	now, _, err := manifest.Read(c.FS, c.Dir)
	if err != nil {
		return false
	}
	if table := now.Tables[t.Schema.ID]; table != nil {
		for _, x := range table.Parts {
			if x.File == p.File {
				return false
			}
		}
	}
	return true
}

// leftOver describes the files that the manifest does not list.
func (c *checker) leftOver(state *manifest.State) {
	listed := map[uint64]bool{}
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			listed[p.File] = true
		}
	}
	store := parts.At(c.FS, c.Dir)
	entries, err := store.List()
	if err != nil {
		if !vfs.NotExist(err) || len(listed) > 0 {
			c.fault(parts.DirName, err, len(listed) > 0)
		}
		return
	}
	if c.Running {
		return
	}
	var found []stranger
	for _, e := range entries {
		switch {
		case e.Unfinished || !listed[e.File] && slices.Contains(state.Retired, e.File):
			c.note("%s/%s is in no table: the next start removes it", parts.DirName, e)
		case e.Cold && slices.Contains(entries, parts.Entry{File: e.File}):
			c.note("%s/%s is there twice, wholly and as a stub: it is on its way to the bucket", parts.DirName, e)
		case listed[e.File]:
		default:
			found = append(found, lookAt(store, e.File))
		}
	}
	if err := isBehind(state, c.logEdit, found); err != nil {
		c.fault(manifest.FileName, fmt.Errorf("%w. %s", err, wayOut(c.Dir)), true)
		return
	}
	for i := range found {
		s := &found[i]
		name := parts.Where(s.file)
		switch why := s.holds(store, state, c.logWhole); {
		case why == "":
			c.note("%s is in no table: the next start removes it", name)
		case s.err == nil && s.origin == nil:
			c.note("%s is kept and not served: %s", name, why)
		default:
			c.fault(name, errors.New(why), true)
		}
	}
}

// log replays the log without applying it.
func (c *checker) log(state *manifest.State) {
	result, err := c.readLog(state)
	for c.Running && err == nil && len(result.Damaged) > 0 {
		// The server may have cut the log since the manifest was read.
		now, _, failed := manifest.Read(c.FS, c.Dir)
		if failed != nil || now.Log == state.Log {
			break
		}
		state = now
		result, err = c.readLog(state)
	}
	if err != nil && !(c.Running && vfs.NotExist(err)) {
		c.fault("wal", err, true)
		return
	}
	c.Records, c.LogSize = result.Records, result.Bytes
	c.logEdit, c.logWhole = result.Edit, len(result.Damaged) == 0
	for _, d := range result.Damaged {
		c.fault("wal/"+d.File, errors.New(d.String()), true)
	}
	for _, name := range result.Kept {
		c.note("wal/%s: %s", name, keptReason(name))
	}
}

func (c *checker) readLog(state *manifest.State) (wal.ReplayResult, error) {
	return wal.Check(c.FS, c.WALDir, wal.Range(state.Log), func(at wal.LSN, rec []byte) error {
		err := eachRecord(rec, func(rec []byte) error { return c.readRecord(state, rec) })
		if err != nil {
			c.fault("wal "+at.String(), err, true)
		}
		return nil
	})
}

// readRecord reads a record of rows.
func (c *checker) readRecord(state *manifest.State, rec []byte) error {
	r, body, err := readRecordHead(rec)
	if err != nil || !c.Deep {
		return err
	}
	t := state.Tables[r.table]
	if t == nil {
		return nil
	}
	if err = r.decode(body, t.Schema); err == nil && r.seq > state.FlushedOf(t) {
		err = r.leaveOut()
	}
	return err
}
