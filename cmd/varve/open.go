package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"varve/engine/bucket"
	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/server/read/iceberg"
	"varve/sqlexec/opentables"
)

// openPlace is where open tables go.
type openPlace struct {
	bucket   bucket.Bucket
	exporter *opentables.Exporter
}

// openKeys is what the names of the keys of open tables begin with.
const openKeys = "open."

// checkOpen looks at the keys of the bucket of open tables together, without opening anything.
func (c *Config) checkOpen() error {
	o := &c.Open.Bucket
	if err := o.checkKeys(openKeys); err != nil || o.URL == "" {
		return err
	}
	place, err := c.openURL()
	if err != nil {
		return &configError{fmt.Sprintf("open.url: %v", err)}
	}
	return o.checkPlace(openKeys, place)
}

// openURL is where open tables go: a path that is not absolute lies in the data directory.
func (c *Config) openURL() (string, error) {
	if strings.Contains(c.Open.Bucket.URL, "://") || !filepath.IsLocal(c.Open.Bucket.URL) {
		return c.Open.Bucket.URL, nil
	}
	return filepath.Abs(filepath.Join(c.Storage.DataHome, c.Open.Bucket.URL))
}

// openBucket are the options of the bucket of open tables, with its keys.
func (c *Config) openBucket() (bucket.Options, error) {
	place, err := c.openURL()
	if err != nil {
		return bucket.Options{}, err
	}
	return c.Open.Bucket.options(openKeys, place)
}

// openTables makes the exporter of open tables; nil: they have no place to go, or the primary of a standby writes them.
func (n *node) openTables(logs *logs) (*openPlace, error) {
	c := n.config
	if c.Open.Bucket.URL == "" || n.store.Standby() != nil {
		return nil, nil
	}
	o, err := c.openBucket()
	if err != nil {
		return nil, err
	}
	p := &openPlace{}
	if p.bucket, err = bucket.Open(context.Background(), o); err != nil {
		return nil, err
	}
	p.exporter, err = opentables.New(opentables.Options{Engine: n.store, Bucket: p.bucket,
		TempDir: filepath.Join(c.Storage.DataHome, "opentables"), CloseAfter: c.Open.CloseAfter,
		RewriteEvery: c.Open.RewriteEvery, Memory: n.pool, Logger: logs.logger("open")})
	if vfs.IsReadOnly(err) {
		logs.logger("varve").Warn("open tables are not written: the file system is read-only", "error", err)
		return nil, bucket.Close(p.bucket)
	}
	if err != nil {
		return nil, errors.Join(err, bucket.Close(p.bucket))
	}
	return p, nil
}

// export is what ADMIN export_table calls; nil: it is an error.
func (p *openPlace) export() func(context.Context, schema.Name) error {
	if p == nil {
		return nil
	}
	return p.exporter.Export
}

// catalog is what the server says of open tables.
func (p *openPlace) catalog(c *Config) iceberg.Options {
	if p == nil {
		return iceberg.Options{}
	}
	o := &c.Open.Bucket
	io := map[string]string{}
	for key, value := range map[string]string{"s3.endpoint": o.Endpoint, "s3.region": o.Region} {
		if value != "" {
			io[key] = value
		}
	}
	if o.PathStyle || o.Endpoint != "" {
		io["s3.path-style-access"] = "true"
	}
	return iceberg.Options{Catalog: p.exporter, IO: io}
}

// start begins to write days as they close.
func (p *openPlace) start() {
	if p != nil {
		p.exporter.Start()
	}
}

// close ends what the exporter does, before the store is closed.
func (p *openPlace) close() error {
	if p == nil {
		return nil
	}
	p.exporter.Close()
	return bucket.Close(p.bucket)
}
