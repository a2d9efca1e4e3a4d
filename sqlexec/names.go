package sqlexec

import (
	"slices"
	"strings"
	"unicode"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/infoschema"
)

// foldInfo returns information_schema in any case as its name; other names stay.
func foldInfo(db string) string {
	if strings.EqualFold(db, infoschema.DB) {
		return infoschema.DB
	}
	return db
}

// checkDatabase is DatabaseNotFound for a database that does not exist.
func (x *Executor) checkDatabase(db string) error {
	if x.HasDatabase(db) {
		return nil
	}
	return status.New(status.DatabaseNotFound, "Database not found: %s", db)
}

// HasDatabase reports whether a database exists; information_schema always does.
func (x *Executor) HasDatabase(db string) bool {
	return db == infoschema.DB ||
		slices.ContainsFunc(x.e.Databases(), func(d engine.Database) bool { return d.Name == db })
}

// readOnly is the error for changes of information_schema.
func readOnly(db string) error {
	if db != infoschema.DB {
		return nil
	}
	return status.New(status.Unsupported, "%s is read only", infoschema.DB)
}

// checkName holds new names of tables, views and databases to the rules: letters and digits of any script, _ - : @ #
// and the point.
func checkName(what, name string, quoted bool) error {
	ok := true
	for i, r := range name {
		switch {
		case unicode.IsLetter(r), strings.ContainsRune("_-:@#.", r):
		case unicode.IsDigit(r), unicode.IsMark(r): // a mark belongs to the letter before it
			ok = ok && (i > 0 || quoted && unicode.IsDigit(r))
		default:
			ok = false
		}
	}
	if !ok {
		return status.New(status.InvalidArguments, "Invalid %s name: %s (letters, digits and _ - : @ # . are possible)",
			what, name)
	}
	return schema.CheckName(what, name)
}
