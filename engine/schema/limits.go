package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/engine/status"
)

const (
	// MaxColumns bounds the columns of a table, and the columns that one request creates: each change copies the
	// schema, and the directory of every part names all its columns.
	MaxColumns = 4096
	// MaxLabels bounds the columns of a physical table, which has the labels of all its logical tables.
	MaxLabels = 4 * MaxColumns
	// MaxNameBytes bounds the name of a column.
	MaxNameBytes = 512
	// maxFileNameBytes bounds names of tables, views and databases: COPY DATABASE makes a file of each, whose name has
	// at most 255 bytes with what ends it, and writes % as %25.
	maxFileNameBytes = 240
)

// CheckColumnName refuses names that no column can have.
func CheckColumnName(name string) error {
	if name == "" || len(name) > MaxNameBytes {
		return status.New(status.InvalidArguments,
			"Invalid column name: %d bytes, the limit is %d and it may not be empty", len(name), MaxNameBytes)
	}
	return nil
}

// CheckName checks names of tables, views and databases. They become names of files and of metrics. Writers of rows may
// create tables; the rules of SQL are stricter.
func CheckName(what, name string) error {
	if size := len(name) + 2*strings.Count(name, "%"); name == "" || size > maxFileNameBytes {
		return status.New(status.InvalidArguments,
			"Invalid %s name: %d bytes (%% counts as 3), the limit is %d and it may not be empty", what, size,
			maxFileNameBytes)
	}
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' }
	if name == "." || name == ".." || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return status.New(status.InvalidArguments,
			"Invalid %s name: %q contains control characters, slashes or invalid UTF-8", what, name)
	}
	return nil
}
