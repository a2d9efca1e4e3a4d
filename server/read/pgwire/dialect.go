package pgwire

import (
	"slices"
	"strconv"
	"strings"

	"varve/sqlexec"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// dialect is how clients write SQL: with parameters, and with functions and casts that look at the catalog. These stand
// for expressions of our SQL, so that no other client gets to see them.
// catalog is set where the text reads the catalog.
func (k *conn) dialect(parameter func(n int, at parse.Node) (parse.Expr, error), catalog *bool) *parse.Dialect {
	var places []parse.Pos // of parameters, ascending
	value := func(n int, at parse.Node) (parse.Expr, error) {
		for len(places) > 0 && places[len(places)-1] >= at.At { // the text is read once more from here
			places = places[:len(places)-1]
		}
		places = append(places, at.At)
		x, err := parameter(n, at)
		if err != nil {
			return nil, err
		}
		if list, ok := x.(*parse.Array); ok {
			for i, one := range list.Items {
				if list.Items[i], err = k.valueCast(one); err != nil {
					return nil, err
				}
			}
		}
		return k.valueCast(x)
	}
	pairs := expanded{}
	var nested nesting
	call := func(c *parse.Call) (parse.Expr, error) {
		switch c.Name {
		case "date_part": // whose type depends on the unit: it is told before the unit is known
			if len(c.Args) == 2 {
				if _, ok := slices.BinarySearch(places, c.Args[0].Position()); ok {
					return &parse.Cast{Node: c.Node, X: c, Type: sqlType(c.Node, "DOUBLE")}, nil
				}
			}
		default:
			if n := repeats[c.Name]; n > 0 && !nested.enter(c.At, n) {
				return c, nil
			}
		}
		if x := pairs.call(c); x != parse.Expr(c) {
			return x, nil
		}
		if x, err := k.timeCall(c); err != nil || x != parse.Expr(c) {
			return x, err
		}
		return k.call(c), nil
	}
	return &parse.Dialect{Parameter: value, Call: call, Cast: k.cast, List: listOf, Insert: k.insert,
		Default: k.columnDefault, Index: index, Items: itemsOf, Table: tableFunction,
		Field: pairs.field, Select: func(s *parse.Select) {
			for _, from := range s.From {
				columnsTable(from)
				*catalog = *catalog || readsCatalog(from)
			}
			wholeRows(s)
			series(s)
		}}
}

// repeats are the calls for which an expression stands that has an argument more than once; they nest up to a sum of 3.
var repeats = map[string]int{"pg_size_pretty": 3, "quote_ident": 1, "format_type": 1, "format": 1}

// nesting counts how deep calls lie in one another. Those inside are read before those around them.
type nesting []struct {
	at    parse.Pos
	depth int
}

// enter takes a call at a place, which adds to the depth of those inside, and reports whether it is at most 3 deep.
func (n *nesting) enter(at parse.Pos, adds int) bool {
	depth, last := adds, len(*n)-1
	for ; last >= 0 && (*n)[last].at > at; last-- {
		depth = max(depth, (*n)[last].depth+adds)
	}
	*n = append((*n)[:last+1], struct {
		at    parse.Pos
		depth int
	}{at, depth})
	return depth <= 3
}

// valueCast is the cast of a parameter's value, or what stands for it.
func (k *conn) valueCast(x parse.Expr) (parse.Expr, error) {
	if c, ok := x.(*parse.Cast); ok {
		return k.castLiteral(c)
	}
	return x, nil
}

// call is what stands for a call.
func (k *conn) call(c *parse.Call) parse.Expr {
	if c.Over != nil || c.Filter != nil || c.Star || c.Distinct {
		return c
	}
	if c.Name == "set_config" {
		return k.setConfig(c)
	}
	if c.Name == "current_setting" && len(c.Args) > 0 && isNull(c.Args[0]) { // or a parameter without a value
		return nullText(c.Node)
	}
	if text, ok := k.constant(c); ok {
		return textOf(c.Node, text)
	}
	if listCalls[c.Name] && catalogCalls[c.Name] == nil {
		for i, x := range c.Args {
			c.Args[i] = itemsOf(x)
		}
	}
	if made := catalogCalls[c.Name]; made != nil {
		if x := made(k, c); x != nil {
			return x
		}
	}
	return c
}

// setConfig stands in for a call of set_config, whose parameter is changed when the statement runs, see configure.
func (k *conn) setConfig(c *parse.Call) parse.Expr {
	if len(c.Args) != 3 {
		return c
	}
	if !k.binding { // an expression of the type of the call, whose parameters have those of the arguments
		as := func(i int, name string) parse.Expr {
			return &parse.Cast{Node: c.Node, X: c.Args[i], Type: sqlType(c.Node, name)}
		}
		return &parse.Case{Node: c.Node, Whens: []parse.When{{If: as(2, "BOOLEAN"), Then: as(1, "STRING")}},
			Else: as(0, "STRING")}
	}
	one := config{text: nullText(c.Node)}
	name, ok := literalOf(c.Args[0], parse.StringLiteral)
	value, given := literalOf(c.Args[1], parse.StringLiteral, parse.NumberLiteral)
	_, null := literalOf(c.Args[1], parse.NullLiteral)
	_, local := literalOf(c.Args[2], parse.TrueLiteral)
	_, lasting := literalOf(c.Args[2], parse.FalseLiteral)
	if text, ok := literalOf(c.Args[2], parse.StringLiteral); ok { // a parameter whose type the client left open
		on, err := checkSwitch(k, text)
		local, lasting = err == nil && on == "on", err == nil && on == "off"
	}
	if ok && (given || null) && (local || lasting) {
		one.name, one.value, one.null, one.local = name, value, null, local
	}
	switch {
	case given:
		one.text = textOf(c.Node, value)
	case null && known[strings.ToLower(name)] != nil:
		one.text = textOf(c.Node, k.settings.first(name))
	}
	k.configs = append(k.configs, one)
	return one.text
}

// constant is the value of a call that is the same for all rows.
func (k *conn) constant(c *parse.Call) (string, bool) {
	switch c.Name {
	case "version":
		return "PostgreSQL " + serverVersion + " (Varve " + k.s.o.Version + ")", true
	case "current_database", "current_catalog":
		return sqlexec.Catalog, true
	case "pg_get_userbyid", "current_role":
		return k.user.Name, true
	case "pg_encoding_to_char", "getdatabaseencoding", "pg_client_encoding":
		return "UTF8", true
	case "current_setting":
		if len(c.Args) > 0 {
			name, ok := literalOf(c.Args[0], parse.StringLiteral)
			if name = strings.ToLower(name); ok && known[name] != nil {
				return k.settings.shown(k, name), true
			}
		}
	}
	return "", false
}

// catalogCalls are the functions that look at the catalog. nil: the call stays what it is.
var catalogCalls = map[string]func(k *conn, c *parse.Call) parse.Expr{}

func init() {
	always := func(kind parse.LiteralKind) func(*conn, *parse.Call) parse.Expr {
		return func(_ *conn, c *parse.Call) parse.Expr { return &parse.Literal{Node: c.Node, Kind: kind} }
	}
	for _, name := range strings.Fields(`pg_type_is_visible pg_function_is_visible pg_operator_is_visible
		pg_opclass_is_visible pg_opfamily_is_visible pg_collation_is_visible pg_conversion_is_visible
		pg_statistics_obj_is_visible pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible
		pg_ts_template_is_visible`) {
		catalogCalls[name] = always(parse.TrueLiteral)
	}
	for _, name := range strings.Fields(`has_table_privilege has_schema_privilege has_database_privilege
		has_column_privilege has_any_column_privilege has_function_privilege has_type_privilege has_sequence_privilege
		pg_has_role`) {
		catalogCalls[name] = hasPrivilege
	}
	for _, name := range strings.Fields(`pg_is_in_recovery pg_is_wal_replay_paused pg_relation_is_publishable
		pg_is_other_temp_schema`) {
		catalogCalls[name] = always(parse.FalseLiteral)
	}
	null := func(_ *conn, c *parse.Call) parse.Expr { return nullText(c.Node) }
	for _, name := range strings.Fields(`shobj_description pg_get_ruledef pg_get_triggerdef pg_get_partkeydef pg_get_statisticsobjdef_columns pg_get_function_arguments
		pg_get_function_result pg_get_function_identity_arguments pg_get_serial_sequence pg_tablespace_location
		inet_server_addr inet_client_addr`) {
		catalogCalls[name] = null
	}
	number := func(n string) func(*conn, *parse.Call) parse.Expr {
		return func(_ *conn, c *parse.Call) parse.Expr { return numberOf(c.Node, n) }
	}
	for _, name := range strings.Fields("pg_my_temp_schema txid_current") {
		catalogCalls[name] = number("0")
	}
	catalogCalls["pg_char_to_encoding"] = number("6")
	aboutTables()
	addBackendCalls()
	catalogCalls["pg_get_expr"] = first
	catalogCalls["aclexplode"] = func(_ *conn, c *parse.Call) parse.Expr { // rights are not told by the catalog
		return callOf(c.Node, "unnest", emptyList(sqlType(c.Node, "STRING"), c.Node))
	}
	lists()
	texts()
	catalogCalls["format_type"] = formatType
	catalogCalls["json_build_object"] = func(_ *conn, c *parse.Call) parse.Expr { // of columns that count: none does
		if len(c.Args) == 0 {
			return nil
		}
		of := c.Args[0]
		if cast, ok := of.(*parse.Cast); ok {
			of = cast.X
		}
		if lit, ok := of.(*parse.Literal); !ok || lit.Kind == parse.StringLiteral && !unusedObjects[lit.Text] {
			return callOf(c.Node, "json_object", c.Args...)
		}
		return nullText(c.Node)
	}
	catalogCalls["jsonb_build_object"] = catalogCalls["json_build_object"]
	catalogCalls["parse_ident"] = parseIdent
	catalogCalls["pg_blocking_pids"] = func(_ *conn, c *parse.Call) parse.Expr {
		return emptyList(sqlType(c.Node, "BIGINT"), c.Node)
	}
	catalogCalls["current_setting"] = func(_ *conn, c *parse.Call) parse.Expr {
		if len(c.Args) == 0 {
			return nil
		}
		if _, fixed := literalOf(c.Args[0], parse.StringLiteral); fixed { // there is none of the name
			if _, missing := literalOf(c.Args[len(c.Args)-1], parse.TrueLiteral); missing {
				return nullText(c.Node)
			}
			return nil
		}
		return aggregated(c.Node, "max", columnOf(c.Node, "setting_value"), infoschema.PGSettingValues,
			equals(c.Node, "setting_of", c.Args[0]))
	}
	catalogCalls["to_regtype"] = func(_ *conn, c *parse.Call) parse.Expr {
		if len(c.Args) != 1 {
			return nil
		}
		return typeNumber(c.Node, c.Args[0])
	}
	catalogCalls["pg_table_is_visible"] = visible
	catalogCalls["to_regclass"] = func(k *conn, c *parse.Call) parse.Expr {
		if len(c.Args) != 1 {
			return nil
		}
		return k.relation(c.Node, c.Args[0])
	}
	catalogCalls["current_schemas"] = func(k *conn, c *parse.Call) parse.Expr {
		list := &parse.Array{Node: c.Node}
		if len(c.Args) == 1 {
			if lit, ok := c.Args[0].(*parse.Literal); ok && lit.Kind == parse.TrueLiteral {
				list.Items = append(list.Items, textOf(c.Node, infoschema.PGCatalog))
			}
		}
		list.Items = append(list.Items, textOf(c.Node, k.session.DB))
		return list
	}
}

func textOf(at parse.Node, text string) parse.Expr {
	return &parse.Literal{Node: at, Kind: parse.StringLiteral, Text: text}
}

func numberOf(at parse.Node, n string) parse.Expr {
	return &parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: n}
}

