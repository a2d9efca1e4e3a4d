package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sst"
)

// SetAside is a damaged file, block of a part or stretch of log that is not served.
type SetAside struct {
	File, Reason string
	// Of parts: the table, the block or -1 for the whole part, and the rows and span of times (both inclusive) of it.
	Table    schema.Name
	Block    int
	Rows     int64
	Min, Max int64
}

// damages lists what is damaged and not served, and takes it out of what is. Safe for concurrent use.
type damages struct {
	of  *inventory // whose parts are damaged; who only keeps the list needs none
	log *slog.Logger

	mu   sync.Mutex // protects list
	list []SetAside
}

// note records damage and logs it, unless it is already recorded.
func (d *damages) note(s SetAside) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.list, s) {
		return
	}
	d.list = append(d.list, s)
	d.log.Error("set aside, not served", "file", s.File, "reason", s.Reason)
}

// forget takes a file that is gone off the list.
func (d *damages) forget(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(d.list, func(s SetAside) bool { return s.File == file })
}

// all is a copy of the list.
func (d *damages) all() []SetAside {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// SetAside lists damaged files that are not served, those found after Open included.
func (e *Engine) SetAside() []SetAside { return e.damages.all() }

// The manifest records damage that a read meets. A part with a damaged block is served without that block; a part with
// a damaged dictionary, index or series section is not served at all. Neither is merged, so that the file stays
// unchanged and can be replaced by a good copy. The next start checks the recorded parts again.

// met notes what err says of a part: this query fails with a message that names file and block, the following ones
// are served from the rest.
func (d *damages) met(r *region, p *part, err error) error {
	if p == nil || !errors.Is(err, sst.ErrCorrupt) {
		return err
	}
	if p.isCold() && sst.BlockOf(err) >= 0 {
		// What came from far away may come otherwise the next time; varve check --cold tells what lies there.
		d.of.files.objects.Drop(p.meta.Object())
		return status.Wrap(err, status.StorageUnavailable,
			"what the bucket gave for cold data is not what was uploaded, as %s: %v", p.meta.Object(), err)
	}
	found := manifest.Damage{Block: sst.BlockOf(err), Reason: err.Error()}
	if list, fresh := p.hurtBy(found); fresh {
		d.setPartAside(r, p, found)
		edit := manifest.Edit{Damaged: []manifest.DamageEdit{{Table: r.id, File: p.meta.File, Damage: list}}}
		if err := d.of.apply(edit); err != nil {
			d.log.Error("damage cannot be noted in the manifest; it will be met again after a restart", "part",
				parts.Name(p.meta.File), "error", err)
		}
	}
	return status.Wrap(err, status.StorageUnavailable, "damaged data was set aside, repeat the query to read the rest: %v", err)
}

// hurtBy adds damage to the recorded damage of the part; fresh reports that it was new.
func (p *part) hurtBy(d manifest.Damage) (list []manifest.Damage, fresh bool) {
	p.hurtMu.Lock()
	defer p.hurtMu.Unlock()
	if slices.ContainsFunc(p.hurt, func(o manifest.Damage) bool { return o.Block == d.Block }) {
		return nil, false
	}
	p.hurt = append(slices.Clone(p.hurt), d)
	return p.hurt, true
}

// whole reports whether no damage of the part is known.
func (p *part) whole() bool {
	p.hurtMu.Lock()
	defer p.hurtMu.Unlock()
	return len(p.hurt) == 0
}

// setPartAside takes a damaged block, or the part, out of what is served.
func (d *damages) setPartAside(r *region, p *part, found manifest.Damage) {
	d.note(setAsideOf(r.snap.Load().schema, p.meta, p.file, found))
	if found.Block >= 0 {
		p.file.SetAside(found.Block)
		return
	}
	r.mu.Lock()
	listed := slices.Contains(r.snap.Load().parts, p)
	r.replace(func(snap *regionSnap) {
		snap.parts = slices.DeleteFunc(snap.parts, func(x *part) bool { return x == p })
	})
	r.mu.Unlock()
	if listed {
		p.release() // the snapshots' reference; the caller still has its own
	}
}

// setAsideOf describes damage of a part; file is nil when the part could not be opened.
func setAsideOf(t *schema.Table, m manifest.PartMeta, file *sst.Part, d manifest.Damage) SetAside {
	s := SetAside{File: parts.Name(m.File), Reason: d.Reason, Table: t.Name, Block: d.Block, Rows: m.Rows,
		Min: m.MinTime, Max: m.MaxTime}
	if d.Block >= 0 && file != nil && d.Block < file.Run().Blocks() {
		rows, span := file.Run().Block(d.Block)
		s.Rows, s.Min, s.Max = int64(rows), span.From, span.To
	}
	return s
}

// recheck looks at a part whose damage was noted before the store was closed: what is intact again, because the file
// was replaced by a good copy, is served. It gives the damage that is left; whole: of the part as a whole.
func (d *damages) recheck(p *part) (left []manifest.Damage, whole bool) {
	var place parts.Store = d.of.files.store
	if p.isCold() {
		place = d.of.files.local.With(parts.NoObjects) // what was noted of it is damage of its stub
	}
	_, errs := place.Verify(context.Background(), p.meta.File, false)
	for _, err := range errs {
		if p.isCold() && errors.Is(err, sst.ErrUnavailable) {
			continue
		}
		found := manifest.Damage{Block: sst.BlockOf(err), Reason: err.Error()}
		if !slices.ContainsFunc(left, func(o manifest.Damage) bool { return o.Block == found.Block }) {
			left = append(left, found)
		}
		whole = whole || found.Block < 0
	}
	slices.SortFunc(left, func(a, b manifest.Damage) int { return cmp.Compare(a.Block, b.Block) })
	if len(left) == 0 {
		d.log.Info("a part that was damaged is intact again", "part", parts.Name(p.meta.File))
	}
	return left, whole
}

// asideOf are the parts of a region that are not served, as far as merges have to know them: rows of theirs come back
// when they are put right.
func (d *damages) asideOf(r *region, s *regionSnap) (list []*part) {
	t := d.of.manifest.State().Tables[r.id]
	if t == nil {
		return nil
	}
	for _, m := range t.Parts {
		if !slices.ContainsFunc(s.parts, func(p *part) bool { return p.meta.File == m.File }) {
			list = append(list, &part{meta: m})
		}
	}
	return list
}

// forgetAside removes the files of parts that were set aside and that no list names any more.
func (d *damages) forgetAside(list []*part) {
	for _, p := range list {
		name := parts.Name(p.meta.File)
		if err := d.of.files.unlink(p.meta.File); err != nil {
			d.log.Warn("dropped part cannot be removed", "part", name, "error", err)
		}
		d.forget(name)
	}
}

// sound separates the parts that may be merged from the damaged ones.
func sound(parts []*part) (whole, damaged []*part) {
	for _, p := range parts {
		if p.whole() {
			whole = append(whole, p)
		} else {
			damaged = append(damaged, p)
		}
	}
	return whole, damaged
}
