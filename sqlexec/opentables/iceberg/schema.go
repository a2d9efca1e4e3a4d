package iceberg

import (
	"encoding/json"
	"fmt"
)

// Type is a primitive type as the specification writes it, such as "long" or "decimal(20, 0)".
type Type string

// The primitive types without parameters. Times count microseconds.
const (
	Boolean     Type = "boolean"
	Int         Type = "int"
	Long        Type = "long"
	Float       Type = "float"
	Double      Type = "double"
	Date        Type = "date"
	Time        Type = "time"
	Timestamptz Type = "timestamptz"
	String      Type = "string"
	Binary      Type = "binary"
)

// Decimal is the type of decimals with so many digits, of which scale are behind the point.
func Decimal(precision, scale uint8) Type {
	return Type(fmt.Sprintf("decimal(%d, %d)", precision, scale))
}

// Digits are the parameters of a decimal; ok is false for other types.
func (t Type) Digits() (precision, scale int, ok bool) {
	n, err := fmt.Sscanf(string(t), "decimal(%d, %d)", &precision, &scale)
	return precision, scale, err == nil && n == 2
}

// Widens reports whether readers take values of the type from for values of the type t.
func (t Type) Widens(from Type) bool {
	if t == from || from == Int && t == Long || from == Float && t == Double {
		return true
	}
	p, s, ok := t.Digits()
	q, r, was := from.Digits()
	return ok && was && s == r && p >= q
}

// Map is the type of a map of texts.
type Map struct {
	Key, Value int // field ids
}

// Field is a column.
type Field struct {
	ID   int
	Name string
	Type Type
	Map  *Map // in place of Type
	// Required columns have no NULL.
	Required bool
	Doc      string
}

// MarshalJSON writes the form of the specification.
func (f Field) MarshalJSON() ([]byte, error) {
	var t any = f.Type
	if f.Map != nil {
		t = map[string]any{"type": "map", "key-id": f.Map.Key, "key": String, "value-id": f.Map.Value,
			"value-required": false, "value": String}
	}
	return json.Marshal(struct {
		ID       int    `json:"id"`
		Name     string `json:"name"`
		Required bool   `json:"required"`
		Type     any    `json:"type"`
		Doc      string `json:"doc,omitempty"`
	}{f.ID, f.Name, f.Required, t, f.Doc})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Field) UnmarshalJSON(text []byte) error {
	var j struct {
		ID       int             `json:"id"`
		Name     string          `json:"name"`
		Required bool            `json:"required"`
		Type     json.RawMessage `json:"type"`
		Doc      string          `json:"doc"`
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*f = Field{ID: j.ID, Name: j.Name, Required: j.Required, Doc: j.Doc}
	if len(j.Type) == 0 || j.Type[0] != '{' {
		return json.Unmarshal(j.Type, &f.Type)
	}
	var m struct {
		Key   int `json:"key-id"`
		Value int `json:"value-id"`
	}
	if err := json.Unmarshal(j.Type, &m); err != nil {
		return err
	}
	f.Map = &Map{m.Key, m.Value}
	return nil
}

// Schema is one version of the columns of a table.
type Schema struct {
	Type   string  `json:"type"` // struct
	ID     int     `json:"schema-id"`
	Fields []Field `json:"fields"`
}

// Spec is how a table is partitioned.
type Spec struct {
	ID     int              `json:"spec-id"`
	Fields []PartitionField `json:"fields"`
}

// PartitionField is a column of the partition.
type PartitionField struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

// ByDay partitions by the days of a column of times.
func ByDay(source int, name string) Spec {
	return Spec{Fields: []PartitionField{{Source: source, ID: dayField, Name: name, Transform: "day"}}}
}
