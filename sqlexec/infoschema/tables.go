package infoschema

import (
	"cmp"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

var definitions []*Table

func init() {
	definitions = []*Table{
		{Name: "build_info", Columns: columns("git_branch git_commit git_commit_short git_clean pkg_version"),
			fill: buildInfo},
		{Name: "character_sets", Columns: columns("character_set_name default_collate_name description maxlen:i64"),
			fill: func(_ *Env, _ Where, r *rows) error { r.add("utf8", "utf8_bin", "UTF-8 Unicode", 4); return nil }},
		{Name: "collations",
			Columns: columns("collation_name character_set_name id:i64 is_default is_compiled sortlen:i64"),
			fill: func(_ *Env, _ Where, r *rows) error {
				r.add("utf8_bin", "utf8", 1, "Yes", "Yes", 1)
				return nil
			}},
		{Name: "column_indexes", SchemaColumn: "table_schema", TableColumn: "table_name", fill: columnIndexRows,
			Columns: columns(
				"table_catalog table_schema table_name column_name index_kind parts:u64 bytes:u64? asked_by?")},
		{Name: "columns", SchemaColumn: "table_schema", TableColumn: "table_name", fill: columnRows,
			Columns: columns(columnsOfColumns)},
		{Name: "damage", fill: damageRows,
			Columns: columns(
				"table_catalog table_schema? table_name? file_path block:i64? row_count:i64? min_ts:ns? max_ts:ns? reason")},
		{Name: "database_sizes", SchemaColumn: "table_schema", fill: databaseSizes, Columns: columns(`
			table_catalog table_schema size:u64 max_size:u64? near:bool dropped_parts:u64 dropped_rows:u64 dropped_bytes:u64
			dropped_until:ns?`)},
		{Name: "engines", Columns: columns("engine support comment transactions? xa? savepoints?"), fill: engines},
		{Name: "key_column_usage", SchemaColumn: "table_schema", TableColumn: "table_name", fill: keyColumnUsage,
			Columns: columns(`
			constraint_catalog constraint_schema constraint_name table_catalog real_table_catalog table_schema table_name column_name
			ordinal_position:u32 position_in_unique_constraint:u32? referenced_table_schema? referenced_table_name? referenced_column_name?
			service_index_type?`)},
		{Name: "metric_cardinality", SchemaColumn: "table_schema", fill: metricCounts,
			Columns: columns("table_catalog table_schema kind name? count:u64")},
		{Name: "partitions", SchemaColumn: "table_schema", TableColumn: "table_name", fill: partitions,
			Columns: columns(`
			table_catalog table_schema table_name partition_name subpartition_name? partition_ordinal_position:i64?
			subpartition_ordinal_position:i64? partition_method? subpartition_method? partition_expression? subpartition_expression?
			partition_description? table_rows:i64? avg_row_length:i64? data_length:i64? max_data_length:i64? index_length:i64? data_free:i64?
			create_time:s? update_time:s? check_time:s? checksum:i64? partition_comment? nodegroup? tablespace_name? service_partition_id:u64?`)},
		{Name: "process_list", Columns: columns(
			"id catalog schemas query client frontend start_timestamp:ms elapsed_time user"), fill: processList},
		{Name: "region_info", fill: regionInfo, Columns: columns(`
			region_id:u64 table_id:u32 region_number:u32 region_group:u8 region_sequence:u8 state role writable:bool committed_sequence:u64?
			flushed_sequence:u64? manifest_version:u64 compaction_time_window:i64? region_options sst_format node_id:u64`)},
		{Name: "region_statistics", fill: regionStatistics, Columns: columns(`
			region_id:u64 table_id:u32 region_number:u32 region_rows:u64 written_bytes_since_open:u64 query_cpu_time_millis:u64
			query_scanned_bytes:u64 disk_size:u64 memtable_size:u64 manifest_size:u64 sst_size:u64 sst_num:u64 index_size:u64 engine
			region_role`)},
		{Name: "schemata", SchemaColumn: "schema_name", fill: schemata, Columns: columns(
			"catalog_name schema_name default_character_set_name default_collation_name sql_path? options?")},
		{Name: "ssts_manifest", fill: sstsManifest, Columns: columns(`
			table_dir region_id:u64 table_id:u32 region_number:u32 region_group:u8 region_sequence:u8 file_id index_version:u64 level:u8 file_path
			file_size:u64 index_file_path? index_file_size:u64 num_rows:u64 num_row_groups:u64? num_series:u64? min_ts:ns max_ts:ns sequence:u64?
			origin_region_id:u64 node_id:u64 visible:bool primary_key_min? primary_key_max?`)},
		{Name: "ssts_storage", Columns: columns("file_path file_size:u64 last_modified_ms:ms? node_id:u64"),
			fill: sstsStorage},
		{Name: "statistics", SchemaColumn: "table_schema", TableColumn: "table_name", fill: statistics,
			Columns: columns(`
			table_catalog table_schema table_name non_unique:i64 index_schema index_name seq_in_index:i64 column_name collation
			cardinality:i64? sub_part:i64? packed? nullable index_type comment index_comment is_visible expression? service_index_type`)},
		{Name: "table_constraints", SchemaColumn: "table_schema", TableColumn: "table_name", fill: tableConstraints,
			Columns: columns(
				"constraint_catalog constraint_schema constraint_name table_schema table_name constraint_type enforced")},
		{Name: "table_indexes", SchemaColumn: "table_schema", TableColumn: "table_name", fill: tableIndexRows,
			Columns: columns(`
			table_catalog table_schema table_name table_id:u32 parts:u64 data_bytes:u64 index_bytes:u64 zone_bytes:u64 posting_bytes:u64
			filter_bytes:u64 series_bytes:u64 build_seconds:f64`)},
		{Name: "tables", SchemaColumn: "table_schema", TableColumn: "table_name", fill: tableRows, Columns: columns(`
			table_catalog table_schema table_name table_type table_id:u32? data_length:u64? max_data_length:u64? index_length:u64?
			max_index_length:u64? avg_row_length:u64? engine? version:u64? row_format? table_rows:u64? data_free:u64? auto_increment:u64?
			create_time:s? update_time:s? check_time:s? table_collation? checksum:u64? create_options? table_comment? temporary`)},
		{Name: "views", SchemaColumn: "table_schema", TableColumn: "table_name", Columns: columns(`
			table_catalog table_schema table_name view_definition check_option? is_updatable definer? security_type? character_set_client
			collation_connection`), fill: viewRows},
	}
	for _, t := range definitions {
		for _, c := range t.Columns {
			t.Fields = append(t.Fields, vector.Field{Name: c.Name, Type: c.Type})
		}
	}
	sort.Slice(definitions, func(i, j int) bool { return definitions[i].Name < definitions[j].Name })
}

func buildInfo(e *Env, _ Where, r *rows) error {
	commit, clean := "", "true"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					clean = "false"
				}
			}
		}
	}
	r.add("", commit, commit[:min(8, len(commit))], clean, e.Version)
	return nil
}

