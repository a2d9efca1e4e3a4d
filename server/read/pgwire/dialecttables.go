package pgwire

import (
	"strconv"
	"strings"

	"varve/server/web"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// aboutTables adds the functions that tell sizes and comments of tables. They stand for queries of the catalog.
func aboutTables() {
	size := func(columns ...string) func(*conn, *parse.Call) parse.Expr {
		return func(k *conn, c *parse.Call) parse.Expr {
			if len(c.Args) == 0 {
				return nil
			}
			var sum parse.Expr
			for _, name := range columns {
				if name, less := strings.CutPrefix(name, "-"); less {
					sum = &parse.Binary{Node: c.Node, Op: "-", L: sum, R: columnOf(c.Node, name)}
				} else {
					sum = columnOf(c.Node, name)
				}
			}
			where := equals(c.Node, "sized_oid", k.tableNumber(c.Args[0]))
			return aggregated(c.Node, "max", sum, infoschema.PGSizes, where)
		}
	}
	catalogCalls["pg_total_relation_size"] = size("sized_bytes")
	catalogCalls["pg_relation_size"] = size("sized_bytes", "-sized_indexes")
	catalogCalls["pg_table_size"] = size("sized_bytes", "-sized_indexes")
	catalogCalls["pg_indexes_size"] = size("sized_indexes")
	catalogCalls["pg_database_size"] = func(_ *conn, c *parse.Call) parse.Expr {
		return aggregated(c.Node, "sum", columnOf(c.Node, "sized_bytes"), infoschema.PGSizes, nil)
	}
	catalogCalls["pg_tablespace_size"] = catalogCalls["pg_database_size"]
	catalogCalls["pg_size_pretty"] = prettySize
	definition := func(place string) func(*conn, *parse.Call) parse.Expr {
		return func(k *conn, c *parse.Call) parse.Expr {
			if len(c.Args) == 0 {
				return nil
			}
			at := numberOf(c.Node, place)
			if c.Name == "pg_get_indexdef" && len(c.Args) == 3 {
				at = c.Args[1]
			}
			where := &parse.Binary{Node: c.Node, Op: "and", L: equals(c.Node, "defined_oid", k.tableNumber(c.Args[0])),
				R: equals(c.Node, "defined_place", at)}
			return aggregated(c.Node, "max", columnOf(c.Node, "defined_text"), infoschema.PGDefinitions, where)
		}
	}
	catalogCalls["pg_get_indexdef"] = definition("0")
	catalogCalls["pg_get_viewdef"] = definition("0")
	catalogCalls["pg_get_constraintdef"] = definition("-1")
	comment := func(k *conn, c *parse.Call, column parse.Expr) parse.Expr {
		where := &parse.Binary{Node: c.Node, Op: "and", L: equals(c.Node, "commented_oid", k.tableNumber(c.Args[0])),
			R: equals(c.Node, "commented_column", column)}
		return aggregated(c.Node, "max", columnOf(c.Node, "comment_text"), infoschema.PGComments, where)
	}
	catalogCalls["obj_description"] = func(k *conn, c *parse.Call) parse.Expr {
		if len(c.Args) == 0 {
			return nil
		}
		return comment(k, c, numberOf(c.Node, "0"))
	}
	catalogCalls["col_description"] = func(k *conn, c *parse.Call) parse.Expr {
		if len(c.Args) != 2 {
			return nil
		}
		return comment(k, c, c.Args[1])
	}
}

// tableFunctions are functions in FROM, without arguments but for aclexplode, and the tables of the catalog that stand
// for them.
var tableFunctions = map[string]string{"pg_show_all_settings": "pg_settings", "pg_get_keywords": infoschema.PGKeywords,
	"pg_timezone_names": "pg_timezone_names", "pg_timezone_abbrevs": "pg_timezone_abbrevs",
	"pg_available_extensions": "pg_available_extensions", "pg_cursor": "pg_cursors",
	"pg_prepared_statement": "pg_prepared_statements", "pg_prepared_xact": "pg_prepared_xacts",
	"pg_lock_status": "pg_locks", "pg_get_replication_slots": "pg_replication_slots",
	"aclexplode": infoschema.PGRights}

// tableFunction is the table that stands for a function in FROM; nil: none does.
func tableFunction(c *parse.Call) parse.Name {
	name := tableFunctions[c.Name]
	if name == "" || len(c.Args) > 0 && name != infoschema.PGRights {
		return nil
	}
	return parse.Name{{Name: infoschema.PGCatalog, At: c.At}, {Name: name, At: c.At}}
}

// columnsTable puts the table that tells of columns by the types that clients know in the place of
// information_schema.columns in FROM.
func columnsTable(from parse.TableRef) {
	switch t := from.(type) {
	case *parse.Join:
		columnsTable(t.L)
		columnsTable(t.R)
	case *parse.Table:
		if len(t.Name) != 2 || t.Name[0].Name != infoschema.DB || t.Name[1].Name != "columns" {
			return
		}
		if t.Alias == nil {
			t.Alias = &parse.Alias{Name: t.Name[1]}
		}
		t.Name = parse.Name{{Name: infoschema.PGCatalog, At: t.At}, {Name: infoschema.PGColumnTypes, At: t.At}}
	}
}

func columnOf(at parse.Node, name string) parse.Expr {
	return &parse.Column{Node: at, Parts: parse.Name{{Name: name, At: at.At}}}
}

func equals(at parse.Node, column string, x parse.Expr) parse.Expr {
	return &parse.Binary{Node: at, Op: "=", L: columnOf(at, column), R: x}
}

// aggregated is an aggregate of the rows of a table of the catalog as a value; where nil: of all rows.
func aggregated(at parse.Node, function string, x parse.Expr, table string, where parse.Expr) parse.Expr {
	from := &parse.Table{Node: at, Name: parse.Name{{Name: infoschema.PGCatalog, At: at.At}, {Name: table, At: at.At}}}
	item := &parse.Call{Node: at, Name: function, Args: []parse.Expr{x}}
	return &parse.Subquery{Node: at, Query: &parse.Query{Node: at, Body: &parse.Select{Node: at,
		Items: []parse.SelectItem{{X: item}}, From: []parse.TableRef{from}, Where: where}}}
}

// tableNumber is the number of a table: of the literal that names it, else what the expression is.
func (k *conn) tableNumber(x parse.Expr) parse.Expr {
	lit, ok := x.(*parse.Literal)
	if !ok || lit.Kind != parse.StringLiteral {
		return x
	}
	if named := k.relation(lit.Node, lit); named != nil {
		return named
	}
	return x
}

// prettySize is a number of bytes as a text: 10 kB.
func prettySize(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) != 1 {
		return nil
	}
	binary := func(op string, l, r parse.Expr) parse.Expr { return &parse.Binary{Node: c.Node, Op: op, L: l, R: r} }
	of := func(n int64) parse.Expr { return numberOf(c.Node, strconv.FormatInt(n, 10)) }
	shown := &parse.Case{Node: c.Node}
	unit := int64(1)
	for i, name := range []string{"bytes", "kB", "MB", "GB", "TB"} {
		x := c.Args[0]
		most := 10 * unit << 10
		if i > 0 { // rounded
			x = binary("/", binary("+", x, of(unit/2)), of(unit))
			most = 10*unit<<10 - unit/2
		}
		text := binary("||", &parse.Cast{Node: c.Node, X: x, Type: sqlType(c.Node, "STRING")}, textOf(c.Node, " "+name))
		if name == "TB" {
			most = 1<<63 - 1
		}
		shown.Whens = append(shown.Whens, parse.When{If: binary("<", c.Args[0], of(most)), Then: text})
		unit <<= 10
	}
	return shown
}

