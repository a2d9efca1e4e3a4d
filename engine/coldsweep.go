package engine

import (
	"context"
	"errors"
	"fmt"
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
	err := m.hold(ctx)
	if err == nil {
		err = m.removeOrphans(ctx, oldest)
	}
	if err == nil {
		err = m.removeEpochs(ctx)
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
		err = namedBySnapshots(ctx, m.o.Cold.Bucket, m.store, m.o.Now(), m.o.Cold.keep(), named)
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
	for _, object := range orphans {
		if err == nil {
			err = m.o.Cold.Bucket.Remove(ctx, object)
		}
		if err == nil {
			unnamed--
			m.o.Logger.Info("an object that nothing names was removed", "object", object)
		}
	}
	m.mu.Lock()
	m.unnamed = unnamed
	m.mu.Unlock()
	return err
}

// maxOrphans bounds what one sweep removes.
const maxOrphans = 10_000

// removeEpochs removes all epochs before the one that is held.
func (m *mover) removeEpochs(ctx context.Context) error {
	var old []string
	err := m.o.Cold.Bucket.List(ctx, parts.EpochPrefix, func(o bucket.Object) error {
		if n, ok := parts.EpochOf(o.Name); ok && n < m.holder.held.Number && len(old) < maxOrphans {
			old = append(old, o.Name)
		}
		return nil
	})
	for _, name := range old {
		if err == nil {
			err = m.o.Cold.Bucket.Remove(ctx, name)
		}
	}
	return err
}
