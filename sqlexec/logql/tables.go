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

// resourceNames are resourceLabels as labels.
var resourceNames = func() (list []string) {
	for _, name := range resourceLabels {
		list = append(list, cleanName(name))
	}
	return list
}()

// untold are the columns of OTLP that are no metadata.
var untold = []string{"scope_schema_url", "resource_schema_url"}

// The columns of a table that OTLP or log push made.
const (
	metadataColumn   = "structured_metadata"
	resourceColumn   = "resource_attributes"
	scopeColumn      = "scope_attributes"
	attributesColumn = "log_attributes"
	scopeName        = "scope_name"
	severityNumber   = "severity_number"
	pushedPrefix     = "label_"
)

// source is a table as streams: SQL expressions of its line, its labels and its structured metadata.
type source struct {
	stored  *engine.Table
	schema  *schema.Table
	time    schema.Column
	line    string   // SQL of the text of the line
	objects []object // whose members are metadata
	labels  []column // of the stream, besides TableLabel
	fields  []column // metadata
	table   []byte   // the value of TableLabel
}

// object is a column of type JSON whose members are metadata.
type object struct {
	sql     string
	dropped []string // names of members that are labels
}

// column is a label or a pair of metadata.
type column struct {
	name    string
	sql     string // an expression of type STRING
	raw     string // its name in the table
	service int    // its place among serviceNames, from 1; 0: it names no service
}

// sourceOf describes a table; nil: it holds no logs. few are the columns that are known to have few values.
func sourceOf(t *engine.Table, few []string) *source {
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
	out := &source{stored: t, schema: s, time: s.TimeColumn(), table: []byte(s.Name.Table)}
	line := lineColumn(s)
	if line == "" && !hasOption(s, LabelsOption) && len(s.Columns) == len(s.Tags)+1 {
		return nil // nothing but keys
	}
	pushed, traced := line == "line" && isJSON(s, metadataColumn), isJSON(s, resourceColumn)
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case i == s.Time || c.Name == line && line != "" || traced && slices.Contains(untold, c.Name):
		case pushed && c.Name == metadataColumn, traced && isAttributes(c):
			o := object{sql: parse.QuoteIdent(c.Name)}
			if c.Name == resourceColumn {
				o.dropped = resourceNames
			}
			out.objects = append(out.objects, o)
		case traced && c.Name == scopeName:
			out.fields = append(out.fields, column{sql: textOf(c), raw: c.Name})
		case isLabel(s, c, few):
			name := c.Name
			if pushed {
				name = strings.TrimPrefix(name, pushedPrefix)
				if s.Column(name) < 0 { // only a label that has the name of a fixed column was renamed
					name = c.Name
				}
			}
			out.labels = append(out.labels, column{sql: textOf(c), raw: name})
		default:
			out.fields = append(out.fields, fieldOf(c, traced))
		}
	}
	if traced {
		for _, name := range resourceLabels {
			out.labels = append(out.labels, column{raw: name,
				sql: "json_get_string(" + resourceColumn + ", " + parse.QuoteText(`$."`+name+`"`) + ")"})
		}
	}
	if out.line = parse.QuoteIdent(line); line == "" {
		out.line = out.wholeRow()
	} else if !s.Columns[s.Column(line)].Type.IsText() {
		out.line = "CAST(" + out.line + " AS STRING)"
	}
	out.labels, out.fields = named(out.labels), named(out.fields)
	return out
}

// named gives columns their names as labels, none twice, and sorts them. A column whose name is a label as it is keeps
// it; of the others, which are cleaned, and where TableLabel is meant, one whose name is taken gets the suffix
// takenSuffix, in the order of the columns.
func named(list []column) []column {
	taken := map[string]bool{TableLabel: true}
	for _, clean := range [...]bool{true, false} {
		for i := range list {
			c := &list[i]
			name := cleanName(c.raw)
			if (name == c.raw) != clean {
				continue
			}
			for taken[name] {
				name += takenSuffix
			}
			taken[name] = true
			c.name, c.service = name, 1+slices.Index(serviceNames, name)
		}
	}
	slices.SortFunc(list, func(a, b column) int { return strings.Compare(a.name, b.name) })
	return list
}

// takenSuffix is what a name gets that is taken.
const takenSuffix = "_extracted"

// fieldOf is a column as metadata. traced: it is of the table of a protocol that has names of its own for some, and
// numbers that are zero where nothing was said.
func fieldOf(c *schema.Column, traced bool) column {
	out := column{sql: textOf(c), raw: c.Name}
	if traced && (c.Name == "trace_flags" || c.Name == severityNumber) {
		out.sql = "NULLIF(" + out.sql + ", '0')"
		if c.Name == "trace_flags" {
			out.raw = "flags"
		}
	}
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

// isLabel reports whether a column is a label of streams. few are the columns that are known to have few values.
func isLabel(s *schema.Table, c *schema.Column, few []string) bool {
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
	return len(s.Tags) == 0 && c.Type.IsText() &&
		(slices.Contains(usualLabels, c.Name) || slices.Contains(few, c.Name))
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

// cleanName is the name of a column or of metadata as a label: what is no letter, digit or underscore becomes an
// underscore, and a name that begins with a digit gets numberPrefix.
func cleanName(name string) string { return cleaned(name, numberPrefix) }

// numberPrefix is what names of metadata get that begin with a digit.
const numberPrefix = "key_"

// cleaned is a name as a label; one that is empty or begins with a digit gets the prefix.
func cleaned(name, prefix string) string {
	clean := true
	for i := range len(name) {
		clean = clean && nameByte(name[i], i)
	}
	if clean && name != "" {
		return name
	}
	var b strings.Builder
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		b.WriteString(prefix)
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
	list := []string{parse.QuoteIdent(s.time.Name), s.line}
	for i := range s.objects {
		list = append(list, s.objects[i].sql)
	}
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