// hasPrivilege answers whether the user of the connection has one of the privileges that the last argument names. What
// other users may do it does not tell: NULL.
func hasPrivilege(k *conn, c *parse.Call) parse.Expr {
	unknown := &parse.Cast{Node: c.Node, X: &parse.Literal{Node: c.Node, Kind: parse.NullLiteral},
		Type: sqlType(c.Node, "BOOLEAN")}
	if len(c.Args) < 2 {
		return nil
	}
	of, names := c.Args[0], c.Args[len(c.Args)-1]
	if most := 2; len(c.Args) > most && c.Name != "has_column_privilege" || len(c.Args) > 3 {
		if user, ok := of.(*parse.Literal); ok && user.Kind == parse.StringLiteral && user.Text != k.user.Name {
			return unknown
		}
	}
	lit, ok := names.(*parse.Literal)
	if !ok || lit.Kind != parse.StringLiteral {
		return unknown
	}
	kind := parse.FalseLiteral
	for name := range strings.SplitSeq(strings.ToUpper(lit.Text), ",") {
		name = strings.TrimSuffix(strings.TrimSpace(name), " WITH GRANT OPTION")
		may, ok := mayDo(k.user.Mode, name)
		if !ok {
			return nil
		}
		if may {
			kind = parse.TrueLiteral
		}
	}
	return &parse.Literal{Node: c.Node, Kind: kind}
}

// mayDo reports whether users of a mode have a privilege; ok: there is one of the name.
func mayDo(mode web.Mode, name string) (may, ok bool) {
	switch name {
	case "SELECT":
		return mode != web.WriteOnly, true
	case "INSERT", "DELETE", "TRUNCATE", "CREATE":
		return mode != web.ReadOnly, true
	case "UPDATE", "REFERENCES", "TRIGGER", "RULE", "MAINTAIN", "TEMPORARY", "TEMP": // there are no such things
		return false, true
	case "CONNECT", "USAGE", "EXECUTE", "MEMBER", "SET":
		return true, true
	}
	return false, false
}
