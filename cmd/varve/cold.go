package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/blockcache"
	"varve/engine/bucket"
)

// coldPlace is where old parts go: a bucket, and a cache on the disk of what was read of it.
type coldPlace struct {
	bucket   bucket.Bucket
	counters *bucket.Counters
	cache    *blockcache.Cache
}

// coldKeys is what the names of the keys of the bucket of old parts begin with.
const coldKeys = "storage.cold_"

// checkCold looks at the keys of the bucket together, without opening anything.
func (c *Config) checkCold() error {
	s := &c.Storage
	if s.Cold.URL == "" && s.ColdAfter > 0 {
		return &configError{"storage.cold_after needs storage.cold_url: old parts would have nowhere to go"}
	}
	if err := s.Cold.checkKeys(coldKeys); err != nil {
		return err
	}
	if s.ColdCacheSize != 0 && s.ColdCacheSize < blockcache.MinSize {
		return &configError{fmt.Sprintf("storage.cold_cache_size = %q: expected at least %s, or 0B for none",
			s.ColdCacheSize, Size(blockcache.MinSize))}
	}
	if s.Cold.URL == "" {
		return nil
	}
	return s.Cold.checkPlace(coldKeys, s.Cold.URL)
}

// bucketOptions are those of the bucket of old parts, with its keys.
func (c *Config) bucketOptions() (bucket.Options, error) {
	return c.Storage.Cold.options(coldKeys, c.Storage.Cold.URL)
}

// openCold opens the bucket of old parts and its cache; nil: there is none. The store is not asked.
func (c *Config) openCold(ctx context.Context) (*coldPlace, error) {
	if c.Storage.Cold.URL == "" {
		return nil, nil
	}
	o, err := c.bucketOptions()
	if err != nil {
		return nil, err
	}
	p := &coldPlace{counters: o.Counters}
	if p.bucket, err = bucket.Open(ctx, o); err != nil {
		return nil, err
	}
	p.cache, err = blockcache.Open(blockcache.Options{Dir: c.coldCacheDir(), Size: int64(c.Storage.ColdCacheSize),
		Of: p.bucket.String()})
	if err != nil {
		return nil, errors.Join(err, bucket.Close(p.bucket))
	}
	return p, nil
}

// options are what the store is told; nil: there is no bucket.
func (p *coldPlace) options(c *Config) *engine.ColdOptions {
	if p == nil {
		return nil
	}
	s := &c.Storage
	return &engine.ColdOptions{Bucket: p.bucket, After: s.ColdAfter, Timeout: s.ColdTimeout, Cache: p.cache}
}

// coldCacheDir is where the cache lies.
func (c *Config) coldCacheDir() string {
	if c.Storage.ColdCacheDir != "" {
		return c.Storage.ColdCacheDir
	}
	return filepath.Join(c.Storage.DataHome, "coldcache")
}

// close ends connections and the cache, after the store is closed.
func (p *coldPlace) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.cache.Close(), bucket.Close(p.bucket))
}

// The figures of the bucket and its cache.
var (
	coldRequests = prometheus.NewDesc("varve_cold_requests_total",
		"Requests to the bucket of old parts, each attempt is one.", []string{"kind"}, nil)
	coldErrors = prometheus.NewDesc("varve_cold_request_errors_total",
		"Of these, attempts that failed.", []string{"kind"}, nil)
	coldBytes = prometheus.NewDesc("varve_cold_request_bytes_total",
		"Bytes of objects that they sent or received.", []string{"kind"}, nil)
	coldSeconds = prometheus.NewDesc("varve_cold_request_seconds_total",
		"Time that they took, those at the same time added up.", []string{"kind"}, nil)
	coldRanges = prometheus.NewDesc("varve_cold_cache_ranges_total",
		"Ranges of old parts that were asked for: found on the disk, fetched, or awaited with somebody else.",
		[]string{"how"}, nil)
	coldCacheRead = prometheus.NewDesc("varve_cold_cache_read_bytes_total",
		"Bytes of old parts: from the disk, fetched for who waits, fetched ahead.", []string{"how"}, nil)
	coldCacheLost = prometheus.NewDesc("varve_cold_cache_lost_total",
		"What the cache lost: ranges that made room or were not kept, files that were damaged or could not be written.",
		[]string{"why"}, nil)
	coldCacheBytes = prometheus.NewDesc("varve_cold_cache_bytes", "Bytes on the disk of the cache.", nil, nil)
)

// Describe lists the figures.
func (p *coldPlace) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(p, out) }

// Collect reads the counters.
func (p *coldPlace) Collect(out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, v float64, label string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, label)
	}
	for k := range bucket.Kinds {
		n := p.counters.Of(k)
		count(coldRequests, float64(n.Requests), k.String())
		count(coldErrors, float64(n.Errors), k.String())
		count(coldBytes, float64(n.Bytes), k.String())
		count(coldSeconds, n.Seconds, k.String())
	}
	s := p.cache.Stats()
	count(coldRanges, float64(s.Hits), "found")
	count(coldRanges, float64(s.Misses), "fetched")
	count(coldRanges, float64(s.Shared), "awaited")
	count(coldCacheRead, float64(s.HitBytes), "found")
	count(coldCacheRead, float64(s.FetchedBytes), "fetched")
	count(coldCacheRead, float64(s.AheadBytes), "ahead")
	count(coldCacheLost, float64(s.Evicted), "room")
	count(coldCacheLost, float64(s.Skipped), "busy")
	count(coldCacheLost, float64(s.Damaged), "damage")
	count(coldCacheLost, float64(s.WriteErrors), "disk")
	out <- prometheus.MustNewConstMetric(coldCacheBytes, prometheus.GaugeValue, float64(s.Bytes))
}
