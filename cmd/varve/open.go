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

// checkOpen looks at the keys of the bucket of open tables together, without opening anything.
func (c *Config) checkOpen() error {
	o := &c.Open
	switch {
	case o.SecretKey != "" && o.SecretKeyFile != "":
		return &configError{"open.secret_key and open.secret_key_file: only one of them may be set"}
	case (o.AccessKey == "") != (o.SecretKey == "" && o.SecretKeyFile == ""):
		return &configError{"open.access_key needs open.secret_key or open.secret_key_file, and they need it"}
	case o.URL == "":
		return nil
	}
	place, err := c.openURL()
	if err == nil {
		err = bucket.Options{URL: place, Endpoint: o.Endpoint}.Check()
	}
	if err != nil {
		return &configError{fmt.Sprintf("open.url, open.endpoint: %v", err)}
	}
	return nil
}

// openURL is where open tables go: a path that is not absolute lies in the data directory.
func (c *Config) openURL() (string, error) {
	if strings.Contains(c.Open.URL, "://") || !filepath.IsLocal(c.Open.URL) {
		return c.Open.URL, nil
	}
	return filepath.Abs(filepath.Join(c.Storage.DataHome, c.Open.URL))
}

// openBucket are the options of the bucket of open tables, with its keys.
func (c *Config) openBucket() (bucket.Options, error) {
	o := &c.Open
	secret := o.SecretKey
	if o.SecretKeyFile != "" {
		text, err := readSecret(o.SecretKeyFile)
		if err != nil {
			return bucket.Options{}, &configError{fmt.Sprintf("open.secret_key_file: %v", err)}
		}
		secret = text
	}
	place, err := c.openURL()
	if err != nil {
		return bucket.Options{}, err
	}
	return bucket.Options{URL: place, Endpoint: o.Endpoint, Region: o.Region, PathStyle: o.PathStyle,
		AccessKey: o.AccessKey, SecretKey: secret, CredentialsFile: o.CredentialsFile, Profile: o.Profile,
		InstanceRole: o.InstanceRole, Counters: new(bucket.Counters)}, nil
}

// openTables makes the exporter of open tables; nil: they have no place to go, or the primary of a standby writes them.
func (n *node) openTables(logs *logs) (*openPlace, error) {
	c := n.config
	if c.Open.URL == "" || n.store.Standby() != nil {
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
	o := &c.Open
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
