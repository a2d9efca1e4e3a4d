package sqlexec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
	"varve/sqlexec/rowfile"
)

// copyOptions are the options of a COPY statement.
type copyOptions struct {
	format      rowfile.Format
	formatGiven bool
	compression rowfile.Compression
	times       rowfile.Times
	delimiter   byte   // of CSV; 0: the comma
	start, end  string // texts of times; empty: no bound
	pattern     *regexp.Regexp
	skipBad     bool
}

// copy runs COPY .. TO and COPY .. FROM. Affected is the number of rows.
func (x *Executor) copy(ctx context.Context, s *Session, st *parse.Copy) (*Result, error) {
	o, err := readCopyOptions(st)
	if err != nil {
		return nil, err
	}
	limit, err := x.copyLimit(ctx, s, st)
	if err != nil {
		return nil, err
	}
	dir := x.copyDir()
	name, err := dir.local(st.Path)
	if err != nil {
		return nil, err
	}
	root, err := dir.open(name, st.To)
	if err != nil {
		return nil, err
	}
	var rows int64
	switch {
	case st.Database != "" && st.To:
		rows, err = x.copyDatabaseTo(ctx, s, root, st, name, o)
	case st.Database != "":
		rows, err = x.copyDatabaseFrom(ctx, s, root, st, name, o)
	case st.To:
		rows, err = x.copyOut(ctx, s, root, st, name, o)
	case st.Query != nil:
		err = status.New(status.InvalidSyntax,
			"Invalid SQL syntax: COPY (query) FROM: a query takes no rows, COPY FROM needs a table")
	default:
		rows, err = x.copyIn(ctx, s, root, st, name, o, limit)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	return &Result{Affected: rows}, nil
}

// copyDir is where COPY reads and writes.
func (x *Executor) copyDir() copyDir { return copyDir{dir: x.o.CopyDir, keepFree: x.o.KeepFree} }

// readCopyOptions reads WITH (..). Keys are in any case.
func readCopyOptions(st *parse.Copy) (*copyOptions, error) {
	o := &copyOptions{}
	for _, opt := range st.Options {
		if err := o.set(st, strings.ToLower(opt.Key), opt.Value); err != nil {
			return nil, parse.PlaceError(err, opt.At)
		}
	}
	if !o.formatGiven {
		var ok bool
		if o.format, ok = rowfile.FormatOf(st.Path); !ok || st.Database != "" {
			o.format = rowfile.Parquet
		}
	}
	return o, nil
}

func (o *copyOptions) set(st *parse.Copy, key, value string) (err error) {
	only := func(ok bool, what string) error {
		if ok {
			return nil
		}
		return status.New(status.InvalidArguments, "The option %s is for %s", strings.ToUpper(key), what)
	}
	ok := true
	switch key {
	case "format":
		o.format, ok = rowfile.ParseFormat(value)
		o.formatGiven = true
	case "compression_type", "compression":
		o.compression, ok = rowfile.ParseCompression(value)
	case "start_time":
		o.start = value
		return only(st.Query == nil, "COPY of tables and of databases; a query has WHERE")
	case "end_time":
		o.end = value
		return only(st.Query == nil, "COPY of tables and of databases; a query has WHERE")
	case "delimiter":
		if value == "\\t" {
			value = "\t"
		}
		if ok = len(value) == 1 && value[0] < utf8.RuneSelf && !strings.Contains("\"\r\n", value); ok {
			o.delimiter = value[0]
		}
	case "timestamp_format":
		o.times.Timestamp, err = timefmt.Compile(value)
	case "date_format":
		o.times.Date, err = timefmt.Compile(value)
	case "time_format":
		o.times.Time, err = timefmt.Compile(value)
	case "pattern":
		if o.pattern, err = regexp.Compile(value); err == nil {
			return only(!st.To, "COPY .. FROM")
		}
	case "skip_bad_records":
		if o.skipBad, err = strconv.ParseBool(strings.ToLower(value)); err == nil {
			return only(!st.To, "COPY .. FROM")
		}
	default:
		return status.New(status.InvalidArguments,
			"Unrecognized option of COPY: %s. Known are FORMAT, COMPRESSION_TYPE, START_TIME, "+
				"END_TIME, DELIMITER, TIMESTAMP_FORMAT, DATE_FORMAT, TIME_FORMAT, PATTERN and SKIP_BAD_RECORDS",
			strings.ToUpper(key))
	}
	if err != nil || !ok {
		return status.New(status.InvalidArguments, "Invalid value of the option %s of COPY: '%s'", strings.ToUpper(key),
			value)
	}
	return nil
}

// copyLimit is LIMIT n of COPY .. FROM; without LIMIT, there is no bound.
func (x *Executor) copyLimit(ctx context.Context, s *Session, st *parse.Copy) (int64, error) {
	if st.Limit == nil {
		return math.MaxInt64, nil
	}
	if st.To || st.Database != "" {
		return 0, status.New(status.InvalidSyntax,
			"Invalid SQL syntax: LIMIT is for COPY table FROM; COPY (SELECT .. LIMIT n) TO bounds what is written")
	}
	e, err := x.statement(s, x.context(s)).Scalar(ctx, st.Limit)
	if err != nil {
		return 0, err
	}
	k, ok := e.(*expr.Const)
	if !ok || k.Value.IsNull(0) || k.Value.Type != vector.Int64Type || k.Value.Int(0) < 0 {
		return 0, status.New(status.InvalidArguments, "LIMIT of COPY must be a whole number from 0 up, found %s",
			parse.PrintExpr(st.Limit))
	}
	return k.Value.Int(0), nil
}

// copyOut writes the rows of a table or query to a file.
func (x *Executor) copyOut(ctx context.Context, s *Session, root *os.Root, st *parse.Copy, name string,
	o *copyOptions) (int64, error) {
	if strings.HasSuffix(st.Path, "/") || name == "." {
		return 0, status.New(status.InvalidArguments, "The path '%s' is a directory: COPY TO needs the name of a file",
			st.Path)
	}
	q := st.Query
	if q == nil {
		var err error
		if q, err = x.rangeQuery(s, st.Table, o); err != nil {
			return 0, err
		}
	}
	return x.writeFile(ctx, s, root, q, name, o)
}

// rangeQuery selects all of a table, a view or a range of a table's times.
func (x *Executor) rangeQuery(s *Session, table parse.Name, o *copyOptions) (*parse.Query, error) {
	sel := &parse.Select{From: []parse.TableRef{&parse.Table{Name: table}},
		Items: []parse.SelectItem{{Star: &parse.Star{}}}}
	q := &parse.Query{Body: sel}
	if o.start == "" && o.end == "" {
		return q, nil
	}
	t, err := x.table(s, table)
	if err != nil {
		return nil, err
	}
	column := &parse.Column{Parts: parse.Name{{Name: t.Schema.Columns[t.Schema.Time].Name, Quote: '"'}}}
	for _, bound := range []struct{ key, op, text string }{{"START_TIME", ">=", o.start}, {"END_TIME", "<", o.end}} {
		if bound.text == "" {
			continue
		}
		if _, err := firstCount(bound.key, bound.text, s.Zone, t.Schema.Columns[t.Schema.Time].Type); err != nil {
			return nil, err
		}
		var e parse.Expr = &parse.Binary{Op: bound.op, L: column,
			R: &parse.Literal{Kind: parse.StringLiteral, Text: bound.text}}
		if sel.Where != nil {
			e = &parse.Binary{Op: "and", L: sel.Where, R: e}
		}
		sel.Where = e
	}
	return q, nil
}

// firstCount is the first count of a time index's unit that is not before the time that an option gives.
func firstCount(key, text string, zone *time.Location, t vector.Type) (int64, error) {
	sec, nanos, err := timefmt.ParseTimestamp(text, zone)
	if err != nil {
		return 0, status.New(status.InvalidArguments, "Invalid value of the option %s of COPY: '%s' is not a time", key,
			text)
	}
	n, ok := plan.Count(sec, int64(nanos), t)
	switch unit := 1_000_000_000 / t.UnitsPerSecond(); {
	case !ok && sec < 0:
		return math.MinInt64, nil
	case !ok:
		return math.MaxInt64, nil
	case int64(nanos)%unit != 0:
		n++
	}
	return n, nil
}

// writeFile runs a query and writes its rows to a file that appears when it is whole.
func (x *Executor) writeFile(ctx context.Context, s *Session, root *os.Root, q *parse.Query, name string,
	o *copyOptions) (int64, error) {
	n, err := x.statement(s, x.context(s)).Complete(ctx, q)
	if err != nil {
		return 0, err
	}
	rows, err := x.stream(ctx, s, n)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	f, err := x.copyDir().create(root, name)
	if err != nil {
		return 0, err
	}
	w, err := rowfile.NewWriter(f, plan.Fields(n),
		rowfile.WriteOptions{Format: o.format, Compression: o.compression, Delimiter: o.delimiter, Times: o.times})
	if err != nil {
		return 0, errors.Join(status.Wrap(err, status.InvalidArguments, "COPY TO: %v", err), f.abort())
	}
	var count int64
	var b vector.Batch
	for {
		ok, err := rows.Next(&b)
		if err == nil && ok {
			err = w.Write(&b)
			count += int64(b.N)
		}
		if err == nil && !ok {
			err = w.Close()
		}
		if err != nil {
			return 0, errors.Join(err, f.abort())
		}
		if !ok {
			return count, f.commit()
		}
	}
}

// copyDatabaseTo writes every table of a database to a file of its name.
func (x *Executor) copyDatabaseTo(ctx context.Context, s *Session, root *os.Root, st *parse.Copy, dir string,
	o *copyOptions) (int64, error) {
	db, err := x.copyDatabase(st)
	if err != nil {
		return 0, err
	}
	tables, err := x.e.Tables(db)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, t := range tables {
		q, err := x.rangeQuery(s, quoted(t.Schema.Name), o)
		if err != nil {
			return 0, err
		}
		n, err := x.writeFile(ctx, s, root, q, path.Join(dir, tableFile(t.Schema.Name.Table)+o.ext()), o)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", t.Schema.Name, err)
		}
		total += n
	}
	return total, nil
}

