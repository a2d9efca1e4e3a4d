package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/vector"
)

// keepsTypes reports whether rows of files go into a table as they are, with their types. With a pipeline or a time to
// be read they are entries like others.
func keepsTypes(o *Options) bool {
	return o.Time+o.Pipeline+o.PipelineFile == "" && !o.SkipError && o.MaxNestedLevels == 0 &&
		(o.Format == "" || o.Format == parquetRows || o.Format == arrowRows || o.Format == insert.name)
}

// lookAtRows finds the inputs that are files of rows, with their columns, before tables are looked at.
func (r *running) lookAtRows() {
	if !keepsTypes(r.o) {
		return
	}
	for _, in := range r.inputs {
		if in.path == "" && r.o.Format != arrowRows {
			continue
		}
		if in.path != "" {
			if in.fields = rowFields(in.path); in.fields == nil {
				continue
			}
		}
		in.format = insert
		r.o.Batch = min(r.o.Batch, mostInsert)
	}
}

// rowEndings are those of names of files of rows.
var rowEndings = []string{".parquet", ".arrow", ".arrows", ".feather"}

// rowFields are the columns of a file of rows; nil: it is none, or cannot be read, which is told when it is opened.
func rowFields(path string) []vector.Field {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if isParquet(f) {
		src, err := openParquet(f, info.Size(), func(int) {})
		if err != nil {
			return nil
		}
		return src.fields
	}
	begin := make([]byte, 8)
	n, _ := f.ReadAt(begin, 0) //nolint:errcheck // a short file is no error
	named := slices.ContainsFunc(rowEndings,
		func(ending string) bool { return strings.Contains(strings.ToLower(path), ending) })
	if rowsOf(begin[:n]) == "" && !named {
		return nil
	}
	src, err := unpack(f)
	if err != nil {
		return nil
	}
	return src.fields
}

// makeFor makes the table that the rows of a file go to, with columns of their types. Nothing says which rows replace
// others, so none does.
func (r *running) makeFor(ctx context.Context, in *input) error {
	index, err := timeColumn(in.fields)
	if err != nil {
		return fmt.Errorf("%s: table %s does not exist, and it cannot be created from the file: %w", in.name, in.table, err)
	}
	var sql bytes.Buffer
	fmt.Fprintf(&sql, "CREATE TABLE IF NOT EXISTS %s (", client.Name(in.table))
	for i, f := range in.fields {
		if i > 0 {
			sql.WriteString(", ")
		}
		sql.WriteString(client.Name(f.Name) + " " + sqlType(f.Type))
		if i == index {
			sql.WriteString(" TIME INDEX")
		}
	}
	sql.WriteString(") WITH ('append_mode'='true'")
	for _, hint := range r.o.Hints {
		key, value, _ := strings.Cut(hint, "=")
		fmt.Fprintf(&sql, ", %s=%s", client.Text(strings.TrimSpace(key)), client.Text(strings.TrimSpace(value)))
	}
	sql.WriteString(")")
	if _, err := r.c.Query(ctx, r.o.DB, sql.String()); err != nil {
		return fmt.Errorf("%s: table %s cannot be created from the file: %w", in.name, in.table, err)
	}
	r.report.note("%s: table %s is created from its columns, with the time index %s", in.name, in.table,
		in.fields[index].Name)
	return nil
}

// timeColumn finds the time index: the first timestamp of a usual name, or the only timestamp.
func timeColumn(fields []vector.Field) (int, error) {
	isTime := func(f vector.Field) bool { return f.Type.IsTimestamp() }
	for _, usual := range usualTimes {
		for i, f := range fields {
			if isTime(f) && strings.EqualFold(f.Name, usual) {
				return i, nil
			}
		}
	}
	first := slices.IndexFunc(fields, isTime)
	switch {
	case first < 0:
		return 0, errors.New(
			"no column is a timestamp; --time 'FIELD;epoch;ms' or 'FIELD;datestr;FORMAT' names the field with the time")
	case slices.IndexFunc(fields[first+1:], isTime) >= 0:
		return 0,
			errors.New(
				"several columns are timestamps, and none is called ts, time or timestamp; create the table first to say which one " +
					"is the time index")
	}
	return first, nil
}

// sqlTypes are the types of columns in SQL that have no parameters; what is not among them is kept as text.
var sqlTypes = map[vector.TypeID]string{
	vector.TypeBool: "BOOLEAN", vector.TypeInt8: "TINYINT", vector.TypeInt16: "SMALLINT", vector.TypeInt32: "INT",
	vector.TypeInt64: "BIGINT",
	vector.TypeUint8: "TINYINT UNSIGNED", vector.TypeUint16: "SMALLINT UNSIGNED", vector.TypeUint32: "INT UNSIGNED",
	vector.TypeUint64:  "BIGINT UNSIGNED",
	vector.TypeFloat32: "FLOAT", vector.TypeFloat64: "DOUBLE", vector.TypeBinary: "BINARY", vector.TypeJSON: "JSON",
	vector.TypeDate: "DATE",
}

func sqlType(t vector.Type) string {
	switch t.ID {
	case vector.TypeTimestamp:
		return fmt.Sprintf("TIMESTAMP(%d)", t.Precision)
	case vector.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	}
	if name, plain := sqlTypes[t.ID]; plain {
		return name
	}
	return "STRING"
}
