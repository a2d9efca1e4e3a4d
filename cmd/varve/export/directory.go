package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// ManifestName is the file of a directory of tables that says what is in it. It is there when all tables are.
const ManifestName = "MANIFEST.json"

// ManifestVersion is the version of directories that are written and can be read.
const ManifestVersion = 1

// Manifest says what a directory of tables holds.
type Manifest struct {
	Version  int             `json:"version"`
	Database string          `json:"database"`
	Begun    time.Time       `json:"begun"`
	Ended    time.Time       `json:"ended"`
	Tables   []ManifestTable `json:"tables"` // in the order in which they can be made again
}

// ManifestTable is a table of a directory. Data holds a row a line as an object; times in it are RFC 3339 in UTC,
// BINARY is lower-case hex, DECIMAL is text, floats that are no numbers are the texts NaN, inf and -inf, and NULL is
// null.
type ManifestTable struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`   // table; physical and view have no data: their rows are those of other tables
	Create string `json:"create"` // the file of the statement that makes it, in any database
	Data   string `json:"data,omitempty"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"` // of Data
	SHA256 string `json:"sha256,omitempty"`
	// TimeIndex is the column of the time index, First and Last are the oldest and the newest time in it, if there are
	// rows.
	TimeIndex string     `json:"time_index,omitempty"`
	First     *time.Time `json:"first,omitempty"`
	Last      *time.Time `json:"last,omitempty"`
}

// Kinds of tables.
const (
	kindPhysical = "physical"
	kindTable    = "table"
	KindView     = "view"
)

// toDirectory exports all tables of a database.
func toDirectory(ctx context.Context, c *client.Client, o Options, notes io.Writer) error {
	m, err := beginDirectory(o)
	if err != nil {
		return err
	}
	tables, err := tablesOf(ctx, c, o.DB)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.OutputDir, 0o777); err != nil {
		return err
	}
	done, rows := len(m.Tables), int64(0)
	for _, t := range tables {
		if i := slices.IndexFunc(m.Tables, func(have ManifestTable) bool { return have.Name == t.Name }); i >= 0 {
			rows += m.Tables[i].Rows
			continue
		}
		if err := exportTable(ctx, c, o, &t, notes); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		rows += t.Rows
		m.Tables = append(m.Tables, t)
		if err := m.write(filepath.Join(o.OutputDir, ManifestName+partEnding)); err != nil {
			return err
		}
	}
	m.Ended = time.Now().UTC().Truncate(time.Millisecond)
	name := filepath.Join(o.OutputDir, ManifestName)
	if err := m.write(name + partEnding); err != nil {
		return err
	}
	if err := os.Rename(name+partEnding, name); err != nil {
		return err
	}
	if !o.Quiet {
		fmt.Fprintf(notes, "varve: %s with %s in %s", client.Plural(int64(len(m.Tables)), "table"),
			client.Plural(rows, "row"), o.OutputDir)
		if done > 0 {
			fmt.Fprintf(notes, "; %d were there already", done)
		}
		fmt.Fprintln(notes)
	}
	return client.SyncDir(o.OutputDir)
}

// beginDirectory begins a manifest, or goes on with that of a directory that is not complete.
func beginDirectory(o Options) (*Manifest, error) {
	m := &Manifest{Version: ManifestVersion, Database: o.DB, Begun: time.Now().UTC().Truncate(time.Millisecond)}
	names, err := os.ReadDir(o.OutputDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, err
	case len(names) == 0:
		return m, nil
	case !o.Resume:
		return nil, fmt.Errorf("%s is not empty; --resume goes on with an export that was not completed", o.OutputDir)
	}
	if _, err := os.Stat(filepath.Join(o.OutputDir, ManifestName)); err == nil {
		return nil, fmt.Errorf("%s holds an export that is complete", o.OutputDir)
	}
	text, err := os.ReadFile(filepath.Join(o.OutputDir, ManifestName+partEnding))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil // it ended within the first table
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, m); err != nil || m.Version != ManifestVersion {
		return nil, fmt.Errorf("%s: this version does not know this manifest",
			filepath.Join(o.OutputDir, ManifestName+partEnding))
	}
	if m.Database != o.DB {
		return nil, &client.UsageError{Err: fmt.Errorf("%s holds tables of the database %s, not of %s", o.OutputDir,
			m.Database, o.DB)}
	}
	return m, nil
}

