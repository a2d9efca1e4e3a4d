package infoschema

import (
	_ "embed" // pgcatalog.txt
	"hash/crc32"
	"strings"
	"sync"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
)

// PGCatalog is the database of the tables by which clients of the wire protocol look at the catalog. They have the
// names and numbers that these clients know.
const PGCatalog = "pg_catalog"

// PGType is a type as clients of the wire protocol know it: its number, its name, and its name in SQL.
type PGType struct {
	OID         int64
	Name, Shown string
	size        int64 // bytes; -1: it varies
	category    string
	array       int64 // number of the type of its lists
}

// PGTypes are the types that columns may have.
var PGTypes = []PGType{
	{16, "bool", "boolean", 1, "B", 1000}, {17, "bytea", "bytea", -1, "U", 1001}, {18, "char", `"char"`, 1, "Z", 1002},
	{19, "name", "name", 64, "S", 1003}, {20, "int8", "bigint", 8, "N", 1016}, {21, "int2", "smallint", 2, "N", 1005},
	{23, "int4", "integer", 4, "N", 1007}, {25, "text", "text", -1, "S", 1009}, {26, "oid", "oid", 4, "N", 1028},
	{114, "json", "json", -1, "U", 199}, {700, "float4", "real", 4, "N", 1021},
	{701, "float8", "double precision", 8, "N", 1022}, {705, "unknown", "unknown", -2, "X", 0},
	{1042, "bpchar", "character", -1, "S", 1014}, {1043, "varchar", "character varying", -1, "S", 1015},
	{1082, "date", "date", 4, "D", 1182}, {1083, "time", "time without time zone", 8, "D", 1183},
	{1114, "timestamp", "timestamp without time zone", 8, "D", 1115},
	{1184, "timestamptz", "timestamp with time zone", 8, "D", 1185}, {1186, "interval", "interval", 16, "T", 1187},
	{1700, "numeric", "numeric", -1, "N", 1231}, {2950, "uuid", "uuid", 16, "U", 2951},
	{3802, "jsonb", "jsonb", -1, "U", 3807},
}

func init() {
	for _, t := range PGTypes[:len(PGTypes):len(PGTypes)] {
		if t.array != 0 {
			PGTypes = append(PGTypes, PGType{t.array, "_" + t.Name, t.Shown + "[]", -1, "A", 0})
		}
	}
}

// pgNames are the names of PGTypes by our types, whose parameters do not count.
var pgNames = map[vector.TypeID]string{
	vector.TypeBool: "bool", vector.TypeInt8: "int2", vector.TypeInt16: "int2", vector.TypeInt32: "int4",
	vector.TypeInt64: "int8", vector.TypeUint8: "int2", vector.TypeUint16: "int4", vector.TypeUint32: "int8",
	vector.TypeUint64: "numeric", vector.TypeDecimal: "numeric", vector.TypeFloat32: "float4",
	vector.TypeFloat64: "float8", vector.TypeBinary: "bytea", vector.TypeJSON: "json", vector.TypeDate: "date",
	vector.TypeTimestamp: "timestamptz", vector.TypeTime: "time", vector.TypeDuration: "interval",
	vector.TypeInterval: "interval",
}

// pgTypeOf is the type of a column.
func pgTypeOf(t vector.Type) PGType {
	name := pgNames[t.ID]
	if t.ID == vector.TypeList {
		name = "_" + pgTypeOf(t.Elem()).Name
	}
	for _, p := range PGTypes {
		if p.Name == name {
			return p
		}
	}
	return PGTypes[7] // text
}

// made is a number that a name always has. Tables of the store have numbers below.
func made(kind, name string) int64 {
	return 1<<30 | int64(crc32.ChecksumIEEE([]byte(kind+"\x00"+name)))&(1<<30-1)
}

// SchemaOID is the number of a database.
func SchemaOID(db string) int64 { return made("schema", db) }

// RelationOID is the number of a view, or of a table that is not in the store.
func RelationOID(db, name string) int64 { return made("relation", db+"\x00"+name) }

// tableOID is the number of a table of the store.
func tableOID(id schema.TableID) int64 { return 16384 + int64(id) }

// indexOID is the number of index n of a table of the store, from 0 on. It is above all others: no number of another
// thing is met by chance.
func indexOID(id schema.TableID, n int) int64 { return 1<<31 | (int64(id)<<7+int64(n))&(1<<31-1) }

// relation is a table, view or index as pg_class has it.
type relation struct {
	oid      int64
	db, name string
	kind     string // r table, v view, i index
	columns  []schema.Column
	rows     int64 // -1: nobody knows
	indexes  []pgIndex
	query    string // of a view
	append   bool   // rows with equal keys stay
}

