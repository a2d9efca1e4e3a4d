package tail

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/nearest"
)

// printer writes rows; those of one call at once.
type printer struct {
	o     Options
	out   io.Writer
	roles roles
	marks *regexp.Regexp // what was looked for in messages; nil: nothing is marked

	columns []client.Column
	headed  bool // the names of CSV are written
}

// roles are the names of columns that have their own place in a line; empty: there is none.
type roles struct{ time, level, message string }

func newPrinter(o Options, t *client.Table, found []string, out io.Writer) (printer, error) {
	p := printer{o: o, out: out, roles: roles{t.Columns[t.Time].Name, t.Level, t.Message}}
	if o.Color && len(found) > 0 {
		slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
		for i, word := range found {
			found[i] = regexp.QuoteMeta(client.Visible(word))
		}
		p.marks = regexp.MustCompile("(?i)" + strings.Join(found, "|"))
	}
	if o.Template == "" {
		return p, nil
	}
	return p, checkTemplate(o.Template, t)
}

// rows writes rows with columns.
func (p *printer) rows(columns []client.Column, rows [][]any) error {
	var b bytes.Buffer
	p.columns = columns
	if p.o.Format == "csv" && !p.headed {
		p.headed = true
		p.csv(&b, p.picked(), func(c client.Column) string { return p.shown(c.Name) })
	}
	for _, row := range rows {
		p.row(&b, row)
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := p.out.Write(b.Bytes())
	return err
}

// row appends a row.
func (p *printer) row(b *bytes.Buffer, row []any) {
	values := make(map[string]any, len(row))
	for i, c := range p.columns {
		values[c.Name] = row[i]
	}
	switch {
	case p.o.Template != "":
		p.fromTemplate(b, values)
	case p.o.Format == "ndjson":
		p.object(b, values)
	case p.o.Format == "csv":
		p.csv(b, p.picked(), func(c client.Column) string {
			return p.shown(p.text(c, values[c.Name], time.UTC, time.RFC3339))
		})
	default:
		p.line(b, values)
	}
}

// picked are the columns that are shown, in their order.
func (p *printer) picked() []client.Column {
	if len(p.o.Columns) == 0 {
		return p.columns
	}
	var list []client.Column
	for _, name := range p.o.Columns {
		i := slices.IndexFunc(p.columns, func(c client.Column) bool { return c.Name == name })
		if i >= 0 {
			list = append(list, p.columns[i])
		}
	}
	return list
}

// line appends a row for people: time, level, other columns, message; columns that were picked stand in their order.
func (p *printer) line(b *bytes.Buffer, values map[string]any) {
	var parts []string
	for _, c := range p.ordered() {
		v := values[c.Name]
		if v == nil {
			continue
		}
		text := p.safe(p.text(c, v, p.o.Zone, "2006-01-02 15:04:05"))
		switch c.Name {
		case p.roles.time:
			text = p.colored(gray, text)
		case p.roles.level:
			text = p.colored(levelColor(text), text)
		case p.roles.message:
			text = p.marked(text)
		default:
			text = p.colored(gray, p.safe(c.Name)+"=") + quoted(text)
		}
		parts = append(parts, text)
	}
	b.WriteString(strings.Join(parts, " "))
	b.WriteByte('\n')
}

// ordered are the columns of a line.
func (p *printer) ordered() []client.Column {
	var time, level, rest, message []client.Column
	for _, c := range p.columns {
		switch c.Name {
		case p.roles.time:
			time = append(time, c)
		case p.roles.level:
			level = append(level, c)
		case p.roles.message:
			message = append(message, c)
		default:
			rest = append(rest, c)
		}
	}
	if len(p.o.Columns) > 0 {
		picked := slices.DeleteFunc(p.picked(), func(c client.Column) bool { return c.Name == p.roles.time })
		return append(time, picked...)
	}
	return slices.Concat(time, level, rest, message)
}

// object appends a row as JSON.
func (p *printer) object(b *bytes.Buffer, values map[string]any) {
	b.WriteByte('{')
	for i, c := range p.picked() {
		if i > 0 {
			b.WriteByte(',')
		}
		v := values[c.Name]
		if v != nil && (client.UnitsPerSecond(c.Type) > 0 || c.Type == "Binary" || c.Type == "Date") {
			v = p.text(c, v, time.UTC, time.RFC3339)
		}
		member := append(append(encode(c.Name), ':'), encode(v)...)
		if !p.o.Raw {
			member = client.EscapedJSON(member)
		}
		b.Write(member)
	}
	b.WriteString("}\n")
}

// csv appends a line of fields.
func (p *printer) csv(b *bytes.Buffer, columns []client.Column, text func(client.Column) string) {
	w := csv.NewWriter(b)
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = text(c)
	}
	w.Write(fields) //nolint:errcheck // a buffer takes all
	w.Flush()
}

