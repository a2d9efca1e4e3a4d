package opentables

import (
	"context"
	"strings"
	"time"

	"varve/engine/bucket"
)

const (
	// sweepPeriod is how often the files of a table are looked through.
	sweepPeriod = 24 * time.Hour
	// maxSwept bounds what one sweep removes.
	maxSwept = 10_000
)

// manifestPath is where the manifest of a day lies, within the directory of the table.
func manifestPath(d *day) string {
	return "metadata/" + d.Manifest.Path[strings.LastIndexByte(d.Manifest.Path, '/')+1:]
}

// sweep removes files that neither the current snapshot nor one of the last days needs, once a day: what a process left
// that ended before its commit, and what was replaced long ago. Files younger than Keep stay.
func (k *table) sweep(ctx context.Context, now time.Time) error {
	if k.version == 0 || now.Sub(k.swept) < sweepPeriod {
		return nil
	}
	oldest := now.Add(-k.x.o.Keep)
	named := k.named(oldest.UnixMilli())
	var gone []string
	err := k.x.o.Bucket.List(ctx, k.dir+"/", func(o bucket.Object) error {
		path := strings.TrimPrefix(o.Name, k.dir+"/")
		v := versionOf(path)
		keep := named[path] || v > 0 && v >= k.version-maxMetadataLog
		if !keep && !o.Modified.IsZero() && o.Modified.Before(oldest) && len(gone) < maxSwept {
			gone = append(gone, o.Name)
		}
		return nil
	})
	for _, object := range gone {
		if err != nil {
			break
		}
		err = k.x.o.Bucket.Remove(ctx, object)
	}
	if err == nil {
		k.swept = now
	}
	return k.failed(ctx, err)
}

// named are the files that snapshots need, and the state. What retired before a time is no longer needed.
func (k *table) named(beforeMS int64) map[string]bool {
	named := map[string]bool{k.meta.Properties[propState]: true}
	for i := range k.state.Days {
		d := &k.state.Days[i]
		named[manifestPath(d)] = true
		for _, f := range d.Files {
			named[f.Path] = true
		}
	}
	for _, r := range k.state.Retired {
		if r.AtMS >= beforeMS {
			named[r.Path] = true
		}
	}
	for _, s := range k.meta.Snapshots {
		named["metadata/"+s.ManifestList[strings.LastIndexByte(s.ManifestList, '/')+1:]] = true
	}
	return named
}
