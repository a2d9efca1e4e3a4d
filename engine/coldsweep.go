package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"varve/engine/bucket"
	"varve/engine/parts"
)

// bury removes the stubs of parts that are gone. Their objects are the sweep's affair.
func (m *mover) bury() error {
	for _, file := range m.files.graves() {
		if s, err := m.files.local.Stub(file); err == nil {
			m.files.objects.Drop(s.Object)
		}
		if err := m.files.store.Remove(parts.Entry{File: file, Cold: true}); err != nil {
			return fmt.Errorf("part %s: its stub cannot be removed: %w", parts.Name(file), err)
		}
		m.files.lackStub(file)
		m.files.gone(file)
	}
	return nil
}

// sweep looks through the bucket once a day; sooner after it failed.
func (m *mover) sweep(ctx context.Context) error {
	m.mu.Lock()
	now := m.o.Now()
	due := m.store != "" && now.Sub(m.swept) >= sweepPeriod
	if due {
		m.swept = now.Add(sweepAgain - sweepPeriod)
	}
	m.mu.Unlock()
	if !due {
		return nil
	}
	oldest := now.Add(-m.o.Cold.keep())
	err := m.holdNow(ctx)
	if err == nil {
		err = m.removeOrphans(ctx, oldest)
	}
	if err == nil {
		err = m.removeEpochs(ctx)
	}
	if err == nil {
		err = m.holdNow(ctx)
	}
	if err == nil {
		_, err = bucket.RemoveUnfinished(ctx, m.o.Cold.Bucket, oldest)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sweep: %w", err)
	}
	m.mu.Lock()
	m.swept = now
	m.mu.Unlock()
	return nil
}

// removeOrphans removes objects of this store that are older than a time and that nothing names: neither the manifest
// and the stubs here, nor those of backups here, nor a manifest in the bucket that still counts.
func (m *mover) removeOrphans(ctx context.Context, oldest time.Time) error {
	needed := map[string]bool{}
	if err := stubObjects(m.files.local, needed); err != nil {
		return err
	}
	nameObjects(m.manifest.State(), needed)
	named, err := heldObjects(m.o.FS, m.o.Dir)
	if err == nil {
		err = m.namedBySnapshots(ctx, named)
	}
	if err != nil {
		return err
	}
	var orphans []string
	unnamed := 0
	err = m.o.Cold.Bucket.List(ctx, parts.ObjectPrefix(m.store), func(o bucket.Object) error {
		if needed[o.Name] {
			return nil
		}
		unnamed++
		if !named[o.Name] && !o.Modified.IsZero() && o.Modified.Before(oldest) && len(orphans) < maxOrphans {
			orphans = append(orphans, o.Name)
		}
		return nil
	})
	if err == nil {
		err = m.remove(ctx, orphans, func(object string) {
			unnamed--
			m.o.Logger.Info("an object that nothing names was removed", "object", object)
		})
	}
	m.mu.Lock()
	m.unnamed = unnamed
	m.mu.Unlock()
	return err
}

const (
	// maxOrphans bounds what one sweep removes.
	maxOrphans = 10_000
	// removeBatch is how many objects are removed after one look at the last epoch: a second of a far bucket, about.
	removeBatch = 32
)

// remove removes objects, each batch after a look at the last epoch. done, if not nil, is told of each that is gone.
func (m *mover) remove(ctx context.Context, objects []string, done func(object string)) error {
	for batch := range slices.Chunk(objects, removeBatch) {
		if err := m.holdNow(ctx); err != nil {
			return err
		}
		for _, object := range batch {
			if err := m.o.Cold.Bucket.Remove(ctx, object); err != nil {
				return err
			}
			if done != nil {
				done(object)
			}
		}
	}
	return nil
}

// namedBySnapshots enters the objects that the snapshots of this store name, and removes snapshots that do not count
// any more.
func (m *mover) namedBySnapshots(ctx context.Context, named map[string]bool) error {
	b := m.o.Cold.Bucket
	all, err := listSnapshots(ctx, b, m.store)
	if err != nil {
		return err
	}
	stay, old := sortOut(all, m.o.Now(), m.o.Cold.keep())
	gone := make([]string, len(old))
	for i, o := range old {
		gone[i] = o.Name
	}
	if err := m.remove(ctx, gone, nil); err != nil {
		return err
	}
	for _, o := range stay {
		state, err := readSnapshot(ctx, b, o)
		if err != nil {
			return err
		}
		nameObjects(state, named)
	}
	return nil
}

// removeEpochs removes all epochs before the one that is held.
func (m *mover) removeEpochs(ctx context.Context) error {
	var old []string
	err := m.o.Cold.Bucket.List(ctx, parts.EpochPrefix, func(o bucket.Object) error {
		if n, ok := parts.EpochOf(o.Name); ok && n < m.holder.held.Number && len(old) < maxOrphans {
			old = append(old, o.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.remove(ctx, old, nil)
}
