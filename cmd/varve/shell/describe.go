package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/status"
	"varve/sqlexec/parse"
)

// tableRef is a table of a database, with its columns.
type tableRef struct {
	db, name string
	columns  []columnRef
}

type columnRef struct{ name, kind, key string }

// timeIndex is the column with the times of rows; empty: it has none, as views.
func (t *tableRef) timeIndex() string {
	for _, c := range t.columns {
		if c.key == "TIME INDEX" {
			return c.name
		}
	}
	return ""
}

// sql is the table as SQL names it.
func (t *tableRef) sql() string { return client.Name(t.db) + "." + client.Name(t.name) }

// where are conditions on information_schema that find the table.
func (t *tableRef) where() string {
	return "table_schema = " + client.Text(t.db) + " AND table_name = " + client.Text(t.name)
}

// ask runs a statement whose answer is small.
func (s *Shell) ask(ctx context.Context, sql string) ([][]any, error) {
	answer, err := s.o.Client.Query(ctx, s.db, sql)
	if err != nil {
		return nil, err
	}
	return answer.Rows, nil
}

// find looks for a table as it is typed: t, db.t or quoted.
func (s *Shell) find(ctx context.Context, text string) (*tableRef, error) {
	if text == "" {
		return nil, usage("expected the name of a table")
	}
	t := &tableRef{db: s.db, name: text}
	if e, err := parse.ParseExpr(text); err == nil {
		if c, ok := e.(*parse.Column); ok {
			t.name = c.Parts[len(c.Parts)-1].Name
			if len(c.Parts) > 1 {
				t.db = c.Parts[len(c.Parts)-2].Name
			}
		}
	}
	rows, err := s.ask(ctx, "SELECT column_name, data_type, column_key FROM information_schema.columns WHERE "+
		t.where()+" ORDER BY ordinal_position")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t.columns = append(t.columns, columnRef{cellText(r[0]), cellText(r[1]), cellText(r[2])})
	}
	if len(t.columns) == 0 {
		return nil, fmt.Errorf("there is no table %s in %s: \\d lists the tables", t.name, t.db)
	}
	return t, nil
}

// cellText is a value as text; NULL is empty.
func cellText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (s *Shell) listDatabases(ctx context.Context, _ string) error {
	return s.statement(ctx, "SHOW DATABASES", s.chosen(false))
}

// mostNewest is of how many tables the newest rows are looked for.
const mostNewest = 200

func (s *Shell) describe(ctx context.Context, arg string) error {
	if arg != "" {
		_, err := s.describeColumns(ctx, arg)
		return err
	}
	rows, err := s.ask(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = "+
		client.Text(s.db)+
		" AND column_key = 'TIME INDEX' ORDER BY table_name")
	if err != nil {
		return err
	}
	if len(rows) > mostNewest {
		if err := s.note("newest rows: of the first %d tables", mostNewest); err != nil {
			return err
		}
		rows = rows[:mostNewest]
	}
	newest, join, own := "", "", ""
	if s.db != "information_schema" {
		own = " AND i.table_type <> 'LOCAL TEMPORARY'"
	}
	if len(rows) > 0 && s.db != "information_schema" {
		var parts []string
		for _, r := range rows {
			parts = append(parts, fmt.Sprintf("SELECT %s AS t, CAST(max(%s) AS TIMESTAMP(3)) AS newest FROM %s",
				client.Text(cellText(r[0])), client.Name(cellText(r[1])), client.Name(cellText(r[0]))))
		}
		newest, join = ", n.newest AS newest",
			" LEFT JOIN ("+strings.Join(parts, " UNION ALL ")+") n ON n.t = i.table_name"
	}
	return s.statement(ctx,
		`SELECT i.table_name AS "table", i.table_type AS kind, i.table_rows AS "rows", i.data_length AS bytes`+newest+
			" FROM information_schema.tables i"+join+" WHERE i.table_schema = "+client.Text(s.db)+own+
			" ORDER BY i.table_name", s.chosen(false))
}

// describeColumns prints the columns of a table.
func (s *Shell) describeColumns(ctx context.Context, arg string) (*tableRef, error) {
	t, err := s.find(ctx, arg)
	if err != nil {
		return nil, err
	}
	return t, s.statement(ctx,
		`SELECT column_name AS "column", data_type AS "type", semantic_type AS role, is_nullable AS "null", column_default AS "default", column_comment AS "comment"`+
			" FROM information_schema.columns WHERE "+t.where()+" ORDER BY ordinal_position", s.chosen(false))
}

