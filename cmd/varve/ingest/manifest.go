package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"varve/cmd/varve/client"
	"varve/cmd/varve/export"
)

// mostInsert bounds the rows of a statement, which takes several times their size while it is written, bytes.
const mostInsert = 1 << 20

// readManifest checks a directory that `varve export --output-dir` wrote, makes its tables and gives their rows as
// inputs. Without --resume no table may be there.
func (r *running) readManifest(ctx context.Context) error {
	m, err := loadManifest(r.o.Manifest)
	if err != nil {
		return err
	}
	there, err := r.tablesThere(ctx)
	if err != nil {
		return err
	}
	for _, t := range m.Tables {
		if there[t.Name] && !r.o.Resume && !r.o.Restart {
			return fmt.Errorf(
				"table %s is in database %s already: --db names another, --resume goes on with an earlier run", t.Name,
				r.o.DB)
		}
	}
	left, err := r.makeTables(ctx, m, there)
	if err != nil {
		return err
	}
	for _, t := range m.Tables {
		if left[t.Create] != nil {
			r.unmade = append(r.unmade, fmt.Errorf("table %s is left out with its %s: %w", t.Name,
				client.Plural(t.Rows, "row"), left[t.Create]))
			continue
		}
		if t.Data == "" || t.Rows == 0 {
			continue
		}
		table, err := r.c.Table(ctx, r.o.DB, t.Name)
		if err != nil {
			return err
		}
		path, err := filepath.Abs(filepath.Join(r.o.Manifest, t.Data))
		if err != nil {
			return err
		}
		r.inputs = append(r.inputs, &input{name: filepath.Join(r.o.Manifest, t.Data), path: path, table: t.Name,
			format: insert, columns: table.Columns, fresh: !there[t.Name]})
	}
	return nil
}

// makeTables makes the tables that are not there. Views may be made of views that stand behind them in the manifest:
// those that fail are tried again as long as another could be made. left are the files of statements that the server
// refuses, with the reason: names that other protocols take may be none of SQL.
func (r *running) makeTables(ctx context.Context, m *export.Manifest,
	there map[string]bool) (left map[string]error, err error) {
	var views []string // files of the statements
	left = map[string]error{}
	for _, t := range m.Tables {
		switch {
		case there[t.Name]:
		case t.Kind == export.KindView:
			views = append(views, t.Create)
		default:
			if err := r.makeTable(ctx, t.Create); isRefused(err) {
				left[t.Create] = err
			} else if err != nil {
				return nil, err
			}
		}
	}
	for more := true; more; {
		more = false
		views = slices.DeleteFunc(views, func(file string) bool {
			left[file] = r.makeTable(ctx, file)
			more = more || left[file] == nil
			return left[file] == nil
		})
	}
	for _, file := range views {
		if !isRefused(left[file]) {
			return nil, left[file]
		}
	}
	return left, nil
}

// makeTable runs the statement of a file.
func (r *running) makeTable(ctx context.Context, file string) error {
	sql, err := os.ReadFile(filepath.Join(r.o.Manifest, file))
	if err != nil {
		return err
	}
	if _, err := r.c.Query(ctx, r.o.DB, string(sql)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// loadManifest reads a manifest and compares the files with it.
func loadManifest(dir string) (*export.Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, export.ManifestName))
	if err != nil {
		return nil, err
	}
	m := &export.Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, export.ManifestName), err)
	}
	if m.Version != export.ManifestVersion {
		return nil, fmt.Errorf("%s has version %d, this program reads version %d",
			filepath.Join(dir, export.ManifestName), m.Version, export.ManifestVersion)
	}
	for _, t := range m.Tables {
		if t.Create == "" || t.Create != filepath.Base(t.Create) || t.Data != "" && t.Data != filepath.Base(t.Data) {
			return nil, fmt.Errorf("%s: the files of table %q are not in the directory",
				filepath.Join(dir, export.ManifestName), t.Name)
		}
		if t.Data == "" {
			continue
		}
		bytes, sum, err := client.HashFile(filepath.Join(dir, t.Data))
		if err != nil {
			return nil, err
		}
		if bytes != t.Bytes || sum != t.SHA256 {
			return nil, fmt.Errorf("%s is damaged: it has %d bytes and the hash %s, its manifest says %d and %s",
				filepath.Join(dir, t.Data), bytes, sum, t.Bytes, t.SHA256)
		}
	}
	return m, nil
}

// tablesThere are the tables of the database.
func (r *running) tablesThere(ctx context.Context) (map[string]bool, error) {
	a, err := r.c.Query(ctx, r.o.DB,
		"SELECT table_name FROM information_schema.tables WHERE table_schema = "+client.Text(r.o.DB))
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, row := range a.Rows {
		there[fmt.Sprint(row[0])] = true
	}
	return there, nil
}