func nullText(at parse.Node) parse.Expr {
	return &parse.Cast{Node: at, X: &parse.Literal{Node: at, Kind: parse.NullLiteral}, Type: sqlType(at, "STRING")}
}

// isNull reports whether an expression is NULL, or a cast of it.
func isNull(x parse.Expr) bool {
	for c, ok := x.(*parse.Cast); ok; c, ok = x.(*parse.Cast) {
		x = c.X
	}
	_, ok := literalOf(x, parse.NullLiteral)
	return ok
}

func sqlType(at parse.Node, name string) parse.DataType { return parse.DataType{At: at.At, Name: name} }

// first is the first argument as a text: the catalog keeps expressions as texts.
func first(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) == 0 {
		return nil
	}
	return &parse.Cast{Node: c.Node, X: c.Args[0], Type: sqlType(c.Node, "STRING")}
}

// formatType is the name of a type by its number.
func formatType(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) == 0 {
		return nil
	}
	names := &parse.Case{Node: c.Node, Operand: c.Args[0], Else: textOf(c.Node, "???")}
	for _, t := range infoschema.PGTypes {
		shown := textOf(c.Node, t.Shown)
		if t.Name == "numeric" && len(c.Args) == 2 && !isNull(c.Args[1]) {
			shown = decimalName(c.Node, c.Args[1])
		}
		names.Whens = append(names.Whens, parse.When{If: numberOf(c.Node, strconv.Itoa(int(t.OID))), Then: shown})
	}
	return names
}

