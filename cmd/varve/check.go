package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"varve/engine"
	"varve/engine/bucket"
	"varve/engine/vfs"

	"varve/cmd/varve/client"
)

// damageError is damage that was printed already.
type damageError struct{ faults int }

func (e *damageError) Error() string { return count(e.faults, "fault") + " found" }

type checkCommand struct {
	Dir    string `arg:"" help:"The data directory."`
	WALDir string `name:"wal-dir" help:"The directory of the log, if it is not DIR/wal."`
	Deep   bool   `help:"Decode every block and record too."`
	Cold   bool   `help:"Read the objects of cold parts in the bucket too, and hold them against their checksums."`
	Config string `type:"path" env:"VARVE_CONFIG" placeholder:"FILE" help:"Configuration file (TOML) that names the bucket, for --cold."`
	JSON   bool   `name:"json" help:"Print as JSON."`

	RebuildManifest bool `name:"rebuild-manifest" help:"First make the manifest anew, of what the parts and the log say; no server may run. The old one is kept as MANIFEST.before."`
}

// Run verifies a data directory; damage ends with exit code 6.
func (c *checkCommand) Run(s streams) error {
	if info, err := os.Stat(c.Dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a data directory: it is a file; varve dump prints one", c.Dir)
	}
	var rebuilt *engine.Rebuilt
	if c.RebuildManifest {
		var err error
		if rebuilt, err = engine.RebuildManifest(vfs.OS(), c.Dir, c.WALDir); err != nil {
			return err
		}
	}
	cold, err := c.bucket(s.environ)
	if err != nil {
		return err
	}
	if cold != nil {
		defer bucket.Close(cold) //nolint:errcheck // its connections end with the process in any case
	}
	r, err := engine.Check(engine.CheckOptions{FS: vfs.OS(), Dir: c.Dir, WALDir: c.WALDir, Deep: c.Deep, Cold: cold})
	if err != nil {
		return err
	}
	if rebuilt != nil {
		r.Notes = append(rebuilt.Notes, r.Notes...)
		r.Notes = append(r.Notes,
			fmt.Sprintf("the manifest was made anew: %s, %s; look whether all is there before you let others write",
				count(rebuilt.Tables, "table"), count(rebuilt.Parts, "part")))
	}
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		_, err = io.WriteString(s.out, printCheck(c.Dir, r))
	}
	if err == nil && len(r.Faults) > 0 {
		err = &damageError{len(r.Faults)}
	}
	return err
}

// bucket opens the bucket of cold parts that the configuration names; nil: it is not to be read.
func (c *checkCommand) bucket(environ []string) (bucket.Bucket, error) {
	if !c.Cold {
		return nil, nil
	}
	config, err := loadConfig(c.Config, environ, nil)
	if err != nil {
		return nil, err
	}
	if config.Storage.Cold.URL == "" {
		return nil, &configError{"--cold needs storage.cold_url: name the configuration by --config, or set " +
			"VARVE_STORAGE__COLD_URL"}
	}
	o, err := config.bucketOptions()
	if err != nil {
		return nil, err
	}
	return bucket.Open(context.Background(), o)
}

func printCheck(dir string, r *engine.CheckReport) string {
	var b strings.Builder
	if r.Running {
		fmt.Fprintf(&b, "note     a server runs on %s: what it writes meanwhile may not be seen\n", dir)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note     %s\n", n)
	}
	for _, f := range r.Faults {
		lost := "nothing is lost"
		if f.Lost {
			lost = "rows are lost unless a backup has them"
		}
		fmt.Fprintf(&b, "fault    %s: %s; %s\n", f.File, f.What, lost)
	}
	fmt.Fprintf(&b, "checked  %s: %s, %s with %d rows in %s, %s in %s of log; %s\n", dir, count(r.Tables, "table"),
		count(r.Parts, "part"), r.Rows,
		client.Bytes(r.Bytes), count(r.Records, "record"), client.Bytes(r.LogSize), count(len(r.Faults), "fault"))
	return b.String()
}

// checkMade verifies a directory that was just made, and says what is in it.
func checkMade(dir string, s streams) error {
	r, err := engine.Check(engine.CheckOptions{FS: vfs.OS(), Dir: dir})
	if err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		fmt.Fprint(s.err, printCheck(dir, r))
		return &damageError{len(r.Faults)}
	}
	_, err = fmt.Fprintf(s.out, "%s: %s, %s with %d rows, %s\n", dir, count(r.Tables, "table"),
		count(r.Parts, "part"), r.Rows, client.Bytes(r.Bytes))
	return err
}
