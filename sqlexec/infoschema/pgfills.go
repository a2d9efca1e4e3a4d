package infoschema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// PGSizes is a table of ours, by which functions such as pg_table_size find sizes: bytes of a table on disk and in
// memory, and how many of them are indexes.
const PGSizes = "pg_sizes"

func fillSizes(e *Env, _ Where, r *rows) error {
	return eachTable(e, Where{}, func(t *engine.Table) error {
		st := t.Stats()
		r.add(tableOID(t.Schema.ID), st.DiskBytes+st.MemtableBytes, st.IndexBytes)
		return nil
	})
}

// PGColumnTypes is a table of ours, which clients of PostgreSQL read as information_schema.columns: it is that table,
// with the names that they know of types.
const PGColumnTypes = "pg_column_types"

// The places of columns in a row of information_schema.columns.
var (
	placeOfDataType = slices.Index(strings.Fields(columnsOfColumns), "data_type")
	placeOfLengths  = slices.Index(strings.Fields(columnsOfColumns), "character_maximum_length:i64?")
)

// pgLengths are five columns of information_schema.columns as PostgreSQL has them: the most characters and bytes of a
// text, the digits of a number before and behind the point, the digits of a second; and the base of the digits.
func pgLengths(t vector.Type) (list [5]any, base any) {
	switch {
	case t.IsText():
		list[1] = 1 << 30
	case t.IsTimestamp():
		list[4] = min(int(t.Precision), 6)
	case t.ID == vector.TypeDate:
		list[4] = 0
	case t.ID == vector.TypeInterval:
		list[4] = 6
	case t.ID == vector.TypeDecimal:
		list[2], list[3], base = int(t.Precision), int(t.Scale), 10
	case t.ID == vector.TypeFloat32:
		list[2], base = 24, 2
	case t == vector.FloatType:
		list[2], base = 53, 2
	case t.ID == vector.TypeUint64: // a number without bounds
		base = 10
	case t.IsInteger():
		bits := map[vector.TypeID]int{vector.TypeInt8: 16, vector.TypeUint8: 16, vector.TypeInt16: 16,
			vector.TypeUint16: 32, vector.TypeInt32: 32}[t.ID]
		list[2], list[3], base = cmp.Or(bits, 64), 0, 2
	}
	return list, base
}

func fillColumns(e *Env, w Where, r *rows) error {
	return eachColumn(e, w, func(db, table string, i int, c *schema.Column, key string) {
		p, row := pgTypeOf(c.Type), columnRow(db, table, i, c, key)
		if row[placeOfDataType] = p.Shown; c.Type.ID == vector.TypeList {
			row[placeOfDataType] = "ARRAY"
		}
		lengths, base := pgLengths(c.Type)
		copy(row[placeOfLengths:], lengths[:])
		r.add(append(row, Catalog, PGCatalog, p.Name, base, "NO", "NEVER", "YES")...)
	})
}

// pgDescriptions are the comments.
func pgDescriptions(e *Env, _ Where, r *rows) error {
	class := RelationOID(PGCatalog, "pg_class")
	return comments(e, func(oid int64, column int, text string) { r.add(oid, class, column, text) })
}

// PGComments and PGSettingValues are tables of ours, by which functions find comments and settings. Their columns, and
// those of the other such tables, have names that no client uses: what stands for a call has its arguments inside.
const (
	PGComments      = "pg_comments"
	PGSettingValues = "pg_setting_values"
)

func fillComments(e *Env, _ Where, r *rows) error {
	return comments(e, func(oid int64, column int, text string) { r.add(oid, column, text) })
}

func fillSettings(e *Env, _ Where, r *rows) error {
	if e.Settings != nil {
		for _, s := range e.Settings() {
			r.add(s.Name, s.Value)
		}
	}
	return nil
}

// comments calls f for the comments of tables, whose column is 0, and of columns by their numbers.
func comments(e *Env, f func(oid int64, column int, text string)) error {
	return eachTable(e, Where{}, func(t *engine.Table) error {
		oid, s := tableOID(t.Schema.ID), t.Schema.Shown()
		if text := s.Options.Comment; text != "" {
			f(oid, 0, text)
		}
		for i := range s.Columns {
			if text := s.Columns[i].Comment; text != "" {
				f(oid, i+1, text)
			}
		}
		return nil
	})
}

// everything reports whether the user of the session may do everything.
func (e *Env) everything() bool { return e.Rights == "" || e.Rights == "ALL PRIVILEGES" }

