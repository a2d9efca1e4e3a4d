package opentables

import (
	"fmt"
	"math"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/opentables/iceberg"
)

// column says how a column of the table is written. It is kept in the state for ever, because field ids are.
type column struct {
	ID    schema.ColumnID `json:"id"`
	Name  string          `json:"name"`
	Field int             `json:"field,omitempty"` // 0: its values go into the map
	Type  iceberg.Type    `json:"type,omitempty"`
	// Dropped columns keep their field id from being given again.
	Dropped bool `json:"dropped,omitempty"`
}

// maxKept bounds the columns that the state of a table keeps, with those that were dropped.
const maxKept = 100_000

// moreName is the name of the map with the values of columns past the bound.
const moreName = "more_columns"

// typeOf is the type of Iceberg that holds the values of a type.
func typeOf(t vector.Type) iceberg.Type {
	switch t.ID {
	case vector.TypeBool:
		return iceberg.Boolean
	case vector.TypeInt8, vector.TypeInt16, vector.TypeInt32, vector.TypeUint8, vector.TypeUint16:
		return iceberg.Int
	case vector.TypeInt64, vector.TypeUint32, vector.TypeDuration:
		return iceberg.Long
	case vector.TypeUint64:
		return iceberg.Decimal(20, 0)
	case vector.TypeFloat32:
		return iceberg.Float
	case vector.TypeFloat64:
		return iceberg.Double
	case vector.TypeBinary:
		return iceberg.Binary
	case vector.TypeDate:
		return iceberg.Date
	case vector.TypeTimestamp:
		return iceberg.Timestamptz
	case vector.TypeTime:
		return iceberg.Time
	case vector.TypeDecimal:
		return iceberg.Decimal(t.Precision, t.Scale)
	}
	return iceberg.String // texts, JSON, lists, intervals
}

// decimalSize is how many bytes decimals of so many digits have in Parquet.
func decimalSize(precision int) int {
	return int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
}

// align brings the columns of the state up to a schema. It reports whether the columns of Iceberg change, and whether
// days that were written have other values by that: a column began with a value, or has a type that readers cannot
// widen the old one to. Such a column gets another field id, and all days are to be written anew.
func (s *state) align(t *schema.Table, most int) (changed, anew bool, err error) {
	known := map[schema.ColumnID]*column{}
	shown := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		known[c.ID] = c
		if gone := t.ByID(c.ID) < 0; gone != c.Dropped {
			c.Dropped, changed = gone, true
		}
		if !c.Dropped && c.Field != 0 {
			shown++
		}
	}
	first := len(s.Columns) == 0
	for i := range t.Columns {
		from := &t.Columns[i]
		typ := typeOf(from.Type)
		c := known[from.ID]
		switch {
		case c == nil:
			if len(s.Columns) >= maxKept {
				return false, false, fmt.Errorf("the table had more than %d columns", maxKept)
			}
			fresh := column{ID: from.ID, Name: from.Name, Type: typ}
			if shown < most || i == t.Time {
				fresh.Field = s.nextField()
				shown++
			} else if s.More == nil {
				s.More = &more{s.nextField(), iceberg.Map{Key: s.nextField(), Value: s.nextField()}}
			}
			s.Columns = append(s.Columns, fresh)
			changed = true
			anew = anew || !first && from.Initial != nil
			continue
		case c.Field != 0 && c.Type != typ:
			if !typ.Widens(c.Type) {
				c.Field, anew = s.nextField(), true
			}
			c.Type, changed = typ, true
		case c.Type != typ:
			c.Type, anew = typ, true // texts in the map
		}
		if c.Name != from.Name {
			anew = anew || c.Field == 0 // it is a key in the map
			c.Name, changed = from.Name, true
		}
	}
	return changed, anew, nil
}

// nextField gives a field id that no column had.
func (s *state) nextField() int {
	s.LastField++
	return s.LastField
}

// fields are the columns of Iceberg, in the order in which they came.
func (s *state) fields(t *schema.Table) []iceberg.Field {
	list := make([]iceberg.Field, 0, len(t.Columns))
	for _, c := range s.Columns {
		if !c.Dropped && c.Field != 0 {
			f := iceberg.Field{ID: c.Field, Name: c.Name, Type: c.Type}
			if at := t.ByID(c.ID); at >= 0 {
				f.Doc = t.Columns[at].Comment
			}
			list = append(list, f)
		}
	}
	if s.More != nil {
		list = append(list, iceberg.Field{ID: s.More.Field, Name: s.freeName(moreName), Map: &s.More.Map,
			Doc: "values of further columns, by name"})
	}
	return list
}

// freeName is a name that no column has.
func (s *state) freeName(name string) string {
	for i := 0; i < len(s.Columns); i++ {
		if s.Columns[i].Name == name && !s.Columns[i].Dropped {
			name, i = name+"_", -1
		}
	}
	return name
}

// fieldOf is the field id of a column; 0: it has none.
func (s *state) fieldOf(id schema.ColumnID) int {
	for i := range s.Columns {
		if s.Columns[i].ID == id {
			return s.Columns[i].Field
		}
	}
	return 0
}
