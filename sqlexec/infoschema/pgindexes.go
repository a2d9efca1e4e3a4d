package infoschema

import (
	"strconv"
	"strings"

	"varve/engine/schema"
	"varve/sqlexec/parse"
)

// pgIndex is a key or index of a table as clients of the wire protocol see it.
type pgIndex struct {
	oid     int64
	name    string
	method  int64 // of pgAccess
	columns []int // positions, from 0
	// primary and unique: the key of a table in which no two rows have the same. In append mode rows with equal keys
	// stay, and the key is an index like others.
	primary, unique bool
}

// pgAccess are the kinds of tables and indexes, by their numbers. The key is what others call a B-tree: rows in its
// order.
var pgAccess = []struct {
	oid        int64
	name, kind string
}{{2, "heap", "t"}, {methodKey, "btree", "i"}, {methodInverted, "inverted", "i"}, {methodSkipping, "skipping", "i"},
	{methodFulltext, "fulltext", "i"}}

const (
	methodKey      = 403
	methodInverted = 9001 + iota
	methodSkipping
	methodFulltext
)

// operatorClass is the number of the operators of an access method; there is one class for each.
func operatorClass(method int64) int64 { return method + 1000 }

// pgIndexesOf are the key of a table and the indexes of its columns.
func pgIndexesOf(t *schema.Table) []pgIndex {
	key := pgIndex{name: t.Name.Table + "_pkey", method: methodKey, primary: !t.Options.AppendMode,
		unique: !t.Options.AppendMode}
	if !key.primary {
		key.name = t.Name.Table + "_key_idx"
	}
	key.columns = append(append(key.columns, t.Tags...), t.Time)
	list := []pgIndex{key}
	for i := range t.Columns {
		for _, x := range t.Columns[i].Indexes {
			one := pgIndex{method: methodInverted, columns: []int{i}}
			switch x.Kind {
			case schema.Skipping:
				one.method = methodSkipping
			case schema.Fulltext:
				one.method = methodFulltext
			}
			one.name = t.Name.Table + "_" + t.Columns[i].Name + "_" + strings.ToLower(IndexWord(x.Kind)) + "_idx"
			list = append(list, one)
		}
	}
	for n := range list {
		list[n].oid = indexOID(t.ID, n)
		if n >= 1<<7 { // beside the numbers of the next table
			list[n].oid = made("index", t.Name.DB+"\x00"+list[n].name)
		}
	}
	return list
}

// numbers are the columns as pg_index has them, from 1 on.
func (x *pgIndex) numbers() []int64 {
	list := make([]int64, len(x.columns))
	for i, c := range x.columns {
		list[i] = int64(c) + 1
	}
	return list
}

// same is a list with one value for each column.
func (x *pgIndex) same(v int64) []int64 {
	list := make([]int64, len(x.columns))
	for i := range list {
		list[i] = v
	}
	return list
}

// words are numbers as clients read them in pg_index.
func words(list []int64) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(text, " ")
}

// names are the columns in the order of the index, as DDL writes them.
func (x *pgIndex) names(t *relation) []string {
	list := make([]string, len(x.columns))
	for i, c := range x.columns {
		list[i] = parse.QuoteIdent(t.columns[c].Name)
	}
	return list
}

// definition is the index as the DDL of clients has it.
func (x *pgIndex) definition(t *relation) string {
	text := "CREATE INDEX "
	if x.unique {
		text = "CREATE UNIQUE INDEX "
	}
	method := ""
	for _, m := range pgAccess {
		if m.oid == x.method {
			method = m.name
		}
	}
	return text + parse.QuoteIdent(x.name) + " ON " + parse.QuoteIdent(t.db) + "." + parse.QuoteIdent(t.name) +
		" USING " + method + " (" + strings.Join(x.names(t), ", ") + ")"
}

// eachIndex calls f for the indexes of all tables.
func eachIndex(e *Env, f func(t *relation, x *pgIndex)) error {
	return relations(e, func(t *relation) {
		for i := range t.indexes {
			f(t, &t.indexes[i])
		}
	})
}

func pgMethods(_ *Env, _ Where, r *rows) error {
	for _, m := range pgAccess {
		r.row("oid", m.oid, "amname", m.name, "amtype", m.kind)
	}
	return nil
}

func pgOperatorClasses(_ *Env, _ Where, r *rows) error {
	for _, m := range pgAccess {
		if m.kind == "i" {
			r.row("oid", operatorClass(m.oid), "opcmethod", m.oid, "opcname", m.name+"_ops",
				"opcnamespace", SchemaOID(PGCatalog), "opcowner", owner, "opcintype", 25, "opcdefault", true)
		}
	}
	return nil
}

func pgIndexes(e *Env, _ Where, r *rows) error {
	return eachIndex(e, func(t *relation, x *pgIndex) {
		n := len(x.columns)
		r.row("indexrelid", x.oid, "indrelid", t.oid, "indnatts", n, "indnkeyatts", n, "indisunique", x.unique,
			"indisprimary", x.primary, "indimmediate", true, "indisvalid", true, "indisready", true, "indislive", true,
			"indkey", words(x.numbers()), "indcollation", words(x.same(0)),
			"indclass", words(x.same(operatorClass(x.method))),
			"indoption", words(x.same(0)))
	})
}

func pgIndexTexts(e *Env, _ Where, r *rows) error {
	return eachIndex(e, func(t *relation, x *pgIndex) {
		r.row("schemaname", t.db, "tablename", t.name, "indexname", x.name, "indexdef", x.definition(t))
	})
}

// pgConstraints are the keys.
func pgConstraints(e *Env, _ Where, r *rows) error {
	return eachIndex(e, func(t *relation, x *pgIndex) {
		if x.primary {
			r.row("oid", x.constraint(), "conname", x.name, "connamespace", SchemaOID(t.db), "contype", "p",
				"convalidated", true, "conrelid", t.oid, "conindid", x.oid, "conislocal", true, "connoinherit", true,
				"confupdtype", " ", "confdeltype", " ", "confmatchtype", " ", "conkey", x.numbers())
		}
	})
}

// constraint is the number of the constraint of a key. Numbers count within their table of the catalog.
func (x *pgIndex) constraint() int64 { return x.oid }

// PGDefinitions is a table of ours, by which functions such as pg_get_indexdef find texts: the definition of an index
// at place 0 and its columns at the places from 1 on, that of a key at place -1, and the query of a view at place 0.
const PGDefinitions = "pg_definitions"

func fillDefinitions(e *Env, _ Where, r *rows) error {
	return relations(e, func(t *relation) {
		if t.query != "" {
			r.row("defined_oid", t.oid, "defined_place", 0, "defined_text", t.query)
		}
		for i := range t.indexes {
			x := &t.indexes[i]
			r.row("defined_oid", x.oid, "defined_place", 0, "defined_text", x.definition(t))
			names := x.names(t)
			for i, name := range names {
				r.row("defined_oid", x.oid, "defined_place", i+1, "defined_text", name)
			}
			if x.primary {
				r.row("defined_oid", x.constraint(), "defined_place", -1,
					"defined_text", "PRIMARY KEY ("+strings.Join(names, ", ")+")")
			}
		}
	})
}
