package pipeline

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// timeColumn is the time index of rows that name none.
const timeColumn = "service_timestamp"

// onFailure says what becomes of a value that does not fit its column.
type onFailure uint8

const (
	failEntry onFailure = iota
	failIgnore
	failDefault
)

// column is a column that a transform makes.
type column struct {
	name    string
	slot    int // of the input
	typ     vector.Type
	failure onFailure
	// fallback is the default in the form of the column: an integer, float, boolean or string; null for none.
	fallback value.Value
	time     bool // the time index
	tag      bool
	index    *schema.Index
}

// transform is an element of a document's list of transforms.
type transform struct {
	fields []processor.Field
	at     *yaml.Node
	column // what its columns have in common
	typed  bool
	given  any // the default as written in the document
}

// compileTransforms reads the list of transforms into columns.
func compileTransforms(version int, list []*yaml.Node, names *processor.Names) ([]column, error) {
	var columns []column
	var timed []string
	for _, n := range list {
		t, err := readTransform(n)
		if err != nil {
			return nil, err
		}
		for _, f := range t.fields {
			c := t.column
			c.name, c.slot = f.Target, names.Slot(f.Input)
			if err := schema.CheckColumnName(c.name); err != nil {
				return nil, processor.Invalid(t.at, "%s", err)
			}
			columns = append(columns, c)
			if c.time {
				timed = append(timed, f.Target)
			}
		}
		if t.time && len(t.fields) > 1 {
			return nil, processor.Invalid(t.at,
				"Illegal to set multiple timestamp Index columns, please set only one: %s", targets(t.fields))
		}
	}
	if len(columns) > maxTransforms {
		return nil, processor.Invalid(list[0], "the transforms make %d columns, the limit is %d", len(columns),
			maxTransforms)
	}
	if twice := duplicates(columns); twice != "" {
		return nil, processor.Invalid(list[0], "Column name must be unique, but got duplicated: %s", twice)
	}
	switch {
	case len(timed) == 1:
	case len(timed) == 0 && version == 1:
		if i := find(columns, timeColumn); i >= 0 {
			return nil, processor.Invalid(list[0], "Column name must be unique, but got duplicated: %s", timeColumn)
		}
		columns = append(columns, column{name: timeColumn, slot: names.Slot(timeColumn), typ: vector.Timestamp(9),
			failure: failDefault, time: true})
	default:
		return nil, processor.Invalid(list[0],
			"Transform must have exactly one field specified as timestamp Index, but got %d: %s", len(timed),
			strings.Join(timed, ", "))
	}
	return columns, nil
}

func find(columns []column, name string) int {
	for i := range columns {
		if columns[i].name == name {
			return i
		}
	}
	return -1
}

// duplicates names the columns that come twice.
func duplicates(columns []column) string {
	var twice []string
	count := map[string]int{}
	for i := range columns {
		if count[columns[i].name]++; count[columns[i].name] == 2 {
			twice = append(twice, columns[i].name)
		}
	}
	return strings.Join(twice, ", ")
}

func targets(fields []processor.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Target
	}
	return strings.Join(names, ", ")
}

// readTransform reads one element.
func readTransform(n *yaml.Node) (*transform, error) {
	n = processor.Follow(n)
	if n.Kind != yaml.MappingNode {
		return nil, processor.Invalid(n, "Transform element must be a map")
	}
	settings, err := processor.ReadSettings(n)
	if err != nil {
		return nil, err
	}
	t := &transform{at: n}
	var index *processor.Setting
	for _, s := range settings.All() {
		switch s.Key {
		case "field", "fields":
			t.fields, err = s.Fields()
		case "type":
			var text string
			if text, err = s.String(); err == nil {
				t.typ, err = parseType(&s, text)
			}
			t.typed = true
		case "tag":
			var tag bool
			tag, err = s.Bool()
			t.tag = t.tag || tag
		case "default":
			t.given = s.Scalar()
		case "on_failure":
			err = t.readFailure(&s)
		case "index":
			index = &s
		}
		if err != nil {
			return nil, err
		}
	}
	if len(t.fields) == 0 {
		return nil, settings.Invalid("Transform fields must be set.")
	}
	if !t.typed {
		return nil, settings.Invalid("Transform %s type MUST BE set.", targets(t.fields))
	}
	if index != nil {
		if err := t.readIndex(index); err != nil {
			return nil, err
		}
	}
	return t, t.readDefault(&settings)
}

