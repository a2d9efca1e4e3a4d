package logql

import (
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// TableLabel is the label that holds the name of the table of a stream.
const TableLabel = "service_table"

// PushedTable is the table of pushes that name none. Its streams have the labels that were pushed and no others: there
// TableLabel can be asked for and is not shown.
const PushedTable = "loki_logs"

// The options of a table that say how it is read.
const (
	LineOption   = "log_line_column"
	LabelsOption = "log_labels"
)

// lineColumns are the columns that hold lines where LineOption names none; the first that is there counts.
var lineColumns = []string{"line", "message", "msg", "log", "body", "_msg"}

// usualLabels are the columns that are labels of a table without tags and without LabelsOption: columns of few values
// by their meaning.
var usualLabels = []string{"app", "application", "cluster", "component", "container", "env", "environment", "host",
	"hostname", "job", "level", "namespace", "pod", "region", "service", "service_name", "severity", "severity_text",
	"source", "stream"}

// resourceLabels are the attributes of a resource of OTLP that are labels; all others are structured metadata.
var resourceLabels = []string{"cloud.availability_zone", "cloud.region", "container.name", "deployment.environment",
	"deployment.environment.name", "k8s.cluster.name", "k8s.container.name", "k8s.cronjob.name", "k8s.daemonset.name",
	"k8s.deployment.name", "k8s.job.name", "k8s.namespace.name", "k8s.pod.name", "k8s.replicaset.name",
	"k8s.statefulset.name", "service.instance.id", "service.name", "service.namespace"}

// The columns of a table that OTLP or log push made.
const (
	metadataColumn   = "structured_metadata"
	resourceColumn   = "resource_attributes"
	scopeColumn      = "scope_attributes"
	attributesColumn = "log_attributes"
	pushedPrefix     = "label_"
)

// source is a table as streams: SQL expressions of its line, its labels and its structured metadata.
type source struct {
	schema  *schema.Table
	time    schema.Column
	line    string   // SQL of the text of the line
	objects []string // SQL of objects whose members are metadata
	dropped []string // names of members of objects that are labels
	labels  []column // of the stream
	fields  []column // metadata
	shown   bool     // TableLabel is one of the labels
}

// column is a label or a pair of metadata.
type column struct {
	name string
	sql  string // an expression of type STRING
}

// sourceOf describes a table; nil: it holds no logs.
func sourceOf(t *engine.Table) *source {
	s := t.Schema
	if !s.Options.AppendMode || s.Draft || s.Shared() || s.Physical != 0 || !s.TimeColumn().Type.IsTimestamp() {
		return nil
	}
	if semantic, _ := s.Options.Find(schema.SemanticOption); semantic == schema.SemanticMetric {
		return nil
	}
	if s.Column("trace_id") >= 0 && s.Column("span_name") >= 0 {
		return nil // spans
	}
	out := &source{schema: s, time: s.TimeColumn(), shown: s.Name.Table != PushedTable}
	line := lineColumn(s)
	if line == "" && !hasOption(s, LabelsOption) && len(s.Columns) == len(s.Tags)+1 {
		return nil // nothing but keys
	}
	pushed := line == "line" && isJSON(s, metadataColumn)
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case i == s.Time || c.Name == line && line != "":
		case pushed && c.Name == metadataColumn, isJSON(s, resourceColumn) && isAttributes(c):
			out.objects = append(out.objects, parse.QuoteIdent(c.Name))
		case isLabel(s, c):
			name := c.Name
			if pushed {
				name = strings.TrimPrefix(name, pushedPrefix)
				if s.Column(name) < 0 { // only a label that has the name of a fixed column was renamed
					name = c.Name
				}
			}
			out.labels = append(out.labels, column{cleanName(name), textOf(c)})
		default:
			out.fields = append(out.fields, column{cleanName(c.Name), textOf(c)})
		}
	}
	if isJSON(s, resourceColumn) {
		for _, name := range resourceLabels {
			out.labels = append(out.labels, column{cleanName(name),
				"json_get_string(" + resourceColumn + ", " + parse.QuoteText(`$."`+name+`"`) + ")"})
			out.dropped = append(out.dropped, cleanName(name))
		}
	}
	if out.line = parse.QuoteIdent(line); line == "" {
		out.line = out.wholeRow()
	} else if !s.Columns[s.Column(line)].Type.IsText() {
		out.line = "CAST(" + out.line + " AS STRING)"
	}
	for _, list := range [...][]column{out.labels, out.fields} {
		for i := range list {
			if list[i].name == TableLabel { // the name is taken
				list[i].name += "_extracted"
			}
		}
	}
	byName := func(a, b column) int { return strings.Compare(a.name, b.name) }
	same := func(a, b column) bool { return a.name == b.name }
	slices.SortStableFunc(out.labels, byName)
	slices.SortStableFunc(out.fields, byName)
	out.labels, out.fields = slices.CompactFunc(out.labels, same), slices.CompactFunc(out.fields, same)
	return out
}