// pgRoles is the user of the session: nobody learns of others.
func pgRoles(e *Env, _ Where, r *rows) error {
	if e.User != "" {
		all := e.everything()
		r.row("oid", owner, "rolname", e.User, "rolsuper", all, "rolinherit", true, "rolcreaterole", false,
			"rolcreatedb", all, "rolcanlogin", true, "rolreplication", false, "rolbypassrls", all, "rolconnlimit", -1,
			"rolpassword", "********")
	}
	return nil
}

func pgUsers(e *Env, _ Where, r *rows) error {
	if e.User != "" {
		all := e.everything()
		r.row("usename", e.User, "usesysid", owner, "usecreatedb", all, "usesuper", all, "userepl", false,
			"usebypassrls", all, "passwd", "********")
	}
	return nil
}

// Setting is a parameter of a session.
type Setting struct{ Name, Value, Initial, Default string }

func pgSettings(e *Env, _ Where, r *rows) error {
	if e.Settings == nil {
		return nil
	}
	for _, s := range e.Settings() {
		source := "default"
		if s.Value != s.Default {
			source = "session"
		}
		r.row("name", s.Name, "setting", s.Value, "category", "Session", "short_desc", "", "context", "user",
			"vartype", "string", "source", source, "boot_val", s.Default, "reset_val", s.Initial,
			"pending_restart", false)
	}
	return nil
}

func pgTablespaces(_ *Env, _ Where, r *rows) error {
	r.row("oid", tablespace, "spcname", "pg_default", "spcowner", owner)
	return nil
}

func pgLanguages(_ *Env, _ Where, r *rows) error {
	r.row("oid", 14, "lanname", "sql", "lanowner", owner, "lanpltrusted", true)
	return nil
}

// pgCollations are those that may be named: all mean the order of bytes.
func pgCollations(_ *Env, _ Where, r *rows) error {
	for i, name := range []string{"default", "C", "POSIX"} {
		r.row("oid", []int64{100, 950, 951}[i], "collname", name, "collnamespace", SchemaOID(PGCatalog),
			"collowner", owner, "collprovider", "c", "collisdeterministic", true, "collencoding", -1,
			"collcollate", "C", "collctype", "C")
	}
	return nil
}

// pgActivity are the statements that run. The pid is the number of the connection; for statements of other protocols it
// is the negative of the id that KILL takes.
func pgActivity(e *Env, _ Where, r *rows) error {
	for _, p := range e.Processes() {
		id, err := strconv.ParseInt(p.ID, 10, 64)
		if err != nil {
			return err
		}
		if id = -id; p.Backend != 0 {
			id = int64(p.Backend)
		}
		host, _, _ := strings.Cut(p.Client, ":")
		began := p.Started.UnixMicro()
		r.row("datid", made("database", Catalog), "datname", Catalog, "pid", id, "usesysid", owner, "usename", p.User,
			"application_name", p.Application, "client_addr", host, "backend_start", began, "xact_start", began,
			"query_start", began, "state_change", began, "state", "active", "query", p.Query,
			"backend_type", "client backend")
	}
	return nil
}

// pgDatabaseFigures are zeros where nothing is counted.
func pgDatabaseFigures(e *Env, _ Where, r *rows) error {
	r.row("datid", made("database", Catalog), "datname", Catalog, "numbackends", len(e.Processes()),
		"xact_commit", 0, "xact_rollback", 0, "blks_read", 0, "blks_hit", 0, "tup_returned", 0, "tup_fetched", 0,
		"tup_inserted", 0, "tup_updated", 0, "tup_deleted", 0, "conflicts", 0, "temp_files", 0, "temp_bytes", 0,
		"deadlocks", 0)
	return nil
}

func pgTableFigures(e *Env, _ Where, r *rows) error {
	return eachTable(e, Where{}, func(t *engine.Table) error {
		s := t.Schema
		r.row("relid", tableOID(s.ID), "schemaname", s.Name.DB, "relname", s.Name.Table, "n_live_tup", t.Stats().Rows)
		return nil
	})
}

func pgNamespaces(e *Env, _ Where, r *rows) error {
	for _, d := range databases(e, Where{}) {
		r.add(SchemaOID(d.Name), d.Name, owner)
	}
	r.add(SchemaOID(PGCatalog), PGCatalog, owner)
	return nil
}

func pgClasses(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		access := 0
		if t.kind == "r" {
			access = 2
		}
		r.row("oid", t.oid, "relname", t.name, "relnamespace", SchemaOID(t.db), "relowner", owner, "relam", access,
			"reltuples", float64(t.rows), "relhasindex", len(t.indexes) > 0, "relpersistence", "p", "relkind", t.kind,
			"relnatts", len(t.columns), "relispopulated", true, "relreplident", "d", "relhasrules", t.kind == "v")
		for i := range t.indexes {
			x := &t.indexes[i]
			r.row("oid", x.oid, "relname", x.name, "relnamespace", SchemaOID(t.db), "relowner", owner,
				"relam", x.method, "reltuples", float64(t.rows), "relpersistence", "p", "relkind", "i",
				"relnatts", len(x.columns),
				"relispopulated", true, "relreplident", "n")
		}
	})
}