// decimalName is the name of a decimal number with the digits that a modifier says.
func decimalName(at parse.Node, modifier parse.Expr) parse.Expr {
	binary := func(op string, l, r parse.Expr) parse.Expr { return &parse.Binary{Node: at, Op: op, L: l, R: r} }
	digits := func(op string) parse.Expr {
		number := binary(op, binary("-", modifier, numberOf(at, "4")), numberOf(at, "65536"))
		return &parse.Cast{Node: at, X: number, Type: sqlType(at, "STRING")}
	}
	known := binary("||", binary("||", binary("||", binary("||", textOf(at, "numeric("), digits("/")), textOf(at, ",")),
		digits("%")), textOf(at, ")"))
	return &parse.Case{Node: at, Whens: []parse.When{{If: binary(">=", modifier, numberOf(at, "4")), Then: known}},
		Else: textOf(at, "numeric")}
}

// visible is whether a table is in the current database.
func visible(k *conn, c *parse.Call) parse.Expr {
	if len(c.Args) != 1 {
		return nil
	}
	return &parse.In{Node: c.Node, X: c.Args[0], Query: k.relations(c.Node, "oid", nil)}
}

// relations is the query of a column of the tables of the current database that have a name; name nil: of all.
func (k *conn) relations(at parse.Node, column string, name parse.Expr) *parse.Query {
	of := func(name string) parse.Expr {
		return &parse.Column{Node: at, Parts: parse.Name{{Name: name, At: at.At}}}
	}
	is := func(column string, x parse.Expr) parse.Expr {
		return &parse.Binary{Node: at, Op: "=", L: of(column), R: x}
	}
	where := is("relnamespace", numberOf(at, strconv.FormatInt(infoschema.SchemaOID(k.session.DB), 10)))
	if name != nil {
		where = &parse.Binary{Node: at, Op: "and", L: where, R: is("relname", name)}
	}
	from := &parse.Table{Node: at, Name: parse.Name{{Name: infoschema.PGCatalog, At: at.At},
		{Name: "pg_class", At: at.At}}}
	return &parse.Query{Node: at, Body: &parse.Select{Node: at, Items: []parse.SelectItem{{X: of(column)}},
		From: []parse.TableRef{from}, Where: where}}
}