func (t *transform) readFailure(s *processor.Setting) error {
	text, err := s.String()
	if err != nil {
		return err
	}
	switch text {
	case "ignore":
		t.failure = failIgnore
	case "default":
		t.failure = failDefault
	default:
		return s.Invalid("Invalid transform on_failure value: %s", text)
	}
	return nil
}

// columnTypes are the types without parameters by their name in documents.
var columnTypes = map[string]vector.Type{
	"int8": vector.Int8Type, "int16": vector.Int16Type, "int32": vector.Int32Type, "int64": vector.Int64Type,
	"uint8": vector.Uint8Type, "uint16": vector.Uint16Type, "uint32": vector.Uint32Type, "uint64": vector.Uint64Type,
	"float32": vector.Float32Type, "float64": vector.FloatType, "boolean": vector.BoolType, "string": vector.StringType,
	"json": vector.JSONType,
}

// parseType reads the type of a transform.
func parseType(s *processor.Setting, text string) (vector.Type, error) {
	word, resolution, timed := strings.Cut(text, ",")
	word = strings.ToLower(strings.TrimSpace(word))
	if t, ok := columnTypes[word]; ok && !timed {
		return t, nil
	}
	if word != "timestamp" && word != "time" && word != "epoch" {
		return vector.Type{}, s.Invalid("Failed to parse type: '%s'", text)
	}
	if !timed {
		return vector.Timestamp(9), nil
	}
	resolution, _, _ = strings.Cut(resolution, ",")
	resolution = strings.TrimSpace(resolution)
	r, ok := processor.ParseResolution(resolution)
	if !ok {
		return vector.Type{},
			s.Invalid(
				"Invalid resolution: '%s'. Available resolutions: "+
					"nanosecond,nano,ns,microsecond,micro,us,millisecond,milli,ms,second,sec,s", resolution)
	}
	return vector.Timestamp(r.Precision()), nil
}

// WireName is a type as error texts and dry runs show it: INT8, TIMESTAMP_SECOND.
func WireName(t vector.Type) string {
	switch t.ID {
	case vector.TypeTimestamp:
		return "TIMESTAMP_" + [...]string{0: "SECOND", 3: "MILLISECOND", 6: "MICROSECOND", 9: "NANOSECOND"}[t.Precision]
	case vector.TypeBool:
		return "BOOLEAN"
	case vector.TypeJSON:
		return "JSON"
	}
	return strings.ToUpper(t.String())
}

// coerceName is a type as the errors of conversions show it: there JSON is BINARY.
func coerceName(t vector.Type) string {
	if t == vector.JSONType {
		return "BINARY"
	}
	return WireName(t)
}

// readDefault takes the default as a value of the column. A default forces its use.
func (t *transform) readDefault(s *processor.Settings) error {
	text := ""
	switch v := t.given.(type) {
	case string:
		text = v
	case int64, float64, bool:
		text = scalarText(v)
	default: // null, a list or a map count as none
		return nil
	}
	t.failure = failDefault
	if t.typ.IsTimestamp() || t.typ == vector.JSONType {
		return s.Invalid("Default value not unsupported for type %s", WireName(t.typ))
	}
	v, ok := parseText(t.typ, text)
	if !ok {
		return s.Invalid("Failed to parse %s: %s", strings.ToLower(WireName(t.typ)), text)
	}
	t.fallback = v
	return nil
}