// placeholder is a name of a template: {{.level}}, {{.ctx.user}}.
var placeholder = regexp.MustCompile(`\{\{\s*\.([^{}]+?)\s*\}\}`)

// fromTemplate appends a row by the template.
func (p *printer) fromTemplate(b *bytes.Buffer, values map[string]any) {
	b.WriteString(placeholder.ReplaceAllStringFunc(p.o.Template, func(found string) string {
		name := p.roles.column(placeholder.FindStringSubmatch(found)[1], p.columns)
		i := slices.IndexFunc(p.columns, func(c client.Column) bool { return c.Name == name })
		if i < 0 {
			return ""
		}
		return p.safe(p.text(p.columns[i], values[name], p.o.Zone, "2006-01-02 15:04:05"))
	}))
	b.WriteByte('\n')
}

// column is the column that a template names: one of the table, or that of a role.
func (r *roles) column(name string, columns []client.Column) string {
	if slices.ContainsFunc(columns, func(c client.Column) bool { return c.Name == name }) {
		return name
	}
	switch name {
	case "time":
		return r.time
	case "level":
		return r.level
	case "message":
		return r.message
	}
	return name
}

// checkTemplate refuses names that no row has.
func checkTemplate(text string, t *client.Table) error {
	found := placeholder.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return &client.UsageError{Err: fmt.Errorf(
			"--template %q names no column: '{{.time}} {{.level}} {{.message}}' does", text)}
	}
	names := []string{"time", "level", "message"}
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	for _, f := range found {
		if !slices.Contains(names, f[1]) {
			return &client.UsageError{Err: fmt.Errorf("--template: the table %s has no column %s.%s", t.Name, f[1],
				nearest.Hint(f[1], names))}
		}
	}
	return nil
}

// text is a value as text; NULL is empty.
func (p *printer) text(c client.Column, v any, zone *time.Location, layout string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		units, err := v.Int64()
		switch perSecond := client.UnitsPerSecond(c.Type); {
		case err != nil:
		case perSecond > 0:
			// The digits are those of the column, so that lines stand below each other.
			fraction := map[int64]string{1: "", 1e3: ".000", 1e6: ".000000", 1e9: ".000000000"}[perSecond]
			return client.AtUnits(units, perSecond).In(zone).Format(strings.Replace(layout, ":05", ":05"+fraction, 1))
		case c.Type == "Date":
			return time.Unix(units*86400, 0).UTC().Format(time.DateOnly)
		}
		return v.String()
	case []any:
		if c.Type == "Binary" {
			return hexOf(v)
		}
	}
	return string(encode(v))
}

// hexOf is the text of bytes.
func hexOf(numbers []any) string {
	raw := make([]byte, len(numbers))
	for i, n := range numbers {
		raw[i] = byte(whole(n))
	}
	return hex.EncodeToString(raw)
}

// safe takes what would steer a terminal out of a text.
func (p *printer) safe(text string) string {
	if p.o.Raw {
		return text
	}
	return client.Visible(text)
}

// shown is safe for CSV, which other programs read where it does not go to a terminal.
func (p *printer) shown(text string) string {
	if p.o.Terminal {
		return p.safe(text)
	}
	return text
}

// colored colours a text.
func (p *printer) colored(color, text string) string {
	if !p.o.Color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// marked marks what was looked for.
func (p *printer) marked(text string) string {
	if p.marks == nil {
		return text
	}
	return p.marks.ReplaceAllString(text, "\x1b[1;30;43m$0\x1b[0m")
}

// quoted puts a value in quotes whose end would not be seen.
func quoted(text string) string {
	if text != "" && !strings.ContainsAny(text, " \"=") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}