// relation is the number of the table that a literal names.
func (k *conn) relation(at parse.Node, x parse.Expr) parse.Expr {
	lit, ok := x.(*parse.Literal)
	if !ok || lit.Kind != parse.StringLiteral {
		return nil
	}
	if _, err := strconv.ParseInt(lit.Text, 10, 64); err == nil {
		return numberOf(at, lit.Text)
	}
	words := parse.Lexemes(lit.Text, 8)
	if len(words) == 0 {
		return nil
	}
	name, db := words[len(words)-1].Text, k.session.DB
	if len(words) >= 3 {
		db = words[len(words)-3].Text
	}
	if db == infoschema.PGCatalog || strings.HasPrefix(name, "pg_") {
		return numberOf(at, strconv.FormatInt(infoschema.RelationOID(infoschema.PGCatalog, name), 10))
	}
	session := k.session.DB
	defer func() { k.session.DB = session }()
	k.session.DB = db
	return &parse.Subquery{Node: at, Query: k.relations(at, "oid", textOf(at, name))}
}

// typeNumber is the number of the type that a literal names; NULL if there is none.
func typeNumber(at parse.Node, x parse.Expr) parse.Expr {
	if lit, ok := x.(*parse.Literal); ok && lit.Kind == parse.StringLiteral {
		for _, t := range infoschema.PGTypes {
			if strings.EqualFold(lit.Text, t.Name) || strings.EqualFold(lit.Text, t.Shown) {
				return numberOf(at, strconv.FormatInt(t.OID, 10))
			}
		}
	}
	return &parse.Cast{Node: at, X: &parse.Literal{Node: at, Kind: parse.NullLiteral}, Type: sqlType(at, "BIGINT")}
}