func engines(_ *Env, _ Where, r *rows) error {
	r.add("metric", "YES", "Storage engine for many small metric tables", "NO", "NO", "NO")
	r.add("mito", "DEFAULT", "Storage engine for time series, logs and traces", "NO", "NO", "NO")
	return nil
}

func schemata(e *Env, w Where, r *rows) error {
	for _, d := range databases(e, w) {
		r.add(Catalog, d.Name, "utf8", "utf8_bin", nil, OptionsText(d.Options))
	}
	return nil
}

// OptionsText is a list of options as schemata and tables show it: key='value' pairs, each on a line.
func OptionsText(options []schema.Option) string {
	var b strings.Builder
	for i, o := range options {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(o.Key + "=" + parse.QuoteText(o.Value))
	}
	return b.String()
}

func createOptions(options []schema.Option) string {
	list := make([]string, len(options))
	for i, o := range options {
		list[i] = o.Key + "=" + o.Value
	}
	return strings.Join(list, " ")
}

func tableRows(e *Env, w Where, r *rows) error {
	eachOwn(w, func(id int, t *Table) {
		r.add(Catalog, DB, t.Name, "LOCAL TEMPORARY", id, 0, 0, 0, 0, 0, nil, 11, "Fixed", 0, 0, 0, nil, nil, nil,
			"utf8_bin", 0, "", nil, "Y")
	})
	if hasNumbers(e, w) {
		r.add(Catalog, engine.PublicDB, Numbers, "LOCAL TEMPORARY", nil, 0, 0, 0, 0, 0, nil, 11, "Fixed", 0, 0, 0, nil,
			nil, nil, "utf8_bin", 0, "", nil, "Y")
	}
	err := eachView(e, w, func(v View) {
		r.add(Catalog, v.DB, v.Name, "VIEW", nil, 0, 0, 0, 0, 0, nil, 11, "Fixed", 0, 0, 0, nil, nil, nil, "utf8_bin",
			0, "", nil, "N")
	})
	if err != nil {
		return err
	}
	return eachTable(e, w, func(t *engine.Table) error {
		s, st := t.Schema, t.Stats()
		created := s.CreatedMS / 1000
		var perRow int64
		if st.Rows > 0 {
			perRow = (st.DiskBytes + st.MemtableBytes) / st.Rows
		}
		r.add(Catalog, s.Name.DB, s.Name.Table, "BASE TABLE", int(s.ID), st.DiskBytes, 0, st.IndexBytes, 0, perRow,
			s.Engine, 11, "Fixed",
			st.Rows, 0, 0, created, created, nil, "utf8_bin", 0, createOptions(s.Options.All), s.Options.Comment, "N")
		return nil
	})
}