// lineColumn is the name of the column of lines; empty: there is none.
func lineColumn(s *schema.Table) string {
	if name, ok := s.Options.Find(LineOption); ok && s.Column(name) >= 0 {
		return name
	}
	for _, name := range lineColumns {
		if at := s.Column(name); at >= 0 && s.Columns[at].Semantic == schema.Field && isLine(s.Columns[at].Type) {
			return name
		}
	}
	return ""
}

func isLine(t vector.Type) bool { return t.IsText() || t.ID == vector.TypeJSON }

func hasOption(s *schema.Table, key string) bool {
	_, ok := s.Options.Find(key)
	return ok
}

func isJSON(s *schema.Table, name string) bool {
	at := s.Column(name)
	return at >= 0 && s.Columns[at].Type.ID == vector.TypeJSON
}

func isAttributes(c *schema.Column) bool {
	return c.Type.ID == vector.TypeJSON &&
		(c.Name == resourceColumn || c.Name == scopeColumn || c.Name == attributesColumn)
}

// isLabel reports whether a column is a label of streams.
func isLabel(s *schema.Table, c *schema.Column) bool {
	if c.Semantic == schema.Tag {
		return true
	}
	if list, ok := s.Options.Find(LabelsOption); ok {
		for name := range strings.SplitSeq(list, ",") {
			if strings.TrimSpace(name) == c.Name {
				return true
			}
		}
		return false
	}
	return len(s.Tags) == 0 && c.Type.IsText() && slices.Contains(usualLabels, c.Name)
}

// textOf is the SQL of a column as text.
func textOf(c *schema.Column) string {
	name := parse.QuoteIdent(c.Name)
	if c.Type.IsText() {
		return name
	}
	return "CAST(" + name + " AS STRING)"
}

// wholeRow is the SQL of a row as an object, for tables without lines.
func (s *source) wholeRow() string {
	var b strings.Builder
	b.WriteString("CAST(json_object(")
	first := true
	for i := range s.schema.Columns {
		c := &s.schema.Columns[i]
		if i == s.schema.Time || c.Semantic == schema.Tag {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		b.WriteString(parse.QuoteText(c.Name) + ", " + parse.QuoteIdent(c.Name))
	}
	b.WriteString(") AS STRING)")
	return b.String()
}

// cleanName is a name as a label: what is no letter, digit or underscore becomes an underscore.
func cleanName(name string) string {
	clean := true
	for i := range len(name) {
		clean = clean && nameByte(name[i], i)
	}
	if clean && name != "" {
		return name
	}
	var b strings.Builder
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		b.WriteByte('_')
	}
	for _, r := range name {
		if r < 0x80 && nameByte(byte(r), 1) {
			b.WriteByte(byte(r))
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func nameByte(c byte, at int) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || at > 0 && c >= '0' && c <= '9'
}

// label finds a label; nil: the table has none of the name.
func (s *source) label(name string) *column {
	for i := range s.labels {
		if s.labels[i].name == name {
			return &s.labels[i]
		}
	}
	return nil
}

// columns are the SQL expressions of what a row reader reads: time, line, objects, labels, metadata.
func (s *source) columns() []string {
	list := append([]string{parse.QuoteIdent(s.time.Name), s.line}, s.objects...)
	for i := range s.labels {
		list = append(list, s.labels[i].sql)
	}
	for i := range s.fields {
		list = append(list, s.fields[i].sql)
	}
	return list
}

// from is the name of the table in a statement.
func (s *source) from() string {
	return parse.QuoteIdent(s.schema.Name.DB) + "." + parse.QuoteIdent(s.schema.Name.Table)
}
