package manifest

import (
	"encoding/json"
	"fmt"

	"varve/engine/schema"
	"varve/engine/vector"
)

// Edits and snapshots are JSON inside checksummed frames: they are rare, and readable in a dump. Default values are in
// the batch codec, so that every value round-trips.

type tableJSON struct {
	ID         schema.TableID  `json:"id"`
	DB         string          `json:"db"`
	Name       string          `json:"name"`
	Version    uint32          `json:"version"`
	Columns    []columnJSON    `json:"columns"`
	Time       int             `json:"time"`
	Tags       []int           `json:"tags,omitempty"`
	Options    schema.Options  `json:"options"`
	NextColumn schema.ColumnID `json:"next_column"`
	CreatedMS  int64           `json:"created_ms,omitempty"`
	Engine     string          `json:"engine,omitempty"`
	Physical   schema.TableID  `json:"physical,omitempty"`
	Emptied    uint64          `json:"emptied,omitempty"`
	Draft      bool            `json:"draft,omitempty"`
}

type columnJSON struct {
	ID          schema.ColumnID `json:"id"`
	Name        string          `json:"name"`
	Type        [3]uint8        `json:"type"` // id, precision, scale
	Semantic    schema.Semantic `json:"semantic,omitempty"`
	Nullable    bool            `json:"nullable,omitempty"`
	Default     []byte          `json:"default,omitempty"` // batch codec, one column
	Initial     []byte          `json:"initial,omitempty"` // as default
	DefaultExpr string          `json:"default_expr,omitempty"`
	DefaultText string          `json:"default_text,omitempty"`
	Indexes     []schema.Index  `json:"indexes,omitempty"`
	Comment     string          `json:"comment,omitempty"`
}

func toJSON(t *schema.Table) tableJSON {
	j := tableJSON{ID: t.ID, DB: t.Name.DB, Name: t.Name.Table, Version: t.Version, Time: t.Time, Tags: t.Tags,
		Options: t.Options, NextColumn: t.NextColumn, CreatedMS: t.CreatedMS, Engine: t.Engine, Physical: t.Physical,
		Emptied: t.Emptied, Draft: t.Draft}
	for _, c := range t.Columns {
		k := columnJSON{ID: c.ID, Name: c.Name, Type: [3]uint8{uint8(c.Type.ID), c.Type.Precision, c.Type.Scale},
			Semantic: c.Semantic, Nullable: c.Nullable, DefaultExpr: c.DefaultExpr, DefaultText: c.DefaultText,
			Indexes: c.Indexes, Comment: c.Comment}
		k.Default, k.Initial = encodeValue(c.Default), encodeValue(c.Initial)
		j.Columns = append(j.Columns, k)
	}
	return j
}

