package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"varve/engine/nearest"
	"varve/engine/status"
	"varve/sqlexec/search"
)

// Table is a table, or a view, as the catalogue has it.
type Table struct {
	DB, Name string
	Columns  []TableColumn // in the table's order
	// Time is the place of the time index among the columns; -1: there is none, as in a view.
	Time int
	// Message is the column in which words are looked for, Level that of how grave a row is; empty: none.
	Message, Level string
}

// TableColumn is a column of a table.
type TableColumn struct {
	Name string
	Type string // as answers name it: TimestampNanosecond
	Role string // TAG, FIELD or TIMESTAMP
}

// What columns are called that have a role, the likeliest first.
var (
	messages = strings.Split("message msg body line log log_line text event", " ")
	levels   = strings.Split("level severity severity_text log_level loglevel lvl status_text", " ")
)

// Table asks for a table's columns. One that is not there is an AnswerError that names the nearest.
func (c *Client) Table(ctx context.Context, db, name string) (*Table, error) {
	a, err := c.Query(ctx, db,
		"SELECT column_name, service_data_type, semantic_type FROM information_schema.columns WHERE table_schema = "+
			Text(db)+
			" AND table_name = "+Text(name)+" ORDER BY ordinal_position")
	if err != nil {
		return nil, err
	}
	if len(a.Rows) == 0 {
		return nil, c.noTable(ctx, db, name)
	}
	t := &Table{DB: db, Name: name, Time: -1}
	for i, row := range a.Rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("%s did not answer with columns", c.Base)
		}
		t.Columns = append(t.Columns,
			TableColumn{Name: fmt.Sprint(row[0]), Type: fmt.Sprint(row[1]), Role: fmt.Sprint(row[2])})
		if t.Columns[i].Role == "TIMESTAMP" {
			t.Time = i
		}
	}
	isText := func(c TableColumn) bool { return c.Type == "String" }
	t.Message = t.named(messages, isText)
	t.Level = t.named(levels, func(TableColumn) bool { return true })
	if t.Message == "" {
		t.Message, err = c.longest(ctx, t)
	}
	return t, err
}

// named is the first column with one of the names, in any case.
func (t *Table) named(names []string, fits func(TableColumn) bool) string {
	for _, name := range names {
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, name) && fits(c) {
				return c.Name
			}
		}
	}
	return ""
}

// longest is the text column with the longest values in the newest rows, which is taken for the message where none is
// called so.
func (c *Client) longest(ctx context.Context, t *Table) (string, error) {
	var texts, sums []string
	for _, column := range t.Columns {
		if column.Type == "String" && column.Role != "TAG" {
			texts, sums = append(texts, column.Name), append(sums, "sum(length("+Name(column.Name)+"))")
		}
	}
	if len(texts) < 2 || t.Time < 0 {
		return strings.Join(texts[:min(1, len(texts))], ""), nil
	}
	a, err := c.Query(ctx, t.DB, "SELECT "+strings.Join(sums, ", ")+" FROM (SELECT * FROM "+Name(t.Name)+" ORDER BY "+
		Name(t.Columns[t.Time].Name)+" DESC LIMIT 100) AS newest")
	if err != nil {
		return "", err
	}
	best, most := texts[0], 0.0
	for i := range texts {
		if len(a.Rows) != 1 || len(a.Rows[0]) != len(texts) {
			break // the first will do
		}
		var n float64
		fmt.Sscan(fmt.Sprint(a.Rows[0][i]), &n) //nolint:errcheck // NULL is none
		if n > most {
			best, most = texts[i], n
		}
	}
	return best, nil
}

// noTable says that a table is not there.
func (c *Client) noTable(ctx context.Context, db, name string) error {
	a, err := c.Query(ctx, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+Text(db))
	if err != nil {
		return err
	}
	var names []string
	for _, row := range a.Rows {
		names = append(names, fmt.Sprint(row...))
	}
	return &AnswerError{Status: 400, Code: int(status.TableNotFound), Path: "/v1/sql",
		Text: fmt.Sprintf("Table not found: service.%s.%s.%s", db, name, nearest.Hint(name, names))}
}

// Pick checks that the table has columns; a UsageError names the nearest.
func (t *Table) Pick(columns []string) error {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	for _, want := range columns {
		if !slices.Contains(names, want) {
			return &UsageError{fmt.Errorf("--columns: the table %s has no column %s.%s", t.Name, want,
				nearest.Hint(want, names))}
		}
	}
	return nil
}

// Search reads a line of the search language for this table. Its error is a UsageError.
func (t *Table) Search(line string) (search.Condition, error) {
	s := search.Table{Message: t.Message}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, search.Column{Name: c.Name, Type: c.Type})
	}
	found, err := s.Read(line)
	var bad *search.Error
	if errors.As(err, &bad) {
		hint := ""
		if len(bad.Near) > 0 {
			hint = fmt.Sprintf(`. Did you mean "%s"?`, strings.Join(bad.Near, `", "`))
		}
		return found, &UsageError{fmt.Errorf("--search: %s (character %d)%s", bad.Text, bad.At+1, hint)}
	}
	return found, err
}

// PerSecond is how many units of the time index a second has; 0: there is no time index.
func (t *Table) PerSecond() int64 {
	if t.Time < 0 {
		return 0
	}
	return UnitsPerSecond(t.Columns[t.Time].Type)
}

// UnitsPerSecond is how many units of a timestamp type a second has; 0: it is none.
func UnitsPerSecond(dataType string) int64 {
	switch dataType {
	case "TimestampSecond":
		return 1
	case "TimestampMillisecond":
		return 1e3
	case "TimestampMicrosecond":
		return 1e6
	case "TimestampNanosecond":
		return 1e9
	}
	return 0
}

// Units is the first instant of a unit that is not before at, counted since 1970; instants outside of 64 bits are the
// outermost.
func Units(at time.Time, perSecond int64) int64 {
	seconds, fraction := at.Unix(), int64(at.Nanosecond())
	if limit := math.MaxInt64/perSecond - 1; seconds > limit {
		return math.MaxInt64
	} else if seconds < -limit {
		return math.MinInt64
	}
	unit := int64(1e9) / perSecond
	return seconds*perSecond + (fraction+unit-1)/unit
}

// AtUnits is the instant of a count of units since 1970.
func AtUnits(units, perSecond int64) time.Time {
	seconds, rest := units/perSecond, units%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return time.Unix(seconds, rest*(1e9/perSecond))
}

// Within is the condition that the rows of a table with a time index lie in [since, until); nil ends are open.
func (t *Table) Within(since, until *time.Time) string {
	var parts []string
	if since != nil {
		parts = append(parts, fmt.Sprintf("%s >= %d", Name(t.Columns[t.Time].Name), Units(*since, t.PerSecond())))
	}
	if until != nil {
		parts = append(parts, fmt.Sprintf("%s < %d", Name(t.Columns[t.Time].Name), Units(*until, t.PerSecond())))
	}
	return strings.Join(parts, " AND ")
}

// Name quotes a name for SQL.
func Name(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Names quotes names for SQL, with commas between; none are all columns.
func Names(names []string) string {
	if len(names) == 0 {
		return "*"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Name(n)
	}
	return strings.Join(quoted, ", ")
}

// Text quotes a text for SQL.
func Text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Where joins conditions, of which the empty ones are none, to a WHERE clause that begins with a blank.
func Where(conditions ...string) string {
	var kept []string
	for _, c := range conditions {
		if c != "" {
			kept = append(kept, "("+c+"\n)") // it may end with a comment
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(kept, " AND ")
}