func pgAttributes(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		for i := range t.columns {
			c := &t.columns[i]
			attribute(r, t.oid, i+1, c, !c.Nullable, hasDefault(c))
		}
		for i := range t.indexes {
			x := &t.indexes[i]
			for n, c := range x.columns {
				attribute(r, x.oid, n+1, &t.columns[c], false, false)
			}
		}
	})
}

// attribute adds a column of a table, view or index.
func attribute(r *rows, of int64, number int, c *schema.Column, filled, defaults bool) {
	p := pgTypeOf(c.Type)
	dims := 0
	if c.Type.ID == vector.TypeList {
		dims = 1
	}
	r.row("attrelid", of, "attname", c.Name, "atttypid", p.OID, "attstattarget", -1, "attlen", p.size, "attnum", number,
		"attndims", dims, "attcacheoff", -1, "atttypmod", typmod(c.Type), "attstorage", "p", "attnotnull", filled,
		"atthasdef", defaults, "attislocal", true)
}

// typmod is the digits of a decimal as clients know them; -1: there is nothing to know.
func typmod(t vector.Type) int64 {
	if t.ID != vector.TypeDecimal {
		return -1
	}
	return int64(t.Precision)<<16 | int64(t.Scale) + 4
}

func hasDefault(c *schema.Column) bool { return c.DefaultText != "" || c.DefaultExpr != "" }

func pgDefaults(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		for i, c := range t.columns {
			if !hasDefault(&c) {
				continue
			}
			text := c.DefaultExpr
			if text == "" {
				if text = c.DefaultText; !c.Type.IsNumber() && c.Type != vector.BoolType {
					text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
				}
			}
			r.add(made("default", strconv.FormatInt(t.oid, 10)+"\x00"+c.Name), t.oid, i+1, text)
		}
	})
}

func fillTypes(_ *Env, _ Where, r *rows) error {
	elements := map[int64]int64{}
	for _, t := range PGTypes {
		elements[t.array] = t.OID
	}
	delete(elements, 0)
	for _, t := range PGTypes {
		in := t.Name + "in"
		if t.category == "A" {
			in = "array_in"
		}
		r.row("oid", t.OID, "typname", t.Name, "typnamespace", SchemaOID(PGCatalog), "typowner", owner,
			"typlen", t.size, "typtype", "b", "typcategory", t.category, "typisdefined", true, "typdelim", ",",
			"typinput", in,
			"typoutput", strings.TrimSuffix(in, "in")+"out", "typreceive", strings.TrimSuffix(in, "in")+"recv",
			"typsend", strings.TrimSuffix(in, "in")+"send", "typelem", elements[t.OID], "typarray", t.array,
			"typtypmod", -1)
	}
	return nil
}

func pgDatabases(_ *Env, _ Where, r *rows) error {
	r.row("oid", made("database", Catalog), "datname", Catalog, "datdba", owner, "encoding", 6, "datlocprovider", "c",
		"datallowconn", true, "datconnlimit", -1, "dattablespace", tablespace, "datcollate", "C", "datctype", "C")
	return nil
}

func pgTables(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		if t.kind == "r" {
			r.row("schemaname", t.db, "tablename", t.name, "tableowner", e.User, "hasindexes", true, "hasrules", false,
				"hastriggers", false, "rowsecurity", false)
		}
	})
}

func pgViews(e *Env, _ Where, r *rows) error {
	return eachView(e, Where{}, func(v View) { r.add(v.DB, v.Name, e.User, v.Query) })
}

// pgRewrites are the rules by which views are their queries.
func pgRewrites(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		if t.kind == "v" {
			r.row("oid", made("rewrite", t.db+"\x00"+t.name), "rulename", "_RETURN", "ev_class", t.oid, "ev_type", "1",
				"ev_enabled", "O", "is_instead", true)
		}
	})
}

// PGRights is a table of ours, for aclexplode(..) in FROM: rights are not told by the catalog.
const PGRights = "pg_rights"

// PGKeywords is a table of ours, for pg_get_keywords().
const PGKeywords = "pg_keywords"

func fillKeywords(_ *Env, _ Where, r *rows) error {
	for _, word := range parse.ReservedWords() {
		r.row("word", word, "catcode", "R", "barelabel", true, "catdesc", "reserved", "baredesc", "can be bare label")
	}
	return nil
}
