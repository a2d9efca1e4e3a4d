package iceberg

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// File is a data file of one day.
type File struct {
	Path string // a URL
	Rows int64
	Size int64 // in bytes
	Day  int32 // since 1970-01-01
	// Removed marks a file that the snapshot takes away, which came with a snapshot of the sequence number. Other files
	// come with the snapshot of the manifest.
	Removed  bool
	Sequence int64
	// Columns are what is known of columns, by field id; may be nil.
	Columns map[int]Column
	Splits  []int64 // where row groups begin
}

// Column is what is known of a column of a file.
type Column struct {
	Bytes         int64 // in the file
	Values, Nulls int64 // Values with the NULLs
	Lower, Upper  []byte
}

// Manifest describes a manifest in a manifest list.
type Manifest struct {
	Path        string `json:"path"`
	Length      int64  `json:"length"`
	Sequence    int64  `json:"sequence"` // of the snapshot that it came with
	Snapshot    int64  `json:"snapshot"`
	Day         int32  `json:"day"`
	Added       int    `json:"added"`   // files
	Removed     int    `json:"removed"` // files
	AddedRows   int64  `json:"added_rows"`
	RemovedRows int64  `json:"removed_rows"`
	// Least is the least sequence number of the removed files; 0: none was removed.
	Least int64 `json:"least,omitempty"`
}

// WriteManifest returns the manifest of the files of a day that come and go with a snapshot.
func WriteManifest(s *Schema, spec *Spec, snapshot int64, files []File) ([]byte, error) {
	table, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	fields, err := json.Marshal(spec.Fields)
	if err != nil {
		return nil, err
	}
	var block []byte
	for i := range files {
		block = appendEntry(block, &files[i], snapshot)
	}
	return container(manifestSchema(spec.Fields[0].Name), map[string]string{
		"schema": string(table), "schema-id": strconv.Itoa(s.ID), "partition-spec": string(fields),
		"partition-spec-id": strconv.Itoa(spec.ID), "format-version": strconv.Itoa(FormatVersion), "content": "data",
	}, len(files), block), nil
}

// The states of a file in a manifest.
const (
	added   = 1
	deleted = 2
)

// appendEntry appends the entry of a file.
func appendEntry(b []byte, f *File, snapshot int64) []byte {
	if f.Removed {
		b = appendLong(b, deleted)
		b = appendLong(some(b), snapshot)
		b = appendLong(some(b), f.Sequence)
		b = appendLong(some(b), f.Sequence)
	} else {
		b = appendLong(b, added)
		b = appendLong(some(b), snapshot)
		b = appendNull(appendNull(b)) // both are those of the manifest
	}
	b = appendLong(b, 0) // rows, not deletes
	b = appendBytes(appendBytes(b, f.Path), "PARQUET")
	b = appendLong(some(b), int64(f.Day))
	b = appendLong(appendLong(b, f.Rows), f.Size)
	ids := slices.Sorted(maps.Keys(f.Columns))
	b = appendCounts(b, ids, func(id int) int64 { return f.Columns[id].Bytes })
	b = appendCounts(b, ids, func(id int) int64 { return f.Columns[id].Values })
	b = appendCounts(b, ids, func(id int) int64 { return f.Columns[id].Nulls })
	b = appendNull(b) // counts of NaN
	b = appendBounds(b, ids, func(id int) []byte { return f.Columns[id].Lower })
	b = appendBounds(b, ids, func(id int) []byte { return f.Columns[id].Upper })
	b = appendNull(b) // key metadata
	if len(f.Splits) == 0 {
		b = appendNull(b)
	} else {
		b = appendLong(some(b), int64(len(f.Splits)))
		for _, at := range f.Splits {
			b = appendLong(b, at)
		}
		b = appendLong(b, 0)
	}
	return appendNull(appendNull(b)) // equality ids, sort order
}

// appendCounts appends a map of field ids to numbers; none is null.
func appendCounts(b []byte, ids []int, of func(id int) int64) []byte {
	if len(ids) == 0 {
		return appendNull(b)
	}
	b = appendLong(some(b), int64(len(ids)))
	for _, id := range ids {
		b = appendLong(appendLong(b, int64(id)), of(id))
	}
	return appendLong(b, 0)
}

// appendBounds appends a map of field ids to values, without those that have none.
func appendBounds(b []byte, ids []int, of func(id int) []byte) []byte {
	known := slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return of(id) == nil })
	if len(known) == 0 {
		return appendNull(b)
	}
	b = appendLong(some(b), int64(len(known)))
	for _, id := range known {
		b = appendBytes(appendLong(b, int64(id)), of(id))
	}
	return appendLong(b, 0)
}

