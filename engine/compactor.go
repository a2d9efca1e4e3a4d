package engine

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/schema"
	"varve/engine/status"
)

// compactor runs the merges that a caller waits for. Each has a place of its own in the account of memory. Safe for
// concurrent use.
type compactor struct {
	*inventory
	run     context.Context // over when the store closes
	damages *damages
	merger  *merger
}

// mergeChosen merges the parts that are chosen, of any kind, while no other merge of the region goes on; false: there
// are none left. ErrDropped where the table is dropped meanwhile; after a TRUNCATE, or damage, what is left is to be
// chosen from anew.
func (m *compactor) mergeChosen(ctx context.Context, r *region, choose chooser) (bool, error) {
	var rows ledger.Ticket // that the merge will have in hand
	m.o.Memory.Begin(&rows, admission.Merge, netip.Addr{}, nil)
	if err := rows.Grow(ctx, m.o.MergeBytes, ledger.Wait{Most: ledger.Forever, Closing: m.run.Done()}); err != nil {
		return false, cmp.Or(ctx.Err(), m.run.Err())
	}
	defer rows.Release()
	j, err := m.merger.alone(ctx, r)
	if err != nil {
		return false, err
	}
	defer m.merger.end(j, false)
	merged, err := m.merger.merge(ctx, j, choose)
	if !errors.Is(err, errOverrun) {
		return merged, err
	}
	if !m.lists(r) {
		return false, droppedError(r.snap.Load().schema.Name)
	}
	return true, nil
}

// mergeAll merges one group of parts for a requested compaction, if there is one. Rows before the time oldest have
// expired. Parts whose rows all have sequence numbers after last came after the request and stay unchanged. Otherwise a
// compaction would not end while parts come faster than it merges them. Cold parts are merged only if cold says so.
func (m *compactor) mergeAll(ctx context.Context, r *region, oldest int64, last uint64, cold bool) (bool, error) {
	return m.mergeChosen(ctx, r, func(s *regionSnap, w windows) []*part {
		whole, fixed := sound(s.parts)
		fixed = append(fixed, m.damages.asideOf(r, s)...)
		var asked []*part
		for _, p := range whole {
			if p.meta.MinSeq <= last && (cold || !p.isCold()) {
				asked = append(asked, p)
			} else {
				fixed = append(fixed, p)
			}
		}
		return pickAny(asked, fixed, w, m.o.maxPart, !s.schema.Options.AppendMode, m.hides(r, oldest))
	})
}

// hides reports which parts have rows that a merge leaves out: those before a time, and in a shared region those of
// logical tables that are gone.
func (m *compactor) hides(r *region, oldest int64) func(*part) bool {
	expired := func(p *part) bool { return p.meta.MinTime < oldest }
	if !r.snap.Load().schema.Shared() {
		return expired
	}
	logicals := m.catalog.Load().logicals
	return func(p *part) (gone bool) {
		if expired(p) {
			return true
		}
		err := p.file.Tables(func(id schema.TableID, _ int) bool {
			gone = logicals[id] == nil
			return !gone
		})
		return gone && err == nil // damage is met by whoever reads the part
	}
}

// Compact merges the parts of a table as far as its rules want it.
func (e *Engine) Compact(ctx context.Context, n schema.Name) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	// What expires while the parts are merged stays for the next time.
	oldest := e.oldest(tab.region.snap.Load().schema)
	if err := e.expiry.drop(tab.region); err != nil {
		return err
	}
	for last := e.committer.seq.Load(); ; {
		oldest = min(oldest, e.oldest(tab.region.snap.Load().schema)) // the time to live may be longer by now
		again, err := e.compactor.mergeAll(ctx, tab.region, oldest, last, false)
		if err != nil || !again {
			return err
		}
	}
}

// BuildIndexes rewrites the parts of a table with the indexes of its schema. Blocks that already have them are copied,
// if possible. Cold parts keep the indexes that they have, which is an error once the others are rewritten.
func (e *Engine) BuildIndexes(ctx context.Context, n schema.Name) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	all := tab.region.snap.Load().parts
	for _, p := range warm(all) {
		_, err := e.compactor.mergeChosen(ctx, tab.region, func(s *regionSnap, _ windows) []*part {
			if !slices.Contains(s.parts, p) || !p.whole() {
				return nil // merged or dropped meanwhile
			}
			return []*part{p}
		})
		if err != nil {
			return err
		}
	}
	if n := len(all) - len(warm(all)); n > 0 {
		return status.New(status.Unsupported, "all parts on the disk have the indexes now, but cold parts do not: %d of "+
			"them lie in the bucket and keep the indexes that they had when they moved", n)
	}
	return nil
}
