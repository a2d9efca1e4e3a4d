package schema

import "varve/engine/status"

const (
	// MaxColumns bounds a table, and what one request makes of it: schemas are copied at each change and every part's
	// directory names all its columns.
	MaxColumns = 4096
	// MaxNameBytes bounds the name of a column.
	MaxNameBytes = 512
)

// CheckColumnName refuses names that no column can have.
func CheckColumnName(name string) error {
	if name == "" || len(name) > MaxNameBytes {
		return status.New(status.InvalidArguments, "Invalid column name: %d bytes, the limit is %d and it may not be empty", len(name), MaxNameBytes)
	}
	return nil
}