// tableFile is a table's name as that of a file: control characters, slashes and the per cent sign as in a URL. Tables
// may have names that CREATE TABLE would refuse.
func tableFile(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f || strings.IndexByte(`/\%`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// fileTable is the table that a file is of.
func fileTable(name string) string {
	if table, err := url.PathUnescape(name); err == nil {
		return table
	}
	return name
}

// ext ends the names of the files of COPY DATABASE.
func (o *copyOptions) ext() string {
	ext := "." + o.format.String()
	if o.format != rowfile.Parquet {
		ext += o.compression.Ext()
	}
	return ext
}

// copyDatabase is the database of COPY DATABASE, whose path must be a directory.
func (x *Executor) copyDatabase(st *parse.Copy) (string, error) {
	if !strings.HasSuffix(st.Path, "/") {
		return "", status.New(status.InvalidArguments,
			"The path of COPY DATABASE is a directory and ends with a slash, found '%s'", st.Path)
	}
	db := foldInfo(st.Database)
	if err := readOnly(db); err != nil {
		return "", err
	}
	return db, x.checkDatabase(db)
}

// quoted is a table's full name as a statement has it.
func quoted(n schema.Name) parse.Name {
	return parse.Name{{Name: n.DB, Quote: '"'}, {Name: n.Table, Quote: '"'}}
}