// write writes the manifest by rename.
func (m *Manifest) write(name string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return client.Replace(name, append(text, '\n'), 0o666)
}

// tablesOf lists the tables of a database in the order in which they can be made again, with the names of their files.
func tablesOf(ctx context.Context, c *client.Client, db string) ([]ManifestTable, error) {
	a, err := c.Query(ctx, db,
		"SELECT table_name, table_type, engine, create_options FROM information_schema.tables WHERE table_schema = "+
			client.Text(db)+" ORDER BY table_name")
	if err != nil {
		return nil, err
	}
	byKind := map[string][]ManifestTable{}
	taken := map[string]bool{}
	for _, row := range a.Rows {
		kind := kindTable
		switch {
		case len(row) != 4:
			return nil, fmt.Errorf("%s did not answer with tables", c.Base)
		case row[1] == "LOCAL TEMPORARY":
			continue
		case row[1] == "VIEW":
			kind = KindView
		case row[2] == "metric" && strings.Contains(fmt.Sprint(row[3]), "physical_metric_table="):
			kind = kindPhysical
		}
		t := ManifestTable{Name: fmt.Sprint(row[0]), Kind: kind}
		base := fileName(t.Name)
		for taken[strings.ToLower(base)] { // there are file systems where upper and lower case are one
			base += "~"
		}
		taken[strings.ToLower(base)] = true
		if t.Create = base + ".sql"; kind == kindTable {
			t.Data = base + ".ndjson.zst"
		}
		byKind[kind] = append(byKind[kind], t)
	}
	return slices.Concat(byKind[kindPhysical], byKind[kindTable], byKind[KindView]), nil
}

// longestBase bounds names of files without their endings, which file systems bound to 255 bytes with them; of a longer
// name shortBase bytes stay, before a hash.
const (
	longestBase = 200
	shortBase   = 180
)

// fileName is a table's name as one that every file system takes: readable, and for long names told apart by a hash.
func fileName(table string) string {
	var b strings.Builder
	for i, c := range []byte(table) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= longestBase {
		return b.String()
	}
	sum := sha256.Sum256([]byte(table))
	return b.String()[:shortBase] + "~" + hex.EncodeToString(sum[:8])
}

// exportTable writes the files of a table and what the manifest says of them.
func exportTable(ctx context.Context, c *client.Client, o Options, t *ManifestTable, notes io.Writer) error {
	if err := writeCreate(ctx, c, o, t); err != nil || t.Data == "" {
		return err
	}
	o.Table, o.Output, o.Format = t.Name, filepath.Join(o.OutputDir, t.Data), NDJSON
	if _, err := os.Stat(o.Output + stateEnding); err != nil {
		o.Resume = false // nothing of this one is there
	}
	r, err := begin(ctx, c, o, notes)
	if err != nil {
		return err
	}
	if err := r.toFile(ctx); err != nil {
		return err
	}
	t.Rows, t.TimeIndex = r.rows, r.table.Columns[r.table.Time].Name
	if r.all.rows > 0 {
		first, last := client.AtUnits(r.all.first, r.table.PerSecond()).UTC(),
			client.AtUnits(r.all.last, r.table.PerSecond()).UTC()
		t.First, t.Last = &first, &last
	}
	t.Bytes, t.SHA256, err = client.HashFile(o.Output)
	return err
}

// writeCreate writes the statement that makes a table.
func writeCreate(ctx context.Context, c *client.Client, o Options, t *ManifestTable) error {
	what := "TABLE"
	if t.Kind == KindView {
		what = "VIEW"
	}
	a, err := c.Query(ctx, o.DB, "SHOW CREATE "+what+" "+client.Name(t.Name))
	if err != nil {
		return err
	}
	if len(a.Rows) != 1 || len(a.Rows[0]) != 2 {
		return fmt.Errorf("%s did not answer with a statement that makes it", c.Base)
	}
	return client.Replace(filepath.Join(o.OutputDir, t.Create),
		[]byte(strings.TrimSpace(fmt.Sprint(a.Rows[0][1]))+";\n"), 0o666)
}