func fromJSON(j tableJSON) (*schema.Table, error) {
	t := &schema.Table{ID: j.ID, Name: schema.Name{DB: j.DB, Table: j.Name}, Version: j.Version, Time: j.Time,
		Tags:    j.Tags,
		Options: j.Options, NextColumn: j.NextColumn, CreatedMS: j.CreatedMS, Engine: j.Engine, Physical: j.Physical,
		Emptied: j.Emptied, Draft: j.Draft}
	for _, k := range j.Columns {
		c := schema.Column{ID: k.ID, Name: k.Name,
			Type:     vector.Type{ID: vector.TypeID(k.Type[0]), Precision: k.Type[1], Scale: k.Type[2]},
			Semantic: k.Semantic, Nullable: k.Nullable, DefaultExpr: k.DefaultExpr, DefaultText: k.DefaultText,
			Indexes: k.Indexes, Comment: k.Comment}
		if !c.Type.Known() || c.Semantic > schema.Timestamp {
			return nil, fmt.Errorf("table %d: column %q: type %v, semantic %d are not known", j.ID, k.Name, k.Type,
				k.Semantic)
		}
		var err error
		if c.Default, err = decodeValue(k.Default, c.Type); err == nil {
			c.Initial, err = decodeValue(k.Initial, c.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("table %d: column %q: default value: %w", j.ID, k.Name, err)
		}
		t.Columns = append(t.Columns, c)
	}
	if t.Time < 0 || t.Time >= len(t.Columns) {
		return nil, fmt.Errorf("table %d: time index %d of %d columns", j.ID, t.Time, len(t.Columns))
	}
	for _, i := range t.Tags {
		if i < 0 || i >= len(t.Columns) {
			return nil, fmt.Errorf("table %d: tag %d of %d columns", j.ID, i, len(t.Columns))
		}
	}
	return t, nil
}

// encodeValue returns a default value in the batch codec; nil for NULL.
func encodeValue(v *vector.Vector) []byte {
	if v == nil {
		return nil
	}
	return vector.AppendBatch(nil, []vector.Field{{Type: v.Type}}, &vector.Batch{N: 1, Cols: []*vector.Vector{v}})
}

func decodeValue(src []byte, t vector.Type) (*vector.Vector, error) {
	if src == nil {
		return nil, nil
	}
	_, b, err := vector.DecodeBatch(src)
	if err != nil {
		return nil, err
	}
	if len(b.Cols) != 1 || b.N != 1 || b.Cols[0].Type.Kind() != t.Kind() || b.Cols[0].Form == vector.Dict {
		return nil, fmt.Errorf("not one value of type %s", t)
	}
	b.Cols[0].Form = vector.Const
	return b.Cols[0], nil
}

type editJSON struct {
	Edit
	PutTable []tableJSON `json:"put_table,omitempty"`
}

func encodeEdit(e *Edit) ([]byte, error) {
	j := editJSON{Edit: *e}
	for _, t := range e.PutTable {
		j.PutTable = append(j.PutTable, toJSON(t))
	}
	return json.Marshal(j)
}

func decodeEdit(b []byte) (*Edit, error) {
	var j editJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, err
	}
	for _, t := range j.PutTable {
		s, err := fromJSON(t)
		if err != nil {
			return nil, err
		}
		j.Edit.PutTable = append(j.Edit.PutTable, s)
	}
	return &j.Edit, nil
}

type snapshotJSON struct {
	Store     string              `json:"store,omitempty"`
	Databases map[string]Database `json:"databases"`
	Tables    []tableStateJSON    `json:"tables"`
	NextTable schema.TableID      `json:"next_table"`
	NextFile  uint64              `json:"next_file"`
	Log       LogRange            `json:"log,omitzero"`
	Retired   []uint64            `json:"retired,omitempty"`
	Positions []Position          `json:"positions,omitempty"`
	Standing  Standing            `json:"standing,omitzero"`
}

type tableStateJSON struct {
	Schema  tableJSON  `json:"schema"`
	Flushed uint64     `json:"flushed"`
	Parts   []PartMeta `json:"parts,omitempty"`
}

func encodeSnapshot(s *State) ([]byte, error) {
	j := snapshotJSON{Store: s.Store, Databases: s.Databases, NextTable: s.NextTable, NextFile: s.NextFile, Log: s.Log,
		Retired: s.Retired, Positions: s.Positions, Standing: s.Standing}
	for _, id := range s.tableIDs() {
		t := s.Tables[id]
		j.Tables = append(j.Tables, tableStateJSON{toJSON(t.Schema), t.Flushed, t.Parts})
	}
	return json.Marshal(j)
}

func decodeSnapshot(b []byte) (*State, error) {
	var j snapshotJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, err
	}
	s := newState()
	for name, d := range j.Databases {
		s.Databases[name] = d
	}
	for _, t := range j.Tables {
		table, err := fromJSON(t.Schema)
		if err != nil {
			return nil, err
		}
		s.Tables[table.ID] = &TableState{Schema: table, Flushed: t.Flushed, Parts: t.Parts}
	}
	s.NextTable, s.NextFile = max(j.NextTable, 1), max(j.NextFile, 1)
	s.Store, s.Log, s.Retired, s.Standing = j.Store, j.Log, j.Retired, j.Standing
	s.Positions = withPositions(nil, j.Positions)
	return s, nil
}