func viewRows(e *Env, w Where, r *rows) error {
	return eachView(e, w, func(v View) {
		r.add(Catalog, v.DB, v.Name, v.Definition, nil, "NO", nil, nil, "utf8", "utf8_bin")
	})
}

// columnsOfColumns are the columns of information_schema.columns.
const columnsOfColumns = `
	table_catalog table_schema table_name column_name ordinal_position:i64 character_maximum_length:i64?
	character_octet_length:i64? numeric_precision:i64? numeric_scale:i64? datetime_precision:i64?
	character_set_name? collation_name? column_key extra privileges generation_expression? service_data_type
	data_type semantic_type column_default? is_nullable column_type column_comment? srs_id:i64?`

func columnRows(e *Env, w Where, r *rows) error {
	return eachColumn(e, w, func(db, table string, i int, c *schema.Column, key string) {
		r.add(columnRow(db, table, i, c, key)...)
	})
}

// eachColumn calls f for the columns of all tables and views, with the word of column_key.
func eachColumn(e *Env, w Where, f func(db, table string, i int, c *schema.Column, key string)) error {
	eachOwn(w, func(_ int, t *Table) {
		for i := range t.Columns {
			f(DB, t.Name, i, &t.Columns[i], "")
		}
	})
	ofTable := func(t *schema.Table) {
		for i := range t.Columns {
			f(t.Name.DB, t.Name.Table, i, &t.Columns[i], Key(&t.Columns[i]))
		}
	}
	if hasNumbers(e, w) {
		ofTable(NumbersSchema())
	}
	err := eachView(e, w, func(v View) {
		for i, c := range v.Columns() {
			f(v.DB, v.Name, i, &c, "")
		}
	})
	if err != nil {
		return err
	}
	return eachTable(e, w, func(t *engine.Table) error {
		ofTable(t.Schema.Shown())
		return nil
	})
}

// Key is the word of column_key: PRI, TIME INDEX or nothing.
func Key(c *schema.Column) string {
	switch c.Semantic {
	case schema.Tag:
		return "PRI"
	case schema.Timestamp:
		return "TIME INDEX"
	}
	return ""
}

// YesNo is YES or NO.
func YesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// columnRow is the row of information_schema.columns that tells of a column.
func columnRow(db, table string, i int, c *schema.Column, key string) []any {
	var length, octets, precision, scale, datetime, charset, collation, def any
	switch {
	case c.Type.IsText():
		length, octets, charset, collation = 2147483647, 2147483647, "utf8", "utf8_bin"
	case c.Type.ID == vector.TypeBinary, c.Type.ID == vector.TypeJSON:
		length, octets = 2147483647, 2147483647
	case c.Type.IsTimestamp():
		datetime = int(c.Type.Precision)
	case c.Type.IsNumber():
		p, s := numberDigits(c.Type)
		precision = p
		if s >= 0 {
			scale = s
		}
	}
	if c.Default != nil {
		def = c.DefaultText
	}
	text := parse.InfoText(c.Type)
	return []any{Catalog, db, table, c.Name, i + 1, length, octets, precision, scale, datetime, charset, collation, key,
		"", "select,insert", "", c.Type.String(), text, c.Semantic.String(), def, YesNo(c.Nullable), text, comment(c),
		nil}
}