func (s *Shell) describeMore(ctx context.Context, arg string) error {
	t, err := s.describeColumns(ctx, arg)
	if err != nil {
		return err
	}
	rows, err := s.ask(ctx, "SHOW CREATE TABLE "+t.sql())
	var answer *client.AnswerError
	if errors.As(err, &answer) { // a view
		rows, err = s.ask(ctx, "SHOW CREATE VIEW "+t.sql())
	}
	if errors.As(err, &answer) { // a table of the server
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		text := strings.TrimSpace(cellText(r[len(r)-1]))
		if err := s.show(strings.ReplaceAll(string(client.AppendVisible(nil, []byte(text), "\n\t")), "\n\n", "\n") +
			";\n"); err != nil {
			return err
		}
	}
	if err := s.spanOf(ctx, t); err != nil {
		return err
	}
	return s.statement(ctx,
		"SELECT level, count(*) AS files, sum(num_rows) AS \"rows\", sum(file_size) AS bytes, min(min_ts) AS oldest, "+
			"max(max_ts) AS newest FROM information_schema.ssts_manifest WHERE table_dir = "+
			client.Text(t.db+"/"+t.name)+" GROUP BY level ORDER BY level", s.chosen(false))
}

func (s *Shell) listPipelines(ctx context.Context, _ string) error {
	err := s.statement(ctx,
		"SELECT name, count(*) AS versions, max(created_at) AS latest FROM service_private.pipelines GROUP BY name "+
			"ORDER BY name", s.chosen(false))
	var answer *client.AnswerError
	if errors.As(err, &answer) && answer.Code == int(status.TableNotFound) {
		return s.note("there are no pipelines")
	}
	return err
}

func (s *Shell) listMetrics(ctx context.Context, arg string) error {
	resp, err := s.o.Client.Do(ctx,
		client.Request{Path: "/v1/metricsapi/api/v1/label/__name__/values", Query: url.Values{"db": {s.db}}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var body struct{ Data []string }
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return fmt.Errorf("the names of metrics: %w", err)
	}
	var b strings.Builder
	for _, name := range body.Data {
		if matches(name, arg) {
			fmt.Fprintf(&b, "%s\n", client.AppendVisible(nil, []byte(name), ""))
		}
	}
	if b.Len() == 0 {
		return s.note("there are no such metrics in %s", s.db)
	}
	return s.show(b.String())
}

// matches reports whether a name holds a text; * and % stand for anything.
func matches(name, pattern string) bool {
	name = strings.ToLower(name)
	for _, part := range strings.FieldsFunc(strings.ToLower(pattern),
		func(r rune) bool { return r == '*' || r == '%' }) {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

func (s *Shell) span(ctx context.Context, arg string) error {
	t, err := s.find(ctx, arg)
	if err != nil {
		return err
	}
	return s.spanOf(ctx, t)
}

// spanOf prints how many rows a table has and from when to when.
func (s *Shell) spanOf(ctx context.Context, t *tableRef) error {
	at := t.timeIndex()
	if at == "" {
		return s.statement(ctx, `SELECT count(*) AS "rows" FROM `+t.sql(), s.chosen(false))
	}
	at = client.Name(at)
	return s.statement(ctx,
		fmt.Sprintf(
			`SELECT count(*) AS "rows", min(%[1]s) AS oldest, max(%[1]s) AS newest, count(*) FILTER (WHERE %[1]s >= now() - INTERVAL '1 hour') AS last_hour, count(*) FILTER (WHERE %[1]s >= now() - INTERVAL '1 day') AS last_day FROM %[2]s`, at, t.sql()), s.chosen(false))
}

func (s *Shell) sample(ctx context.Context, arg string) error {
	name, count, _ := strings.Cut(arg, " ")
	n, err := number(strings.TrimSpace(count), 10)
	if err != nil {
		return err
	}
	t, err := s.find(ctx, name)
	if err != nil {
		return err
	}
	at := t.timeIndex()
	if at == "" {
		return s.statement(ctx, fmt.Sprintf("SELECT * FROM %s LIMIT %d", t.sql(), n), s.chosen(false))
	}
	return s.statement(ctx,
		fmt.Sprintf("SELECT * FROM (SELECT * FROM %s ORDER BY %s DESC LIMIT %d) AS newest ORDER BY %[2]s", t.sql(),
			client.Name(at), n), s.chosen(false))
}

func (s *Shell) top(ctx context.Context, arg string) error {
	words := strings.Fields(arg)
	if len(words) < 2 || len(words) > 3 {
		return usage(`\top TABLE COLUMN [N] is wanted`)
	}
	n, err := number(strings.Join(words[2:], ""), 10)
	if err != nil {
		return err
	}
	t, err := s.find(ctx, words[0])
	if err != nil {
		return err
	}
	column := client.Name(strings.Trim(words[1], "\"`"))
	return s.statement(ctx,
		fmt.Sprintf(
			`SELECT %[1]s, count(*) AS "rows", round(count(*) * 100.0 / (SELECT count(*) FROM %[2]s), 1) AS share FROM %[2]s GROUP BY %[1]s ORDER BY "rows" DESC, %[1]s LIMIT %[3]d`,
			column, t.sql(), n), s.chosen(false))
}