// WriteManifestList returns the manifest list of a snapshot.
func WriteManifestList(snapshot int64, parent *int64, sequence int64, list []Manifest) []byte {
	var block []byte
	for _, m := range list {
		block = appendBytes(block, m.Path)
		block = appendLong(block, m.Length)
		block = appendLong(appendLong(block, 0), 0) // spec, content
		least := m.Sequence
		if m.Least != 0 {
			least = min(least, m.Least)
		}
		block = appendLong(appendLong(block, m.Sequence), least)
		block = appendLong(block, m.Snapshot)
		block = appendLong(appendLong(appendLong(block, int64(m.Added)), 0), int64(m.Removed))
		block = appendLong(appendLong(appendLong(block, m.AddedRows), 0), m.RemovedRows)
		block = appendLong(some(block), 1)
		block = appendBool(appendBool(block, false), false)
		bound := IntBound(m.Day)
		block = appendBytes(some(block), bound)
		block = appendBytes(some(block), bound)
		block = appendLong(block, 0)
	}
	before := "null"
	if parent != nil {
		before = strconv.FormatInt(*parent, 10)
	}
	return container(manifestListSchema, map[string]string{"snapshot-id": strconv.FormatInt(snapshot, 10),
		"parent-snapshot-id": before, "sequence-number": strconv.FormatInt(sequence, 10),
		"format-version": strconv.Itoa(FormatVersion)}, len(list), block)
}

// member is a field of a record of Avro; a nullable one is a union with null.
func member(id int, name, typ string, nullable bool) string {
	if nullable {
		return fmt.Sprintf(`{"name":%q,"type":["null",%s],"default":null,"field-id":%d}`, name, typ, id)
	}
	return fmt.Sprintf(`{"name":%q,"type":%s,"field-id":%d}`, name, typ, id)
}

// record is a record of Avro.
func record(name string, fields ...string) string {
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

// mapOf is a map with keys that are no texts: an array of pairs.
func mapOf(key, value int, typ string) string {
	return fmt.Sprintf(`{"type":"array","logicalType":"map","items":%s}`, record(fmt.Sprintf("k%d_v%d", key, value),
		member(key, "key", `"int"`, false), member(value, "value", typ, false)))
}

// arrayOf is an array whose elements have a field id.
func arrayOf(id int, typ string) string {
	return fmt.Sprintf(`{"type":"array","element-id":%d,"items":%s}`, id, typ)
}

// manifestSchema is the schema of the entries of a manifest whose partition field has a name.
func manifestSchema(day string) string {
	partition := record("r102", member(dayField, day, `{"type":"int","logicalType":"date"}`, true))
	file := record("r2",
		member(134, "content", `"int"`, false), member(100, "file_path", `"string"`, false),
		member(101, "file_format", `"string"`, false),
		member(102, "partition", partition, false),
		member(103, "record_count", `"long"`, false), member(104, "file_size_in_bytes", `"long"`, false),
		member(108, "column_sizes", mapOf(117, 118, `"long"`), true),
		member(109, "value_counts", mapOf(119, 120, `"long"`), true),
		member(110, "null_value_counts", mapOf(121, 122, `"long"`), true),
		member(137, "nan_value_counts", mapOf(138, 139, `"long"`), true),
		member(125, "lower_bounds", mapOf(126, 127, `"bytes"`), true),
		member(128, "upper_bounds", mapOf(129, 130, `"bytes"`), true),
		member(131, "key_metadata", `"bytes"`, true), member(132, "split_offsets", arrayOf(133, `"long"`), true),
		member(135, "equality_ids", arrayOf(136, `"int"`), true), member(140, "sort_order_id", `"int"`, true))
	return record("manifest_entry", member(0, "status", `"int"`, false), member(1, "snapshot_id", `"long"`, true),
		member(3, "sequence_number", `"long"`, true), member(4, "file_sequence_number", `"long"`, true),
		member(2, "data_file", file, false))
}

// manifestListSchema is the schema of the entries of a manifest list.
var manifestListSchema = record("manifest_file",
	member(500, "manifest_path", `"string"`, false), member(501, "manifest_length", `"long"`, false),
	member(502, "partition_spec_id", `"int"`, false), member(517, "content", `"int"`, false),
	member(515, "sequence_number", `"long"`, false), member(516, "min_sequence_number", `"long"`, false),
	member(503, "added_snapshot_id", `"long"`, false), member(504, "added_files_count", `"int"`, false),
	member(505, "existing_files_count", `"int"`, false), member(506, "deleted_files_count", `"int"`, false),
	member(512, "added_rows_count", `"long"`, false), member(513, "existing_rows_count", `"long"`, false),
	member(514, "deleted_rows_count", `"long"`, false),
	member(507, "partitions", arrayOf(508, record("r508", member(509, "contains_null", `"boolean"`, false),
		member(518, "contains_nan", `"boolean"`, false), member(510, "lower_bound", `"bytes"`, true),
		member(511, "upper_bound", `"bytes"`, true))), true))