// relations calls f for all tables and views, those of pg_catalog left out.
func relations(e *Env, f func(r *relation)) error {
	err := eachTable(e, Where{}, func(t *engine.Table) error {
		s := t.Schema.Shown()
		f(&relation{oid: tableOID(s.ID), db: s.Name.DB, name: s.Name.Table, kind: "r", columns: s.Columns,
			rows: t.Stats().Rows, indexes: pgIndexesOf(s), append: s.Options.AppendMode})
		return nil
	})
	if err != nil {
		return err
	}
	err = eachView(e, Where{}, func(v View) {
		f(&relation{oid: RelationOID(v.DB, v.Name), db: v.DB, name: v.Name, kind: "v", columns: v.Columns(), rows: -1,
			query: v.Query})
	})
	for _, t := range definitions {
		f(&relation{oid: RelationOID(DB, t.Name), db: DB, name: t.Name, kind: "v", columns: t.Columns, rows: -1})
	}
	if hasNumbers(e, Where{}) {
		f(&relation{oid: RelationOID(engine.PublicDB, Numbers), db: engine.PublicDB, name: Numbers, kind: "v",
			columns: NumbersSchema().Columns, rows: 100})
	}
	return err
}

// FindPG finds a table of pg_catalog by name in any case; nil if it does not exist.
func FindPG(name string) *Table {
	name = strings.ToLower(name)
	for _, t := range pgCatalogTables() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// pgColumns has the columns of each table of pg_catalog: its name, and names with types, as columns reads them. Lines
// that begin with a tab go on with the line before. Numbers of things, which clients know as oid, are u32.
//
//go:embed pgcatalog.txt
var pgColumns string

// pgFills make the rows of tables. Those that are missing have none: there are no such things here.
var pgFills = map[string]func(*Env, Where, *rows) error{
	"pg_namespace": pgNamespaces, "pg_class": pgClasses, "pg_attribute": pgAttributes, "pg_attrdef": pgDefaults,
	"pg_type": fillTypes, "pg_database": pgDatabases, "pg_am": pgMethods, "pg_opclass": pgOperatorClasses,
	"pg_index": pgIndexes, "pg_indexes": pgIndexTexts, "pg_constraint": pgConstraints, "pg_tables": pgTables,
	"pg_views": pgViews, "pg_rewrite": pgRewrites, "pg_description": pgDescriptions, PGSizes: fillSizes,
	PGColumnTypes: fillColumns,
	PGComments:    fillComments, PGSettingValues: fillSettings, PGDefinitions: fillDefinitions,
	"pg_roles": pgRoles, "pg_user": pgUsers, "pg_settings": pgSettings, "pg_tablespace": pgTablespaces,
	"pg_stat_activity": pgActivity, "pg_language": pgLanguages, "pg_collation": pgCollations,
	"pg_stat_database": pgDatabaseFigures, "pg_stat_user_tables": pgTableFigures,
	PGKeywords: fillKeywords, "pg_stat_all_tables": pgTableFigures,
}

// pgCatalogTables are the tables of pg_catalog. They are made when one is asked for: most servers never need them.
var pgCatalogTables = sync.OnceValue(makePGCatalog)

func makePGCatalog() (made []*Table) {
	text := strings.TrimSpace(pgColumns) + "\n" + PGColumnTypes + " " + columnsOfColumns +
		" udt_catalog udt_schema udt_name numeric_precision_radix:i64? is_identity is_generated is_updatable"
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", " "), "\n") {
		name, list, _ := strings.Cut(line, " ")
		hidden := []string{"xmin:u32", "tableoid:u32"}
		if strings.Contains(" "+list, " xmin:") {
			hidden = hidden[1:]
		}
		t := &Table{Name: name, Columns: columns(list + " " + strings.Join(hidden, " ")), fill: pgFills[name],
			Hidden: len(hidden),
			number: RelationOID(PGCatalog, name)}
		if name == PGColumnTypes {
			t.SchemaColumn, t.TableColumn = "table_schema", "table_name"
		}
		if t.fill == nil {
			t.fill = func(*Env, Where, *rows) error { return nil }
		}
		for _, c := range t.Columns {
			t.Fields = append(t.Fields, vector.Field{Name: c.Name, Type: c.Type})
		}
		made = append(made, t)
	}
	return made
}

// owner is the number of everybody: tables have no owners. tablespace is that of the one place where tables are.
const (
	owner      = 10
	tablespace = 1663
)
