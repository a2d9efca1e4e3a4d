package infoschema

import (
	"hash/crc32"
	"strconv"
	"strings"

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

// relation is a table or view as pg_class has it.
type relation struct {
	oid      int64
	db, name string
	kind     string // r table, v view
	columns  []schema.Column
	rows     int64 // -1: nobody knows
}

// relations calls f for all tables and views, those of pg_catalog left out.
func relations(e *Env, f func(r *relation)) error {
	err := eachTable(e, Where{}, func(t *engine.Table) error {
		s := t.Schema
		f(&relation{tableOID(s.ID), s.Name.DB, s.Name.Table, "r", s.Columns, -1})
		return nil
	})
	if err != nil {
		return err
	}
	err = eachView(e, Where{}, func(v View) {
		f(&relation{RelationOID(v.DB, v.Name), v.DB, v.Name, "v", v.Columns(), -1})
	})
	for _, t := range definitions {
		f(&relation{RelationOID(DB, t.Name), DB, t.Name, "v", t.Columns, -1})
	}
	if hasNumbers(e, Where{}) {
		s := NumbersSchema()
		f(&relation{RelationOID(engine.PublicDB, Numbers), engine.PublicDB, Numbers, "v", s.Columns, 100})
	}
	return err
}

// FindPG finds a table of pg_catalog by name in any case; nil if it does not exist.
func FindPG(name string) *Table {
	name = strings.ToLower(name)
	for _, t := range pgDefinitions {
		if t.Name == name {
			return t
		}
	}
	return nil
}

var pgDefinitions []*Table

func init() {
	none := func(*Env, Where, *rows) error { return nil }
	for _, d := range []struct {
		name, columns string
		fill          func(*Env, Where, *rows) error
	}{
		{"pg_namespace", "oid:i64 nspname nspowner:i64 nspacl:texts?", pgNamespaces},
		{"pg_class", `oid:i64 relname relnamespace:i64 reltype:i64 reloftype:i64 relowner:i64 relam:i64 reltablespace:i64
			reltuples:f64 reltoastrelid:i64 relhasindex:bool relpersistence relkind relnatts:i64 relchecks:i64
			relhasrules:bool relhastriggers:bool relrowsecurity:bool relforcerowsecurity:bool relreplident
			relispartition:bool relhassubclass:bool relisshared:bool relpages:i64 relacl:texts? reloptions:texts? relpartbound?`,
			pgClasses},
		{"pg_attribute", `attrelid:i64 attname atttypid:i64 attlen:i64 attnum:i64 atttypmod:i64 attnotnull:bool
			atthasdef:bool attidentity attgenerated attisdropped:bool attcollation:i64 attndims:i64 attislocal:bool
			attinhcount:i64 attstorage attcompression attstattarget:i64 attacl:texts? attoptions:texts? attfdwoptions:texts?`,
			pgAttributes},
		{"pg_attrdef", "oid:i64 adrelid:i64 adnum:i64 adbin", pgDefaults},
		{"pg_type", `oid:i64 typname typnamespace:i64 typowner:i64 typlen:i64 typtype typcategory typrelid:i64
			typelem:i64 typarray:i64 typbasetype:i64 typtypmod:i64 typcollation:i64 typnotnull:bool typdelim typinput
			typisdefined:bool typdefault?`, fillTypes},
		{"pg_database", `oid:i64 datname datdba:i64 encoding:i64 datlocprovider datistemplate:bool datallowconn:bool
			datconnlimit:i64 dattablespace:i64 datcollate datctype daticulocale? datacl:texts?`, pgDatabases},
		{"pg_am", "oid:i64 amname amtype", func(_ *Env, _ Where, r *rows) error { r.add(2, "heap", "t"); return nil }},
		{"pg_index", `indexrelid:i64 indrelid:i64 indnatts:i64 indnkeyatts:i64 indisunique:bool indisprimary:bool
			indisexclusion:bool indimmediate:bool indisclustered:bool indisvalid:bool indisready:bool indislive:bool
			indisreplident:bool indkey indcollation indclass indoption indnullsnotdistinct:bool indexprs? indpred?`, none},
		{"pg_constraint", `oid:i64 conname connamespace:i64 contype condeferrable:bool condeferred:bool
			convalidated:bool conrelid:i64 contypid:i64 conindid:i64 conparentid:i64 confrelid:i64 confupdtype confdeltype
			confmatchtype conkey:texts? confkey:texts? conbin?`, none},
		{"pg_tables", "schemaname tablename tableowner? tablespace? hasindexes:bool hasrules:bool hastriggers:bool " +
			"rowsecurity:bool", pgTables},
		{"pg_views", "schemaname viewname viewowner? definition?", pgViews},
		{"pg_description", "objoid:i64 classoid:i64 objsubid:i64 description", pgDescriptions},
		{PGSizes, "oid:i64 bytes:i64 indexes:i64", fillSizes},
		{"pg_roles", `oid:i64 rolname rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool rolcanlogin:bool
			rolreplication:bool rolbypassrls:bool rolconnlimit:i64 rolvaliduntil?`, pgRoles},
		{"pg_proc", "oid:i64 proname pronamespace:i64 proowner:i64 prolang:i64 prokind prorettype:i64 pronargs:i64 prosrc?",
			none},
		{"pg_settings", "name setting unit? category? short_desc?", none},
		{"pg_inherits", "inhrelid:i64 inhparent:i64 inhseqno:i64 inhdetachpending:bool", none},
		{"pg_policy", "oid:i64 polname polrelid:i64 polcmd polpermissive:bool polroles? polqual? polwithcheck?", none},
		{"pg_statistic_ext", "oid:i64 stxrelid:i64 stxname stxnamespace:i64 stxstattarget:i64 stxkind? stxkeys?", none},
		{"pg_publication", "oid:i64 pubname pubowner:i64 puballtables:bool", none},
		{"pg_publication_rel", "oid:i64 prpubid:i64 prrelid:i64 prqual? prattrs?", none},
		{"pg_publication_namespace", "oid:i64 pnpubid:i64 pnnspid:i64", none},
		{"pg_trigger", "oid:i64 tgrelid:i64 tgparentid:i64 tgname tgenabled tgisinternal:bool tgconstraint:i64", none},
		{"pg_rewrite", "oid:i64 rulename ev_class:i64 ev_type ev_enabled is_instead:bool", none},
		{"pg_collation", "oid:i64 collname collnamespace:i64 collencoding:i64 collcollate? collctype?", none},
		{"pg_enum", "oid:i64 enumtypid:i64 enumsortorder:f64 enumlabel", none},
		{"pg_range", "rngtypid:i64 rngsubtype:i64 rngmultitypid:i64 rngcollation:i64 rngsubopc:i64", none},
		{"pg_auth_members", "roleid:i64 member:i64 grantor:i64 admin_option:bool", none},
		{"pg_foreign_table", "ftrelid:i64 ftserver:i64 ftoptions:texts?", none},
		{"pg_foreign_server", "oid:i64 srvname srvowner:i64 srvfdw:i64", none},
		{"pg_tablespace", "oid:i64 spcname spcowner:i64 spcacl:texts? spcoptions:texts?",
			func(_ *Env, _ Where, r *rows) error { r.add(tablespace, "pg_default", owner); return nil }},
		{"pg_extension", "oid:i64 extname extowner:i64 extnamespace:i64 extversion", none},
		{"pg_depend", "classid:i64 objid:i64 objsubid:i64 refclassid:i64 refobjid:i64 refobjsubid:i64 deptype", none},
		{"pg_sequence", "seqrelid:i64 seqtypid:i64 seqstart:i64 seqincrement:i64 seqmax:i64 seqmin:i64 seqcache:i64 " +
			"seqcycle:bool", none},
		{"pg_language", "oid:i64 lanname", none},
		{"pg_matviews", "schemaname matviewname matviewowner? definition?", none},
	} {
		t := &Table{Name: d.name, Columns: columns(d.columns), fill: d.fill}
		for _, c := range t.Columns {
			t.Fields = append(t.Fields, vector.Field{Name: c.Name, Type: c.Type})
		}
		pgDefinitions = append(pgDefinitions, t)
	}
}

// owner is the number of everybody: tables have no owners. tablespace is that of the one place where tables are.
const (
	owner      = 10
	tablespace = 1663
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

// pgDescriptions are the comments of tables, and of columns by their numbers.
func pgDescriptions(e *Env, _ Where, r *rows) error {
	class := RelationOID(PGCatalog, "pg_class")
	return eachTable(e, Where{}, func(t *engine.Table) error {
		oid := tableOID(t.Schema.ID)
		if text := t.Schema.Options.Comment; text != "" {
			r.add(oid, class, 0, text)
		}
		for i := range t.Schema.Columns {
			if text := t.Schema.Columns[i].Comment; text != "" {
				r.add(oid, class, i+1, text)
			}
		}
		return nil
	})
}

// pgRoles is the user of the session: nobody learns of others.
func pgRoles(e *Env, _ Where, r *rows) error {
	if e.User != "" {
		all := e.Rights == "" || e.Rights == "ALL PRIVILEGES"
		r.add(owner, e.User, all, true, false, all, true, false, all, -1)
	}
	return nil
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
		r.add(t.oid, t.name, SchemaOID(t.db), 0, 0, owner, 2, 0, float64(t.rows), 0, false, "p", t.kind,
			len(t.columns), 0, false, false, false, false, "d", false, false, false, 0)
	})
}

func pgAttributes(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		for i, c := range t.columns {
			p := pgTypeOf(c.Type)
			r.add(t.oid, c.Name, p.OID, p.size, i+1, typmod(c.Type), !c.Nullable, hasDefault(&c), "", "", false, 0, 0,
				true, 0, "p", "", -1)
		}
	})
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
		r.add(t.OID, t.Name, SchemaOID(PGCatalog), owner, t.size, "b", t.category, 0, elements[t.OID], t.array, 0, -1,
			0, false, ",", t.Name+"in", true)
	}
	return nil
}

func pgDatabases(_ *Env, _ Where, r *rows) error {
	r.add(made("database", Catalog), Catalog, owner, 6, "c", false, true, -1, tablespace, "C", "C")
	return nil
}

func pgTables(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		if t.kind == "r" {
			r.add(t.db, t.name, nil, nil, false, false, false, false)
		}
	})
}

func pgViews(e *Env, _ Where, r *rows) error {
	return eachView(e, Where{}, func(v View) { r.add(v.DB, v.Name, nil, v.Definition) })
}