func comment(c *schema.Column) any {
	if c.Comment == "" {
		return nil
	}
	return c.Comment
}

// numberDigits returns the digits of a number type, and the digits after the point; -1 if the number of digits is not
// fixed.
func numberDigits(t vector.Type) (precision, scale int) {
	switch t.ID {
	case vector.TypeInt8, vector.TypeUint8:
		return 3, 0
	case vector.TypeInt16, vector.TypeUint16:
		return 5, 0
	case vector.TypeInt32, vector.TypeUint32:
		return 10, 0
	case vector.TypeInt64:
		return 19, 0
	case vector.TypeUint64:
		return 20, 0
	case vector.TypeFloat32:
		return 12, -1
	case vector.TypeDecimal:
		return int(t.Precision), int(t.Scale)
	}
	return 22, -1
}

// IndexRow is one line of SHOW INDEX: a column's part in a key or index.
type IndexRow struct {
	Name   string
	Column *schema.Column
	Seq    int
	Kind   string // PRIMARY, TIME, INVERTED, SKIPPING, FULLTEXT
}

// Indexes lists keys and indexes of a table by name.
func Indexes(t *schema.Table) []IndexRow {
	var list []IndexRow
	for k, i := range t.Tags {
		list = append(list, IndexRow{"PRIMARY", &t.Columns[i], k + 1, "PRIMARY"})
	}
	list = append(list, IndexRow{"TIME INDEX", &t.Columns[t.Time], 1, "TIME"})
	for i := range t.Columns {
		for _, x := range t.Columns[i].Indexes {
			kind := IndexWord(x.Kind)
			list = append(list, IndexRow{kind + "_INDEX_" + t.Columns[i].Name, &t.Columns[i], 1, kind})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// IndexWord is the word of DDL for a kind of index.
func IndexWord(k schema.IndexKind) string {
	return map[schema.IndexKind]string{schema.Inverted: "INVERTED", schema.Skipping: "SKIPPING",
		schema.Fulltext: "FULLTEXT"}[k]
}

func keyColumnUsage(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		n := t.Schema.Name
		for _, x := range Indexes(t.Schema.Shown()) {
			r.add("def", n.DB, x.Name, "def", Catalog, n.DB, n.Table, x.Column.Name, x.Seq, nil, nil, nil, nil, x.Kind)
		}
		return nil
	})
}

func statistics(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		n := t.Schema.Name
		for _, x := range Indexes(t.Schema.Shown()) {
			nonUnique, nullable := 1, "YES"
			if x.Kind == "PRIMARY" {
				nonUnique = 0
			}
			if !x.Column.Nullable {
				nullable = ""
			}
			r.add(Catalog, n.DB, n.Table, nonUnique, n.DB, x.Name, x.Seq, x.Column.Name, "A", nil, nil, nil, nullable,
				x.Kind, "", "", "YES", nil, x.Kind)
		}
		return nil
	})
}

func tableConstraints(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		n := t.Schema.Name
		if len(t.Schema.Tags) > 0 {
			r.add("def", n.DB, "PRIMARY", n.DB, n.Table, "PRIMARY KEY", "YES")
		}
		r.add("def", n.DB, "TIME INDEX", n.DB, n.Table, "TIME INDEX", "YES")
		return nil
	})
}

func partitions(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		s, st := t.Schema, t.Stats()
		created := s.CreatedMS / 1000
		r.add(Catalog, s.Name.DB, s.Name.Table, "p0", nil, 1, nil, nil, nil, nil, nil, nil, st.Rows, 0, st.DiskBytes, 0,
			st.IndexBytes, 0,
			created, nil, nil, nil, nil, nil, nil, RegionID(s.ID))
		return nil
	})
}

func processList(e *Env, _ Where, r *rows) error {
	for _, p := range e.Processes() {
		r.add(p.ID, Catalog, p.DB, p.Query, p.Client, cmp.Or(p.Application, "varve"), p.Started.UnixMilli(),
			p.Elapsed.Round(time.Microsecond).String(), p.User)
	}
	return nil
}