// unusedObjects are the first keys of the JSON objects by which a library asks for sequences and collations of columns.
var unusedObjects = map[string]bool{"always": true, "collation": true, "schema": true, "name": true}

// castNames are types that only clients of the protocol name, and the types that stand for them.
var castNames = map[string]string{"NAME": "STRING", "OID": "INT UNSIGNED", "XID": "BIGINT", "REGPROC": "STRING",
	"REGROLE": "STRING", "REGNAMESPACE": "STRING", "BPCHAR": "STRING", "JSONB": "JSON", "CITEXT": "STRING",
	"PG_NODE_TREE": "STRING", "PG_LSN": "STRING", "INT2VECTOR": "STRING", "OIDVECTOR": "STRING", "UNKNOWN": "STRING",
	"ACLITEM": "STRING", "REGOPERATOR": "STRING", "REGOPER": "STRING", "REGPROCEDURE": "STRING",
	"REGCONFIG": "STRING", "REGDICTIONARY": "STRING", "REGCOLLATION": "STRING"}

// cast is what stands for a cast.
func (k *conn) cast(c *parse.Cast) (parse.Expr, error) {
	switch c.Type.Name {
	case "REGCLASS":
		if c.Type.IsArray {
			break
		}
		if x := k.relation(c.Node, c.X); x != nil {
			return x, nil
		}
		return &parse.Cast{Node: c.Node, X: c.X, Type: sqlType(c.Node, "STRING")}, nil
	case "REGTYPE":
		if lit, ok := c.X.(*parse.Literal); ok && lit.Kind == parse.StringLiteral {
			return typeNumber(c.Node, lit), nil
		}
		return formatType(k, &parse.Call{Node: c.Node, Args: []parse.Expr{c.X}}), nil
	}
	if c.Type.IsArray {
		c.X = itemsOf(c.X)
	}
	if name := castNames[c.Type.Name]; name != "" {
		c.Type.Name = name
	}
	if (c.Type.Name == "TIMESTAMP" || c.Type.Name == "TIMESTAMPTZ") && c.Type.Args == nil {
		c.Type.Args = []int{6} // that clients see
	}
	return k.castLiteral(c)
}