// RegionID is the id of a table's one region.
func RegionID(t schema.TableID) uint64 { return uint64(t) << 32 }

func regionStatistics(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		s, st := t.Schema, t.Stats()
		r.add(RegionID(s.ID), int(s.ID), 0, st.Rows, 0, 0, 0, st.DiskBytes, st.MemtableBytes, 0, st.DiskBytes,
			len(st.Parts), st.IndexBytes, s.Engine, "Leader")
		return nil
	})
}

func regionInfo(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		s := t.Schema
		r.add(RegionID(s.ID), int(s.ID), 0, 0, 0, "Open", "Leader", true, nil, nil, int(s.Version), nil,
			createOptions(s.Options.All), "flat", 0)
		return nil
	})
}

func sstsManifest(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		for _, p := range t.Stats().Parts {
			unit := 1_000_000_000 / t.Schema.TimeColumn().Type.UnitsPerSecond()
			place := cmp.Or(p.Object, p.File)
			r.add(t.Schema.Name.DB+"/"+t.Schema.Name.Table, RegionID(t.Schema.ID), int(t.Schema.ID), 0, 0, 0, p.File, 0,
				0, place, p.Bytes, nil,
				p.IndexBytes, p.Rows, nil, nil, p.Min*unit, p.Max*unit, nil, RegionID(t.Schema.ID), 0, true, nil, nil)
		}
		return nil
	})
}

// metricCounts are the series, labels and values of the metrics, the greatest first.
func metricCounts(e *Env, w Where, r *rows) error {
	for _, d := range databases(e, w) {
		if d.Name == DB {
			continue
		}
		counts, err := e.Metrics(d.Name)
		if err != nil {
			return err
		}
		for _, c := range counts {
			var name any
			if c.Name != "" {
				name = c.Name
			}
			r.add(Catalog, d.Name, c.Kind, name, c.N)
		}
	}
	return nil
}

// damageRows are the files, blocks of parts and stretches of log that are not served because they are damaged.
// databaseSizes are the sizes of databases with their bounds, and what these had dropped since the start.
func databaseSizes(e *Env, w Where, r *rows) error {
	for _, s := range e.Engine.DatabaseSizes() {
		if !w.schema(s.Name) {
			continue
		}
		var most, until any
		if s.Max > 0 {
			most = s.Max
		}
		if !s.DroppedUntil.IsZero() {
			until = s.DroppedUntil.UnixNano()
		}
		r.add(Catalog, s.Name, s.Bytes, most, s.Near, s.DroppedParts, s.DroppedRows, s.DroppedBytes, until)
	}
	return nil
}

func damageRows(e *Env, _ Where, r *rows) error {
	for _, a := range e.Engine.SetAside() {
		if a.Table.Table == "" {
			r.add(Catalog, nil, nil, a.File, nil, nil, nil, nil, a.Reason)
			continue
		}
		var block, lo, hi any
		if a.Block >= 0 {
			block = a.Block
		}
		if t, err := e.Engine.Table(a.Table); err == nil {
			unit := 1_000_000_000 / t.Schema.TimeColumn().Type.UnitsPerSecond()
			lo, hi = a.Min*unit, a.Max*unit
		}
		r.add(Catalog, a.Table.DB, a.Table.Table, a.File, block, a.Rows, lo, hi, a.Reason)
	}
	return nil
}

func sstsStorage(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		for _, p := range t.Stats().Parts {
			r.add(p.File, p.LocalBytes, nil, 0)
			if p.Object != "" {
				r.add(p.Object, p.Bytes, nil, 0)
			}
		}
		return nil
	})
}

// TableOfRegion finds the table whose region has an id.
func TableOfRegion(e *Env, id string) (schema.Name, error) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return schema.Name{}, status.New(status.InvalidArguments, "%q is not the id of a region", id)
	}
	var name schema.Name
	err = eachTable(e, Where{}, func(t *engine.Table) error {
		if RegionID(t.Schema.ID) == n {
			name = t.Schema.Name
		}
		return nil
	})
	if err == nil && name.Table == "" {
		err = status.New(status.RegionNotFound, "Region not found: %s", id)
	}
	return name, err
}
